"""Which grower a kind of binned table asks for."""

from __future__ import annotations

from weald.binning import Bins
from weald.tree.tree import TreeGrower, TreeRules


def make_grower(bins: Bins, rules: TreeRules, precision: str, tasks: int) -> TreeGrower:
    """A grower of trees on a binned table, with the memory that its trees share."""
    return TreeGrower(bins, rules, precision, tasks)
