"""Cuts proposed from weighted rows: blocks summarised and merged as documented, bins looked up as a mapper would find them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference_sketch
from reference_sketch import Entry
from unit.binning.summaries import as_entries, merge, prune
from weald.binning import fit_ranks, proposals
from weald.binning.proposals import BLOCK, ProposalTable, Proposer, weigh_rows, with_buckets
from weald.binning.sketch import ACCURACY
from weald.data import Dataset, read_table

MANY = 3 * BLOCK + 5_000  # four blocks: two rounds of merging


def table_of(
    X: Any, buckets: int = 255, max_bins: int = 255, tasks: int = 1, **read: Any
) -> tuple[Dataset, ProposalTable]:
    dataset = read_table(X, **read)
    return dataset, with_buckets(fit_ranks(dataset, None, tasks).transform(dataset, tasks), buckets, max_bins)


def columns_of_all_kinds(n_rows: int, seed: int = 0) -> NDArray[np.float64]:
    """Continuous, skewed with many zeros, few values, constant, missing here and there, missing everywhere."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 6))
    X[:, 1] = np.where(X[:, 1] < 0, 0.0, np.exp(X[:, 1]))
    X[:, 2] = np.round(2 * X[:, 2])
    X[:, 3] = 7.0
    X[rng.random(n_rows) < 0.3, 4] = np.nan
    X[:, 5] = np.nan
    return X


def random_weights(n_rows: int, seed: int = 0) -> NDArray[np.uint32]:
    rng = np.random.default_rng(seed)
    return (rng.random(n_rows) ** 8 * 2**20).astype(np.uint32)


def naive_summary(
    values: NDArray[np.uint32], weight: NDArray[np.uint32], missing: int, entries: int
) -> list[Entry]:
    """Blocks summarised and pruned, then merged two by two and pruned until one is left."""
    summaries = []
    for begin in range(0, len(values), BLOCK):
        totals: Counter[int] = Counter()
        for value, amount in zip(
            values[begin : begin + BLOCK].tolist(), weight[begin : begin + BLOCK].tolist(), strict=True
        ):
            if value != missing and amount > 0:
                totals[value] += amount
        summary, before = [], 0
        for value in sorted(totals):
            summary.append(Entry(value, totals[value], before, before + totals[value]))
            before += totals[value]
        summaries.append(prune(summary, entries))
    while len(summaries) > 2:
        pairs = [merge(*summaries[i : i + 2]) for i in range(0, len(summaries) - 1, 2)]
        odd = summaries[-1:] if len(summaries) % 2 else []
        summaries = [prune(pair, entries) for pair in pairs] + odd
    return merge(*summaries) if len(summaries) == 2 else summaries[0]


def test_a_columns_summary_is_that_of_its_blocks_merged_and_pruned() -> None:
    X = columns_of_all_kinds(MANY)
    _, table = table_of(X[:, [0, 4]], buckets=16)
    proposer, weight = Proposer(table, 1), random_weights(MANY)
    for index in range(2):
        count = proposals._summarise(
            table.codes[index],
            proposer._order.rows[index],
            proposer._order.ends[index],
            weight,
            0,
            proposer._scratch,
        )
        found = as_entries(proposer._scratch.merged[0, :count])
        codes, missing = table.codes[index], int(table.mapper.n_bins[index])
        assert found == naive_summary(codes, weight, missing, proposer.entries)
        assert 0 < reference_sketch.error(found) <= found[-1].highest / (ACCURACY * 16)


@pytest.mark.parametrize("n_rows", [700, MANY])
def test_bins_hold_about_the_same_weight(n_rows: int) -> None:
    buckets = 40
    _, table = table_of(columns_of_all_kinds(n_rows), buckets)
    proposer, weight = Proposer(table, 1), random_weights(n_rows)
    mapper = proposer.propose(weight)
    bins = proposer.bins_of(table, mapper).columns
    for column in range(table.n_columns):
        codes, n_bins = table.codes[column], int(mapper.n_bins[column])
        present = codes != table.mapper.n_bins[column]
        assert n_bins <= buckets
        total = int(weight[present].sum(dtype=np.int64))
        for b in range(n_bins):
            inside = bins[column] == b
            # The largest value of a bin may be as heavy as it likes.
            lighter = inside & (codes < codes[inside].max(initial=0))
            share = weight[lighter].sum(dtype=np.int64) / max(total, 1)
            assert share <= (1 + 1 / ACCURACY) / buckets + 1e-6


@pytest.mark.parametrize("tasks", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_looked_up_bins_are_those_of_the_proposed_cuts(tasks: int, dtype: Any) -> None:
    X = columns_of_all_kinds(8_000).astype(dtype)
    dataset, table = table_of(X, buckets=30, tasks=tasks)
    proposer = Proposer(table, tasks)
    mapper = proposer.propose(random_weights(8_000))
    other = read_table(columns_of_all_kinds(9_000, seed=1), schema=dataset.schema)
    for rows, codes in ((dataset, table), (other, table.mapper.transform(other, tasks))):
        expected, found = mapper.transform(rows, 1), proposer.bins_of(codes, mapper)
        assert np.array_equal(found.columns, expected.columns)
        assert np.array_equal(found.rows, expected.rows)


def test_few_values_are_all_told_apart_whatever_they_weigh() -> None:
    X = np.repeat([3.0, 1.0, 2.0, np.nan], 50).reshape(-1, 1)
    _, table = table_of(X, buckets=3)
    weight = np.where(X[:, 0] == 2.0, 1, 2**20).astype(np.uint32)
    assert Proposer(table, 1).propose(weight).cuts[0].tolist() == [1.5, 2.5]


def test_rows_of_weight_zero_are_as_if_they_were_not_there() -> None:
    X = columns_of_all_kinds(3_000)
    weight = random_weights(3_000) + np.uint32(1)
    weight[::3] = 0
    _, table = table_of(X, buckets=12)
    kept = np.flatnonzero(weight)
    part = table.take(kept)
    assert isinstance(part, ProposalTable)
    found, expected = Proposer(table, 1).propose(weight), Proposer(part, 1).propose(weight[kept])
    for own, other in zip(found.cuts, expected.cuts, strict=True):
        assert own.tolist() == other.tolist()


def test_categories_keep_their_bins() -> None:
    codes = np.random.default_rng(0).integers(0, 40, 2_000)
    frame = {"kind": np.array([f"c{code}" for code in codes], object), "x": np.arange(2_000.0)}
    dataset, table = table_of(frame, buckets=4, max_bins=10)
    proposer = Proposer(table, 1)
    mapper = proposer.propose(np.ones(2_000, np.uint32))
    assert mapper.n_bins.tolist() == [10, 4]
    codes_of_last, _ = mapper.category_codes(np.array([0]), np.array([9]))
    assert codes_of_last.tolist() == list(range(9, 40))
    expected = mapper.transform(dataset, 1)
    assert np.array_equal(proposer.bins_of(table, mapper).columns, expected.columns)


def test_the_number_of_tasks_changes_nothing() -> None:
    X, weight = columns_of_all_kinds(MANY), random_weights(MANY)
    found = []
    for tasks in (1, 2, 3):
        _, table = table_of(X, buckets=50, tasks=tasks)
        proposer = Proposer(table, tasks)
        mapper = proposer.propose(weight)
        bins = proposer.bins_of(table, mapper)
        found.append((table.codes.tobytes(), [cuts.tobytes() for cuts in mapper.cuts], bins.rows.tobytes()))
    assert found[0] == found[1] == found[2]


def test_hessians_become_whole_weights() -> None:
    hessian = np.array([0.0, 1e-30, 0.25, 0.5], np.float32)
    assert weigh_rows(hessian, np.empty(0, np.uint32)).tolist() == [1, 1, 2**19, 2**20]
    assert weigh_rows(hessian, np.array([0, 3], np.uint32)).tolist() == [1, 0, 0, 2**20]
    assert weigh_rows(np.zeros(2, np.float32), np.empty(0, np.uint32)).tolist() == [1, 1]
