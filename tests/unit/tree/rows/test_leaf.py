"""Leaves of rows, exact sums and scores against loops over Python's numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from weald.tree.rows.leaf import (
    PARALLEL_ROWS,
    LeafPlaces,
    add_leaf_values,
    assign_leaves,
    leaf_rows,
    leaf_sums,
)

SIZES = (1, 1_000, PARALLEL_ROWS, PARALLEL_ROWS + 4_321)
TASKS = (1, 2, 3, 5)


def random_leaves(
    generator: np.random.Generator, n_rows: int, n_leaves: int
) -> tuple[NDArray[np.uint64], LeafPlaces]:
    """Leaves that divide the places 0..n_rows, some of them empty, on either side of the entries."""
    cuts = np.sort(generator.integers(0, n_rows + 1, n_leaves - 1))
    bounds = np.concatenate([[0], cuts, [n_rows]]).astype(np.int64)
    entries = np.full((2, n_rows), 0xFFFF_FFFF_0000_0000, np.uint64)  # a row that does not exist
    sides = generator.integers(0, 2, n_leaves)
    rows = generator.permutation(n_rows).astype(np.uint64)
    for leaf, side in enumerate(sides):
        here = slice(bounds[leaf], bounds[leaf + 1])
        entries[side, here] = (rows[here] << np.uint64(32)) | np.uint64(0xABCD)
    return entries, LeafPlaces(sides, bounds[:-1].copy(), bounds[1:].copy())


@pytest.mark.parametrize("n_rows", SIZES)
def test_every_row_learns_its_leaf_and_rows_left_out_keep_theirs(n_rows: int) -> None:
    generator = np.random.default_rng(n_rows)
    entries, leaves = random_leaves(generator, n_rows, 9)
    expected = np.full(n_rows + 5, 42, np.int32)
    for leaf, (side, begin, end) in enumerate(zip(*leaves, strict=True)):
        for entry in entries[side, begin:end].tolist():
            expected[entry >> 32] = leaf
    for tasks in TASKS:
        found = np.full(n_rows + 5, 42, np.int32)
        assign_leaves(entries, leaves, n_rows, tasks, found)
        assert np.array_equal(found, expected)


def test_rows_are_listed_leaf_after_leaf() -> None:
    entries, leaves = random_leaves(np.random.default_rng(3), 5_000, 12)
    expected: list[int] = []
    for side, begin, end in zip(*leaves, strict=True):
        expected += [entry >> 32 for entry in entries[side, begin:end].tolist()]
    found = np.full(5_000, 9, np.uint32)
    leaf_rows(entries, leaves, found)
    assert found.tolist() == expected


@pytest.mark.parametrize("n_rows", SIZES)
def test_sums_are_those_of_pythons_integers_for_any_number_of_tasks(n_rows: int) -> None:
    generator = np.random.default_rng(n_rows)
    leaf_of_row = generator.integers(0, 8, n_rows).astype(np.int32)  # 7: left out
    gradient = (generator.normal(size=n_rows) ** 5).astype(np.float32)
    hessian = generator.random(n_rows).astype(np.float32)
    largest = (float(np.abs(gradient).max()), 1.0)
    expected = reference.leaf_sums(leaf_of_row, 7, gradient, hessian, largest)
    for tasks in TASKS:
        found = leaf_sums(leaf_of_row, 7, gradient, hessian, largest, tasks)
        assert found.shape == (7, 2)
        assert np.array_equal(found, expected)


def test_sums_are_exact_to_the_promised_bits() -> None:
    generator = np.random.default_rng(8)
    n_rows = 4_000
    leaf_of_row = generator.integers(0, 3, n_rows).astype(np.int32)
    gradient = (generator.normal(size=n_rows) * 10.0 ** generator.integers(-9, 3, n_rows)).astype(np.float32)
    hessian = np.abs(gradient)
    bound = float(hessian.max())
    found = leaf_sums(leaf_of_row, 3, gradient, hessian, (bound, bound), 1)
    for leaf in range(3):
        for column, values in enumerate((gradient, hessian)):
            exact = sum(Fraction(value) for value in values[leaf_of_row == leaf].tolist())
            # Every row loses less than one step; a float64 keeps 53 bits of the sum.
            allowed = n_rows * Fraction(bound) * n_rows / 2**60 + abs(exact) / 2**53
            assert abs(Fraction(found[leaf, column]) - exact) <= allowed


@pytest.mark.parametrize("value", [0.0, 1.5e-45, 3e38])
def test_sums_of_extreme_gradients_neither_overflow_nor_vanish(value: float) -> None:
    gradient = np.full(1_000, value, np.float32)
    leaf_of_row = np.zeros(1_000, np.int32)
    found = leaf_sums(leaf_of_row, 1, -gradient, gradient, (float(gradient[0]),) * 2, 1)
    assert found.tolist() == [[-1_000 * float(gradient[0]), 1_000 * float(gradient[0])]]


@pytest.mark.parametrize("n_rows", SIZES)
def test_every_score_grows_by_the_value_of_its_leaf(n_rows: int) -> None:
    generator = np.random.default_rng(n_rows)
    leaf_of_row = generator.integers(0, 7, n_rows).astype(np.int32)
    values, before = generator.normal(size=7), generator.normal(size=n_rows)
    expected = [score + values[leaf] for score, leaf in zip(before, leaf_of_row, strict=True)]
    for tasks in TASKS:
        score = before.copy()
        add_leaf_values(leaf_of_row, values, tasks, score)
        assert score.tolist() == expected
