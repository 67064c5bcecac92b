"""The leaves of rows by whole columns, against the walk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from unit.tree.factories import random_bins
from unit.tree.rows.test_walk import CATEGORICAL, N_BINS, naive_leaf, random_tree
from weald.tree.rows import sweep
from weald.tree.rows.sweep import (
    BLOCK,
    FEWEST_ROWS,
    PARALLEL_ROWS,
    Questions,
    fewest_rows,
    is_worth_a_sweep,
    questions_of,
    sweep_rows,
)

WAITING = 77


def asked(tree: Any, dtype: Any) -> Questions:
    n_bins, categorical = np.array(N_BINS, np.int64), np.array(CATEGORICAL)
    return questions_of(np.dtype(dtype), n_bins, categorical, *tree[:5])


@pytest.mark.parametrize("n_leaves", [1, 2, 13, 60])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint32])
def test_every_row_reaches_the_leaf_of_a_naive_walk(n_leaves: int, dtype: Any) -> None:
    generator = np.random.default_rng(n_leaves)
    n_rows = 2 * BLOCK + 3
    for _ in range(4):
        tree = random_tree(generator, n_leaves)
        bins = random_bins(generator, n_rows, N_BINS, missing=0.3)
        leaf_of_row = np.where(generator.random(n_rows) < 0.2, 99, WAITING).astype(np.uint8)
        expected = [
            naive_leaf(tree, row) if before == WAITING else 99
            for row, before in zip(bins.tolist(), leaf_of_row.tolist(), strict=True)
        ]
        columns = np.ascontiguousarray(bins.T).astype(dtype)
        sweep_rows(columns, asked(tree, dtype), tree.leaf_of_node, 1, WAITING, leaf_of_row)
        assert leaf_of_row.tolist() == expected


def test_the_number_of_tasks_changes_no_leaf() -> None:
    generator = np.random.default_rng(5)
    tree = random_tree(generator, 20)
    columns = np.ascontiguousarray(random_bins(generator, PARALLEL_ROWS + 3, N_BINS).T)
    found = []
    for tasks in (1, 2, 3):
        leaf_of_row = np.full(PARALLEL_ROWS + 3, WAITING, np.uint8)
        sweep_rows(columns, asked(tree, np.uint8), tree.leaf_of_node, tasks, WAITING, leaf_of_row)
        found.append(leaf_of_row)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_many_sets_are_left_to_the_walk() -> None:
    generator = np.random.default_rng(6)
    few, many = (asked(random_tree(generator, n_leaves), np.uint8) for n_leaves in (10, 200))
    assert is_worth_a_sweep(few)
    assert not is_worth_a_sweep(many)


def test_many_categories_need_many_rows() -> None:
    n_bins = np.array([60_000, 255], np.int64)
    assert fewest_rows(n_bins, np.array([False, True])) == FEWEST_ROWS
    assert fewest_rows(n_bins, np.array([True, False])) == 240_004


@pytest.mark.parametrize("split_finder", ["hist", "exact", "approx"])
def test_a_sampled_training_is_the_same_by_sweep_and_by_walk(
    split_finder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(7)
    X = generator.standard_normal((2_500, 3))
    X[::5, 1] = np.nan
    y = np.where(np.isnan(X[:, 1]), 1.0, X[:, 1]) + X[:, 0]
    model = weald.BoostedTreesRegressor(
        n_estimators=3, subsample=0.5, max_leaves=6, split_finder=split_finder, n_jobs=1
    )
    swept = model.fit(X, y, eval_set=[(X, y)])._to_bytes()
    monkeypatch.setattr(sweep, "MOST_BYTES", -1)
    assert model.fit(X, y, eval_set=[(X, y)])._to_bytes() == swept
