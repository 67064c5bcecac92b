"""No two rows ever violate a constraint, whatever the data, the loss and the trees: cases drawn by hypothesis.

A forest changes with a column only at its own thresholds, so the values at every threshold and just above it, and at both
infinities, are all there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.forest.forest import Forest
from weald.forest.predict import raw_scores
from weald.training.boosting.flat import from_flat

N_COLUMNS = 5
GROWTHS = st.sampled_from(["leafwise", "depthwise", "oblivious"])
SIGNS = st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4)
PARAMETERS = st.fixed_dictionaries(
    {
        "learning_rate": st.sampled_from([0.1, 1.0]),
        "max_depth": st.integers(1, 8),
        "min_samples_leaf": st.sampled_from([1, 4, 30]),
        "min_child_weight": st.sampled_from([0.0, 5.0]),
        "reg_lambda": st.sampled_from([0.0, 1.0, 40.0]),
        "reg_alpha": st.sampled_from([0.0, 0.5]),
        "gamma": st.sampled_from([0.0, 0.3]),
        "max_delta_step": st.sampled_from([0.0, 0.2]),
        "subsample": st.sampled_from([0.5, 1.0]),
        "colsample_bynode": st.sampled_from([0.6, 1.0]),
        "precision": st.sampled_from(["packed_always", "wide"]),
        "finder": st.sampled_from(
            [
                {"max_bins": 4},
                {"max_bins": 255},
                {"split_finder": "exact"},
                {"split_finder": "approx", "proposals": "global", "sketch_eps": 0.1},
                {"split_finder": "approx", "proposals": "local", "sketch_eps": 0.1},
                {"split_finder": "approx", "proposals": "local"},
            ]
        ),
    }
)
LOSSES = st.sampled_from(["squared", "absolute", "quantile", "huber", "poisson", "classes", "two classes"])


def table(seed: int, n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows with missing values and a category, and a label that rises and falls with every column."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n_rows, N_COLUMNS)).round(int(generator.integers(1, 4)))
    X[:, 4] = generator.integers(0, 4, n_rows)
    waves = np.sin(X * generator.uniform(0.5, 3.0, N_COLUMNS)) @ generator.standard_normal(N_COLUMNS)
    y = waves + X[:, 0] * X[:, 1] + 0.3 * generator.standard_normal(n_rows)
    X[generator.random(X.shape) < generator.choice([0.0, 0.15])] = np.nan
    return X, y


def fitted(loss: str, X: Any, y: Any, parameters: dict[str, Any], **constraints: Any) -> Any:
    limits = {"max_leaves": None} if parameters["growth"] == "oblivious" else {"max_leaves": 40}
    options = from_flat(
        {
            "n_estimators": 3,
            "categorical_features": [4],
            "n_jobs": 1,
            **limits,
            **{name: value for name, value in parameters.items() if name != "finder"},
            **parameters.get("finder", {}),
            **constraints,
        }
    )
    if "classes" in loss:
        cuts = [0.0] if loss == "two classes" else [-0.5, 0.5]
        labels = np.digitize(y, cuts)
        labels[:3] = [0, 1, len(cuts)]
        return BoostedTreesClassifier(**options).fit(X, labels)
    target = np.abs(y) if loss == "poisson" else y
    return BoostedTreesRegressor(loss, **options).fit(X, target)


def all_values(forest: Forest, column: int) -> NDArray[np.float64]:
    """Ascending: every value of the column between which the forest could change."""
    at = np.unique(forest.threshold[(forest.feature == column) & (forest.category_set < 0)])
    return np.unique(np.concatenate([[-np.inf], at, np.nextafter(at, np.inf), [np.inf]]))


def assert_monotone(forest: Forest, X: NDArray[np.float64], signs: list[int]) -> None:
    for column, sign in enumerate(signs):
        if sign == 0:
            continue
        values = all_values(forest, column)
        for row in X[:: max(1, len(X) // 15)]:
            rows = np.repeat(row[None], len(values), axis=0)
            rows[:, column] = values
            scores = raw_scores(forest, [(0, rows)], len(rows), 1)
            assert (np.diff(scores, axis=1) * sign >= 0.0).all()


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 300), GROWTHS, LOSSES, SIGNS, PARAMETERS)
def test_no_pair_of_rows_violates_a_monotone_constraint(
    seed: int, n_rows: int, growth: str, loss: str, signs: list[int], parameters: dict[str, Any]
) -> None:
    X, y = table(seed, n_rows)
    model = fitted(loss, X, y, {"growth": growth, **parameters}, monotone_constraints=[*signs, 0])
    assert_monotone(model.forest_, X, signs)


def columns_of_paths(forest: Forest) -> list[set[int]]:
    """The columns on the way to every leaf of every tree."""
    found = []
    for index in range(forest.n_trees):
        tree = forest.tree(index)
        above: list[set[int]] = [set() for _ in range(tree.n_nodes)]
        for node in range(tree.n_nodes):
            column = int(tree.feature[node])
            if column < 0:
                found.append(above[node])
                continue
            for child in (tree.left[node], tree.left[node] + 1):
                above[child] = above[node] | {column}
    return found


GROUPS = st.lists(st.sets(st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 300), GROWTHS, GROUPS, PARAMETERS)
def test_the_columns_of_every_path_are_of_one_group(
    seed: int, n_rows: int, growth: str, groups: list[set[int]], parameters: dict[str, Any]
) -> None:
    X, y = table(seed, n_rows)
    signs = {0: 1} if seed % 2 else None
    model = fitted(
        "squared",
        X,
        y,
        {"growth": growth, **parameters},
        interaction_constraints=[sorted(group) for group in groups],
        monotone_constraints=signs,
    )
    for path in columns_of_paths(model.forest_):
        assert len(path) <= 1 or any(path <= group for group in groups)
    if signs:
        assert_monotone(model.forest_, X, [1, 0, 0, 0])


def test_the_cases_reach_what_they_are_about() -> None:
    """Deep trees that use the constrained columns, and oblivious leaves without rows."""
    X, y = table(3, 300)
    y += 2.0 * np.nan_to_num(X[:, 0]) - 2.0 * np.nan_to_num(X[:, 1])
    quiet: dict[str, Any] = {"max_depth": 6, "min_samples_leaf": 1, "reg_lambda": 0.0}
    for growth in ("leafwise", "depthwise", "oblivious"):
        for loss in ("squared", "absolute"):
            model = fitted(loss, X, y, {"growth": growth, **quiet}, monotone_constraints=[1, -1, 0, 1, 0])
            forest = model.forest_
            assert {0, 1} <= set(forest.feature.tolist())
            assert forest.n_leaves > 45
            assert_monotone(forest, X, [1, -1, 0, 1])
            if growth == "oblivious":
                assert (forest.count[forest.feature < 0] == 0).any()
