from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weald
import weald.mlflow
from exchange_models import case, frame, numbers

mlflow = pytest.importorskip("mlflow")


@pytest.fixture
def store(tmp_path: Path) -> str:
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.set_experiment(
        experiment_id=mlflow.create_experiment("trees", artifact_location=str(tmp_path / "artifacts"))
    )
    return str(tmp_path)


def test_a_logged_model_comes_back_from_a_local_store(store: str) -> None:
    estimator = case("sets").estimator
    with mlflow.start_run():
        info = weald.mlflow.log_model(estimator, "model", pyfunc_predict_fn="predict_proba")
    back = weald.mlflow.load_model(info.model_uri)
    assert type(back) is type(estimator)
    table = frame(30, seed=5)
    expected = estimator.predict_proba(table)
    assert np.array_equal(back.predict_proba(table), expected)
    generic = mlflow.pyfunc.load_model(info.model_uri)
    assert np.array_equal(generic.predict(table), expected)


def test_a_saved_folder_holds_no_pickle(tmp_path: Path) -> None:
    estimator = case("regressor").estimator
    weald.mlflow.save_model(estimator, tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "MLmodel",
        "model.weald",
        "requirements.txt",
    ]
    generic = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    assert np.array_equal(generic.predict(numbers(20)), estimator.predict(numbers(20)))
    assert (tmp_path / "model" / "requirements.txt").read_text() == f"weald=={weald.__version__}\n"


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(weald.InputError, match="fitted estimator of Weald"):
        weald.mlflow.save_model(object(), tmp_path / "model")
    with pytest.raises(weald.InputError, match="pyfunc_predict_fn"):
        weald.mlflow.save_model(case("regressor").estimator, tmp_path / "model", pyfunc_predict_fn="fit")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").write_text("")
    with pytest.raises(weald.InputError, match="not empty"):
        weald.mlflow.save_model(case("regressor").estimator, tmp_path / "full")
