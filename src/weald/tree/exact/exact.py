"""The Python side of growing trees on presorted columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import Ranks, SparseRanks
from weald.binning.sketch import ACCURACY, FIELDS
from weald.runtime.errors import InputError
from weald.tree.exact.grower import grow_exact
from weald.tree.exact.oblivious import grow_exact_oblivious, unpack
from weald.tree.exact.state import ExactInput, ExactSearch, ExactWork
from weald.tree.rules import TreeRules
from weald.tree.state import Gradients, Rules
from weald.tree.tree import KernelGrower

# Where the segments of all leaves begin and end; memory that is touched only as leaves are made.
LARGEST_SEGMENTS_BYTES = 16 * 2**30


class ExactGrower(KernelGrower):
    """Grows trees that may split between any two values, or between the ``buckets`` of values that every node proposes."""

    def __init__(
        self, bins: Ranks | SparseRanks, rules: TreeRules, precision: str, tasks: int, buckets: int = 0
    ) -> None:
        super().__init__(bins, rules, precision, tasks)
        blocks, mapper = bins.blocks, bins.mapper
        self._data = ExactInput(
            *_codes(bins),
            blocks.rows,
            blocks.offsets,
            blocks.middles,
            blocks.rest,
            mapper.n_bins,
            np.array(mapper.categorical),  # as in inputs.py
            buckets,
        )
        most_leaves = self._kernel_rules.max_leaves
        if 24 * most_leaves * bins.n_columns > LARGEST_SEGMENTS_BYTES:
            raise InputError(
                f"split_finder='exact' with {bins.n_columns:,} columns and trees of up to {most_leaves:,} leaves needs too "
                "much memory; set max_leaves or max_depth."
            )
        self._work = ExactWork(
            entries=self.entries,
            items=np.empty((2, len(blocks.rows)), np.uint64),
            segments=np.empty((most_leaves, bins.n_columns, 3), np.int64),
            places=np.empty((2 * most_leaves, 3), np.int64),
            words=np.empty(bins.n_rows, np.uint32),
            goes_left=np.empty(bins.n_rows, np.uint8),
            heap=np.empty(most_leaves + 1, np.int64),
            chunk_counts=np.empty(tasks, np.int64),
            values=np.empty((tasks, bins.n_rows if buckets else 1), np.int64),
            weights=np.empty((tasks, bins.n_rows if buckets else 1), np.int64),
            summaries=np.empty((tasks, ACCURACY * buckets + 1, FIELDS), np.int64),
        )

    def _grow_nodes(
        self, columns: NDArray[np.int64], gradients: Gradients, rules: Rules, key: Any, n_rows: int
    ) -> int:
        grow = grow_exact
        if self.rules.growth == "oblivious":
            grow = grow_exact_oblivious
            if gradients.packed:
                unpack(self.entries[0], n_rows, self._wide)
                gradients = gradients._replace(packed=False, wide=self._wide)
        search = ExactSearch(self._data, gradients, rules, key, self._work, self._nodes, self._state)
        return grow(search, columns, n_rows, self.tasks)

    def is_sparse(self, bins: Ranks | SparseRanks) -> bool:
        """Whether the table keeps only some of its cells."""
        return isinstance(bins, SparseRanks)

    def cells(
        self, bins: Ranks | SparseRanks, columns: NDArray[np.int64]
    ) -> Iterable[tuple[int, NDArray[np.uint32]]]:
        """The codes, column after column in memory, or row after row those of a sparse table's chosen columns."""
        if isinstance(bins, SparseRanks):
            for first, rows in bins.rows_of(columns, self.tasks):
                yield first, rows.reshape(-1, len(columns))
        else:
            yield 0, bins.codes.T

    def whole_columns(self, bins: Ranks | SparseRanks) -> NDArray[np.uint32] | None:
        """The codes of a dense table."""
        return None if isinstance(bins, SparseRanks) else bins.codes


def _codes(
    bins: Ranks | SparseRanks,
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Where the kernels find a row's code: in a dense table, or among the cells that a sparse one keeps."""
    if isinstance(bins, SparseRanks):
        return np.empty((0, 0), np.uint32), bins.starts, bins.rows, bins.bins
    return bins.codes, np.empty(0, np.int64), np.empty(0, np.uint32), np.empty(0, np.uint32)
