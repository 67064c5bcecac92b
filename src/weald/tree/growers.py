"""Which grower a kind of binned table asks for."""

from __future__ import annotations

from weald.binning import AnyBins, Ranks, SparseRanks
from weald.binning.proposals import ProposalTable
from weald.binning.sharded import ShardedBins
from weald.binning.sparse_proposals import SparseProposalTable
from weald.binning.statistics import StatisticBins
from weald.tree.exact.exact import ExactGrower
from weald.tree.grown import Grower
from weald.tree.growth.approx import ApproxGrower, SparseApproxGrower
from weald.tree.rules import TreeRules
from weald.tree.shards.table import ShardGrower
from weald.tree.tree import TreeGrower

AnyGrower = Grower | SparseApproxGrower


def make_grower(bins: AnyBins | StatisticBins | ShardedBins, rules: TreeRules, precision: str, tasks: int) -> AnyGrower:
    """A grower of trees on a binned table, with the memory that its trees share."""
    if isinstance(bins, ShardedBins):
        return ShardGrower(bins, rules, precision, tasks)
    if isinstance(bins, ProposalTable | SparseProposalTable):
        if bins.mapper.local:
            return ExactGrower(bins, rules, precision, tasks, bins.mapper.buckets)
        if isinstance(bins, SparseProposalTable):
            return SparseApproxGrower(bins, rules, precision, tasks)
        return ApproxGrower(bins, rules, precision, tasks)
    if isinstance(bins, Ranks | SparseRanks):
        return ExactGrower(bins, rules, precision, tasks)
    if isinstance(bins, StatisticBins):
        return make_grower(bins.tables[0], rules, precision, tasks)
    return TreeGrower(bins, rules, precision, tasks)
