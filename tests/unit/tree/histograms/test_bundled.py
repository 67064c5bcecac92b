"""Histograms, splits and partitions of bundled tables against their twins, and against the table itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
import reference_bundled
from unit.tree.factories import CANDIDATE, POISON, random_gradients, rules, workspace
from unit.tree.factories import tree_input as dense_input
from weald.binning import BundledBins, dense_bins
from weald.binning.bundled import make_layout, merge_columns
from weald.binning.mapper import BinMapper
from weald.binning.sparse import SparseCells
from weald.tree.histograms.bundled import fill_codes_left, stored_columns
from weald.tree.histograms.histogram import build_histogram
from weald.tree.inputs import tree_input
from weald.tree.splits.gain import NO_GAIN
from weald.tree.splits.split import find_best_split
from weald.tree.state import LEFT_BINS, STRIDE, NodeSums

# One-hot columns, some the other way round, columns of several bins with missing values, one that is always missing as a rule,
# one that is constant, and in the end two that share their places with no other.
N_BINS = [2, 2, 2, 5, 1, 2, 3, 40, 2, 200, 3]
DEFAULT = [0, 0, 1, 2, 0, 0, 3, 0, 0, 77, 0]
BUNDLE = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 3]
MISSING = (3, 7, 8, 9)  # that have missing values beside their default


def make(n_rows: int, seed: int = 0, conflicts: bool = False) -> tuple[NDArray[np.uint8], BundledBins]:
    """A table of bins, and the same in bundles."""
    rng = np.random.default_rng(seed)
    table = np.tile(np.array(DEFAULT, np.uint8), (n_rows, 1))
    for number in range(max(BUNDLE) + 1):
        members = np.flatnonzero(np.array(BUNDLE) == number)
        chosen = rng.choice(members, n_rows)
        for column in members:
            present = rng.random(n_rows) < 0.7
            if not conflicts:
                present &= chosen == column
            bins = np.setdiff1d(np.arange(N_BINS[column] + (column in MISSING)), DEFAULT[column])
            if len(bins) and column != 9:
                table[present, column] = rng.choice(bins, present.sum())
            elif len(bins):
                table[:, column] = rng.integers(0, N_BINS[column] + 1, n_rows)
    kept = [np.flatnonzero(table[:, column] != DEFAULT[column]) for column in range(len(N_BINS))]
    cells = SparseCells(
        np.cumsum([0, *map(len, kept)]).astype(np.int64),
        np.concatenate(kept).astype(np.uint32),
        np.concatenate([table[rows, column] for column, rows in enumerate(kept)]),
        np.array(DEFAULT, np.uint8),
        n_rows,
    )
    n_bins = np.array(N_BINS, np.int64)
    mapper = BinMapper(
        tuple(np.arange(n - 1.0) for n in N_BINS), n_bins, np.zeros(len(n_bins), np.bool_), 0 * n_bins
    )
    has_missing = np.array([n in table[:, column] for column, n in enumerate(N_BINS)])
    sizes = n_bins - 1 + (has_missing | (cells.default == n_bins))
    layout = make_layout(np.array(BUNDLE), sizes, cells.default, n_bins)
    features, nobody = np.arange(len(N_BINS)), np.empty(0, np.int64)
    nothing = np.empty((0, n_rows), np.uint8)
    return table, merge_columns(mapper, layout, cells, features, nobody, nothing, 1 + seed % 2)


@pytest.mark.parametrize("conflicts", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_codes_are_those_of_the_naive_merge(conflicts: bool, seed: int) -> None:
    table, bins = make(60_000 if seed else 500, seed, conflicts)
    expected = reference_bundled.codes_of(table, BUNDLE, DEFAULT, N_BINS)
    assert bins.rows.reshape(bins.n_rows, -1).tolist() == expected
    assert bins.columns.T.tolist() == expected
    assert bins.columns.dtype == np.uint8


def test_bins_come_back_from_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    table, bins = make(500)
    assert np.array_equal(dense_bins(bins).columns, table.T)
    monkeypatch.setattr("weald.binning.bundled._CELLS_PER_WALK", 300)
    for tasks in (1, 2):
        parts = [part.reshape(-1, 4) for _, part in bins.rows_of(np.array([9, 3, 6, 2]), tasks)]
        assert len(parts) > 1
        assert np.array_equal(np.concatenate(parts), table[:, [9, 3, 6, 2]])
    rows = np.random.default_rng(1).integers(0, 500, 700)  # in any order, some more than once
    taken = bins.take(rows)
    assert np.array_equal(dense_bins(taken).rows.reshape(700, -1), table[rows])
    assert np.array_equal(taken.columns, bins.columns[:, rows])


def test_of_two_members_in_a_row_the_later_wins() -> None:
    table, bins = make(500, conflicts=True)
    decoded = dense_bins(bins).columns.T
    both = (table[:, 0] != DEFAULT[0]) & (table[:, 3] != DEFAULT[3])
    assert both.any()
    assert (decoded[both, 0] == DEFAULT[0]).all()
    assert np.array_equal(decoded[:, 3], table[:, 3])


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("size", [400, 9_000])
def test_a_histogram_sums_the_rows_of_every_code(packed: bool, size: int) -> None:
    n_rows = 9_000
    rng = np.random.default_rng(size)
    _, bins = make(n_rows)
    data = tree_input(bins)
    gradients, entries = random_gradients(rng, n_rows, packed)
    entries = np.sort(rng.permutation(entries)[:size])
    rows = (entries >> np.uint64(32)).astype(np.int64)
    _, gradient, hessian = reference.decode_entries(gradients, entries)
    integers = list(zip(gradient.tolist(), hessian.tolist(), strict=True))
    expected = reference_bundled.histogram(bins.columns.T[rows], integers)
    out = np.full((3, data.n_cells), POISON, np.int64)
    work = workspace(n_rows, data.n_cells, 1)
    features = np.array([0, 2, 9, 10])  # of the first, third and last stored column
    places = stored_columns(data, features)
    assert places.tolist() == [0, 2, 3]
    build_histogram(data, places, gradients, entries, False, 0, size, 1, work, out)
    words = reference.cell_words(packed, size)
    sums = np.zeros((3, data.n_cells), np.int64)
    for (place, code), fields in expected.items():
        sums[:, int(data.stored_offsets[place]) + code] = fields
    encoded = reference.encode_histogram(sums, packed, size)
    for place in places:
        own = slice(int(data.stored_offsets[place]), int(data.stored_offsets[place + 1]))
        assert np.array_equal(out[:words, own], encoded[:words, own])


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("size", [60, 2_000, 9_000])
@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"min_samples_leaf": 30, "reg_alpha": 0.1},
        {"min_child_weight": 2.0},
        {"max_delta_step": 0.4},
        {"extra_trees": True},
    ],
)
def test_the_best_split_is_that_of_the_table_itself(packed: bool, size: int, limits: dict[str, Any]) -> None:
    n_rows = 9_000
    for seed, signal_of in ((0, 7), (1, 0), (2, 2)):
        rng = np.random.default_rng(size + seed)
        table, bins = make(n_rows, seed)
        data, dense = tree_input(bins), dense_input(table, N_BINS)
        signal = table[:, signal_of] / N_BINS[signal_of] - 0.5
        gradients, entries = random_gradients(rng, n_rows, packed, signal)
        entries = np.sort(rng.permutation(entries)[:size])
        features = np.arange(len(N_BINS))
        chosen, state = rules(**limits), reference.UNCONSTRAINED.state(len(N_BINS), 1)
        found = []
        for view in (data, dense):
            cells = data.n_cells if view is data else len(N_BINS) * STRIDE
            out = np.full((3, cells), POISON, np.int64)
            places = stored_columns(view, features) if view is data else features
            build_histogram(
                view, places, gradients, entries, False, 0, size, 1, workspace(n_rows, cells, 1), out
            )
            sums = reference.histogram(dense, features.tolist(), gradients, entries)
            totals = tuple(reference.total_of(reference.feature_sums(dense, 0, sums)))
            for tried in (features, np.array([1, 3, 4, 6, 9])):
                best = np.full(CANDIDATE, POISON, np.int64)
                node = NodeSums(out, totals, 0, np.uint64(7))
                gain = find_best_split(node, view, tried, gradients, chosen, state, 1, best)
                found.append((gain, best[:LEFT_BINS].tolist() if gain != NO_GAIN else None))
        assert found[:2] == found[2:]
        if not limits:
            assert found[0][0] != NO_GAIN


@pytest.mark.parametrize("feature", [0, 2, 3, 4, 6, 7])
def test_the_codes_of_a_bundle_send_rows_as_the_bins_do(feature: int) -> None:
    table, bins = make(500)
    data = tree_input(bins)
    goes_left = np.random.default_rng(feature).integers(0, 2, 256).astype(np.uint8)
    by_code = fill_codes_left(data, feature, goes_left)
    codes = bins.columns[bins.layout.stored[feature]]
    assert np.array_equal(by_code[codes], goes_left[table[:, feature]])
