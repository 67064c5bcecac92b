from __future__ import annotations

import numpy as np
import pytest

import reference_statistics
from weald.statistics.combinations import keys_of, new_slots, number_keys
from weald.statistics.tables import StatisticTable


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


@pytest.mark.parametrize("bits", [64, 40])
@pytest.mark.parametrize("projection", [(2,), (1, 2), (0, 1, 2)])
def test_rows_get_the_cells_of_their_key_or_the_defaults(projection: tuple[int, ...], bits: int) -> None:
    codes = _codes(40)
    found = {}
    if len(projection) == 1:
        known = range(30)
        keys, own = np.zeros(0, np.uint64), codes[2].tolist()
        found = {code: code for code in known}
    else:
        own = [key % 2**bits for key in reference_statistics.keys([codes[c] for c in projection])]
        known = sorted(set(own[:20]))
        keys = np.array(known, np.uint64)
        found = {key: group for group, key in enumerate(known)}
    cells = np.arange(2 * len(known), dtype=np.uint16).reshape(2, -1)
    default = np.array([500, 600], np.uint16)
    table = StatisticTable(projection, (0, 1), keys, cells, default, bits)
    expected = [
        [cells[place, found[key]] if key in found else default[place] for key in own] for place in range(2)
    ]
    assert (table.look_up(codes) == np.array(expected)).all()
    assert 0 < sum(key not in found for key in own) < 40


def test_a_full_table_of_one_key_after_another() -> None:
    """Keys that want the same slot are found behind it, also around the end."""
    keys = np.array([15, 31, 47, 15, 63], np.uint64)  # all want the last of 16 slots
    slots = new_slots(4)
    assert len(slots) == 16
    groups = np.empty(5, np.uint32)
    assert number_keys(keys, slots, groups, np.empty(5, np.uint64)) == 4
    assert groups.tolist() == [0, 1, 2, 0, 3]
