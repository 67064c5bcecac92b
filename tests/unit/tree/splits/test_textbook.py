"""Gain and leaf weight of the paper's equations (Chen and Guestrin 2016), computed by hand on eight rows.

With squared error and a first score of 0 a row's gradient is minus its label and its hessian 1:

    x         1    2    3    4    5    6    7    8
    y = -g   -3   -1   -2    0    4    6    5    7
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.binning import BinChoices, bins_of
from weald.data import read_table
from weald.tree.growers import make_grower
from weald.tree.rules import TreeRules

X = np.arange(1.0, 9.0)[:, None]
Y = np.array([-3.0, -1.0, -2.0, 0.0, 4.0, 6.0, 5.0, 7.0])
NO_ROWS = np.empty(0, np.uint32)


def grown(growth: str = "depthwise", depth: int = 1, **rules: Any) -> tuple[Any, Any]:
    """The forest's fields and the leaf values, left to right, of one tree on the eight rows."""
    dataset = read_table(X)
    bins = bins_of(dataset, None, BinChoices(), 0, 1)
    limits = {"max_leaves": None, "max_depth": depth, "min_samples_leaf": 1, "min_child_weight": 0.0, **rules}
    grower = make_grower(bins, TreeRules(growth, **limits), "wide", 1)
    tree = grower.grow(-Y.astype(np.float32), np.ones(8, np.float32), NO_ROWS, np.arange(1), 1, 2)
    values = tree.leaf_values()
    return tree.for_forest(values, 1.0), values


# x <= 4: G = 6, H = 4; x > 4: G = -22, H = 4; together G = -16, H = 8.
@pytest.mark.parametrize(
    ("lam", "alpha", "gain", "weights"),
    [
        # 1/2 [ 36/4 + 484/4 - 256/8 ] = 1/2 [ 9 + 121 - 32 ]
        (0.0, 0.0, 49.0, (-1.5, 5.5)),
        # 1/2 [ 36/5 + 484/5 - 256/9 ]
        (1.0, 0.0, 0.5 * (7.2 + 96.8 - 256 / 9), (-1.2, 4.4)),
        # T(G) = 4, -20, -14: 1/2 [ 16/4 + 400/4 - 196/8 ] = 1/2 [ 4 + 100 - 24.5 ]
        (0.0, 2.0, 39.75, (-1.0, 5.0)),
        # 1/2 [ 16/5 + 400/5 - 196/9 ]
        (1.0, 2.0, 0.5 * (3.2 + 80.0 - 196 / 9), (-0.8, 4.0)),
    ],
)
def test_gain_and_weights_are_those_of_the_equations(
    lam: float, alpha: float, gain: float, weights: tuple[float, float]
) -> None:
    for growth in ("leafwise", "depthwise", "oblivious"):
        tree, values = grown(growth, reg_lambda=lam, reg_alpha=alpha)
        assert tree["threshold"][0] == 4.5
        assert tree["gain"][0] == pytest.approx(gain, rel=1e-7)
        assert values == pytest.approx(weights, rel=1e-12)
        assert tree["cover"] == pytest.approx([8.0, 4.0, 4.0])


def test_gamma_is_the_price_of_a_leaf() -> None:
    for growth in ("leafwise", "oblivious"):
        tree, _ = grown(growth, gamma=48.0)
        assert tree["gain"][0] == pytest.approx(1.0, rel=1e-5)  # equation 7: minus gamma
        assert len(grown(growth, gamma=49.5)[1]) == 1
    tree, _ = grown("depthwise", gamma=48.0)
    assert tree["gain"][0] == pytest.approx(49.0)  # before gamma, as pruning compares it
    assert len(grown("depthwise", gamma=49.5)[1]) == 1


def test_the_objective_falls_by_the_gains_and_gamma_a_leaf() -> None:
    """Equation 6: the structure score, 1/2 sum G²/(H + lambda) - gamma T, rises by gain - gamma with every split."""
    lam = 1.0
    tree, values = grown(depth=3, reg_lambda=lam)
    leaves = tree["feature"] < 0
    assert len(values) == leaves.sum() > 2
    hessian = tree["cover"]
    gradient = -tree["value"] * (hessian + lam)  # equation 5, turned round
    reduction = 0.5 * (gradient[leaves] ** 2 / (hessian[leaves] + lam)).sum()
    root = 0.5 * 16.0**2 / (8.0 + lam)
    assert reduction - root == pytest.approx(tree["gain"][~leaves].sum(), rel=1e-6)


def test_a_clipped_step_and_a_bound_are_the_objective_at_the_clipped_value() -> None:
    # Both weights (-1.5 and 5.5) are cut to 1: -(2 G w + H w²) = -(-12 + 4) = 8 and -(-44 + 4) = 40; root (2, cut to 1): 24.
    tree, values = grown(max_delta_step=1.0)
    assert values == pytest.approx([-1.0, 1.0])
    assert tree["gain"][0] == pytest.approx(0.5 * (8.0 + 40.0 - 24.0), rel=1e-6)
