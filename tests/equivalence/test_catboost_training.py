"""The automatic learning rate and the overfitting detector against CatBoost's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.training.boosting.callbacks import decline_pvalue
from weald.training.boosting.learning_rate import automatic_learning_rate

catboost = pytest.importorskip("catboost")

LOSSES = {"Logloss": "logistic", "MultiClass": "softmax", "RMSE": "squared", "MAE": "absolute"}


class StopAtOnce:
    """The rate is chosen before the first round: one is enough."""

    def after_iteration(self, info: Any) -> bool:
        return False


def catboost_rate(loss: str, n_rows: int, rounds: int, keeps_best: bool, from_constant: bool) -> float:
    X = np.random.default_rng(0).standard_normal((n_rows, 1))
    y = {"Logloss": (X[:, 0] > 0).astype(int), "MultiClass": np.arange(n_rows) % 3}.get(loss, X[:, 0])
    options = {} if loss == "MultiClass" else {"boost_from_average": from_constant}
    model = catboost.CatBoost(
        {
            "loss_function": loss,
            "iterations": rounds,
            "depth": 1,
            "border_count": 2,
            "thread_count": 1,
            "verbose": 0,
            "allow_writing_files": False,
            **options,
        }
    )
    evaluated = (X[:50], y[:50]) if keeps_best else None
    model.fit(X, y, eval_set=evaluated, callbacks=[StopAtOnce()])
    return float(model.get_all_params()["learning_rate"])


@pytest.mark.parametrize("from_constant", [True, False])
@pytest.mark.parametrize("keeps_best", [True, False])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_the_automatic_rate_is_catboosts(loss: str, keeps_best: bool, from_constant: bool) -> None:
    for n_rows, rounds in ((150, 1000), (12_345, 1000), (700, 77), (4_000, 3_000)):
        theirs = catboost_rate(loss, n_rows, rounds, keeps_best, from_constant)
        ours = automatic_learning_rate(LOSSES[loss], n_rows, rounds, keeps_best, from_constant)
        assert ours == pytest.approx(theirs, rel=1e-4, abs=2e-6)


def test_estimators_train_at_the_rate_that_catboost_would_choose() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 2))
    two, three = (X[:, 0] > 0).astype(int), np.arange(500) % 3
    for y, loss, from_constant in ((two, "Logloss", True), (three, "MultiClass", False)):
        model = BoostedTreesClassifier(n_estimators=300, learning_rate="auto", max_leaves=2).fit(X, y)
        assert model.learning_rate_ == pytest.approx(
            catboost_rate(loss, 500, 300, False, from_constant), abs=2e-6
        )
    stopped = BoostedTreesRegressor(
        n_estimators=300, learning_rate="auto", max_leaves=2, early_stopping_rounds=1
    )
    stopped.fit(X, X[:, 0], eval_set=[(X[:9], X[:9, 0])])
    assert stopped.learning_rate_ == pytest.approx(catboost_rate("RMSE", 500, 300, True, True), abs=2e-6)


@pytest.mark.parametrize(("pvalue", "wait"), [(1e-1, 1), (1e-2, 5), (1e-3, 300), (1e-6, 20)])
def test_the_detector_stops_where_catboosts_does(pvalue: float, wait: int) -> None:
    rng = np.random.default_rng(0)
    X, other = rng.standard_normal((600, 5)), rng.standard_normal((300, 5))
    y, other_y = X[:, 0] + 2 * rng.standard_normal(600), other[:, 0] + 2 * rng.standard_normal(300)
    model = catboost.CatBoostRegressor(
        iterations=700,
        learning_rate=0.15,
        depth=4,
        od_type="IncToDec",
        od_pval=pvalue,
        od_wait=wait,
        use_best_model=False,
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
    )
    model.fit(X, y, eval_set=(other, other_y))
    values = model.evals_result_["validation"]["RMSE"]
    assert len(values) < 700

    def stops(length: int) -> bool:
        since = length - 1 - int(np.argmin(values[:length]))
        return since >= wait and decline_pvalue(values[:length], greater_is_better=False) < pvalue

    assert stops(len(values))
    assert not any(stops(length) for length in range(1, len(values), 7)) and not stops(len(values) - 1)
