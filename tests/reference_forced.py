"""A naive twin of ``weald.tree.splits.forced``: the sides of a forced split, summed bin by bin."""

from __future__ import annotations

import math
from typing import NamedTuple

import reference
from reference_constraints import Fence
from weald.tree.state import Gradients, Rules, TreeInput


class Forced(NamedTuple):
    """A split that is asked for; ``left`` and ``right``: the places in a list of those below it, -1 for none."""

    feature: int
    bin: int
    left: int = -1
    right: int = -1


def forced_split(
    data: TreeInput,
    forced: Forced,
    bins: list[reference.Sums],
    gradients: Gradients,
    rules: Rules,
    sign: int,
    fence: Fence,
) -> reference.Split | None:
    """The split with missing values on the better side; None where a side has no rows or the values are in the wrong order."""
    n_bins, categorical = int(data.n_bins[forced.feature]), bool(data.categorical[forced.feature])
    chosen, total = frozenset([forced.bin]) if categorical else frozenset[int](), reference.total_of(bins)
    best, found = -math.inf, None
    for side in (0, 1) if bins[-1].count and not categorical else (0,):
        left = reference.total_of(
            [
                bins[b]
                for b in range(n_bins + 1)
                if reference.goes_left(n_bins, categorical, forced.bin, chosen, side, b)
            ]
        )
        if left.count in (0, total.count):
            continue
        own_rules = reference.rules_of_feature(data, forced.feature, rules)
        score = reference.children_score(left, total, gradients, own_rules, sign, fence)
        if score > best:
            missing_left = side if bins[-1].count or categorical else int(2 * left.count >= total.count)
            gain = score - reference.parent_score(total, gradients, rules, sign, fence)
            gain = gain if rules.cosine else 0.5 * gain - rules.gamma
            best = score
            found = reference.Split(gain, forced.feature, forced.bin, missing_left, left, chosen)
    return found
