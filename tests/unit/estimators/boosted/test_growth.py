"""Smoothed values, drawn thresholds and forced splits at the door, and leaf-wise against depth-wise growth."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.runtime.errors import InputError, NotSupportedError

X, Y = load_diabetes(return_X_y=True)
ONE: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0, "reg_lambda": 0.0, "n_jobs": 1}
CITIES = np.array(["Ulm", "Linz", "Graz", "Bern"])


def mixed(n_rows: int = 400) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(0)
    city = CITIES[rng.integers(0, 4, n_rows)]
    age = np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(20, 80, n_rows))
    return {"age": age, "city": city}, np.nan_to_num(age) / 50 + (city == "Linz") + rng.random(n_rows)


# --- path_smooth ----------------------------------------------------------------------------------


def test_a_leafs_value_is_averaged_with_its_parents_by_hand() -> None:
    x, y = np.repeat([0.0, 1.0], [30, 10])[:, None], np.repeat([1.0, 5.0], [30, 10])
    model = BoostedTreesRegressor(leaves=weald.Leaves(path_smooth=10.0), min_samples_leaf=2, **ONE).fit(x, y)
    # The root is the mean, 2; the leaves are (30 * 1 + 10 * 2) / 40 and (10 * 5 + 10 * 2) / 20.
    assert model.predict([[0.0], [1.0]]) == pytest.approx([1.25, 3.5])


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "poisson"])
@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
@pytest.mark.parametrize("finder", ["hist", "exact", "approx"])
def test_every_node_is_between_its_own_value_and_its_parents(loss: str, growth: str, finder: str) -> None:
    options: dict[str, Any] = {**ONE, "growth": growth, "split_finder": finder, "min_samples_leaf": 9}
    limits = {"max_depth": 3, "max_leaves": None} if growth == "oblivious" else {"max_leaves": 8}
    free, smooth = (
        BoostedTreesRegressor(loss, leaves=weald.Leaves(path_smooth=s), **options, **limits).fit(X, Y)
        for s in (0.0, 25.0)
    )
    spread = [np.std(model.predict(X)) for model in (free, smooth)]
    assert 0.3 * spread[0] < spread[1] < spread[0]
    heavy = BoostedTreesRegressor(loss, leaves=weald.Leaves(path_smooth=1e12), **options, **limits).fit(X, Y)
    assert np.ptp(heavy.predict(X)) < 1e-6 * np.ptp(free.predict(X))


def test_smoothed_leaves_of_medians_move_towards_the_medians_above() -> None:
    x, y = (
        np.repeat([0.0, 1.0], [30, 11])[:, None],
        np.concatenate([np.arange(30.0), np.arange(100.0, 111.0)]),
    )
    model = BoostedTreesRegressor(
        "absolute", leaves=weald.Leaves(path_smooth=10.0), min_samples_leaf=2, **ONE
    ).fit(x, y)
    root, leaves = np.median(y), (np.median(y[:30]), np.median(y[30:]))
    expected = [(leaves[0] * 30 + root * 10) / 40, (leaves[1] * 11 + root * 10) / 21]
    assert model.predict([[0.0], [1.0]]) == pytest.approx(expected)


def test_path_smooth_needs_leaves_of_two_rows() -> None:
    model = BoostedTreesRegressor(leaves=weald.Leaves(path_smooth=1.0), min_samples_leaf=1)
    with pytest.raises(InputError, match=r"path_smooth=1\.0 needs min_samples_leaf of at least 2, not 1"):
        model.fit(X, Y)


# --- extra_trees ----------------------------------------------------------------------------------


def test_drawn_thresholds_differ_with_the_seed_the_round_and_nothing_else() -> None:
    models = [
        BoostedTreesRegressor(
            n_estimators=3, max_leaves=2, splits=weald.Splits(extra_trees=True), random_state=seed
        ).fit(X, Y)
        for seed in (0, 0, 1)
    ]
    thresholds = [model.forest_.threshold[model.forest_.feature >= 0] for model in models]
    assert np.array_equal(thresholds[0], thresholds[1])
    assert not np.array_equal(thresholds[0], thresholds[2])
    assert len(np.unique(thresholds[0])) == 3


@pytest.mark.parametrize("finder", ["hist", "exact"])
def test_every_threshold_is_drawn_equally_often(finder: str) -> None:
    x = np.repeat(np.arange(6.0), 12)[:, None]
    options: dict[str, Any] = {**ONE, "max_leaves": 2, "min_samples_leaf": 10, "split_finder": finder}
    options["splits"] = weald.Splits(extra_trees=True)
    found = [
        float(BoostedTreesRegressor(**options, random_state=seed).fit(x, x[:, 0]).forest_.threshold[0])
        for seed in range(150)
    ]
    values, counts = np.unique(found, return_counts=True)
    assert values.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert counts.min() > 15


# --- forced splits --------------------------------------------------------------------------------


FORCED = {"feature": "city", "threshold": "Linz", "right": {"feature": 0, "threshold": 45}}


@pytest.mark.parametrize("growth", ["leafwise", "depthwise"])
@pytest.mark.parametrize("finder", ["hist", "approx"])
def test_every_tree_begins_with_the_forced_splits(growth: str, finder: str, tmp_path: Path) -> None:
    table, y = mixed()
    model = BoostedTreesRegressor(
        n_estimators=4,
        growth=growth,
        split_finder=finder,
        splits=weald.Splits(forced=FORCED),
        colsample_bytree=0.5,
        max_leaves=6,
    )
    forest = model.fit(table, y).forest_
    for index in range(4):
        tree = forest.tree(index)
        assert tree.feature[0] == 1
        assert tree.feature[tree.left[0] + 1] == 0
        assert 45.0 <= tree.threshold[tree.left[0] + 1] < 46.0
    model.save(tmp_path / "model.weald")
    again = weald.load(tmp_path / "model.weald")
    assert again.splits == weald.Splits(forced=FORCED)
    assert np.array_equal(again.predict(table), model.predict(table))


def test_a_forced_split_of_few_rows_and_no_gain_is_made_and_one_without_rows_is_not() -> None:
    x = np.column_stack([np.arange(100.0), np.arange(100.0) % 2])
    forced = {
        "feature": 1,
        "threshold": 0.5,
        "left": {"feature": 0, "threshold": 3},
        "right": {"feature": 1, "threshold": 0},
    }
    tree = (
        BoostedTreesRegressor(max_leaves=4, splits=weald.Splits(forced=forced), **ONE)
        .fit(x, x[:, 0])
        .forest_.tree(0)
    )
    assert tree.feature[0] == 1
    left, right = int(tree.left[0]), int(tree.left[0]) + 1
    assert (tree.feature[left], tree.count[tree.left[left]]) == (0, 2)
    assert tree.feature[right] == 0  # all its rows have x1 = 1: split where it gains most


def test_sparse_tables_take_forced_splits_and_drawn_thresholds() -> None:
    table = sparse.random(500, 30, 0.1, "csr", random_state=np.random.default_rng(0))
    y = np.asarray(table[:, [4]].todense()).ravel() + np.random.default_rng(0).random(500)
    options: dict[str, Any] = {**ONE, "min_samples_leaf": 3, "leaves": weald.Leaves(path_smooth=2.0)}
    options["splits"] = weald.Splits(extra_trees=True, forced={"feature": 7, "threshold": 0.0})
    few = BoostedTreesRegressor(**options).fit(table, y)
    dense = BoostedTreesRegressor(**options).fit(table.toarray(), y)
    assert few.forest_.tree(0).feature[0] == 7
    assert np.array_equal(few.predict(table), dense.predict(table.toarray()))


BAD: list[tuple[Any, str]] = [
    ([1], r"splits\.forced must be a dict with 'feature', 'threshold'.*not \[1\]"),
    ({"feature": "age"}, r"splits\.forced has a split without 'threshold'"),
    ({"threshold": 1}, r"splits\.forced has a split without 'feature'"),
    ({"feature": "ages", "threshold": 1}, r"splits\.forced names the column 'ages', which X does not have"),
    ({"feature": 7, "threshold": 1}, r"splits\.forced has the position 7, but X has 2 columns"),
    ({"feature": "age", "threshold": "old"}, "split the column 'age' at a number, not at 'old'"),
    ({"feature": "age", "threshold": float("nan")}, "split the column 'age' at a number, not at nan"),
    (
        {"feature": "city", "threshold": "Rome"},
        "splits off 'Rome', which is no category of the column 'city'",
    ),
    ({"feature": "city", "threshold": []}, "is no category of the column 'city'"),
    ({"feature": "age", "threshold": 1, "middle": {}}, r"splits\.forced has the field 'middle'"),
    ({"feature": "age", "threshold": 1, "left": 3}, "must be a dict .* not 3"),
]


@pytest.mark.parametrize(("forced", "message"), BAD)
def test_bad_forced_splits_get_a_sentence(forced: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BoostedTreesRegressor(splits=weald.Splits(forced=forced)).fit(*mixed())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"growth": "oblivious"}, "growth='leafwise' or 'depthwise'"),
        ({"split_finder": "exact"}, "use split_finder='hist'"),
        ({"split_finder": weald.Approximate(proposals="local")}, "proposals='global'"),
        ({"interaction_constraints": [["age"], ["city"]]}, "'age', 'city' on one path"),
    ],
)
def test_forced_splits_are_refused_where_a_tree_has_no_place_for_them(
    parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises((NotSupportedError, InputError), match=message):
        BoostedTreesRegressor(splits=weald.Splits(forced=FORCED), **parameters).fit(*mixed())


def test_a_category_without_a_bin_of_its_own_cannot_be_forced() -> None:
    rng = np.random.default_rng(0)
    table = {"city": np.array([f"c{number}" for number in rng.geometric(0.05, 3_000)])}
    rare = {"feature": "city", "threshold": f"c{max(int(name[1:]) for name in table['city'])}"}
    model = BoostedTreesRegressor(bins=8, splits=weald.Splits(forced=rare))
    with pytest.raises(InputError, match="too rare to have a bin of its own"):
        model.fit(table, rng.random(3_000))


def test_nothing_is_forced_by_empty_dicts() -> None:
    table, y = mixed()
    plain = BoostedTreesRegressor(n_estimators=2).fit(table, y).predict(table)
    assert np.array_equal(
        BoostedTreesRegressor(n_estimators=2, splits=weald.Splits(forced={})).fit(table, y).predict(table),
        plain,
    )
    forced = {"feature": "city", "threshold": "Ulm", "left": {}, "right": None}
    model = BoostedTreesClassifier(n_estimators=2, splits=weald.Splits(forced=forced)).fit(table, y > 1.5)
    assert (model.forest_.feature[[model.forest_.tree_offsets[0]]] == 1).all()


# --- leaf-wise against depth-wise -----------------------------------------------------------------


@lru_cache
def wines() -> tuple[Any, Any]:
    """The numeric columns of the wines, and their quality."""
    read = weald.datasets.load("wine_quality")
    columns = [values for values in read.data.values() if values.dtype != object]
    return np.column_stack(columns), read.target.astype(float)


def errors(n_train: int, **limits: Any) -> tuple[float, float]:
    """Mean training and test errors of boosting on samples of the wines."""
    table, quality = wines()
    found = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(quality))
        known, new = order[:n_train], order[n_train : n_train + 1_500]
        model = BoostedTreesRegressor(n_jobs=1, reg_lambda=0.0, **limits).fit(table[known], quality[known])
        found.append([np.mean((model.predict(table[rows]) - quality[rows]) ** 2) for rows in (known, new)])
    train, test = np.mean(found, axis=0)
    return float(train), float(test)


def test_with_as_many_leaves_leafwise_trees_fit_the_training_rows_better() -> None:
    for leaves in (6, 8, 16, 31):
        limits: dict[str, Any] = {**ONE, "max_leaves": leaves}
        del limits["reg_lambda"], limits["n_jobs"]
        assert errors(2_000, growth="leafwise", **limits)[0] < errors(2_000, growth="depthwise", **limits)[0]


def test_leafwise_trees_overfit_few_rows_unless_their_depth_is_limited() -> None:
    limits: dict[str, Any] = {"n_estimators": 100, "max_leaves": 31, "min_samples_leaf": 3}
    deep, shallow = errors(250, **limits), errors(250, **limits, max_depth=3)
    assert deep[0] < 0.3 * shallow[0]
    assert deep[1] > 1.01 * shallow[1]
