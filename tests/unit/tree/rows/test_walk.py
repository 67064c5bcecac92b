"""The leaves of rows that grew no tree, against a walk node by node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from unit.tree.factories import random_bins
from weald.tree.rows.walk import PARALLEL_ROWS, walk_rows

N_BINS = [255, 5, 3, 40]
CATEGORICAL = [False, True, False, True]


class Tree(NamedTuple):
    """A tree as the walk takes it."""

    feature: NDArray[np.int32]
    split_bin: NDArray[np.int32]
    left_bins: NDArray[np.int64]
    missing_left: NDArray[np.uint8]
    left: NDArray[np.int32]
    leaf_of_node: NDArray[np.int32]


def random_tree(generator: np.random.Generator, n_leaves: int) -> Tree:
    """A random leaf is split until there are enough; leaves are numbered in a random order."""
    feature, split_bin, missing_left, left = [-1], [0], [0], [0]
    left_bins: list[NDArray[np.int64]] = [np.zeros(4, np.int64)]
    while feature.count(-1) < n_leaves:
        node = int(generator.choice(np.flatnonzero(np.array(feature) < 0)))
        column = int(generator.integers(len(N_BINS)))
        feature[node] = column
        split_bin[node] = int(generator.integers(N_BINS[column]))
        chosen = frozenset(np.flatnonzero(generator.random(N_BINS[column]) < generator.random()).tolist())
        left_bins[node] = reference.words_of_bins(chosen)
        missing_left[node] = int(generator.integers(2))
        left[node] = len(feature)
        left_bins += [np.zeros(4, np.int64)] * 2
        for places, value in ((feature, -1), (split_bin, 0), (missing_left, 0), (left, 0)):
            places += [value, value]
    leaf_of_node = np.full(len(feature), -1, np.int32)
    leaves = np.flatnonzero(np.array(feature) < 0)
    leaf_of_node[leaves] = generator.permutation(len(leaves))
    return Tree(
        np.array(feature, np.int32),
        np.array(split_bin, np.int32),
        np.array(left_bins, np.int64),
        np.array(missing_left, np.uint8),
        np.array(left, np.int32),
        leaf_of_node,
    )


def naive_leaf(tree: Tree, row: list[int]) -> int:
    """The leaf of one row."""
    node = 0
    while tree.feature[node] >= 0:
        column = int(tree.feature[node])
        goes_left = reference.goes_left(
            N_BINS[column],
            CATEGORICAL[column],
            int(tree.split_bin[node]),
            reference.bins_of_words(tree.left_bins[node].tolist()),
            int(tree.missing_left[node]),
            row[column],
        )
        node = int(tree.left[node]) + (0 if goes_left else 1)
    return int(tree.leaf_of_node[node])


def walked(tree: Tree, bins: NDArray[np.uint8], tasks: int, leaf_of_row: NDArray[np.int32]) -> None:
    n_bins, categorical = np.array(N_BINS, np.int64), np.array(CATEGORICAL)
    walk_rows(bins, n_bins, categorical, *tree, tasks, 77, leaf_of_row)


@pytest.mark.parametrize("n_leaves", [1, 2, 13, 60])
def test_every_row_reaches_the_leaf_of_a_naive_walk(n_leaves: int) -> None:
    generator = np.random.default_rng(n_leaves)
    tree = random_tree(generator, n_leaves)
    bins = random_bins(generator, 900, N_BINS, missing=0.3)
    leaf_of_row = np.full(900, 77, np.int32)
    walked(tree, bins, 1, leaf_of_row)
    assert leaf_of_row.tolist() == [naive_leaf(tree, row) for row in bins.tolist()]


@pytest.mark.parametrize("n_rows", [PARALLEL_ROWS - 1, PARALLEL_ROWS, PARALLEL_ROWS + 3])
def test_the_number_of_tasks_changes_no_leaf(n_rows: int) -> None:
    generator = np.random.default_rng(n_rows)
    tree = random_tree(generator, 20)
    bins = random_bins(generator, n_rows, N_BINS)
    serial = np.full(n_rows, 77, np.int32)
    walked(tree, bins, 1, serial)
    for tasks in (2, 3, 5):
        found = np.full(n_rows, 77, np.int32)
        walked(tree, bins, tasks, found)
        assert np.array_equal(found, serial)


@pytest.mark.parametrize("tasks", [1, 2])
def test_rows_that_do_not_wait_keep_their_leaf(tasks: int) -> None:
    generator = np.random.default_rng(3)
    tree = random_tree(generator, 9)
    bins = random_bins(generator, PARALLEL_ROWS, N_BINS)
    everything = np.full(PARALLEL_ROWS, 77, np.int32)
    walked(tree, bins, 1, everything)
    waiting = generator.random(PARALLEL_ROWS) < 0.5
    found = np.where(waiting, 77, 123).astype(np.int32)
    walked(tree, bins, tasks, found)
    assert np.array_equal(found, np.where(waiting, everything, 123))


def test_no_rows_are_walked_without_complaint() -> None:
    tree = random_tree(np.random.default_rng(1), 3)
    walked(tree, np.empty((0, len(N_BINS)), np.uint8), 2, np.empty(0, np.int32))
