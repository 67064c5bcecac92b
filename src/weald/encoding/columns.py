"""The columns of a data set that statistics are of, and its parts: numbers, and codes that statistics are counted by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.data import Column, Dataset, Schema
from weald.encoding.combinations import Projection


class NumbersAndCodes(NamedTuple):
    """``numbers``: float64 (rows, numeric columns); ``codes``: uint32 (categorical columns, rows)."""

    numbers: NDArray[np.float64]
    codes: NDArray[np.uint32]


def n_codes(column: Column) -> int:
    """How many codes a column has: its categories, then one for all unknown categories, and one for missing values."""
    return len(column.categories) + 2


def split_columns(dataset: Dataset) -> NumbersAndCodes:
    """The columns of a data set that was read with ``unknown="coded"``.

    >>> from weald.data import read_table
    >>> table = read_table([["red", 1.5], ["blue", 2.5], [None, 3.5]], unknown="coded")
    >>> split_columns(table)
    NumbersAndCodes(numbers=array([[1.5],
           [2.5],
           [3.5]]), codes=array([[1, 0, 3]], dtype=uint32))
    """
    is_category = dataset.schema.categorical_mask
    missing = np.array([n_codes(column) - 1 for column in dataset.schema.columns], np.float64)[is_category]
    numbers = np.empty((dataset.n_rows, int((~is_category).sum())))
    codes = np.empty((int(is_category.sum()), dataset.n_rows), np.uint32)
    for first, block in dataset.blocks():
        rows = slice(first, first + len(block))
        numbers[rows] = block[:, ~is_category]
        found = block[:, is_category]
        codes[:, rows] = np.where(np.isnan(found), missing, found).T
    return NumbersAndCodes(numbers, codes)


def columns_by_statistics(max_onehot: int, schema: Schema) -> list[Projection]:
    """The categorical columns with too many categories to be split one from the rest, by place among the categorical ones."""
    sizes = [len(column.categories) for column in schema.columns if column.kind == "categorical"]
    return [(place,) for place, size in enumerate(sizes) if size > max_onehot]


def has_combinations(max_combination: int, schema: Schema) -> bool:
    """Whether there are categorical columns to combine."""
    return max_combination > 1 and int(schema.categorical_mask.sum()) > 1
