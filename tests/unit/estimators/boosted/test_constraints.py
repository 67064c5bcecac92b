"""Constraints as users write them, what is refused, and what they and pruning do to a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.data import Column, Schema
from weald.runtime.errors import InputError
from weald.training.boosting.door.constraints import read_constraints
from weald.tree.splits.constraints import Constraints

NAMES = ("age", "city", "income")
SCHEMA = Schema(
    (Column("age", "numeric"), Column("city", "categorical", ("Ulm", "Linz")), Column("income", "numeric")),
    True,
)


@pytest.mark.parametrize(
    ("monotone", "signs"),
    [
        (None, ()),
        ([1, 0, -1], (1, 0, -1)),
        ((1, 0, -1), (1, 0, -1)),
        (np.array([1, 0, -1], np.int8), (1, 0, -1)),
        ({"income": -1}, (0, 0, -1)),
        ({0: 1, "income": 0}, (1, 0, 0)),
        ({"city": 0}, ()),
        ([0, 0, 0], ()),
        ({}, ()),
    ],
)
def test_monotone_constraints_are_read_by_order_name_or_position(monotone: Any, signs: Any) -> None:
    assert read_constraints(monotone, None, SCHEMA) == Constraints(signs)


def test_groups_are_read_by_name_or_position() -> None:
    groups = read_constraints(None, [["income", 0, "income"], (1,), {"city", "age"}], SCHEMA).groups
    assert groups == ((0, 2), (1,), (0, 1))
    assert read_constraints(None, [], SCHEMA) == Constraints()


@pytest.mark.parametrize(
    ("monotone", "interaction", "message"),
    [
        ([1, 0], None, "monotone_constraints has 2 numbers, but X has 3 columns"),
        ({"wage": 1}, None, "monotone_constraints names the column 'wage', which X does not have"),
        ({3: 1}, None, "monotone_constraints has the position 3, but X has 3 columns"),
        ({-1: 1}, None, "monotone_constraints has the position -1"),
        ({2.0: 1}, None, "monotone_constraints must hold names or positions of columns, not 2.0"),
        ([2, 0, 0], None, "monotone_constraints of the column 'age' must be -1, 0 or 1, not 2"),
        ({"age": "up"}, None, "monotone_constraints of the column 'age' must be -1, 0 or 1, not 'up'"),
        ({"age": True}, None, "must be -1, 0 or 1, not True"),
        ({"age": 0.5}, None, "must be -1, 0 or 1, not 0.5"),
        ([0, 1, 0], None, "monotone_constraints of the column 'city' must be 0, as its categories"),
        ({"age": 1, 0: 1}, None, "monotone_constraints has the column 'age' twice"),
        ("(1,0,0)", None, "monotone_constraints must be a number a column or a dict"),
        (1, None, "monotone_constraints must be a number a column or a dict"),
        (None, "age", "interaction_constraints must be a list of groups"),
        (None, ["age", "city"], "interaction_constraints must be a list of groups, each a list"),
        (None, [["age"], ["wage"]], "interaction_constraints names the column 'wage'"),
        (None, [[0, 7]], "interaction_constraints has the position 7"),
        (None, [[0], []], "interaction_constraints has a group without columns"),
        (None, {"a": ["age"]}, "interaction_constraints must be a list of groups"),
    ],
)
def test_constraints_that_make_no_sense_are_refused_in_a_sentence(
    monotone: Any, interaction: Any, message: str
) -> None:
    with pytest.raises(InputError) as refused:
        read_constraints(monotone, interaction, SCHEMA)
    assert message in str(refused.value)
    assert str(refused.value).endswith(".")


def wave(n_rows: int = 600) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    X = generator.random((n_rows, 3))
    return X, 3 * X[:, 0] + np.sin(12 * X[:, 0]) - 2 * X[:, 1] + 0.2 * generator.standard_normal(n_rows)


def test_estimators_obey_and_files_remember_constraints(tmp_path: Any) -> None:
    X, y = wave()
    for constraints in ([1, -1, 0], {0: 1, "x1": -1}):
        model = clone(BoostedTreesRegressor(n_estimators=20, monotone_constraints=constraints)).fit(X, y)
        grid = np.column_stack([np.linspace(0, 1, 500), np.full(500, 0.5), np.full(500, 0.5)])
        assert (np.diff(model.predict(grid)) >= 0).all()
        model.save(tmp_path / "model.weald")
        again = weald.load(tmp_path / "model.weald")
        assert again.monotone_constraints == constraints
        assert again.forest_ == model.forest_
    free = BoostedTreesRegressor(n_estimators=20).fit(X, y)
    assert (np.diff(free.predict(grid)) < 0).any()


def test_constraints_without_effect_give_the_unconstrained_model() -> None:
    X, y = wave()
    free = BoostedTreesRegressor(n_estimators=3).fit(X, y)
    for nothing in ({"monotone_constraints": [0, 0, 0]}, {"interaction_constraints": [[0, 1, 2]]}):
        assert BoostedTreesRegressor(n_estimators=3, **nothing).fit(X, y).forest_ == free.forest_


def test_a_probability_rises_with_its_column() -> None:
    X, y = wave()
    model = BoostedTreesClassifier(n_estimators=20, monotone_constraints={0: 1}).fit(X, y > y.mean())
    grid = np.column_stack([np.linspace(0, 1, 300), np.full(300, 0.3), np.full(300, 0.3)])
    assert (np.diff(model.predict_proba(grid)[:, 1]) >= 0).all()


def xor(n_rows: int = 400) -> tuple[Any, Any]:
    """Neither column says anything alone, but for a little that keeps the gain above zero."""
    generator = np.random.default_rng(1)
    X = generator.integers(0, 2, (n_rows, 2)).astype(float)
    return X, np.where(X[:, 0] == X[:, 1], 5.0, -5.0) + 0.1 * X[:, 0]


def test_depthwise_growth_keeps_a_split_that_only_its_subtree_pays_for() -> None:
    X, y = xor()
    options: dict[str, Any] = {
        "n_estimators": 1,
        "learning_rate": 1.0,
        "max_depth": 2,
        "min_samples_leaf": 1,
        "reg_lambda": 0.0,
        "split_finder": weald.Histogram(precision="wide"),
    }
    price = {"gamma": 200.0}
    pruned = BoostedTreesRegressor(growth="depthwise", **options, **price).fit(X, y)
    stopped = BoostedTreesRegressor(growth="leafwise", **options, **price).fit(X, y)
    tree = pruned.forest_.tree(0)
    assert tree.n_leaves == 4
    assert 0.0 < tree.gain[0] < price["gamma"] < tree.gain[1]
    assert stopped.forest_.tree(0).n_leaves == 1
    assert pruned.score(X, y) > 0.999
    nothing = BoostedTreesRegressor(growth="depthwise", **options, gamma=1e9).fit(X, y)
    assert nothing.forest_.tree(0).n_leaves == 1


def test_a_pruned_tree_predicts_what_its_training_scores_say() -> None:
    X, y = wave(900)
    for loss in ("squared", "absolute"):
        for subsample in (1.0, 0.6):
            seen: list[Any] = []
            model = BoostedTreesRegressor(
                loss,
                n_estimators=4,
                growth="depthwise",
                max_depth=7,
                min_samples_leaf=1,
                gamma=1.0,
                subsample=subsample,
            )
            model.fit(X, y, callbacks=[lambda state: seen.append(state.at.scores[0].copy())])  # noqa: B023
            assert np.array_equal(model.predict(X), seen[-1])
            forest = model.forest_
            inner = forest.feature >= 0
            assert (forest.gain[inner] > 0).all()
            tree = forest.tree(0)
            lost = [
                node
                for node in np.flatnonzero(tree.feature >= 0)
                if (tree.feature[[tree.left[node], tree.left[node] + 1]] < 0).all() and tree.gain[node] < 1.0
            ]
            assert not lost
            assert (model.feature_importances_ >= 0).all()
            # A leaf's rows are its own again: the counts of leaves add up to the rows.
            assert tree.count[tree.feature < 0].sum() == tree.count[0]
