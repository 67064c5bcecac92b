"""How far a tree's leaves go: every descent against its formula."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from weald.binning import fit_bins
from weald.data import read_table
from weald.losses import friedman_loss
from weald.sampling.rows import ALL_ROWS
from weald.training.boosting.descent import LINE_SEARCHES, Newton, Position
from weald.training.boosting.trees import TrainingRows
from weald.tree.tree import GrownTree, TreeGrower, TreeRules

N_ROWS = 400
LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "log_loss", "exponential"]


def standing(name: str, weighted: bool) -> Position:
    """Where boosting could stand after some rounds."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 40, (N_ROWS, 3)).astype(np.float64)
    table = read_table(X)
    bins = fit_bins(table, None).transform(table, tasks=1)
    y = X[:, 0] / 20.0 + rng.standard_normal(N_ROWS)
    loss = friedman_loss(name, 0.6)
    if loss.task == "classification":
        y = (y > 1.0).astype(np.float64)
    weight = rng.uniform(0.5, 2.0, N_ROWS) if weighted else None
    scores = rng.standard_normal((1, N_ROWS))
    at = Position.of(TrainingRows(bins, y, weight), loss, scores)
    at.differentiate()
    return at


def grown(at: Position, descent: Any, rows: NDArray[np.uint32] = ALL_ROWS, **rules: Any) -> GrownTree:
    limits = TreeRules("depthwise", None, 2, 5, 0.0, **rules)
    grower = TreeGrower(at.train.bins, limits, "wide", 1)
    return grower.grow(at.gradient[0], descent.hessian_of_tree(at, 0), rows, np.arange(3), 1, 1)


def leaves_of(tree: GrownTree) -> list[NDArray[np.uint32]]:
    rows, offsets = tree.rows_by_leaf()
    return [rows[a:b] for a, b in itertools.pairwise(offsets.tolist())]


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_a_leaf_goes_to_its_least_loss_or_a_newton_step_towards_it(
    name: str, weighted: bool, sampled: bool
) -> None:
    at = standing(name, weighted)
    descent = LINE_SEARCHES["leaf"](at.train)
    rows = np.arange(0, N_ROWS, 3, dtype=np.uint32) if sampled else ALL_ROWS
    tree = grown(at, descent, rows)
    values = descent.leaf_values(tree, at, 0)
    weight = np.ones(N_ROWS) if at.train.weight is None else at.train.weight
    y, score = at.train.y, at.scores[0]
    assert tree.n_leaves > 2
    for leaf, value in zip(leaves_of(tree), values, strict=True):
        if name in ("log_loss", "exponential"):
            gradient, hessian = at.gradient[0][leaf].astype(float), at.hessian[0][leaf].astype(float)
            assert value == pytest.approx(-gradient.sum() / hessian.sum(), rel=1e-9)
            continue

        def total(step: float, leaf: NDArray[np.uint32] = leaf) -> float:
            return float(np.sum(weight[leaf] * at.loss.values(score[None, leaf] + step, y[leaf])))

        if name == "huber":  # one step from the median
            assert total(value) <= total(0.0)
            continue
        best = minimize_scalar(total, bounds=(-9.0, 9.0), method="bounded", options={"xatol": 1e-9})
        assert total(value) <= best.fun * (1.0 + 1e-9)


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_a_tree_goes_to_the_least_loss_along_it(name: str, sampled: bool) -> None:
    at = standing(name, True)
    descent = LINE_SEARCHES["tree"](at.train)
    rows = np.arange(0, N_ROWS, 3, dtype=np.uint32) if sampled else ALL_ROWS
    tree = grown(at, descent, rows)
    means, values = tree.leaf_values(), descent.leaf_values(tree, at, 0)
    assert at.train.weight is not None
    used = np.arange(N_ROWS) if not sampled else rows
    direction = tree.spread(means)[used]
    y, weight, score = at.train.y[used], at.train.weight[used], at.scores[:, used]

    def total(step: float) -> float:
        return float(np.sum(weight * at.loss.values(score + step * direction, y)))

    best = minimize_scalar(total, bracket=(0.0, 1.0), options={"xtol": 1e-10})
    np.testing.assert_allclose(values, best.x * means, rtol=1e-4)
    assert total(float(values[0] / means[0])) <= best.fun * (1.0 + 1e-10)


@pytest.mark.parametrize("name", LOSSES)
def test_a_projection_is_the_least_squares_step_which_means_take_already(name: str) -> None:
    at = standing(name, True)
    descent = LINE_SEARCHES["projection"](at.train)
    tree = grown(at, descent)
    means, weight = tree.leaf_values(), at.train.weight
    assert weight is not None
    residual, step = -at.gradient[0].astype(float) / weight, tree.spread(means)
    alpha = np.sum(weight * residual * step) / np.sum(weight * step * step)
    assert alpha == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(descent.leaf_values(tree, at, 0), alpha * means, rtol=1e-6)


def test_newton_shows_trees_the_hessians_and_least_squares_the_weights() -> None:
    at = standing("log_loss", True)
    assert at.train.weight is not None
    assert np.array_equal(Newton().hessian_of_tree(at, 0), at.hessian[0])
    for search in LINE_SEARCHES.values():
        assert np.array_equal(search(at.train).hessian_of_tree(at, 0), at.train.weight.astype(np.float32))


def test_limits_that_are_shares_follow_the_weight_of_the_trees_rows() -> None:
    at = standing("squared_error", False)
    descent = LINE_SEARCHES["leaf"](at.train)
    rows = np.arange(0, N_ROWS, 2, dtype=np.uint32)
    tree = grown(at, descent, rows, min_weight_fraction_leaf=0.25)
    assert tree.n_leaves > 2
    assert min(len(leaf) for leaf in leaves_of(tree)) >= 50
    free = grown(at, descent)
    root_gain = 2.0 * free.nodes["gain"][0] / N_ROWS  # the decrease of impurity of the first split
    assert grown(at, descent, min_impurity_decrease=float(root_gain)).n_leaves == 2
    assert grown(at, descent, min_impurity_decrease=float(root_gain) * 1.0001).n_leaves == 1
    assert grown(at, descent, min_samples_split=N_ROWS + 1).n_leaves == 1
