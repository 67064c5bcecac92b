"""A key for every row of a table, from what the row holds: lots that are drawn by it do not depend on the other rows."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema, read_table
from weald.runtime.random import TIES, mix, stream_key

Keys = NDArray[np.uint64]

_MISSING = np.uint64(0x9AE16A3B2F90404F)
# `mix` is compiled for single numbers; as plain Python it takes an array too.
_mixed: Any = getattr(mix, "py_func", mix)


def row_keys(X: Any, seed: int, owner: str) -> Keys:
    """64 bits for every row, a hash of the seed and of the row's values.

    Equal rows have equal keys, wherever they stand and whatever stands beside them.

    >>> row_keys([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]], 0, "example") == row_keys([[1.0, 2.0]], 0, "example")
    array([ True, False,  True])
    """
    dataset = read_table(X, owner=owner)
    tables = _category_hashes(dataset.schema)
    keys = np.full(dataset.n_rows, stream_key(seed, TIES), np.uint64)
    for first, block in dataset.blocks():
        part = keys[first : first + len(block)]
        for position, table in enumerate(tables):
            part[:] = _mixed(part ^ _cell_hashes(block[:, position], table))
    return keys


def _cell_hashes(column: NDArray[Any], table: Keys | None) -> Keys:
    values = column.astype(np.float64)
    missing = np.isnan(values)
    values[missing] = 0.0
    # Adding zero makes -0.0 the 0.0 that it equals.
    hashes: Keys = _mixed((values + 0.0).view(np.uint64)) if table is None else table[values.astype(np.int64)]
    hashes[missing] = _MISSING
    return hashes


def _category_hashes(schema: Schema) -> list[Keys | None]:
    """Per column, None for numbers; for categories the hash of each, since codes depend on the table's other rows."""
    return [
        np.array([_category_hash(category) for category in column.categories] or [0], np.uint64)
        if column.kind == "categorical"
        else None
        for column in schema.columns
    ]


def _category_hash(category: str | float) -> int:
    # Numbers that are equal are one category, a text that looks like a number is another.
    text = f"text {category}" if isinstance(category, str) else f"number {float(category).hex()}"
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
