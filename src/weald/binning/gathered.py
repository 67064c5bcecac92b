"""A table in blocks as one table of bins, on every member of its team: for trees that need all rows within reach."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.mapper import DenseBins
from weald.binning.sharded import ShardedBins


def gathered_bins(bins: ShardedBins) -> DenseBins:
    """The bins of all rows: a byte a cell, row after row, in the table's memory; columns are a view of them.

    >>> import numpy as np
    >>> from weald.binning import fit_bins
    >>> from weald.data import read_table
    >>> table = read_table(np.arange(10.0).reshape(-1, 2))
    >>> dense = fit_bins(table, None).transform(table, tasks=1)
    >>> gathered_bins(ShardedBins.of(dense, sizes=[2, 3])).columns.tolist() == dense.columns.tolist()
    True
    """
    first, n_total, team = bins.share
    rows: NDArray[np.unsignedinteger[Any]] = bins.memory.zeros((n_total, bins.n_columns), bins.codes)
    place = first
    for block in bins.blocks:
        here = rows[place : place + block.n_rows]
        here[...] = block.read().T
        bins.memory.release(here)
        place += block.n_rows
    if team.size > 1:
        np.concatenate(team.gather(rows[first:place]), out=rows)
    return DenseBins(rows.T, rows.reshape(-1), bins.mapper)
