"""Sets of categories give the same bytes on any number of threads, and predictions are the training scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from invariants.test_determinism import N_ROWS, same_for_all_threads
from weald import BoostedTreesRegressor, ExtraTreesClassifier, RandomForestClassifier
from weald.data import read_table
from weald.forest.predict import raw_scores

CATEGORIES = [2, 3, 4]
SMOOTHED = weald.Partition(smooth=10.0, l2=10.0, min_samples=100)


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any]:
    """Two columns of numbers, and categories: 9, 60 and 400, some missing."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((N_ROWS, 5))
    signal = np.sin(3.0 * X[:, 0])
    for column, number in zip(CATEGORIES, (9, 60, 400), strict=True):
        codes = (rng.random(N_ROWS) ** 2 * number).astype(int)
        signal += rng.standard_normal(number)[codes]
        X[:, column] = np.where(rng.random(N_ROWS) < 0.03, np.nan, codes)
    return X, signal + rng.standard_normal(N_ROWS)


@pytest.mark.parametrize("precision", ["packed_always", "wide"])
@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
def test_sets_of_categories_give_the_same_bytes(table: Any, growth: str, precision: str) -> None:
    X, y = table

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(
            n_estimators=3,
            growth=growth,
            max_depth=4,
            split_finder=weald.Histogram(precision=precision),
            categories=weald.Partition(max_threshold=20),
            categorical_features=CATEGORIES,
            subsample=0.7,
            n_jobs=n_jobs,
        )

    same_for_all_threads(make, X, y, eval_set=[(X[:6000], y[:6000])])


@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
def test_smoothed_sets_give_the_same_bytes(table: Any, growth: str) -> None:
    X, y = table

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(
            n_estimators=3,
            growth=growth,
            max_depth=4,
            n_jobs=n_jobs,
            categories=SMOOTHED,
            categorical_features=CATEGORIES,
        )

    same_for_all_threads(make, X, y, eval_set=[(X[:6000], y[:6000])])


@pytest.mark.parametrize("categories", ["partition", SMOOTHED], ids=str)
@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
def test_training_scores_are_the_predictions_to_the_last_bit(
    table: Any, growth: str, categories: Any
) -> None:
    X, y = table
    seen: list[Any] = []

    def remember(targets: Any, scores: Any) -> Any:
        seen.append(scores.copy())
        return scores - targets, np.ones_like(targets)

    model = BoostedTreesRegressor(
        remember,
        n_estimators=4,
        growth=growth,
        subsample=0.5,
        categorical_features=CATEGORIES,
        categories=categories,
    ).fit(X, y)
    rows = read_table(X, schema=model._model.schema)  # the categories' codes
    again = raw_scores(model.forest_.first(3), rows.blocks(), len(X), 1)
    assert again[0].tobytes() == seen[3].tobytes()


@pytest.mark.parametrize("make", [RandomForestClassifier, ExtraTreesClassifier])
def test_forests_on_categories_give_the_same_trees(table: Any, make: Any) -> None:
    X, y = table
    rows = slice(0, 4000)
    forests = [
        make(6, categorical_features=CATEGORIES, random_state=1, n_jobs=threads)
        .fit(X[rows], y[rows] > 0)
        .forest_
        for threads in (1, 2, 3)
    ]
    for other in forests[1:]:
        for name in ("feature", "left", "threshold", "category_set", "set_codes", "value"):
            assert getattr(other, name).tobytes() == getattr(forests[0], name).tobytes()
