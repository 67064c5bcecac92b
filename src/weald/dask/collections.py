"""Dask's arrays and dataframes as partitions: futures of some rows each, whose lengths are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from weald.dask.library import dask
from weald.runtime.errors import InputError, InputTypeError
from weald.runtime.extras import load_extra


def is_collection(X: Any) -> bool:
    """Whether it is one of Dask's."""
    return bool(dask.is_dask_collection(X))


def is_frame(X: Any) -> bool:
    """Whether partitions are pandas objects."""
    return hasattr(X, "to_delayed") and hasattr(X, "npartitions") and not hasattr(X, "chunks")


def delayed_rows(X: Any, name: str) -> list[Any]:
    """The partitions, not computed, each with all columns of some rows."""
    if not is_collection(X) or not (is_frame(X) or hasattr(X, "chunks")):
        raise InputTypeError(
            f"{name} must be a Dask array or dataframe, not {type(X).__name__}; weald's own estimators take tables in memory."
        )
    if is_frame(X):
        return list(X.to_delayed())
    if X.ndim not in (1, 2):
        raise InputError(f"{name} must have one or two dimensions, not {X.ndim}.")
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed().ravel())


@dataclass(frozen=True)
class Piece:
    """Some rows of a partition."""

    partition: int
    begin: int
    end: int


@dataclass(frozen=True)
class Partitions:
    """The partitions of one collection."""

    name: str  # of the argument that it is
    futures: Sequence[Any]
    lengths: Sequence[int]

    @property
    def n_rows(self) -> int:
        """All rows."""
        return sum(self.lengths)

    def pieces(self, begin: int, end: int) -> list[Piece]:
        """Where the rows from ``begin`` to ``end`` are; no rows are still a piece of some partition."""
        found, first = [], 0
        for number, length in enumerate(self.lengths):
            low, high = max(begin, first), min(end, first + length)
            if low < high:
                found.append(Piece(number, low - first, high - first))
            first += length
        return found or [Piece(0, 0, 0)]

    def shares(self, size: int) -> list[tuple[int, int]]:
        """First and last row, excluded, of each of ``size`` members: whole partitions where there are enough of them.

        >>> Partitions("X", [], [10, 0, 40, 10, 40]).shares(2), Partitions("X", [], [9]).shares(2)
        ([(0, 50), (50, 100)], [(0, 4), (4, 9)])
        """
        ends = sorted(set(accumulate(self.lengths)) - {0, self.n_rows})
        wanted = [self.n_rows * number // size for number in range(1, size)]
        if len(ends) >= size - 1:
            wanted = _nearest(ends, wanted)
        cuts = [0, *wanted, self.n_rows]
        return list(pairwise(cuts))


def _nearest(ends: Sequence[int], wanted: Sequence[int]) -> list[int]:
    """For each wanted cut one of the ends, ascending, all different."""
    chosen: list[int] = []
    place = -1
    for number, cut in enumerate(wanted):
        last = len(ends) - (len(wanted) - number)  # leaves one for each of the others
        nearest = min(range(place + 1, last + 1), key=lambda other: abs(ends[other] - cut))
        place = nearest
        chosen.append(ends[place])
    return chosen


def length_of(partition: Any) -> int:
    """The rows of one partition."""
    return int(partition.shape[0]) if hasattr(partition, "shape") else len(partition)


def rows_of(partition: Any, begin: int, end: int) -> Any:
    """Some of its rows."""
    if begin == 0 and end == length_of(partition):
        return partition
    return partition.iloc[begin:end] if hasattr(partition, "iloc") else partition[begin:end]


def joined(pieces: Sequence[Any]) -> Any:
    """Labels or weights of neighbouring rows as one."""
    if len(pieces) == 1:
        return pieces[0]
    if any(hasattr(piece, "iloc") for piece in pieces):
        return load_extra("pandas", "a Dask dataframe").concat(list(pieces))
    return np.concatenate([np.asarray(piece) for piece in pieces])
