"""Scripts that catch an interface's error catch ours, which stays the error that it is, and a ValueError."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import weald.catboost as cb
import weald.lightgbm as lgb
import weald.xgboost as xgb
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

X = np.arange(20.0).reshape(-1, 1)
Y = X[:, 0]
NO_FILE = Path("there") / "is" / "none"
DAMAGED = b"not a model"

SCRIPTS: dict[str, tuple[type[ValueError], type[Exception], Callable[[], Any]]] = {
    "lightgbm: a parameter": (
        lgb.LightGBMError, InputError, lambda: lgb.train({"num_leaves": 1}, lgb.Dataset(X, Y), 1)
    ),
    "lightgbm: an estimator": (
        lgb.LightGBMError, InputError, lambda: lgb.LGBMRegressor(min_child_samples=-1).fit(X, Y)
    ),
    "lightgbm: labels": (lgb.LightGBMError, InputError, lambda: lgb.Dataset(X, Y[:3]).construct()),
    "lightgbm: a method that is not there": (
        lgb.LightGBMError, NotSupportedError, lambda: lgb.Dataset(X, Y).feature_num_bin(0)
    ),
    "lightgbm: no file": (
        lgb.LightGBMError, FileNotFoundError, lambda: lgb.Booster(model_file=str(NO_FILE))
    ),
    "lightgbm: not fitted": (lgb.LightGBMError, NotFittedError, lambda: lgb.LGBMRegressor().predict(X)),
    "xgboost: a parameter": (
        xgb.core.XGBoostError, InputError, lambda: xgb.train({"eta": -1}, xgb.DMatrix(X, Y), 1)
    ),
    "xgboost: an estimator": (xgb.core.XGBoostError, InputError, lambda: xgb.XGBRFRegressor(eta=-1).fit(X, Y)),
    "xgboost: a file": (xgb.core.XGBoostError, ModelFileError, lambda: xgb.Booster(model_file=DAMAGED)),
    "xgboost: no file": (xgb.core.XGBoostError, FileNotFoundError, lambda: xgb.DMatrix(str(NO_FILE))),
    "catboost: a parameter": (cb.CatBoostError, InputError, lambda: cb.CatBoostRegressor(depth=-1).fit(X, Y)),
    "catboost: not trained": (cb.CatBoostError, NotFittedError, lambda: cb.CatBoostClassifier().predict(X)),
    "catboost: rows of steps": (
        cb.CatBoostError, NotFittedError, lambda: list(cb.CatBoostRegressor().staged_predict(X))
    ),
    "catboost: a property": (cb.CatBoostError, NotFittedError, lambda: cb.CatBoostRegressor().feature_names_),
    "catboost: no file": (
        cb.CatBoostError, FileNotFoundError, lambda: cb.CatBoost().load_model(str(NO_FILE))
    ),
    "catboost: a function": (cb.CatBoostError, InputError, lambda: cb.sum_models([])),
}  # fmt: skip


@pytest.mark.parametrize("case", SCRIPTS)
def test_an_error_is_the_interfaces_and_still_ours(case: str) -> None:
    own, ours, script = SCRIPTS[case]
    assert issubclass(own, ValueError) and own is not ValueError and not issubclass(ours, own)
    try:
        script()
    except own as error:
        assert isinstance(error, ours) and isinstance(error, ValueError) and str(error)
        assert error.__context__ is None or error.__suppress_context__
        copied = pickle.loads(pickle.dumps(error))
        assert type(copied) is type(error) and str(copied) == str(error)
    else:
        pytest.fail("there was no error")


def test_the_traceback_tells_where_an_error_came_from() -> None:
    with pytest.raises(lgb.LightGBMError) as caught:
        lgb.train({"num_leavs": 3}, lgb.Dataset(X, Y), 1)
    told = "".join(traceback.format_exception(caught.value))
    assert "params/" in told and told.rstrip().splitlines()[-1].endswith("did you mean 'num_leaves'?")


def test_errors_of_other_kinds_pass_as_they_are() -> None:
    def broken(predictions: Any, data: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        lgb.train({"verbosity": -1}, lgb.Dataset(X, Y), 1, valid_sets=[lgb.Dataset(X, Y)], feval=broken)
    with pytest.raises(TypeError) as caught:
        lgb.train({}, X)
    assert not isinstance(caught.value, lgb.LightGBMError)


def test_signatures_and_examples_are_those_of_the_functions_behind_the_door() -> None:
    import doctest
    import inspect

    from weald.dialects.lightgbm import booster, training

    assert list(inspect.signature(lgb.train).parameters)[:3] == ["params", "train_set", "num_boost_round"]
    assert next(iter(inspect.signature(lgb.Booster.predict).parameters)) == "self"
    found = [test for test in doctest.DocTestFinder().find(training) if test.examples]
    assert any(test.name.endswith("train") for test in found)
    assert booster.Booster.predict.__module__ == booster.__name__
