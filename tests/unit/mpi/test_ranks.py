"""Real ranks, started by mpirun, fit the model of one process; what one cannot do, all refuse."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import weald
import weald.mpi
from unit.mpi import program
from weald.runtime.errors import InputError, MissingExtraError

_RUNNER = Path(sys.executable).with_name("mpirun")
_LIMIT = 500  # seconds; kernels may have to be compiled first


@pytest.fixture(scope="module", params=[2, 3])
def ranks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """How many ranks have run the program of the tests, and the folder with what they have come to."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    runner = str(_RUNNER) if _RUNNER.exists() else shutil.which("mpirun")
    if runner is None:
        pytest.skip("there is no mpirun, which the package mpich brings")
    folder = tmp_path_factory.mktemp("ranks")
    command = [runner, "-n", str(request.param), sys.executable, program.__file__, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT)
    assert done.returncode == 0, done.stderr[-3000:]
    return request.param, folder


@pytest.mark.parametrize("name", ["regression", "classes", "forest"])
def test_every_rank_has_the_model_of_one_process(name: str, ranks: tuple[int, Path], tmp_path: Path) -> None:
    size, folder = ranks
    program.fit(weald, name, 0, 1).save(tmp_path / "alone")
    expected = (tmp_path / "alone").read_bytes()
    assert all((folder / f"{name} {rank}").read_bytes() == expected for rank in range(size))


def test_what_one_rank_cannot_do_ends_all_and_names_it(ranks: tuple[int, Path]) -> None:
    size, folder = ranks
    for case, message in (
        ("refused", "InputError: rank 1: Input y contains NaN"),
        ("failing", f"MemberFailedError: rank {size - 1} failed: OSError: no disk"),
    ):
        said = [(folder / f"{case} {rank}").read_text() for rank in range(size)]
        assert len(set(said)) == 1 and said[0].startswith(message)


def test_a_program_without_other_ranks_fits_as_one_process_does() -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    model = program.fit(weald.mpi, "regression", 0, 1)
    alone = program.fit(weald, "regression", 0, 1)
    assert model._to_bytes() == alone._to_bytes()
    assert (
        type(model.alone()) is weald.BoostedTreesRegressor and model.alone()._to_bytes() == alone._to_bytes()
    )
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(program.X) == alone.predict(program.X)).all() and again.parallel == "data"
    assert model.category_ways_ == alone.category_ways_


def test_a_way_of_sharing_is_a_parameter() -> None:
    model = weald.mpi.BoostedTreesClassifier(parallel=weald.mpi.VotingParallel(top_k=3))
    assert clone(model).set_params(parallel__top_k=4).parallel.top_k == 4
    assert "parallel" not in model.alone().get_params()
    with pytest.raises(InputError, match="parallel must be 'data', 'feature' or 'voting'"):
        weald.mpi.BoostedTreesRegressor(parallel="rows").fit(program.X, program.NUMBER)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", None)
    with pytest.raises(MissingExtraError, match=r"weald.mpi needs mpi4py.*weald\[mpi\]"):
        weald.mpi.BoostedTreesRegressor().fit(np.zeros((3, 1)), [1.0, 2.0, 3.0])


def test_all_families_know_the_estimator_of_one_process() -> None:
    for name in weald.mpi.__all__:
        kind: Any = getattr(weald.mpi, name)
        if hasattr(kind, "fit"):
            assert type(kind().alone()) is getattr(weald, name)
