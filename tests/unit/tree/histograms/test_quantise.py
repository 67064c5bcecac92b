"""Integer gradients against hashing and rounding in Python's integers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from weald.runtime.errors import InputError
from weald.tree.histograms.quantise import (
    FEWEST_ROWS,
    PARALLEL_ROWS,
    SIZE_STEPS,
    largest_of,
    quantise,
    sum_sizes,
)

NO_ROWS = np.empty(0, np.uint32)
MANY_ROWS = max(4_000, FEWEST_ROWS)  # enough to be packed
PRECISIONS = ("packed", "wide", "packed_always")


def normal_gradients(n_rows: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    generator = np.random.default_rng(seed)
    gradient = generator.normal(size=n_rows).astype(np.float32)
    return gradient, generator.uniform(0.0, 0.25, n_rows).astype(np.float32)


def assert_same(
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
    rows: NDArray[np.uint32],
    precision: str,
    tasks: tuple[int, ...] = (1,),
    key: int = 0x1234_5678_9ABC_DEF0,
) -> reference.Quantised:
    expected = reference.quantise(gradient, hessian, rows, key, precision)
    pairs = list(zip(expected.rows, expected.gradient, expected.hessian, strict=True))
    words = [reference.encode_entry(expected.packed, *pair) for pair in pairs]
    for number in tasks:
        wide = np.full(len(gradient), 77, np.uint64)
        entries = np.full(len(gradient) + 3, 99, np.uint64)
        found = quantise(gradient, hessian, rows, key, precision, number, wide, entries)
        assert found.packed == expected.packed
        assert (found.gradient_unit, found.hessian_unit) == (expected.gradient_unit, expected.hessian_unit)
        assert np.array_equal(entries[: len(words)], np.array(words, np.uint64))
        assert (entries[len(words) :] == 99).all()
        if found.packed:
            assert (wide == 77).all()
        else:
            filled = [reference.encode_wide(g, h) for _, g, h in pairs]
            assert np.array_equal(found.wide[expected.rows], np.array(filled, np.uint64))
            decoded = reference.decode_entries(found, entries[: len(words)])
            assert decoded[1].tolist() == expected.gradient
            assert decoded[2].tolist() == expected.hessian
    return expected


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("n_rows", [1, 2, 1_000, FEWEST_ROWS - 1, FEWEST_ROWS])
def test_integers_are_those_of_the_twin(precision: str, n_rows: int) -> None:
    gradient, hessian = normal_gradients(n_rows)
    found = assert_same(gradient, hessian, NO_ROWS, precision, (1, 3))
    assert found.packed == (precision == "packed_always" or (precision == "packed" and n_rows >= FEWEST_ROWS))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("n_rows", [PARALLEL_ROWS, 2 * PARALLEL_ROWS + 5])
def test_the_number_of_tasks_changes_no_integer(precision: str, n_rows: int) -> None:
    gradient, hessian = normal_gradients(n_rows)
    assert_same(gradient, hessian, NO_ROWS, precision, (1, 2, 3, 5))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_sampled_rows_have_the_integers_they_have_among_all(precision: str) -> None:
    gradient, hessian = normal_gradients(PARALLEL_ROWS + 1)
    rows = np.flatnonzero(np.random.default_rng(1).random(len(gradient)) < 0.3).astype(np.uint32)
    found = assert_same(gradient, hessian, rows, precision, (1, 3))
    everything = reference.quantise(gradient, hessian, NO_ROWS, 0x1234_5678_9ABC_DEF0, precision)
    assert found.gradient == [everything.gradient[row] for row in rows]


def test_a_heavy_tail_makes_the_round_wide() -> None:
    gradient, hessian = normal_gradients(MANY_ROWS)
    assert assert_same(gradient, hessian, NO_ROWS, "packed").packed
    gradient[7] = 1e6
    assert not assert_same(gradient, hessian, NO_ROWS, "packed").packed
    assert assert_same(gradient, hessian, NO_ROWS, "packed_always").packed


def test_rare_large_hessians_make_the_round_wide() -> None:
    gradient, hessian = normal_gradients(MANY_ROWS)
    hessian[:] = 1e-5
    hessian[5] = 1.0
    assert not assert_same(gradient, hessian, NO_ROWS, "packed").packed


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("value", [1.0, -1.0, 3e38, 1.5e-45])
def test_equal_and_extreme_gradients_fit_their_fields(precision: str, value: float) -> None:
    n_rows = MANY_ROWS
    gradient = np.full(n_rows, value, np.float32)
    gradient[0] = -gradient[0]
    hessian = np.full(n_rows, abs(value), np.float32)
    found = assert_same(gradient, hessian, NO_ROWS, precision)
    limits = (4095, 4095) if found.packed else (2**31 - 1, 2**25 - 1)
    assert max(map(abs, found.gradient)) <= limits[0]
    assert 0 <= min(found.hessian) <= max(found.hessian) <= limits[1]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_gradients_that_are_all_zero_become_zeros_with_a_finite_unit(precision: str) -> None:
    zeros, ones = np.zeros(500, np.float32), np.ones(500, np.float32)
    for gradient, hessian in ((zeros, ones), (zeros, zeros), (ones, zeros)):
        wide, entries = np.zeros(500, np.uint64), np.zeros(500, np.uint64)
        found = quantise(gradient, hessian, NO_ROWS, 3, precision, 1, wide, entries)
        _, g, h = reference.decode_entries(found, entries)
        for unit in (found.gradient_unit, found.hessian_unit):
            assert 0.0 < unit * unit < np.inf
        if not gradient.any():
            assert not g.any()
        if not hessian.any():
            assert not h.any()


def test_packed_rounding_is_unbiased() -> None:
    n_rows = 100_000
    gradient = np.full(n_rows, 0.3, np.float32)
    gradient[0] = 1.0
    wide, entries = np.zeros(n_rows, np.uint64), np.zeros(n_rows, np.uint64)
    found = quantise(gradient, np.abs(gradient), NO_ROWS, 5, "packed_always", 1, wide, entries)
    _, g, h = reference.decode_entries(found, entries[1:])
    # The fraction of a step is spread over n_rows draws: its mean has a standard error below 0.002 steps.
    assert abs(g.mean() - np.float32(0.3) * 4094.0) < 0.01
    assert abs(h.mean() - np.float32(0.3) * 4094.0) < 0.01


def test_another_key_rounds_other_rows_up() -> None:
    gradient, hessian = normal_gradients(2_000)
    first = assert_same(gradient, hessian, NO_ROWS, "packed_always", key=1)
    second = assert_same(gradient, hessian, NO_ROWS, "packed_always", key=2**63 + 2)
    assert first.gradient != second.gradient
    assert max(abs(a - b) for a, b in zip(first.gradient, second.gradient, strict=True)) == 1


@pytest.mark.parametrize("n_rows", [0, 1, 700, PARALLEL_ROWS + 1])
def test_what_decides_the_scale_adds_up_over_parts_in_any_order(n_rows: int) -> None:
    gradient, hessian = normal_gradients(n_rows)
    largest = (float(np.abs(gradient).max(initial=0)), float(hessian.max(initial=0)))
    sizes = [0, 0]
    for own, values, most in ((0, np.abs(gradient), largest[0]), (1, hessian, largest[1])):
        for value in values.tolist():
            sizes[own] += math.floor(value * (SIZE_STEPS / most) + 0.5)
    for tasks in (1, 3):
        assert largest_of(gradient, hessian, tasks) == largest
        assert sum_sizes(gradient, hessian, largest, tasks) == tuple(sizes)
        parts = [(0, n_rows // 3), (n_rows // 3, n_rows // 3), (n_rows // 3, n_rows)]
        found = [sum_sizes(gradient[a:b], hessian[a:b], largest, tasks) for a, b in reversed(parts)]
        assert np.sum(found, axis=0).tolist() == sizes


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("place", [0, 1])
def test_numbers_beyond_float32_are_refused(precision: str, place: int) -> None:
    gradient, hessian = normal_gradients(20)
    (gradient, hessian)[place][3] = np.inf
    wide, entries = np.empty(20, np.uint64), np.empty(20, np.uint64)
    with pytest.raises(InputError, match="beyond 3e38, the largest float32"):
        quantise(gradient, hessian, NO_ROWS, 7, precision, 1, wide, entries)
