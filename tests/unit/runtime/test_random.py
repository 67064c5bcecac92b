"""Counted randomness: published values, the twin in Python's integers, and streams that do not meet."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from weald.runtime import random as kernels
from weald.runtime.random import choose, mix, row_bits, stream_key

EDGES = [0, 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]


def random_words(bits: int, number: int = 300) -> list[int]:
    generator = np.random.default_rng(bits)
    return [int(word) >> (64 - bits) for word in generator.integers(0, 2**64, number, np.uint64)]


def test_mix_gives_the_published_outputs_of_splitmix64() -> None:
    step = 0x9E3779B97F4A7C15
    outputs = [int(mix(np.uint64(k * step & (2**64 - 1)))) for k in range(3)]
    assert outputs == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_row_bits_gives_the_published_outputs_of_the_murmur_finaliser() -> None:
    assert [int(row_bits(0, row)) for row in (0, 1)] == [0, 0x514E28B7]


def test_mix_is_the_twins_for_any_word() -> None:
    for word in EDGES + random_words(64):
        assert int(mix(np.uint64(word))) == reference.mix(word)


def test_row_bits_are_the_twins_for_any_key_and_row() -> None:
    for key, row in zip(random_words(32), reversed(random_words(32)), strict=True):
        assert int(row_bits(np.uint32(key), np.uint32(row))) == reference.row_bits(key, row)


def test_row_bits_are_balanced() -> None:
    words = np.array([row_bits(np.uint32(9), np.uint32(row)) for row in range(4_000)], np.uint64)
    ones = [(words >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(32)]
    assert max(abs(share - 0.5) for share in ones) < 0.04


@pytest.mark.parametrize("share", [1e-9, 0.1, 0.25, 0.5, 0.75, 0.999, 1.0])
def test_choice_is_the_twins_in_the_old_order(share: float) -> None:
    for number in (1, 2, 3, 6, 10, 101):
        candidates = np.arange(5, 5 + 3 * number, 3, dtype=np.int64)
        for key in (0, 2**63 + 1, 2**64 - 1):
            found = choose(candidates, share, np.uint64(key))
            assert found.tolist() == reference.choose(candidates.tolist(), share, key)
            assert found.tolist() == sorted(found.tolist())


def test_every_candidate_is_chosen_about_equally_often() -> None:
    candidates = np.arange(8)
    counts = np.zeros(8)
    for key in range(2_000):
        counts[choose(candidates, 0.25, np.uint64(reference.mix(key)))] += 1
    assert counts.sum() == 4_000
    assert np.abs(counts / 500 - 1).max() < 0.2


def test_keys_of_purposes_are_folded_from_mix() -> None:
    for seed in EDGES:
        for purpose in ((), (1,), (3, 0), (3, 2**40, 7), (-1,)):
            key = stream_key(seed, *purpose)
            assert key == reference.stream_key(seed, *purpose)
            assert 0 <= key < 2**64


def test_no_two_purposes_or_rounds_share_a_stream() -> None:
    purposes = [
        value
        for name, value in vars(kernels).items()
        if name.isupper() and isinstance(value, int) and not name.startswith("_")
    ]
    assert {kernels.ROUNDING, kernels.THRESHOLDS, kernels.HOLDOUT} < set(purposes)
    assert len(set(purposes)) == len(purposes)
    keys = {stream_key(seed, p, k) for seed in range(5) for p in purposes for k in range(200)}
    assert len(keys) == 5 * len(purposes) * 200
