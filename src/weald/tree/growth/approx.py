"""Trees whose bins are proposed by the hessians of their rows: histograms as ever, over other bins in every tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.binning import DenseBins, SparseBins
from weald.binning.proposals import ProposalTable, Proposer, weigh_rows
from weald.binning.sparse_proposals import SparseProposalTable, SparseProposer
from weald.tree.grown import GrownTree
from weald.tree.rules import TreeRules
from weald.tree.tree import TreeGrower


class ApproxGrower(TreeGrower):
    """Grows trees on bins that it chooses before each (Chen and Guestrin 2016, Algorithm 2, global proposals)."""

    def __init__(self, table: ProposalTable, rules: TreeRules, precision: str, tasks: int) -> None:
        self._table = table
        self._proposer = Proposer(table, tasks)
        self._weight = np.empty(0, np.uint32)
        columns, rows = np.zeros(table.codes.shape, np.uint8), np.zeros(table.codes.size, np.uint8)
        super().__init__(DenseBins(columns, rows, self._proposer.most_bins()), rules, precision, tasks)

    def use(self, tasks: int) -> None:
        """Share kernels among so many tasks, those of the proposals too."""
        super().use(tasks)
        self._proposer.use(tasks)

    def grow(
        self,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        rows: NDArray[np.uint32],
        columns: NDArray[np.int64],
        rounding_key: int,
        column_key: int,
        noise: float = 0.0,
    ) -> GrownTree:
        """Propose bins by the hessians of the given rows (empty: all), then grow a tree on them."""
        weight = weigh_rows(hessian, rows)
        if not np.array_equal(weight, self._weight):  # otherwise the last tree's are the same
            self._weight = weight
            self.rebin(self._proposer.propose(weight))
            self._proposer.fill(self._table, self.bins.columns, self.bins.rows)
        return super().grow(gradient, hessian, rows, columns, rounding_key, column_key, noise)

    def binned(self, table: ProposalTable) -> DenseBins:
        """Other rows in the same codes, in the bins of the last tree."""
        return self._proposer.bins_of(table, self.bins.mapper)


class SparseApproxGrower:
    """The same on a sparse table, whose trees are grown on sparse bins: those that keep a cell are others in every tree."""

    def __init__(self, table: SparseProposalTable, rules: TreeRules, precision: str, tasks: int) -> None:
        self._table = table
        self._proposer = SparseProposer(table, tasks)
        self._weight = np.empty(0, np.uint32)
        self._choices = rules, precision, tasks
        self.tasks = tasks
        self.columns: NDArray[np.int64] = np.arange(table.n_columns)
        self._grower: _ProposedGrower | None = None

    def use(self, tasks: int) -> None:
        """Share kernels among so many tasks, those of the proposals too."""
        self.tasks = tasks
        self._proposer.use(tasks)

    def grow(
        self,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        rows: NDArray[np.uint32],
        columns: NDArray[np.int64],
        rounding_key: int,
        column_key: int,
        noise: float = 0.0,
    ) -> GrownTree:
        """Propose bins by the hessians of the given rows (empty: all), then grow a tree on them."""
        weight = weigh_rows(hessian, rows)
        if self._grower is None or not np.array_equal(weight, self._weight):
            self._weight = weight
            bins = self._proposer.bins_of(self._table, self._proposer.propose(weight))
            if self._grower is None:
                self._grower = _ProposedGrower(bins, self._proposer, *self._choices)
            else:
                self._grower.replace(bins)
        self._grower.use(self.tasks)
        return self._grower.grow(gradient, hessian, rows, columns, rounding_key, column_key, noise)


class _ProposedGrower(TreeGrower):
    """Grows trees on the bins that were proposed last."""

    def __init__(
        self, bins: SparseBins, proposer: SparseProposer, rules: TreeRules, precision: str, tasks: int
    ) -> None:
        super().__init__(bins, rules, precision, tasks)
        self._proposer = proposer

    def binned(self, table: SparseProposalTable) -> SparseBins:
        """Other rows in the same codes, in the bins of the last tree."""
        return self._proposer.bins_of(table, self.bins.mapper)
