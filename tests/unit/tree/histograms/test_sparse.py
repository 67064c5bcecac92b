"""Histograms, splits and partitions of sparse tables against their twins, and against the dense table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
import reference_sparse
from unit.tree.factories import CANDIDATE, POISON, random_gradients, rules, workspace
from unit.tree.factories import tree_input as dense_input
from weald.binning import SparseBins
from weald.binning.mapper import BinMapper
from weald.tree.histograms.sparse import (
    build_sparse_histogram,
    clear_column,
    fill_column,
    subtract_sparse_histogram,
    sum_entries,
)
from weald.tree.inputs import dividing_columns, tree_input
from weald.tree.splits.gain import NO_GAIN
from weald.tree.splits.split import find_best_split
from weald.tree.state import LEFT_BINS, NodeSums, TreeInput, Workspace

N_BINS = [5, 1, 200, 3, 255, 2, 17]
DEFAULT = [0, 0, 77, 3, 255, 1, 17]  # zero's bin, somewhere, and that of missing values
SHARES = [0.1, 0.0, 0.95, 0.02, 0.05, 0.3, 0.1]  # of kept cells; the third column is frequent in 9,000 rows


def make(n_rows: int, seed: int = 0) -> tuple[NDArray[np.uint8], SparseBins, TreeInput]:
    """A table of bins, the same without its default cells, and the kernels' view of that."""
    rng = np.random.default_rng(seed)
    table = np.tile(np.array(DEFAULT, np.uint8), (n_rows, 1))
    for column, (n, share) in enumerate(zip(N_BINS, SHARES, strict=True)):
        kept = rng.random(n_rows) < share
        table[kept, column] = rng.integers(0, n + 1, kept.sum())
    cells = reference_sparse.kept_cells(table, DEFAULT)
    flat = [cell for column in cells for cell in column]
    mapper = BinMapper(
        tuple(np.arange(n - 1.0) for n in N_BINS),
        np.array(N_BINS, np.int64),
        np.zeros(len(N_BINS), np.bool_),
        np.zeros(len(N_BINS), np.int64),
    )
    bins = SparseBins(
        np.cumsum([0, *map(len, cells)]).astype(np.int64),
        np.array([row for row, _ in flat], np.uint32),
        np.array([b for _, b in flat], np.uint8),
        np.array(DEFAULT, np.uint8),
        n_rows,
        mapper,
    )
    return table, bins, tree_input(bins)


def memory(data: TreeInput, n_rows: int) -> tuple[Workspace, NDArray[np.int64]]:
    work = workspace(n_rows, 1, 1)._replace(
        added=np.zeros(n_rows, np.int64), column=np.zeros(n_rows, np.uint8)
    )
    return work, np.full((1, 3 * data.n_cells), POISON, np.int64)


@pytest.mark.parametrize("n_rows", [300, 9_000])
def test_rows_hold_the_ascending_numbers_of_their_kept_cells(n_rows: int) -> None:
    table, _, data = make(n_rows)
    first, n_frequent = reference_sparse.offsets(table, DEFAULT, N_BINS)
    assert data.offsets.tolist() == first
    assert (data.n_frequent, data.n_cells) == (n_frequent, sum(N_BINS) + len(N_BINS))
    assert (n_frequent > 0) == (n_rows == 9_000)
    parts = np.split(data.row_cells, data.row_starts[1:-1])
    assert [part.tolist() for part in parts] == reference_sparse.row_cells(table, DEFAULT, first)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("tasks", [1, 2])
@pytest.mark.parametrize("size", [1, 400, 9_000])
def test_a_histogram_has_the_words_of_its_twin(packed: bool, tasks: int, size: int) -> None:
    n_rows = 9_000
    rng = np.random.default_rng(size)
    table, _, data = make(n_rows)
    for extreme in (0, -1):
        gradients, entries = random_gradients(rng, n_rows, packed, extreme=extreme)
        entries = np.sort(rng.permutation(entries)[:size])
        work, out = memory(data, n_rows)
        for features in ([0, 1, 2, 3, 4, 5, 6], [1, 4, 5]):
            build_sparse_histogram(
                data, np.array(features, np.int64), gradients, entries, 0, size, tasks, work, out
            )
            expected = reference_sparse.histogram_words(data, table, features, gradients, entries)
            assert {word: int(out[0, word]) for word in expected} == expected
            assert not work.added.any()


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("size", [30, 9_000])
def test_columns_that_cannot_divide_the_rows_have_no_cells(packed: bool, size: int) -> None:
    n_rows = 9_000
    rng = np.random.default_rng(size)
    table, bins, _ = make(n_rows)
    divides = dividing_columns(bins, 500)
    assert divides.tolist() == [True, False, True, False, False, True, True]
    data, features = tree_input(bins, divides), np.flatnonzero(divides)
    assert data.n_cells == sum(N_BINS[feature] + 1 for feature in features)
    gradients, entries = random_gradients(rng, n_rows, packed)
    entries = np.sort(rng.permutation(entries)[:size])
    work, out = memory(data, n_rows)
    build_sparse_histogram(data, features, gradients, entries, 0, size, 1, work, out)
    expected = reference_sparse.histogram_words(data, table, features.tolist(), gradients, entries)
    assert {word: int(out[0, word]) for word in expected} == expected


@pytest.mark.parametrize("packed", [True, False])
def test_a_sibling_by_subtraction_is_the_sibling_that_is_counted(packed: bool) -> None:
    n_rows = 9_000
    rng = np.random.default_rng(5)
    _, _, data = make(n_rows)
    gradients, entries = random_gradients(rng, n_rows, packed)
    in_child = rng.random(n_rows) < 0.2
    features = np.arange(len(N_BINS))
    found = []
    for part in (entries, entries[in_child], entries[~in_child]):
        work, out = memory(data, n_rows)
        build_sparse_histogram(data, features, gradients, part, 0, len(part), 1, work, out)
        found.append(out)
    subtract_sparse_histogram(data, packed, 1, found[0], found[1])
    used = data.n_cells + 2 * (data.n_frequent if packed else data.n_cells)
    assert np.array_equal(found[0][:, :used], found[2][:, :used])


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("size", [60, 2_000, 9_000])
@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 30}, {"min_child_weight": 2.0}])
def test_the_best_split_is_that_of_the_dense_table(packed: bool, size: int, limits: dict[str, Any]) -> None:
    n_rows = 9_000
    rng = np.random.default_rng(size)
    table, _, data = make(n_rows, seed=size)
    dense = dense_input(table, N_BINS)
    signal = table[:, 4] / 255.0 - 0.5
    gradients, entries = random_gradients(rng, n_rows, packed, signal)
    entries = np.sort(rng.permutation(entries)[:size])
    work, out = memory(data, n_rows)
    features = np.arange(len(N_BINS))
    build_sparse_histogram(data, features, gradients, entries, 0, size, 1, work, out)
    totals = *sum_entries(gradients, entries, size), size
    sums = reference.histogram(dense, features.tolist(), gradients, entries)
    total = reference.total_of(reference.feature_sums(dense, 0, sums))
    assert totals == tuple(total)
    chosen = rules(**limits)
    best = np.full(CANDIDATE, POISON, np.int64)
    state = reference.UNCONSTRAINED.state(len(N_BINS), 1)
    node = NodeSums(out, totals, 0, np.uint64(7))
    gain = find_best_split(node, data, features, gradients, chosen, state, 1, best)
    expected = reference.best_split(dense, features.tolist(), sums, total, gradients, chosen)
    if expected is None:
        assert gain == NO_GAIN
        return
    feature, split_bin, missing_left, *left = best[:LEFT_BINS].tolist()
    found = reference.Split(gain, feature, split_bin, missing_left, reference.Sums(*left))
    assert found == expected


@pytest.mark.parametrize("size", [3, 5_000])
@pytest.mark.parametrize("feature", range(len(N_BINS)))
def test_the_column_of_a_node_sends_rows_as_the_dense_one_does(size: int, feature: int) -> None:
    n_rows = 9_000
    table, _, data = make(n_rows)
    rng = np.random.default_rng(feature)
    _, entries = random_gradients(rng, n_rows, True)
    entries = np.sort(rng.permutation(entries)[:size])
    rows = entries >> np.uint64(32)
    goes_left = rng.integers(0, 2, 256).astype(np.uint8)
    expected = goes_left[table[rows, feature]]
    column = np.zeros(n_rows, np.uint8)
    fill_column(data, feature, entries, 0, size, column, goes_left)
    assert np.array_equal(goes_left[column[rows]], expected)
    clear_column(data, feature, entries, 0, size, column)
    assert not column.any()


def test_rows_of_chosen_columns_and_taken_rows_are_those_of_the_dense_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, bins, _ = make(500)
    assert np.array_equal(bins.columns(), table.T)
    monkeypatch.setattr("weald.binning.sparse._CELLS_PER_WALK", 300)
    for tasks in (1, 2):
        parts = [part.reshape(-1, 3) for _, part in bins.rows_of(np.array([4, 1, 5]), tasks)]
        assert len(parts) > 1
        assert np.array_equal(np.concatenate(parts), table[:, [4, 1, 5]])
    rows = np.random.default_rng(1).integers(0, 500, 700)  # in any order, some more than once
    assert np.array_equal(bins.take(rows).columns(), table[rows].T)
