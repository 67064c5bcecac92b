"""The least and the greatest value of every column, which bins alone do not tell: those at both ends have no outer cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.binning.mapper import DenseBins
from weald.runtime.team import ALONE, Team


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
    parts = (block if weight is None else block[weight[first : first + len(block)] > 0] for first, block in table.blocks())
    return replace(bins, mapper=replace(bins.mapper, extremes=_extremes(parts, bins.n_columns)))


def extremes_of_parts(tables: Sequence[Blocks], n_columns: int, team: Team = ALONE) -> NDArray[np.float64]:
    """The least and the greatest value of every column, (columns, 2), of the tables of all members of a team."""
    own = _extremes((block for table in tables for _, block in table.blocks()), n_columns)
    found: NDArray[np.float64] = np.array(team.gather(own))
    return np.stack([np.fmin.reduce(found[..., 0]), np.fmax.reduce(found[..., 1])], axis=1)


def _extremes(parts: Iterable[NDArray[Any]], n_columns: int) -> NDArray[np.float64]:
    extremes = np.full((n_columns, 2), np.nan)
    for own in parts:
        if not len(own):
            continue
        extremes[:, 0] = np.fmin(extremes[:, 0], np.fmin.reduce(own, axis=0))
        extremes[:, 1] = np.fmax(extremes[:, 1], np.fmax.reduce(own, axis=0))
    return extremes
