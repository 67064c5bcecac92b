"""A value for every bin, which cuts alone do not tell: a bin can be a single value, and those at both ends have no outer cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.binning.mapper import DenseBins

_BINS = 256  # of a column of bytes, missing values among them


class Blocks(Protocol):
    """Whatever gives its rows in blocks of floats."""

    def blocks(self) -> Iterable[tuple[int, NDArray[Any]]]:
        """(first row, block)."""


def with_bin_values(bins: DenseBins, table: Blocks, weight: NDArray[np.float64] | None) -> DenseBins:
    """The same bins with a mapper that knows what values of ``table``, the table that they were made of, are in them.

    The value of a bin is in the middle between its least and its greatest one; of those at both ends of a column it is the
    extreme itself. Rows of weight 0 count as if they were not there. A bin without rows has NaN, and so have categories.

    >>> from weald.binning import fit_bins
    >>> from weald.data import read_table
    >>> table = read_table(np.array([[1.0], [2.0], [9.0]]))
    >>> with_bin_values(fit_bins(table, None).transform(table, tasks=1), table, None).mapper.bin_values[0, :4].tolist()
    [1.0, 2.0, 9.0, nan]
    """
    least, greatest = (np.full((bins.n_columns, _BINS), np.nan) for _ in range(2))
    features = np.flatnonzero(~bins.mapper.categorical).tolist()
    for first, block in table.blocks():
        rows = slice(first, first + len(block))
        codes, values = bins.columns[:, rows], np.asarray(block, np.float64)
        if weight is not None:
            counted = weight[rows] > 0
            codes, values = codes[:, counted], values[counted]
        for feature in features:
            np.fmin.at(least[feature], codes[feature], values[:, feature])
            np.fmax.at(greatest[feature], codes[feature], values[:, feature])
    with np.errstate(invalid="ignore"):  # of infinite values
        middles = 0.5 * least + 0.5 * greatest
    for feature in features:
        middles[feature, 0], last = least[feature, 0], bins.mapper.n_bins[feature] - 1
        if last > 0:
            middles[feature, last] = greatest[feature, last]
    return replace(bins, mapper=replace(bins.mapper, bin_values=middles))
