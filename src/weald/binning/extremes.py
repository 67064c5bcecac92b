"""The least and the greatest value of every column, which bins alone do not tell: those at both ends have no outer cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.binning.mapper import DenseBins


class Blocks(Protocol):
    """Whatever gives its rows in blocks of floats."""

    def blocks(self) -> Iterable[tuple[int, NDArray[Any]]]:
        """(first row, block)."""


def with_extremes(bins: DenseBins, table: Blocks, weight: NDArray[np.float64] | None) -> DenseBins:
    """The same bins with a mapper that knows the extremes of ``table``, the table that they were made of.

    Rows of weight 0 count as if they were not there. A column without numbers has NaN.

    >>> from weald.binning import fit_bins
    >>> from weald.data import read_table
    >>> table = read_table(np.array([[1.0, 5.0], [2.0, np.nan], [9.0, 4.0]]))
    >>> with_extremes(fit_bins(table, None).transform(table, tasks=1), table, None).mapper.extremes.tolist()
    [[1.0, 9.0], [4.0, 5.0]]
    """
    return replace(bins, mapper=replace(bins.mapper, extremes=extremes_of(table, weight)))


def extremes_of(table: Blocks, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """The least and the greatest value of every column, (columns, 2)."""
    found = []
    for first, block in table.blocks():
        own = block if weight is None else block[weight[first : first + len(block)] > 0]
        if len(own):
            found.append(np.stack([np.fmin.reduce(own, axis=0), np.fmax.reduce(own, axis=0)], axis=1))
    return join_extremes(found)


def join_extremes(parts: Sequence[NDArray[np.floating[Any]]]) -> NDArray[np.float64]:
    """Those of several parts of a table, of which at least one has rows."""
    found = np.array(parts, np.float64)
    return np.stack([np.fmin.reduce(found[..., 0]), np.fmax.reduce(found[..., 1])], axis=1)
