"""The score of a split as a cosine (Prokhorenkova et al. 2018): how alike the new leaf values and the gradients are in direction.

    a = T(G) / (N + lambda),    score = sum(a T(G)) / sqrt(sum(a^2 N))

summed over the leaves that a split would leave: the two children of a node, or all leaves of an oblivious level. N is the hessian
that the tree is grown with, the rows' weights where it is not Newton's. A length does not change a cosine, so leaf values that
are only too small, or too large, cost nothing.

The two sums are the *moments* of leaves. Here all is in units of the integer sums; a cosine's unit is then the square root of
that of the other score (gain.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weald.runtime.arrays import Float64s, Int, Int64s
from weald.runtime.jit import inlined
from weald.tree.histograms.cells import read_cell
from weald.tree.splits.score import SMALLEST_HESSIAN, smallest_hessian
from weald.tree.state import Gradients, Rules

if TYPE_CHECKING:
    from weald.tree.histograms.prefixes import Scratch

OWN = -1  # the place of a level's own moments, behind those of its thresholds


@inlined
def cosine(product: float, square: float) -> float:
    """The cosine of moments; 0 where all values are 0."""
    return product / np.sqrt(square) if square > 0.0 else 0.0


@inlined
def leaf_moments(gradient: float, hessian: float, lam: float, alpha: float) -> tuple[float, float]:
    """What a leaf adds to the two sums; ``lam`` and ``alpha`` in units of the integer sums."""
    gradient = max(gradient - alpha, 0.0) + min(gradient + alpha, 0.0)
    value = gradient / max(hessian + lam, SMALLEST_HESSIAN)
    return value * gradient, value * value * hessian


@inlined
def pair_moments(
    gl: float, hl: float, g_all: float, h_all: float, lam: float, alpha: float
) -> tuple[float, float]:
    """The moments of two children, of which the left one has ``gl`` and ``hl``."""
    left = leaf_moments(gl, hl, lam, alpha)
    right = leaf_moments(g_all - gl, h_all - hl, lam, alpha)
    return left[0] + right[0], left[1] + right[1]


@inlined
def cosine_pair(
    gl: float | Int, hl: float | Int, totals: tuple[Int, Int, Int], gradients: Gradients, rules: Rules
) -> float:
    """The score of two children by themselves; ``totals``: gradient and hessian of both."""
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    product, square = pair_moments(
        np.float64(gl), np.float64(hl), np.float64(totals[0]), np.float64(totals[1]), lam, alpha
    )
    return cosine(product, square)


@inlined
def cosine_unit(gradients: Gradients) -> float:
    """The value of a cosine of 1 in units of the integer sums."""
    return gradients.gradient_unit / np.sqrt(gradients.hessian_unit)


@inlined
def own_moments(totals: tuple[Int, Int, Int], gradients: Gradients, rules: Rules) -> tuple[float, float]:
    """The moments of a node that is not split."""
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    return leaf_moments(np.float64(totals[0]), np.float64(totals[1]), lam, alpha)


@inlined
def add_moments(
    prefix: Scratch,
    n_bins: Int,
    added: tuple[Int, Int, Int],
    totals: tuple[Int, Int, Int],
    own: tuple[float, float],
    gradients: Gradients,
    rules: Rules,
    moments: Float64s,
) -> None:
    """Add one node's moments for every threshold to ``moments``, (2, thresholds and OWN): its own where a child is too small."""
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    smallest = smallest_hessian(rules, gradients)
    fewest = max(1, rules.min_samples_leaf)
    g_all, h_all, most = np.float64(totals[0]), np.float64(totals[1]), totals[2] - fewest
    products, squares = moments[0], moments[1]
    for b in range(np.uint64(n_bins)):
        n, h = prefix.rows[b] + added[2], prefix.hessian[b] + added[1]
        product, square = pair_moments(prefix.gradient[b] + added[0], h, g_all, h_all, lam, alpha)
        allowed = (n >= fewest) & (n <= most) & (h >= smallest) & (h <= h_all - smallest)
        products[b] += product if allowed else own[0]
        squares[b] += square if allowed else own[1]
    products[OWN] += own[0]
    squares[OWN] += own[1]


@inlined
def add_category_moments(
    histogram: Int64s,
    words: int,
    first: np.uint64,
    n_bins: int,
    totals: tuple[Int, Int, Int],
    own: tuple[float, float],
    gradients: Gradients,
    rules: Rules,
    moments: Float64s,
) -> None:
    """The same for one category, or missing values, against the rest."""
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    smallest = smallest_hessian(rules, gradients)
    fewest = max(1, rules.min_samples_leaf)
    g_all, h_all = np.float64(totals[0]), np.float64(totals[1])
    for b in range(n_bins + 1):
        g, h, n = read_cell(histogram, words, first + np.uint64(b))
        product, square = own
        if n >= fewest and totals[2] - n >= fewest and h >= smallest and totals[1] - h >= smallest:
            product, square = pair_moments(np.float64(g), np.float64(h), g_all, h_all, lam, alpha)
        moments[0, b] += product
        moments[1, b] += square
    moments[0, OWN] += own[0]
    moments[1, OWN] += own[1]


@inlined
def fill_cosine_gains(moments: Float64s, gains: Float64s) -> None:
    """What every threshold gains for the level: its cosine less that of the level as it is; 0 where that is rounding."""
    own = cosine(moments[0, OWN], moments[1, OWN])
    for b in range(len(gains)):
        gain = cosine(moments[0, b], moments[1, b]) - own
        gains[b] = gain if gain > 1e-14 * own else 0.0
