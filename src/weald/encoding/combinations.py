"""Combinations of categorical columns as one: keys that many codes are folded into, and small numbers for the keys."""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Int, Uint32s, Uint64s
from weald.runtime.jit import inlined, kernel
from weald.runtime.random import mix

UNKNOWN = np.uint32(0xFFFFFFFF)  # the group of a key that no training row has

#: Categorical columns, ascending, whose codes together are one category.
Projection = tuple[int, ...]


@kernel
def fold_codes(codes: Uint32s, keys: Uint64s) -> None:
    """Fold one more column's codes into the rows' keys, which start at zero."""
    for row in range(len(keys)):
        keys[row] = mix(keys[row] + np.uint64(codes[row]))


@inlined
def _place_of(key: np.uint64, slots: Uint64s, mask: np.uint64) -> np.uint64:
    """Where a key is, or would be put, in a table of ``mask`` + 1 slots; ``slots``: (slots, 2), key and group + 1."""
    place = key & mask
    while slots[place, 1] != 0 and slots[place, 0] != key:
        place = (place + np.uint64(1)) & mask
    return place


@kernel
def number_keys(
    keys: Uint64s,
    slots: Uint64s,
    groups: Uint32s,
    distinct: Uint64s,
) -> Int:
    """Number the different keys in the order of the rows; how many there are.

    ``slots``: (a power of two, 2), zeros, gets the keys with their numbers + 1; ``groups``: (rows,), gets every row's
    number; ``distinct``: (rows,), gets the keys by number.
    """
    mask = np.uint64(len(slots) - 1)
    count = np.uint64(0)
    for row in range(len(keys)):
        place = _place_of(keys[row], slots, mask)
        if slots[place, 1] == 0:
            distinct[count] = keys[row]
            count += np.uint64(1)
            slots[place, 0], slots[place, 1] = keys[row], count
        groups[row] = slots[place, 1] - np.uint64(1)
    return np.int64(count)


@kernel
def find_keys(keys: Uint64s, slots: Uint64s, groups: Uint32s) -> None:
    """Write the rows' numbers by a table that `number_keys` has filled; UNKNOWN for a key that is not in it."""
    mask = np.uint64(len(slots) - 1)
    for row in range(len(keys)):
        groups[row] = np.uint32(slots[_place_of(keys[row], slots, mask), 1] - np.uint64(1))


def new_slots(n_keys: int) -> Uint64s:
    """An empty table of keys, twice as large as it must be."""
    return np.zeros((1 << max(4, (2 * n_keys).bit_length()), 2), np.uint64)


def keys_of(codes: Uint32s, projection: Projection) -> Uint64s:
    """The keys of all rows; ``codes``: (categorical columns, rows), of which ``projection`` names the rows."""
    keys = np.zeros(codes.shape[1], np.uint64)
    for column in projection:
        fold_codes(codes[column], keys)
    return keys
