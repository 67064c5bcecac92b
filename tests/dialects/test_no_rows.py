"""Tables without rows are predicted by the interfaces: the other axes and the dtypes are those of a full table's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import weald.catboost as cb
import weald.lightgbm as lgb
import weald.xgboost as xgb

ROWS = 37  # no other axis is as long
X = np.random.default_rng(0).random((ROWS, 3))
Y = X[:, 0]
THREE = np.digitize(Y, [0.3, 0.6])
SILENT: dict[str, Any] = {"verbosity": -1, "num_threads": 1}
QUIET: dict[str, Any] = {"iterations": 2, "verbose": False, "thread_count": 1}


def xgboost(y: Any, **params: Any) -> Any:
    return xgb.train({"nthread": 1, **params}, xgb.DMatrix(X, label=y), 2)


def lightgbm(y: Any, **params: Any) -> Any:
    return lgb.train({**SILENT, "min_data_in_leaf": 2, **params}, lgb.Dataset(X, y), 2)


def xgboosts(table: Any) -> list[Any]:
    several, one = xgboost(THREE, objective="multi:softprob", num_class=3), xgboost(Y)
    classifier = xgb.XGBClassifier(n_estimators=2, n_jobs=1).fit(X, THREE)
    matrix = xgb.DMatrix(table)
    return [
        *(booster.predict(matrix) for booster in (one, several)),
        one.inplace_predict(table),
        *(several.predict(matrix, **{kind: True}) for kind in ("pred_contribs", "pred_leaf", "output_margin")),
        classifier.predict(table),
        classifier.predict_proba(table),
        classifier.apply(table),
    ]


def lightgbms(table: Any) -> list[Any]:
    several, one = lightgbm(THREE, objective="multiclass", num_class=3), lightgbm(Y)
    classifier = lgb.LGBMClassifier(n_estimators=2, verbosity=-1, n_jobs=1).fit(X, THREE)
    return [
        *(booster.predict(table) for booster in (one, several)),
        *(several.predict(table, **{kind: True}) for kind in ("pred_contrib", "pred_leaf", "raw_score")),
        *several.predict(sparse.csr_matrix(table), pred_contrib=True),
        classifier.predict(table),
        classifier.predict_proba(table),
    ]


def catboosts(table: Any) -> list[Any]:
    classifier = cb.CatBoostClassifier(**QUIET).fit(X, THREE)
    regressor = cb.CatBoostRegressor(**QUIET).fit(X, Y)
    return [
        classifier.predict(table),
        classifier.predict_proba(cb.Pool(table)),
        *regressor.staged_predict(table),
        regressor.get_feature_importance(cb.Pool(table), type="ShapValues"),
        regressor.calc_leaf_indexes(table),
    ]


@pytest.mark.parametrize("answers", [xgboosts, lightgbms, catboosts])
def test_no_rows_have_answers_of_the_same_shapes(answers: Callable[[Any], list[Any]]) -> None:
    for none, full in zip(answers(X[:0]), answers(X), strict=True):
        assert none.shape == tuple(0 if size == ROWS else size for size in full.shape)
        assert none.dtype == full.dtype


def test_no_rows_are_nothing_to_train_on() -> None:
    for train in (
        lambda: xgb.train({}, xgb.DMatrix(X[:0], label=Y[:0]), 1),
        lambda: lgb.train(SILENT, lgb.Dataset(X[:0], Y[:0]), 1),
        lambda: cb.CatBoostRegressor(**QUIET).fit(X[:0], Y[:0]),
        lambda: xgb.XGBRegressor().fit(X[:0], Y[:0]),
        lambda: lgb.LGBMRegressor().fit(X[:0], Y[:0]),
    ):
        with pytest.raises(ValueError, match=r"0 sample|no rows"):
            train()


def test_catboosts_score_of_no_rows_is_no_number() -> None:
    assert np.isnan(cb.CatBoostClassifier(**QUIET).fit(X, THREE).score(X[:0], THREE[:0]))
    assert np.isnan(cb.CatBoostRegressor(**QUIET).fit(X, Y).score(X[:0], Y[:0]))
