from __future__ import annotations

import numpy as np
import pytest

import reference_statistics
from weald.encoding.combinations import UNKNOWN, find_keys, keys_of, new_slots, number_keys


def _codes(n_rows: int) -> np.ndarray:
    rng = np.random.default_rng(n_rows)
    return np.stack([rng.integers(size, size=n_rows) for size in (3, 5, 40)]).astype(np.uint32)


@pytest.mark.parametrize("projection", [(0, 1), (0, 2), (0, 1, 2)])
def test_keys_fold_the_codes_of_the_columns(projection: tuple[int, ...]) -> None:
    codes = _codes(50)
    assert keys_of(codes, projection).tolist() == reference_statistics.keys([codes[c] for c in projection])


@pytest.mark.parametrize("n_rows", [1, 7, 300])
def test_keys_are_numbered_in_the_order_of_the_rows(n_rows: int) -> None:
    keys = keys_of(_codes(n_rows), (0, 1))
    groups, distinct = np.empty(n_rows, np.uint32), np.empty(n_rows, np.uint64)
    count = number_keys(keys, new_slots(n_rows), groups, distinct)
    assert (groups.tolist(), distinct[:count].tolist()) == reference_statistics.numbers(keys.tolist())


def test_keys_that_were_not_numbered_are_unknown() -> None:
    keys = keys_of(_codes(40), (1, 2))
    slots = new_slots(20)
    known = np.empty(20, np.uint32)
    number_keys(keys[:20], slots, known, np.empty(20, np.uint64))
    found = np.empty(40, np.uint32)
    find_keys(keys, slots, found)
    assert (found[:20] == known).all()
    first = dict(zip(keys[:20].tolist(), known.tolist(), strict=True))
    assert found[20:].tolist() == [first.get(key, int(UNKNOWN)) for key in keys[20:].tolist()]


def test_a_full_table_of_one_key_after_another() -> None:
    """Keys that want the same slot are found behind it, also around the end."""
    keys = np.array([15, 31, 47, 15, 63], np.uint64)  # all want the last of 16 slots
    slots = new_slots(4)
    assert len(slots) == 16
    groups = np.empty(5, np.uint32)
    assert number_keys(keys, slots, groups, np.empty(5, np.uint64)) == 4
    assert groups.tolist() == [0, 1, 2, 0, 3]
