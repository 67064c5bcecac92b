"""Randomness by counting: a number depends on a seed and on what it is for, never on what was drawn before.

So a model does not depend on the number of threads, blocks or workers, and a run that was interrupted goes on to
the same bytes. ``mix`` is the finaliser of SplitMix64 (Steele, Lea and Flood 2014); ``row_bits`` that of
MurmurHash3 for 32 bits, which vectorises.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from weald.runtime.arrays import Int, Int64s, Uint32s, Uint64s
from weald.runtime.errors import InputError
from weald.runtime.far import returns
from weald.runtime.jit import inlined, kernel
from weald.runtime.mathlib import log

# What a number is for; two purposes never share a stream.
ROUNDING, ROWS, TREE_COLUMNS, NODE_COLUMNS, BIN_SAMPLE, THRESHOLDS = 1, 2, 3, 5, 6, 7
MEMBER_SEED, MEMBER_ROWS, MEMBER_COLUMNS = 21, 22, 23
TIES = 31
SKIPPED_DROP, DROPPED_TREES, ONE_DROPPED_TREE = 41, 42, 43
COORDINATES = 51
ORDERS, COMBINATIONS, HOLDOUT = 61, 62, 63
SCORE_NOISE = 71

_MASK = (1 << 64) - 1


@inlined
def mix(value: np.uint64) -> np.uint64:
    """64 well-mixed bits of a 64-bit number."""
    value = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@inlined
def row_bits(key: np.uint32, row: np.uint32) -> np.uint32:
    """32 mixed bits for a row."""
    bits = np.uint32(np.uint32(row) ^ np.uint32(key))
    bits = np.uint32((bits ^ (bits >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    bits = np.uint32((bits ^ (bits >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return np.uint32(bits ^ (bits >> np.uint32(16)))


@inlined
def stream(key: np.uint64, purpose: int) -> np.uint64:
    """The key of a purpose: `stream_key` inside kernels."""
    return mix(np.uint64(key) ^ mix(np.uint64(purpose)))


@inlined
def below(bits: np.uint64, bound: Int) -> np.int64:
    """A number from 0 to below ``bound`` (less than 2**32), from 64 random bits."""
    return np.int64(((bits >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@kernel
def normal(bits: np.uint64) -> float:
    """A number of the standard normal distribution, from 64 random bits.

    Marsaglia's polar method (1964): of a point in the unit circle, drawn in the square around it until it is inside.
    """
    drawn = np.uint64(bits)
    while True:
        x = (np.float64(drawn >> np.uint64(32)) + 0.5) / 2147483648.0 - 1.0
        y = (np.float64(drawn & np.uint64(0xFFFFFFFF)) + 0.5) / 2147483648.0 - 1.0
        square = x * x + y * y
        if square < 1.0:
            return float(x * np.sqrt(-2.0 * log(square) / square))
        drawn = mix(drawn)


@returns(types.int64[::1])
@kernel
def choose(candidates: Int64s, share: float, key: np.uint64) -> Int64s:
    """A random share (at least one) of the candidates, in their old order: the first places of a shuffle."""
    n = len(candidates)
    count = max(1, int(share * n + 0.5))
    if count >= n:
        return candidates
    order = np.arange(n)
    chosen = np.zeros(n, np.bool_)
    for place in range(count):
        bits = mix(np.uint64(key) + np.uint64(place)) >> np.uint64(32)
        other = place + np.int64((bits * np.uint64(n - place)) >> np.uint64(32))
        order[place], order[other] = order[other], order[place]
        chosen[order[place]] = True
    out = np.empty(count, np.int64)
    size = 0
    for j in range(n):
        if chosen[j]:
            out[size] = candidates[j]
            size += 1
    return out


@kernel
def _hash_rows(key: np.uint64, hashes: Uint64s) -> None:
    key = mix(key)  # keys that differ in a low bit alone would only swap neighbours
    for row in range(len(hashes)):
        hashes[row] = mix(np.uint64(row) ^ key)


def permutation(n: int, key: int) -> Uint32s:
    """The numbers from 0 to below ``n`` in a random order: sorted by a hash.

    ``mix`` is one to one, so no two hashes are equal, and every way of sorting finds the same order.

    >>> permutation(6, key=3)
    array([2, 4, 3, 0, 5, 1], dtype=uint32)
    """
    hashes = np.empty(n, np.uint64)
    _hash_rows(np.uint64(key), hashes)
    return np.argsort(hashes).astype(np.uint32)


def stream_key(seed: int, *purpose: int) -> int:
    """A 64-bit key for a purpose, in plain Python: equal to folding ``mix`` over the numbers.

    >>> stream_key(0, ROWS, 7) == stream_key(0, ROWS, 7) != stream_key(1, ROWS, 7)
    True
    """
    key = seed & _MASK
    for number in purpose:
        key = _mix_int(key ^ _mix_int(number & _MASK))
    return key


def _mix_int(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def seed_of(random_state: Any) -> int:
    """A seed from what scikit-learn calls a random state; None is 0, so that two fits agree."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise InputError(f"random_state must be None, a whole number or a NumPy generator, not {random_state!r}.")
