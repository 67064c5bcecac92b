"""Columns that are looked up by a hash of categories, as CatBoost's models have them: statistics of the training rows.

A projection is some categorical columns, and perhaps tests of others. CatBoost hashes their values one after another to a key
of 64 bits, and the model has numbers for the keys that the training rows had. Every other key has the numbers of none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.data import Column, Dataset, Schema
from weald.exchange.foreign.reading import field, integers, one_per
from weald.exchange.foreign.singles import at_most
from weald.runtime.errors import ModelFileError

Keys = NDArray[np.uint64]
_MULTIPLIER: Final = np.uint64(0x4906BA494954CB65)
#: The arrays of a model file, of all tables one after another.
ARRAYS: Final[dict[str, np.dtype[Any]]] = {
    "hashed_keys": np.dtype(np.uint64),
    "hashed_cells": np.dtype(np.float64),  # of every table: the numbers of no key, then (numbers, keys)
    "hashed_categories": np.dtype(np.uint64),  # of every category of every categorical column
}


def mixed(keys: Keys, values: Keys) -> Keys:
    """Keys with one more value each; arithmetic is modulo 2**64.

    >>> int(mixed(np.zeros(1, np.uint64), np.array([2**64 - 1], np.uint64))[0]) == -0x4906BA494954CB65**2 % 2**64
    True
    """
    with np.errstate(over="ignore"):
        found: Keys = _MULTIPLIER * (keys + _MULTIPLIER * values)
    return found


@dataclass(frozen=True)
class NumberTest:
    """Whether the float32 of a column is above a border; ``missing_above``: what a missing value is."""

    column: int
    border: float
    missing_above: bool


@dataclass(frozen=True)
class CategoryTest:
    """Whether a column's category is the one with this hash."""

    column: int
    category: int


Test = NumberTest | CategoryTest


@dataclass(frozen=True, eq=False)
class HashedTable:
    """The numbers of a projection.

    columns: places of categorical columns in the user's table; tests: whose answers are hashed behind them.
    keys: ascending; cells: (numbers, keys); default: (numbers,), of any other key.
    """

    columns: tuple[int, ...]
    tests: tuple[Test, ...]
    keys: Keys
    cells: NDArray[np.float64]
    default: NDArray[np.float64]

    def look_up(self, keys: Keys, known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(numbers, rows) of the rows' keys; a row with a category that is not known has the default."""
        found = np.repeat(self.default[:, None], len(keys), axis=1)
        if len(self.keys):
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            hit = known & (self.keys[place] == keys)
            found[:, hit] = self.cells[:, place[hit]]
        return found


@dataclass(frozen=True, eq=False)
class HashedStatistics:
    """The looked-up columns of a model: table after table, behind the columns of the user's table.

    hashes: of the categories of every categorical column, by its place.
    """

    schema: Schema
    hashes: Mapping[int, Keys]
    tables: tuple[HashedTable, ...]

    @cached_property
    def extended_schema(self) -> Schema:
        """The user's columns and the looked-up ones, which are numeric."""
        names, derived = self.schema.names, []
        for number, table in enumerate(self.tables):
            own = " & ".join(
                names[column] for column in [*table.columns, *(test.column for test in table.tests)]
            )
            derived += [Column(f"{own} #{number}.{place}", "numeric") for place in range(len(table.default))]
        return Schema((*self.schema.columns, *derived), self.schema.named)

    @cached_property
    def sources(self) -> list[tuple[int, ...]]:
        """The user's columns that every column of an extended table comes from."""
        own: list[tuple[int, ...]] = [(column,) for column in range(self.schema.n_columns)]
        for table in self.tables:
            columns = tuple(sorted({*table.columns, *(test.column for test in table.tests)}))
            own += [columns] * len(table.default)
        return own

    def extend(self, dataset: Dataset) -> Dataset:
        """A table with the looked-up columns beside its own."""
        return Dataset(self.extended_schema, _Extended(self, dataset))

    @cached_property
    def _by_code(self) -> dict[int, NDArray[np.float64]]:
        """Table -> its numbers by the code of its only column, the last for what is not known."""
        found = {}
        for number, table in enumerate(self.tables):
            if len(table.columns) == 1 and not table.tests:
                hashes = self.hashes[table.columns[0]]
                keys = mixed(np.zeros(len(hashes), np.uint64), hashes)
                numbers = table.look_up(keys, np.ones(len(keys), np.bool_))
                found[number] = np.concatenate([numbers, table.default[:, None]], axis=1)
        return found

    def _numbers(self, block: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
        """(numbers, rows) of every table."""
        codes = {column: _codes(block[:, column], len(own)) for column, own in self.hashes.items()}
        for number, table in enumerate(self.tables):
            if number in self._by_code:
                yield self._by_code[number][:, codes[table.columns[0]]]
                continue
            keys, known = self.keys_of(table, codes)
            for test in table.tests:
                keys = mixed(keys, self._answers(block, codes, test).astype(np.uint64))
            yield table.look_up(keys, known)

    def keys_of(
        self, table: HashedTable, codes: Mapping[int, NDArray[np.int64]]
    ) -> tuple[Keys, NDArray[np.bool_]]:
        """Keys of a table's categories by the codes of the columns, and whether all of them are known."""
        n_rows = len(codes[table.columns[0]]) if table.columns else len(next(iter(codes.values())))
        keys, known = np.zeros(n_rows, np.uint64), np.ones(n_rows, np.bool_)
        for column in table.columns:
            own = self.hashes[column]
            known &= codes[column] < len(own)
            keys = mixed(keys, np.append(own, np.uint64(0))[codes[column]])
        return keys, known

    def _answers(
        self, block: NDArray[Any], codes: Mapping[int, NDArray[np.int64]], test: Test
    ) -> NDArray[np.bool_]:
        if isinstance(test, NumberTest):
            return _above(block[:, test.column], test)
        is_it = self.hashes[test.column] == np.int64(test.category).astype(np.uint64)
        return np.append(is_it, False)[codes[test.column]]

    def fill(self, block: NDArray[Any]) -> NDArray[Any]:
        """A block with the looked-up columns."""
        wide = np.empty((len(block), self.extended_schema.n_columns), block.dtype, order="F")
        wide[:, : self.schema.n_columns] = block
        place = self.schema.n_columns
        for numbers in self._numbers(block):
            wide[:, place : place + len(numbers)] = numbers.T
            place += len(numbers)
        return wide

    def to_file(self) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
        """What the header says of every table, and the arrays."""
        described = [
            {
                "columns": list(table.columns),
                "keys": len(table.keys),
                "numbers": len(table.default),
                "tests": [list(astuple(test)) for test in table.tests],
            }
            for table in self.tables
        ]
        cells = [np.concatenate([table.default, table.cells.reshape(-1)]) for table in self.tables]
        return described, {
            "hashed_keys": np.concatenate([np.zeros(0, np.uint64), *(table.keys for table in self.tables)]),
            "hashed_cells": np.concatenate([np.zeros(0), *cells]),
            "hashed_categories": np.concatenate(
                [np.zeros(0, np.uint64), *(self.hashes[column] for column in _categorical(self.schema))]
            ),
        }

    @staticmethod
    def from_file(described: Any, arrays: Mapping[str, NDArray[Any]], schema: Schema) -> HashedStatistics:
        """The checked tables of a model file."""
        columns = _categorical(schema)
        sizes = [len(schema.columns[column].categories) for column in columns]
        one_per(arrays["hashed_categories"], sum(sizes), "The file's hashed_categories")
        parts = np.split(arrays["hashed_categories"], np.cumsum(sizes)[:-1]) if sizes else []
        if not isinstance(described, list):
            raise ModelFileError("The file's hashed tables must be a list.")
        tables, at_key, at_cell = [], 0, 0
        for number, entry in enumerate(described):
            where = f"the file's hashed table {number}"
            n_keys, n_numbers = field(entry, "keys", int, where), field(entry, "numbers", int, where)
            n_cells = n_numbers * (n_keys + 1)
            too_many = at_key + n_keys > len(arrays["hashed_keys"]) or at_cell + n_cells > len(
                arrays["hashed_cells"]
            )
            if min(n_keys, n_numbers - 1) < 0 or too_many:
                raise ModelFileError(f"{where} has more keys than the file.")
            cells = arrays["hashed_cells"][at_cell : at_cell + n_cells]
            table = HashedTable(
                tuple(
                    integers(field(entry, "columns", list, where), where, 0, schema.n_columns - 1).tolist()
                ),
                tuple(_test_of(test, schema, where) for test in field(entry, "tests", list, where)),
                np.array(arrays["hashed_keys"][at_key : at_key + n_keys]),
                cells[n_numbers:].reshape(n_numbers, n_keys),
                np.array(cells[:n_numbers]),
            )
            check_table(table, columns, where)
            tables.append(table)
            at_key, at_cell = at_key + n_keys, at_cell + n_cells
        one_per(arrays["hashed_keys"], at_key, "The file's hashed_keys")
        one_per(arrays["hashed_cells"], at_cell, "The file's hashed_cells")
        return HashedStatistics(schema, dict(zip(columns, parts, strict=True)), tuple(tables))


def _categorical(schema: Schema) -> list[int]:
    places: list[int] = np.flatnonzero(schema.categorical_mask).tolist()
    return places


def check_table(table: HashedTable, categorical: Sequence[int], where: str) -> None:
    """Refuse a table that cannot be."""
    of_categories = {*table.columns, *(test.column for test in table.tests if isinstance(test, CategoryTest))}
    of_numbers = {test.column for test in table.tests if isinstance(test, NumberTest)}
    if not of_categories <= set(categorical) or set(categorical) & of_numbers:
        raise ModelFileError(f"{where} is of columns that have no categories.")
    if (table.keys[1:] <= table.keys[:-1]).any():
        raise ModelFileError(f"The keys of {where} do not ascend.")
    if np.isnan(table.cells).any() or np.isnan(table.default).any():
        raise ModelFileError(f"{where} has a number that is NaN.")


def _test_of(stored: Any, schema: Schema, where: str) -> Test:
    kinds = [type(value) for value in stored] if isinstance(stored, list) else []
    if kinds not in ([int, float, bool], [int, int]) or not 0 <= stored[0] < schema.n_columns:
        raise ModelFileError(f"{where} has a test that is not one.")
    if len(kinds) == 3:
        return NumberTest(*stored)
    if not -(2**31) <= stored[1] < 2**31:
        raise ModelFileError(f"{where} has a test that is not one.")
    return CategoryTest(*stored)


def _codes(column: NDArray[Any], unknown: int) -> NDArray[np.int64]:
    """Codes of a column of a block; what is missing has the code behind the last."""
    codes: NDArray[np.int64] = np.nan_to_num(column, nan=unknown).astype(np.int64)
    return codes


def _above(column: NDArray[Any], test: NumberTest) -> NDArray[np.bool_]:
    highest = at_most(np.array([test.border], np.float32))[0]
    above: NDArray[np.bool_] = column > highest
    return above | np.isnan(column) if test.missing_above else above


class _Extended:
    """A source of the rows of a data set with their looked-up columns."""

    whole = None

    def __init__(self, statistics: HashedStatistics, dataset: Dataset) -> None:
        self.n_rows = dataset.n_rows
        self._statistics, self._dataset = statistics, dataset

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
        for first, block in self._dataset.blocks():
            for begin in range(0, len(block), step):
                yield first + begin, self._statistics.fill(block[begin : begin + step])

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self._statistics.fill(self._dataset.take(rows))
