"""The statistics of a model in its file: a list in the header, and a few arrays for all tables together.

A model tells but few cells of a statistic apart (see `StatisticTable.only`), so a cell is written as its number among these, in
as many bits as that needs. Keys are written as the gaps between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema
from weald.encoding.cells import CELLS
from weald.encoding.model import ModelStatistics
from weald.encoding.short_keys import ALL_BITS, FEWEST_BITS, gaps_of, keys_from
from weald.encoding.tables import Cells, StatisticTable
from weald.runtime.errors import ModelFileError

#: The arrays of a file whose model has statistics, those of all tables one after another.
ARRAYS: Final[dict[str, np.dtype[Any]]] = {
    "statistic_gaps": np.dtype(np.uint32),  # of tables whose keys were cut
    "statistic_keys": np.dtype(np.uint64),  # of the others
    "statistic_levels": np.dtype(np.uint16),  # the different cells of every statistic, ascending
    # Of every statistic: which of its levels is the default, and which is that of every group; bits, padded to a whole byte.
    "statistic_cells": np.dtype(np.uint8),
}
_FIELDS: Final = {"bits", "columns", "groups", "levels", "numbers"}


def to_file(statistics: ModelStatistics) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
    """What the header says of every table, and the arrays."""
    described = []
    keys, gaps = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint32)]
    levels, cells = [np.zeros(0, np.uint16)], [np.zeros(0, np.uint8)]
    for table in statistics.tables:
        sizes = []
        for default, own in zip(table.default, table.cells, strict=True):
            different, place = np.unique(np.append(default, own), return_inverse=True)
            sizes.append(len(different))
            levels.append(different)
            cells.append(_packed(place.reshape(-1), _width(len(different))))
        if table.bits == ALL_BITS:
            keys.append(table.keys)
        else:
            gaps.append(gaps_of(table.keys))
        described.append(
            {
                "bits": table.bits,
                "columns": list(table.projection),
                "groups": table.cells.shape[1],
                "levels": sizes,
                "numbers": list(table.numbers),
            }
        )
    return described, {
        "statistic_gaps": np.concatenate(gaps),
        "statistic_keys": np.concatenate(keys),
        "statistic_levels": np.concatenate(levels),
        "statistic_cells": np.concatenate(cells),
    }


def _width(n_levels: int) -> int:
    """The bits of a level's number."""
    return max(1, (n_levels - 1).bit_length())


def _packed(places: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    bits = places[:, None] >> np.arange(width) & 1
    return np.packbits(bits.astype(np.uint8))


def _unpacked(packed: NDArray[np.uint8], width: int, count: int) -> NDArray[np.int64]:
    bits = np.unpackbits(packed, count=width * count).reshape(count, width)
    places = np.zeros(count, np.int64)
    for place in range(width):
        places |= bits[:, place].astype(np.int64) << place
    return places


class _Reader:
    """Takes the arrays of a file apart, from their beginning on."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self._places = dict.fromkeys(ARRAYS, 0)

    def take(self, name: str, count: int) -> NDArray[Any]:
        """The next so many entries of an array."""
        begin, end = self._places[name], self._places[name] + count
        if end > len(self._arrays[name]):
            raise ModelFileError(f"The file's array {name!r} is too short for its statistics.")
        self._places[name] = end
        return self._arrays[name][begin:end]

    def end(self) -> None:
        """Nothing may be left."""
        for name, place in self._places.items():
            if place < len(self._arrays[name]):
                raise ModelFileError(f"The file's array {name!r} is too long for its statistics.")


def from_file(described: Any, arrays: Mapping[str, NDArray[Any]], schema: Schema) -> ModelStatistics:
    """The checked statistics of a file; what does not fit raises a `ModelFileError` that says so."""
    if not isinstance(described, list):
        raise ModelFileError("The file's statistics must be a list of tables.")
    n_categorical = int(schema.categorical_mask.sum())
    tables, reader = [], _Reader(arrays)
    for number, entry in enumerate(described):
        _check_entry(entry, number, n_categorical)
        keys = _read_keys(entry, number, reader)
        cells = np.array([_read_cells(size, entry["groups"], number, reader) for size in entry["levels"]])
        tables.append(
            StatisticTable(
                tuple(entry["columns"]),
                tuple(entry["numbers"]),
                keys,
                np.ascontiguousarray(cells[:, 1:]),
                np.ascontiguousarray(cells[:, 0]),
                entry["bits"],
            )
        )
    reader.end()
    return ModelStatistics(schema, tuple(tables))


def _read_keys(entry: dict[str, Any], number: int, reader: _Reader) -> NDArray[np.uint64]:
    """The keys of a table, which must be different ones of its number of bits."""
    n_keys, bits = entry["groups"] if len(entry["columns"]) > 1 else 0, entry["bits"]
    if bits == ALL_BITS:
        keys = np.array(reader.take("statistic_keys", n_keys))
    else:
        keys = keys_from(reader.take("statistic_gaps", n_keys))
    if (keys[1:] <= keys[:-1]).any():
        raise ModelFileError(f"The keys of the file's statistics {number} do not ascend.")
    if n_keys and int(keys[-1]) >= 2**bits:
        raise ModelFileError(f"The file's statistics {number} have a key of more than {bits} bits.")
    return keys


def _read_cells(n_levels: int, n_groups: int, number: int, reader: _Reader) -> Cells:
    """The cells of a statistic, the default's first."""
    width, count = _width(n_levels), 1 + n_groups
    levels = reader.take("statistic_levels", n_levels)
    places = _unpacked(reader.take("statistic_cells", -(-width * count // 8)), width, count)
    if (levels >= CELLS).any():
        raise ModelFileError(f"The file's statistics {number} have a cell that is not below {CELLS}.")
    if (levels[1:] <= levels[:-1]).any():
        raise ModelFileError(f"The levels of the file's statistics {number} do not ascend.")
    if (places >= n_levels).any():
        raise ModelFileError(f"The file's statistics {number} have a cell of a level that is not there.")
    cells: Cells = levels[places]
    return cells


def _check_entry(entry: Any, number: int, n_categorical: int) -> None:
    where = f"The file's statistics {number}"
    if not isinstance(entry, dict) or set(entry) != _FIELDS:
        raise ModelFileError(f"{where} must have the fields {', '.join(sorted(_FIELDS))}.")
    for name in ("columns", "numbers", "levels"):
        values = entry[name]
        if not isinstance(values, list) or not values or not all(_is_whole(value) for value in values):
            raise ModelFileError(f"{where} must have whole numbers as its {name}.")
        if name != "levels" and any(second <= first for first, second in pairwise(values)):
            raise ModelFileError(f"The {name} of the file's statistics {number} do not ascend.")
    if len(entry["levels"]) != len(entry["numbers"]):
        raise ModelFileError(f"{where} must have as many levels as numbers.")
    if entry["columns"][-1] >= n_categorical:
        raise ModelFileError(f"{where} are of a categorical column that the schema does not have.")
    if not _is_whole(entry["groups"]):
        raise ModelFileError(f"{where} must have a whole number of groups.")
    if not _is_whole(entry["bits"]) or not FEWEST_BITS <= entry["bits"] <= ALL_BITS:
        raise ModelFileError(f"{where} must have keys of {FEWEST_BITS} to {ALL_BITS} bits.")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
