"""Naive twins of ``cosine``, ``noise`` and ``normal`` in ``weald.tree.splits``: what splits are chosen by beside their gain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import reference
from weald.runtime.mathlib import log
from weald.runtime.random import SCORE_NOISE
from weald.tree.state import Gradients, Rules

SMALLEST_HESSIAN = 1e-16


def normal(bits: int) -> float:
    """The first coordinate of a point in the unit circle, stretched to a normal number."""
    while True:
        x, y = (((half + 0.5) / 2.0**31) - 1.0 for half in (bits >> 32, bits & reference.MASK_32))
        square = x * x + y * y
        if square < 1.0:
            return x * math.sqrt(-2.0 * float(log(square)) / square)
        bits = reference.mix(bits)


def noise_of(key: int, node: int, feature: int) -> float:
    """The normal number of a column in a node."""
    stream = reference.stream_key(key, SCORE_NOISE)
    return normal(
        reference.mix((reference.mix((stream + node) & reference.MASK_64) + feature) & reference.MASK_64)
    )


def leaf_moments(gradient: int, hessian: int, gradients: Gradients, rules: Rules) -> tuple[float, float]:
    """a T(G) and a^2 H with a = T(G) / (H + lambda), in units of the integer sums."""
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    thresholded = reference.soft_threshold(float(gradient), alpha)
    value = thresholded / max(float(hessian) + lam, SMALLEST_HESSIAN)
    return value * thresholded, value * value * float(hessian)


def pair_moments(left: Any, total: Any, gradients: Gradients, rules: Rules) -> tuple[float, float]:
    """The moments of two children; ``left`` and ``total``: `reference.Sums`."""
    ours = leaf_moments(left.gradient, left.hessian, gradients, rules)
    other = total.gradient - left.gradient, total.hessian - left.hessian
    theirs = leaf_moments(*other, gradients, rules)
    return ours[0] + theirs[0], ours[1] + theirs[1]


def cosine(product: float, square: float) -> float:
    """The quotient; 0 where all values are 0."""
    return product / math.sqrt(square) if square > 0.0 else 0.0


def unit(gradients: Gradients) -> float:
    """What a cosine in units of the integer sums is worth."""
    return gradients.gradient_unit / math.sqrt(gradients.hessian_unit)


def level_gain(
    lefts: Sequence[Any], totals: Sequence[Any], gradients: Gradients, rules: Rules, own_rules: Rules
) -> float:
    """What a split gains for a level: the cosine over all leaves after it less that over the nodes; 0 for a loss."""
    product, square, own_product, own_square = 0.0, 0.0, 0.0, 0.0
    for left, total in zip(lefts, totals, strict=True):
        own = leaf_moments(total.gradient, total.hessian, gradients, rules)
        pair = own
        if reference.is_allowed(left, total, gradients, rules):
            pair = pair_moments(left, total, gradients, own_rules)
        product, square = product + pair[0], square + pair[1]
        own_product, own_square = own_product + own[0], own_square + own[1]
    before = cosine(own_product, own_square)
    gain = cosine(product, square) - before
    return gain if gain > 1e-14 * before else 0.0


def noise_unit(gradient: Any, hessian: Any, gradients: Gradients, is_cosine: bool) -> float:
    """The mean square of the gradients over the mean hessian, or its root, in units of the integer sums."""
    ratio = float(np.mean(np.square(gradient, dtype=np.float64)) / np.mean(hessian, dtype=np.float64))
    worth = gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
    return math.sqrt(ratio / worth) if is_cosine else ratio / worth
