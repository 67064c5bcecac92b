"""The promise: the same data, parameters and seed give the same file, byte for byte, on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from invariants.shared_work import shared_histograms
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.estimators.shared.persistence import to_bytes
from weald.sampling import gradients, rows, weights
from weald.training.boosting import descent
from weald.tree.histograms import quantise
from weald.tree.rows import leaf, partition, sweep, walk

# Above the sizes from which every kernel shares its work among tasks.
N_ROWS = 150_000
THREADS = (1, 2, 3)


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N_ROWS, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 5] = rng.integers(0, 9, N_ROWS)
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2]) + (X[:, 5] == 3)
    # Rows without weight are left out; these are so few that the others are still enough for threads.
    weight = rng.integers(0, 20, N_ROWS).clip(max=3).astype(float)
    return X, signal + rng.standard_normal(N_ROWS), weight


def file_bytes(model: Any) -> bytes:
    return to_bytes(model, model._model)


def same_for_all_threads(make: Any, X: Any, y: Any, **fit: Any) -> None:
    with shared_histograms():
        first, *others = [file_bytes(make(n_jobs=threads).fit(X, y, **fit)) for threads in THREADS]
    for threads, other in zip(THREADS[1:], others, strict=True):
        assert other == first, f"{threads} threads gave another model than one"


def test_the_table_is_large_enough_for_threads(table: Any) -> None:
    _, _, weight = table
    fewest = np.count_nonzero(weight)  # the others are left out
    for module in (leaf, partition, quantise, sweep, walk, rows, gradients, weights):
        assert fewest >= module.PARALLEL_ROWS, module.__name__
    assert fewest >= descent.PARALLEL_SCORES


def test_a_fit_that_keeps_too_few_rows_for_shared_histograms_is_noticed(table: Any) -> None:
    X, y, _ = table
    model = BoostedTreesRegressor(n_estimators=1, n_jobs=2)
    few = np.where(np.arange(len(y)) < 6_600, 1.0, 0.0)  # of 6 columns: a little less than is shared
    with pytest.raises(AssertionError, match="39600 cells"), shared_histograms():
        model.fit(X, y, sample_weight=few)
    more = np.where(np.arange(len(y)) < 15_000, 1.0, 0.0)
    with pytest.raises(AssertionError, match="30000 cells"), shared_histograms():
        model.set_params(colsample_bytree=0.3).fit(X, y, sample_weight=more)


@pytest.mark.parametrize("precision", ["packed_always", "wide"])
@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
@pytest.mark.parametrize("sampled", [False, True])
def test_growth_policies_give_the_same_bytes(table: Any, growth: str, precision: str, sampled: bool) -> None:
    X, y, _ = table
    sampling = {
        "subsample": 0.7,
        "colsample_bytree": 0.8,
        "colsample_bylevel": 0.8,
        "colsample_bynode": 0.8,
    }

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(
            n_estimators=3,
            growth=growth,
            max_depth=4,
            split_finder=weald.Histogram(precision=precision),
            categorical_features=[5],
            random_state=3,
            n_jobs=n_jobs,
            **sampling if sampled else {},
        )

    same_for_all_threads(make, X, y)


@pytest.mark.parametrize(
    "loss",
    [
        "squared",
        "absolute",
        "huber",
        "pseudo_huber",
        "squared_log",
        "quantile",
        "poisson",
        "gamma",
        "tweedie",
    ],
)
def test_regression_losses_give_the_same_bytes(table: Any, loss: str) -> None:
    X, y, weight = table
    target = np.abs(y) + 0.1

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(loss, n_estimators=3, max_leaves=8, n_jobs=n_jobs)

    same_for_all_threads(make, X, target, sample_weight=weight, eval_set=[(X[:6000], target[:6000])])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification_gives_the_same_bytes(table: Any, n_classes: int) -> None:
    X, y, weight = table
    labels = np.digitize(y, [0.0] if n_classes == 2 else [-0.5, 0.5])

    def make(n_jobs: int) -> BoostedTreesClassifier:
        return BoostedTreesClassifier(n_estimators=3, max_leaves=8, class_weight="balanced", n_jobs=n_jobs)

    same_for_all_threads(make, X, labels, sample_weight=weight)


def test_a_custom_loss_gives_the_same_bytes(table: Any) -> None:
    X, y, _ = table

    def squared(y: Any, scores: Any) -> Any:
        return scores - y, np.ones_like(y)

    same_for_all_threads(lambda n_jobs: BoostedTreesRegressor(squared, n_estimators=3, n_jobs=n_jobs), X, y)


def test_predictions_do_not_depend_on_threads(table: Any) -> None:
    X, y, _ = table
    model = BoostedTreesRegressor(n_estimators=5).fit(X, y)
    one, two, three = (model.set_params(n_jobs=threads).predict(X) for threads in THREADS)
    assert one.tobytes() == two.tobytes() == three.tobytes()


def test_the_order_of_columns_in_memory_does_not_matter(table: Any) -> None:
    X, y, _ = table
    c_order = BoostedTreesRegressor(n_estimators=3).fit(X, y)
    f_order = BoostedTreesRegressor(n_estimators=3).fit(np.asfortranarray(X), y)
    assert file_bytes(c_order) == file_bytes(f_order)


def test_training_scores_are_the_predictions_to_the_last_bit(table: Any) -> None:
    X, y, _ = table
    seen: list[Any] = []

    def remember(targets: Any, scores: Any) -> Any:
        seen.append(scores.copy())
        return scores - targets, np.ones_like(targets)

    model = BoostedTreesRegressor(remember, n_estimators=4, subsample=0.5).fit(X, y)
    expected = model.forest_.first(3)
    from weald.forest.predict import raw_scores

    again = raw_scores(expected, [(0, X)], len(X), 1)
    assert again[0].tobytes() == seen[3].tobytes()


def test_another_seed_gives_another_model_only_where_something_is_random(table: Any) -> None:
    X, y, _ = table

    def fitted(seed: int, **more: Any) -> bytes:
        model = BoostedTreesRegressor(
            n_estimators=2,
            max_leaves=4,
            random_state=seed,
            split_finder=weald.Histogram(precision="wide"),
            **more,
        )
        model.fit(X[:5000], y[:5000])
        return model.forest_.value.tobytes()

    assert fitted(1) == fitted(2)
    assert fitted(1, subsample=0.5) != fitted(2, subsample=0.5)
