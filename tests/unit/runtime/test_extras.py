"""Packages that an extra brings."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

import weald.catboost as cb
import weald.lightgbm as lgb
import weald.xgboost as xgb
from weald.runtime.errors import MissingExtraError
from weald.runtime.extras import EXTRAS, load_extra

X = np.random.default_rng(0).standard_normal((60, 2))


def lightgbm_model() -> lgb.Booster:
    return lgb.train({"verbosity": -1, "min_data_in_leaf": 5}, lgb.Dataset(X, X[:, 0]), 2)


def xgboost_model() -> xgb.Booster:
    return xgb.train({"max_depth": 2}, xgb.DMatrix(X, label=X[:, 0]), 2)


def catboost_model() -> cb.CatBoostRegressor:
    return cb.CatBoostRegressor(iterations=2, verbose=False).fit(X, X[:, 0])


def catboost_cv() -> object:
    return cb.cv(cb.Pool(X, X[:, 0]), {"loss_function": "RMSE", "iterations": 2, "verbose": False})


USES: list[tuple[str, str, Callable[[], object]]] = [
    ("pandas", "trees_to_dataframe", lambda: lightgbm_model().trees_to_dataframe()),
    ("pandas", "trees_to_dataframe", lambda: xgboost_model().trees_to_dataframe()),
    ("pandas", "get_split_value_histogram", lambda: xgboost_model().get_split_value_histogram("f0")),
    ("pandas", "prettified", lambda: catboost_model().get_feature_importance(prettified=True)),
    ("pandas", "as_pandas", catboost_cv),
    ("matplotlib", "plot_importance", lambda: lgb.plot_importance(lightgbm_model())),
    ("matplotlib", "plot_importance", lambda: xgb.plot_importance(xgboost_model())),
]


@pytest.mark.parametrize(("package", "what", "use"), USES)
def test_what_needs_a_missing_package_says_what_it_is_and_names_the_extra(
    package: str, what: str, use: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=rf"{what}.* needs {package}.*'weald\[{EXTRAS[package]}\]'"):
        use()


def test_the_error_is_an_import_error_for_those_who_expect_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="frames"):
        load_extra("pandas", "this")


def test_a_module_of_a_package_is_loaded() -> None:
    assert load_extra("pyarrow.parquet", "this").__name__ == "pyarrow.parquet"
