"""Bundles of columns: exclusive ones go together, budgets are kept, and the greedy order is that of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from weald.binning.bundling import Bundles, fewest_bundles, find_bundles


def bundles_of(dense: np.ndarray, *arguments: Any) -> Bundles:
    """The bundles of a table that is present where it is not zero."""
    present = sparse.csc_matrix(dense)
    starts, rows = present.indptr.astype(np.int64), present.indices.astype(np.uint32)
    found = find_bundles(starts, rows, len(dense), *arguments)
    assert found is not None
    return found


def naive_bundles(
    dense: np.ndarray, sizes: np.ndarray, budget: int, order: str, most_cells: int
) -> list[set[int]]:
    present = dense != 0
    meets = present.T.astype(int) @ present.astype(int)
    np.fill_diagonal(meets, 0)
    rank = present.sum(axis=0) if order == "count" else meets.sum(axis=1)
    bundles: list[dict[str, Any]] = []
    for column in sorted(range(dense.shape[1]), key=lambda j: (-rank[j], j)):
        for bundle in bundles:
            conflicts = bundle["conflicts"] + int((bundle["used"] & present[:, column]).sum())
            if conflicts <= budget and bundle["cells"] + sizes[column] <= most_cells:
                break
        else:
            bundle = {"columns": set(), "used": np.zeros(len(dense), bool), "cells": 0}
            bundles.append(bundle)
            conflicts = 0
        bundle["columns"].add(column)
        bundle["used"] |= present[:, column]
        bundle["cells"] += sizes[column]
        bundle["conflicts"] = conflicts
    return sorted((bundle["columns"] for bundle in bundles), key=min)


@pytest.mark.parametrize("order", ["count", "degree"])
@pytest.mark.parametrize("budget", [0, 3])
def test_bundles_are_those_of_the_naive_twin(order: Any, budget: int) -> None:
    rng = np.random.default_rng(0)
    for n_rows, n_columns, share in (
        (1, 1, 1.0),
        (130, 20, 0.05),
        (64, 60, 0.02),
        (200, 40, 0.3),
        (50, 10, 0.0),
    ):
        dense = rng.random((n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < share)
        sizes = rng.integers(1, 40, n_columns)
        found = bundles_of(dense, sizes, budget, order, 100)
        columns = [set(np.flatnonzero(found.of_column == bundle)) for bundle in range(found.n_bundles)]
        assert columns == naive_bundles(dense, sizes, budget, order, 100)


def test_one_hot_columns_come_together_again() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 20, (9000, 3))  # two categories of different columns meet in some rows
    one_hot = np.concatenate([np.eye(20)[codes[:, j]] for j in range(3)], axis=1)
    found = bundles_of(one_hot, np.ones(60, np.int64))
    assert found.conflicts.sum() == 0
    present = one_hot.astype(bool)
    for bundle in range(found.n_bundles):
        assert present[:, found.of_column == bundle].sum(axis=1).max() <= 1
    assert found.of_column.tolist() == [0] * 20 + [1] * 20 + [2] * 20


def test_a_budget_of_conflicts_makes_fewer_bundles_and_is_kept() -> None:
    rng = np.random.default_rng(2)
    dense = (rng.random((500, 80)) < 0.03).astype(float)
    strict, loose = (bundles_of(dense, np.ones(80, np.int64), budget) for budget in (0, 10))
    assert loose.n_bundles < strict.n_bundles
    assert loose.conflicts.max() <= 10
    for bundle in range(loose.n_bundles):
        inside = dense[:, loose.of_column == bundle].sum(axis=1)
        # A row that k columns share is k - 1 conflicts.
        assert np.maximum(inside - 1, 0).sum() == loose.conflicts[bundle]


def test_no_bundling_is_below_the_bound_and_too_many_bundles_are_given_up() -> None:
    rng = np.random.default_rng(3)
    dense = (rng.random((400, 50)) < 0.06).astype(float)
    rows = sparse.csc_matrix(dense).indices.astype(np.uint32)
    starts = sparse.csc_matrix(dense).indptr.astype(np.int64)
    for budget in (0, 5, 40):
        n_bundles = bundles_of(dense, np.ones(50, np.int64), budget).n_bundles
        assert 1 <= fewest_bundles(rows, 400, budget) <= n_bundles
        limits = (n_bundles - 1, n_bundles)
        found = [
            find_bundles(starts, rows, 400, np.ones(50, np.int64), budget, "count", 255, most)
            for most in limits
        ]
        assert found[0] is None and found[1] is not None
    assert fewest_bundles(rows, 400, 0) == dense.sum(axis=1).max()
    assert fewest_bundles(np.empty(0, np.uint32), 400, 0) == 0
