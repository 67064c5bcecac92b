"""The rules of a tree: what limits it, and how its splits are scored."""

from __future__ import annotations

from dataclasses import dataclass, field

from weald.tree.splits.constraints import Constraints
from weald.tree.splits.forced import ForcedSplit
from weald.tree.state import (
    DEPTHWISE,
    LEAFWISE,
    Rules,
)

UNLIMITED = 2**30
ALMOST_ALL = 1.0 - 1e-7  # integers keep 25 bits of a hessian


@dataclass(frozen=True)
class TreeRules:
    """What limits a tree and how its splits are scored; None means no limit."""

    growth: str = "leafwise"
    max_leaves: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    min_child_weight: float = 1e-3
    reg_lambda: float = 0.0
    reg_alpha: float = 0.0
    gamma: float = 0.0
    max_delta_step: float = 0.0
    colsample_bylevel: float = 1.0
    colsample_bynode: float = 1.0
    min_samples_split: int = 2
    min_weight_fraction_leaf: float = 0.0  # of the hessians of the tree's rows
    min_impurity_decrease: float = 0.0  # gain, doubled, a unit of these hessians; CART's with hessians of 1
    max_cat_to_onehot: int | None = None  # categories up to which one is split from the rest; None: always
    max_cat_threshold: int = 64  # categories on the scanned side of a split into two sets
    cat_smooth: float = 0.0  # in the order of categories; 0: lambda
    cat_l2: float = 0.0  # added to lambda for the children of a split into two sets
    min_samples_category: int = 1  # rows between two cuts that are tried
    path_smooth: float = 0.0  # rows of its parent's value that a node's own is averaged with
    extra_trees: bool = False  # a node looks at one threshold a column, drawn at random
    split_score: str = "newton_l2"  # what a split is chosen by, see gain.py and cosine.py
    forced: tuple[ForcedSplit, ...] = ()  # the splits at the top of every tree, level by level
    constraints: Constraints = field(default_factory=Constraints)

    @property
    def counts_rows(self) -> bool:
        """Whether splits are chosen by the rows' weights in place of hessians."""
        return self.split_score in ("l2", "cosine")

    @property
    def cosine(self) -> bool:
        """Whether splits are chosen by cosines (cosine.py)."""
        return self.split_score in ("cosine", "newton_cosine")

    @property
    def prunes(self) -> bool:
        """Whether gamma is asked for after growth, see prune.py, and not while a tree grows."""
        return self.growth == "depthwise" and self.gamma > 0.0

    def most_leaves(self, n_rows: int) -> int:
        """The largest number of leaves that a tree of so many rows can have."""
        by_depth = 2 ** min(self.max_depth, 30) if self.max_depth is not None else UNLIMITED
        if self.growth == "oblivious":
            return by_depth
        by_rows = max(1, n_rows // max(1, self.min_samples_leaf)) + len(self.forced)
        return min(by_depth, by_rows, self.max_leaves or UNLIMITED)

    def for_kernel(self, n_rows: int) -> Rules:
        """The same as plain numbers."""
        return Rules(
            DEPTHWISE if self.growth == "depthwise" else LEAFWISE,
            self.most_leaves(n_rows),
            UNLIMITED if self.max_depth is None else self.max_depth,
            self.min_samples_leaf,
            float(self.min_child_weight),
            float(self.reg_lambda),
            float(self.reg_alpha),
            0.0 if self.prunes else float(self.gamma),
            # Other scores than Newton's are not of the final values, which alone are limited.
            float(self.max_delta_step) if self.split_score == "newton_l2" else 0.0,
            float(self.colsample_bylevel),
            float(self.colsample_bynode),
            self.min_samples_split,
            0.0,
            UNLIMITED if self.max_cat_to_onehot is None else self.max_cat_to_onehot,
            self.max_cat_threshold,
            float(self.cat_smooth),
            float(self.cat_l2),
            self.min_samples_category,
            float(self.path_smooth),
            bool(self.extra_trees),
            self.cosine,
        )

    @property
    def weighs(self) -> bool:
        """Whether some limits are shares of the hessians of a tree's rows."""
        return self.min_weight_fraction_leaf > 0.0 or self.min_impurity_decrease > 0.0

    def for_weight(self, rules: Rules, total: float) -> Rules:
        """The kernel's rules with the limits that are shares of the ``total`` hessian of a tree's rows."""
        # Slightly less than the limits, so that what reaches them exactly is not lost to rounding.
        return rules._replace(
            min_child_weight=max(rules.min_child_weight, ALMOST_ALL * self.min_weight_fraction_leaf * total),
            min_gain=0.5 * ALMOST_ALL * self.min_impurity_decrease * total,
        )
