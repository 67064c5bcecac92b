"""Naive twins of the kernels for sparse tables, written from the dense table that the sparse one stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from weald.tree.state import Gradients, TreeInput

Table = NDArray[np.uint8]  # (rows, columns) of bins


def kept_cells(table: Table, default: Sequence[int]) -> list[list[tuple[int, int]]]:
    """(row, bin) of a column's cells that are not in its default bin, for every column."""
    return [
        [(row, int(table[row, column])) for row in range(len(table)) if table[row, column] != own]
        for column, own in enumerate(default)
    ]


def offsets(table: Table, default: Sequence[int], n_bins: Sequence[int]) -> tuple[list[int], int]:
    """First cell number of every column, and the cells of frequent ones, which come first."""
    frequent = [len(cells) > reference.PACKED_BLOCK for cells in kept_cells(table, default)]
    first, total = [0] * len(n_bins), 0
    for wanted in (True, False):
        for column, is_frequent in enumerate(frequent):
            if is_frequent is wanted:
                first[column] = total
                total += n_bins[column] + 1
    return first, sum(n + 1 for n, is_frequent in zip(n_bins, frequent, strict=True) if is_frequent)


def row_cells(table: Table, default: Sequence[int], first: Sequence[int]) -> list[list[int]]:
    """The ascending numbers of every row's kept cells."""
    return [sorted(first[c] + int(b) for c, b in enumerate(row) if b != default[c]) for row in table]


def histogram_words(
    data: TreeInput, table: Table, features: Sequence[int], gradients: Gradients, entries: NDArray[np.uint64]
) -> dict[int, int]:
    """Word number -> word for all words of the features' columns; default bins are empty."""
    plane = data.n_frequent if gradients.packed else data.n_cells
    words: dict[int, int] = {}
    rows, gradient, hessian = reference.decode_entries(gradients, entries)
    for feature in features:
        first, default = int(data.offsets[feature]), int(data.default_bins[feature])
        for b in range(int(data.n_bins[feature]) + 1):
            inside = (table[rows, feature] == b) & (b != default)
            sums = (int(gradient[inside].sum()), int(hessian[inside].sum()), int(inside.sum()))
            if first < plane:
                words |= {first + b + place * plane: part for place, part in enumerate(sums)}
            else:
                words[first + b + 2 * plane] = (sums[0] << 38) + (sums[1] << 13) + sums[2]
    return words


def cells(matrix: Any, unstored: str) -> NDArray[Any]:
    """A sparse matrix with all its cells: what is not stored is zero or NaN."""
    coordinates = matrix.tocoo()
    filled = np.full(matrix.shape, 0.0 if unstored == "zero" else np.nan)
    stored = np.zeros(matrix.shape)
    for row, column, value in zip(coordinates.row, coordinates.col, coordinates.data, strict=True):
        stored[row, column] += value
        filled[row, column] = stored[row, column]
    return filled
