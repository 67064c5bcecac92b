"""`weald import`: another system's model becomes one of Weald's, or a sentence says why not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import weald
from weald.cli import app

RUNNER = CliRunner()


def test_a_model_is_imported_and_predicts(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    X = np.random.default_rng(0).standard_normal((100, 2))
    trained = xgboost.train({"nthread": 1}, xgboost.DMatrix(X, X[:, 0], feature_names=["a", "b"]), 3)
    theirs, ours, rows, out = (
        tmp_path / name for name in ("theirs.json", "ours.weald", "rows.csv", "out.csv")
    )
    trained.save_model(theirs)
    done = RUNNER.invoke(app, ["import", str(theirs), "--model", str(ours)])
    assert done.exit_code == 0, done.output
    assert "XGBoost, reg:squarederror: Forest of 3 rounds" in done.output
    np.savetxt(rows, X, delimiter=",", header="a,b", comments="")
    done = RUNNER.invoke(app, ["predict", str(rows), "--model", str(ours), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert np.allclose(np.loadtxt(out, skiprows=1), weald.load(ours).predict({"a": X[:, 0], "b": X[:, 1]}))


def test_what_is_no_model_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "theirs.json"
    path.write_text('{"a": 1}')
    done = RUNNER.invoke(app, ["import", str(path), "--model", str(tmp_path / "ours.weald")])
    assert done.exit_code == 2 and "not that of XGBoost, LightGBM or CatBoost" in done.output
    done = RUNNER.invoke(app, ["import", str(tmp_path / "nothing.json")])
    assert done.exit_code == 2 and "there is no such file" in done.output
