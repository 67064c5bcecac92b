"""Keys lose bits, but no two of a table become one, and gaps of four bytes hold them."""

from __future__ import annotations

import numpy as np
import pytest

from weald.encoding.combinations import fold_codes
from weald.encoding.short_keys import ALL_BITS, FEWEST_BITS, bits_for, cut, gaps_of, keys_from


def _hashes(count: int) -> np.ndarray:
    keys = np.full(count, 7, np.uint64)
    fold_codes(np.arange(count, dtype=np.uint32), keys)
    return keys


@pytest.mark.parametrize("count", [1, 2, 10, 1000, 50_000])
def test_short_keys_differ_and_come_back_from_their_gaps(count: int) -> None:
    keys = _hashes(count)
    bits = bits_for(keys)
    short = np.sort(cut(keys, bits))
    assert FEWEST_BITS <= bits < ALL_BITS
    assert len(np.unique(short)) == count
    assert gaps_of(short).dtype == np.uint32
    assert np.array_equal(keys_from(gaps_of(short)), short)


@pytest.mark.parametrize("count", [1, 10, 1000, 50_000])
def test_a_key_that_is_not_there_is_hardly_ever_taken_for_one_that_is(count: int) -> None:
    assert count / 2.0 ** bits_for(_hashes(count)) < 1e-8


def test_keys_that_would_become_the_same_keep_all_their_bits() -> None:
    keys = np.array([3, 3 + 2**50], np.uint64)
    assert bits_for(keys) == ALL_BITS
    assert cut(keys, ALL_BITS) is keys
    assert bits_for(np.zeros(0, np.uint64)) == FEWEST_BITS


def test_gaps_too_wide_for_four_bytes_cost_a_bit() -> None:
    many = np.append(np.arange(1000, dtype=np.uint64), np.uint64(2**37))
    bits = bits_for(many)
    assert bits == ALL_BITS or int(np.diff(np.sort(cut(many, bits))).max()) < 2**32
