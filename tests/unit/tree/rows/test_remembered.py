"""Sums over remembered leaves against their naive twin, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from reference_dart import summed
from weald.tree.rows.remembered import PARALLEL_SUMS, RememberedLeaves


@pytest.mark.parametrize("tasks", [1, 2, 3])
@pytest.mark.parametrize("n_rows", [1, 1_500])
@pytest.mark.parametrize("largest", [1, 256, 257, 70_000])
def test_sums_over_chosen_trees_are_those_of_the_twin(largest: int, n_rows: int, tasks: int) -> None:
    rng = np.random.default_rng(largest)
    n_trees = 70
    assert tasks == 1 or n_rows == 1 or n_rows * n_trees > PARALLEL_SUMS
    # The sizes of the trees vary, so that memory of several widths is used.
    sizes = [largest if tree % 5 else min(largest, 3) for tree in range(n_trees)]
    leaves = np.array([rng.integers(0, size, n_rows) for size in sizes])
    values = [rng.standard_normal(size) for size in sizes]
    remembered = RememberedLeaves(n_rows)
    for tree, size in enumerate(sizes):
        remembered.append(leaves[tree].astype(float), size)
    start = rng.standard_normal(n_rows)
    for share in (0.0, 0.4, 0.95, 1.0):
        wanted = rng.random(n_trees) < share
        score = start.copy()
        remembered.add_to(score, values, wanted, tasks)
        assert score.tolist() == summed(leaves, values, np.flatnonzero(wanted).tolist(), start).tolist()


def test_a_tree_takes_a_byte_a_row_and_two_above_256_leaves() -> None:
    remembered = RememberedLeaves(10)
    assert [remembered.bytes_of(n_leaves) for n_leaves in (1, 256, 257, 65_536, 65_537)] == [
        10,
        10,
        20,
        20,
        40,
    ]
    remembered.append(np.zeros(10), 256)
    remembered.append(np.zeros(10), 257)
    assert remembered.nbytes == 30
