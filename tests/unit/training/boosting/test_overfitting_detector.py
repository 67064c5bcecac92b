"""The overfitting detector: when it stops, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from weald import BoostedTreesRegressor, OverfittingDetector
from weald.runtime.errors import InputError
from weald.training.boosting.callbacks import decline_pvalue


def naive(values: list[float], greater: bool) -> float:
    scores = np.array(values) if greater else -np.array(values)
    last = len(scores) - 1
    expected = max(
        0.99 ** (last - first) * (scores[second] - scores[first])
        for first in range(len(scores))
        for second in range(first, len(scores))
    )
    decline = scores.max() - scores[last]
    if decline == 0.0:
        return 1.0
    return math.exp(-0.5 * decline / expected) if expected > 0.0 else 0.0


@pytest.mark.parametrize("greater", [True, False])
def test_the_pvalue_is_that_of_all_pairs_of_rounds(greater: bool) -> None:
    rng = np.random.default_rng(0)
    for length in (1, 2, 7, 40):
        values = rng.standard_normal(length).tolist()
        assert decline_pvalue(values, greater) == pytest.approx(naive(values, greater), rel=1e-12)


def test_a_fit_stops_and_keeps_the_best_round() -> None:
    rng = np.random.default_rng(0)
    X, other = rng.standard_normal((200, 5)), rng.standard_normal((100, 5))
    y, other_y = X[:, 0] + 3 * rng.standard_normal(200), other[:, 0] + 3 * rng.standard_normal(100)
    model = BoostedTreesRegressor(n_estimators=400, learning_rate=0.3, min_samples_leaf=3)
    model.fit(X, y, eval_set=[(other, other_y)], callbacks=[OverfittingDetector(0.01, wait=10)])
    values = next(iter(model.history_["valid_0"].values()))
    assert len(values) < 400 and model.forest_.n_rounds == model.best_iteration_ + 1
    assert decline_pvalue(values, False) < 0.01 and len(values) - model.best_iteration_ > 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pvalue": 0.0}, "pvalue must be between 0 and 1, not 0.0"),
        ({"pvalue": 1.0}, "pvalue must be between 0 and 1"),
        ({"pvalue": 0.1, "wait": 0}, "wait must be a whole number of at least 1, not 0"),
    ],
)
def test_bad_values_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        OverfittingDetector(**options)


def test_the_detector_needs_an_evaluation_set() -> None:
    with pytest.raises(InputError, match="needs an eval_set"):
        BoostedTreesRegressor(n_estimators=2).fit(
            [[1.0], [2.0]], [0.0, 1.0], callbacks=[OverfittingDetector(0.1)]
        )
