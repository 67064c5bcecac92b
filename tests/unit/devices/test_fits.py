"""Whole fits on devices: the model is that of the CPU, to the byte."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from opencl_devices import devices
from thread_team import ThreadTeam, run_team
from unit.tree.shards.test_fits import CASES, TARGETS, WEIGHT, X
from weald import Bins, BoostedTreesClassifier, BoostedTreesRegressor, OpenCL
from weald.binning.parts import Part, sharded_table_of
from weald.estimators.shared.persistence import to_bytes
from weald.runtime.errors import InputError
from weald.training.boosting.flat import from_flat


def names_of(least: int) -> str:
    return ",".join(str(device.number) for device in devices(least))


def fit(device: Any, target: str = "number", weighted: bool = False, **settings: Any) -> tuple[bytes, Any]:
    """The file of a small fit with an evaluation set, and its history."""
    kind = BoostedTreesClassifier if target in ("two", "three") else BoostedTreesRegressor
    y, rows = TARGETS[target], slice(0, 120)
    given = from_flat({"n_estimators": 3, "n_jobs": 1, "learning_rate": 0.3, **settings})
    evaluation = ({name: values[rows] for name, values in X.items()}, y[rows])
    model = kind(**given, device=device)
    model.fit(X, y, sample_weight=WEIGHT if weighted else None, eval_set=[evaluation])
    return to_bytes(model, model._model), model.history_


#: beside those that tables in blocks have
MORE: dict[str, dict[str, Any]] = {
    "statistics": {"categories": "ordered", "target": "two"},
    "many leaves": {"max_leaves": 400, "min_samples_leaf": 1},
    "many bins": {"max_bins": 1000, "min_samples_leaf": 1},
    "statistics, ordered boosting": {"categories": "greedy", "booster": "ordered", "growth": "depthwise"},
}
# tests/invariants/test_devices.py tries the others, two by two
FEW = {name: CASES[name] for name in ("squared", "three classes", "sampled", "absolute, pruned", "threads")}
ALL = {**FEW, **MORE}


@pytest.mark.parametrize("name", ALL)
def test_devices_give_the_model_of_the_cpu(name: str) -> None:
    expected = fit("cpu", **ALL[name])
    assert fit(f"opencl:{names_of(1)}", **ALL[name]) == expected
    # two devices, whose rows pass through them
    assert fit(OpenCL(names_of(2), memory_limit=12_500), **ALL[name]) == expected


@pytest.mark.parametrize("name", ["three classes", "sets", "large gradients"])
def test_members_of_a_team_with_devices_and_without_train_the_model_of_the_cpu(name: str) -> None:
    settings = dict(CASES[name])
    y = TARGETS[settings.pop("target", "number")]
    kind = BoostedTreesClassifier if y.dtype.kind == "i" else BoostedTreesRegressor
    given = from_flat({"n_estimators": 3, "n_jobs": 1, **settings})
    on = ["cpu", f"opencl:{names_of(1)}", OpenCL(names_of(2), memory_limit=12_500)]
    ends = [[0, 100, 230], [230, 231], [231, 400, 550, len(y)]]

    def member(team: ThreadTeam) -> bytes:
        model = kind(**given, device=on[team.rank])
        wishes = model._bin_wishes()
        assert wishes is not None
        rows = [slice(begin, end) for begin, end in pairwise(ends[team.rank])]
        parts = [Part({name: values[own] for name, values in X.items()}, y[own]) for own in rows]
        model.fit(sharded_table_of(parts, wishes, "this model", team=team))
        return to_bytes(model, model._model)

    on_cpu = kind(**given).fit(X, y)
    assert run_team(3, member) == [to_bytes(on_cpu, on_cpu._model)] * 3


def test_sparse_and_bundled_tables_give_the_model_of_the_cpu() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    y = TARGETS["number"]
    eye = np.eye(40)[np.arange(len(y)) % 40] * np.arange(1, len(y) + 1)[:, None] % 7
    for table in (sparse.csr_matrix(eye), eye):
        for bins in (Bins(bundling="none"), Bins(bundling="count")):
            given: dict[str, Any] = {"n_estimators": 3, "bins": bins}
            on_cpu, on_device = (
                BoostedTreesRegressor(**given, device=device).fit(table, y, eval_set=[(table[:50], y[:50])])
                for device in ("cpu", f"opencl:{names_of(1)}")
            )
            assert on_device.history_ == on_cpu.history_
            assert to_bytes(on_device, on_device._model) == to_bytes(on_cpu, on_cpu._model)


def test_training_goes_on_elsewhere(tmp_path: Path) -> None:
    """From a checkpoint, from a warm start and from a file, on another device or on none."""
    X, y = np.arange(300.0).reshape(-1, 3) % 17, np.arange(100.0)
    device, path = f"opencl:{names_of(1)}", tmp_path / "checkpoint.weald"
    whole = BoostedTreesRegressor(n_estimators=4, subsample=0.7).fit(X, y)
    part = BoostedTreesRegressor(n_estimators=2, subsample=0.7, device=device)
    part.fit(X, y, callbacks=[weald.Checkpoint(path, every=1)])
    resumed = BoostedTreesRegressor(n_estimators=4, subsample=0.7).fit(X, y, resume_from=path)
    part.set_params(n_estimators=4, warm_start=True).fit(X, y)
    part.save(tmp_path / "part.weald")
    loaded = weald.load(tmp_path / "part.weald")
    assert loaded.device == "cpu"
    for model in (resumed, part, loaded):
        assert model.forest_ == whole.forest_


def test_two_fits_at_once_do_not_disturb_each_other() -> None:
    X, y = np.random.default_rng(1).normal(size=(300, 4)), np.arange(300.0) % 11
    expected = [
        BoostedTreesRegressor(n_estimators=3, max_leaves=leaves).fit(X, y).forest_ for leaves in (5, 9)
    ]

    def on_device(leaves: int) -> Any:
        return (
            BoostedTreesRegressor(n_estimators=3, max_leaves=leaves, device=f"opencl:{names_of(1)}")
            .fit(X, y)
            .forest_
        )

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(on_device, (5, 9))) == expected


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"split_finder": "exact"},
            "split_finder='exact' is not there on OpenCL devices; use 'hist', or device='cpu'",
        ),
        ({"split_finder": "approx"}, "split_finder='approx' is not there on OpenCL devices"),
        (
            {"splits": weald.Splits(forced={"feature": 0, "threshold": 1.0})},
            "splits.forced is not there on OpenCL",
        ),
        ({"booster": "linear"}, "device='opencl' belongs to trees, and booster='linear' has none"),
        ({"device": "opencl:99"}, "device='opencl:99' is not there; the OpenCL devices here are 0 "),
        ({"device": "opencl:0,0"}, "device.devices='0,0' names a device twice"),
        ({"device": "opencl:"}, "device.devices must be numbers of devices"),
        ({"device": "cuda"}, "device='cuda' is not supported; use device='opencl'"),
        ({"device": OpenCL("0", memory_limit=0)}, "device.memory_limit must be"),
    ],
)
def test_what_devices_cannot_do_is_refused_by_name(settings: dict[str, Any], sentence: str) -> None:
    devices(1)
    model = BoostedTreesRegressor(**{"device": "opencl", "n_estimators": 1, **settings})
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        model.fit(np.arange(60.0).reshape(-1, 2), np.arange(30.0))


def test_a_store_of_blocks_is_trained_on_devices(tmp_path: Path) -> None:
    generator = np.random.default_rng(8)
    X, y = generator.normal(size=(9_000, 4)), generator.normal(size=9_000)
    store = weald.BlockStore.build(X, tmp_path / "store", target=y, block_rows=2_048)
    on_cpu = BoostedTreesRegressor(n_estimators=3).fit(X, y)
    for device in (f"opencl:{names_of(2)}", OpenCL(names_of(1), memory_limit=200_000)):
        model = BoostedTreesRegressor(n_estimators=3, device=device).fit(store)
        assert model.forest_ == on_cpu.forest_


def test_the_command_line_trains_on_devices(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from weald.cli import app

    table = tmp_path / "table.csv"
    lines = [f"{row % 7},{row % 5},{row % 7 - row % 3}" for row in range(200)]
    table.write_text("\n".join(["a,b,y", *lines]) + "\n")
    files = []
    settings = (
        ["device=cpu"],
        ["device=opencl", f"device.devices={names_of(2)}", "device.memory_limit=9 kB"],
    )
    for place, chosen in enumerate((*settings, [f"device=opencl:{names_of(1)}"])):
        files.append(tmp_path / f"{place}.weald")
        given = [part for setting in ("n_estimators=3", *chosen) for part in ("--set", setting)]
        said = CliRunner().invoke(
            app,
            ["train", str(table), "--target", "y", "--model", str(files[-1]), "--task", "regression", *given],
        )
        assert said.exit_code == 0, said.output
    assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()
