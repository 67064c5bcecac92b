"""The package's front door."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import weald

SOURCE = Path(weald.__file__).parent.parent


def loaded_after(statement: str) -> list[str]:
    program = f"""
import json, sys
sys.path.insert(0, {str(SOURCE)!r})
{statement}
print(json.dumps([*sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules: list[str] = json.loads(done.stdout.splitlines()[-1])
    return modules


@pytest.mark.parametrize("statement", ["import weald", "import weald; dir(weald)", "import weald.cli"])
def test_importing_weald_loads_nothing_heavy(statement: str) -> None:
    assert not {"numba", "sklearn", "pandas", "polars", "scipy", "numpy"} & set(loaded_after(statement))


FIRST_MODEL = """
import numpy as np, pickle, weald
X = np.random.default_rng(0).normal(size=(60, 3))
model = weald.{estimator}(n_estimators=3, n_jobs=2).fit(X, np.arange(60) % 2)
model.predict(X)
pickle.loads(pickle.dumps(model)).predict(X)
"""


@pytest.mark.parametrize("estimator", ["BoostedTreesClassifier", "BoostedTreesRegressor"])
def test_a_first_model_of_arrays_loads_only_what_it_needs(estimator: str) -> None:
    loaded = set(loaded_after(FIRST_MODEL.format(estimator=estimator)))
    assert not {"sklearn", "scipy.sparse", "scipy.special", "scipy.stats", "scipy.optimize"} & loaded
    assert not {"pandas", "polars", "pyarrow", "narwhals", "joblib", "matplotlib", "rich", "typer"} & loaded
    assert not {"weald.data.frames", "weald.dialects", "weald.tree.cart", "weald.training.classical"} & loaded


def test_every_public_name_can_be_loaded() -> None:
    for name in weald.__all__:
        assert getattr(weald, name) is not None
        assert name in dir(weald)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'BoostedTreez'"):
        weald.BoostedTreez  # noqa: B018


def test_importing_the_demo_or_the_main_module_runs_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    import weald.__main__
    import weald.demo

    assert callable(weald.demo.main) and callable(weald.__main__.main)
    assert capfd.readouterr().out == ""
