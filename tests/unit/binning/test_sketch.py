"""The weighted quantile summary: its kernels against naive twins, and its bounds against exact ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_sketch as reference
from reference_sketch import Entry
from unit.binning.summaries import as_array, build, called, merge, propose, prune
from weald.binning import sketch

quick = settings(max_examples=150, deadline=None)
WEIGHTS = st.one_of(st.integers(0, 3), st.integers(0, 1000), st.sampled_from([0, 1, 2**24]))
ROWS = st.lists(st.tuples(st.integers(-30, 30), WEIGHTS), max_size=60)


def assert_bounds(summary: Sequence[Entry], rows: reference.Weighted) -> None:
    """Every rank of the rows lies within what the summary says; its ends are exact."""
    total = sum(weight for _, weight in rows)
    assert (summary[-1].highest if summary else 0) == total
    if summary:
        values = [value for value, weight in rows if weight > 0]
        assert (summary[0].value, summary[-1].value) == (min(values), max(values))
    for doubled in range(-63, 64):
        y = doubled / 2
        lowest, highest, weight = reference.bounds(summary, y)
        below, up_to = reference.below(rows, y), reference.up_to(rows, y)
        assert lowest <= below
        assert up_to <= highest
        assert weight <= up_to - below
        assert highest - lowest - weight <= reference.error(summary)


@given(ROWS)
@quick
def test_a_built_summary_is_exact(rows: reference.Weighted) -> None:
    summary = build(rows)
    assert summary == reference.build(rows)
    assert reference.error(summary) == 0
    assert_bounds(summary, rows)


@given(ROWS, st.integers(2, 20))
@quick
def test_building_pruned_is_building_and_pruning(rows: reference.Weighted, most: int) -> None:
    exact = build(rows)
    values = np.array([entry.value for entry in exact], np.int64)
    weights = np.array([entry.weight for entry in exact], np.int64)
    assert called(sketch.build_pruned, values, weights, most, entries=len(exact)) == prune(exact, most)


@given(st.lists(ROWS, min_size=2, max_size=6), st.integers(2, 12), st.randoms(use_true_random=False))
@quick
def test_merging_and_pruning_in_any_order_keep_the_bounds(
    parts: list[reference.Weighted], most: int, random: Any
) -> None:
    summaries = [(build(rows), list(rows), 0) for rows in parts]  # with the error that is promised
    while len(summaries) > 1:
        random.shuffle(summaries)
        (first, rows, allowed), (second, more, also_allowed) = summaries.pop(), summaries.pop()
        merged = merge(first, second)
        assert merged == reference.merge(first, second)
        rows, allowed = rows + more, allowed + also_allowed
        assert reference.error(merged) <= allowed
        if random.random() < 0.7:
            pruned = prune(merged, most)
            assert pruned == reference.prune(merged, most)
            assert len(pruned) <= most
            total = sum(weight for _, weight in rows)
            if len(merged) > most:
                allowed = reference.error(merged) - (-total // (most - 1))
            merged = pruned
        assert_bounds(merged, rows)
        assert reference.error(merged) <= allowed
        summaries.append((merged, rows, allowed))


@given(st.lists(ROWS, min_size=2, max_size=5), st.randoms(use_true_random=False))
@quick
def test_merges_without_pruning_do_not_depend_on_their_order(
    parts: list[reference.Weighted], random: Any
) -> None:
    together = build([row for rows in parts for row in rows])
    summaries = [build(rows) for rows in parts]
    while len(summaries) > 1:
        random.shuffle(summaries)
        summaries.append(merge(summaries.pop(), summaries.pop()))
    assert summaries[0] == together


@given(ROWS, st.integers(3, 12), st.integers(0, 100))
@quick
def test_a_query_is_off_by_half_of_the_error_at_most(
    rows: reference.Weighted, most: int, percent: int
) -> None:
    summary = prune(build(rows), most)
    if not summary:
        return
    total = summary[-1].highest
    doubled = 2 * total * percent // 100
    place = sketch.find_rank(as_array(summary), doubled, 0)
    assert place == reference.query(summary, reference.Fraction(doubled, 2))
    value = summary[place].value
    assert 2 * reference.below(rows, value) - doubled <= reference.error(summary)
    assert doubled - 2 * reference.up_to(rows, value) <= reference.error(summary)


@given(st.lists(ROWS, min_size=1, max_size=4), st.integers(2, 12), st.integers(4, 30))
@quick
def test_little_lies_between_neighbouring_proposals(
    parts: list[reference.Weighted], buckets: int, most: int
) -> None:
    summary: list[Entry] = []
    for rows in parts:
        summary = prune(merge(summary, build(rows)), most)
    everything = [row for rows in parts for row in rows]
    cuts = propose(summary, buckets)
    assert cuts == reference.propose(summary, buckets)
    assert len(cuts) < buckets
    assert cuts == sorted(set(cuts))
    total = sum(weight for _, weight in everything)
    for left, right in zip([-100, *cuts], [*cuts, summary[-1].value if summary else 100], strict=True):
        between = sum(weight for value, weight in everything if left < value < right)
        assert between <= -(-total // buckets) + reference.error(summary)


def test_no_more_values_than_buckets_are_all_told_apart() -> None:
    assert propose(build([(3, 5), (1, 1), (9, 2**24), (4, 1)]), 4) == [1, 3, 4]
    assert propose(build([(7, 3)]), 2) == []
    assert propose([], 2) == []


def test_a_heavy_value_is_cut_off_on_both_sides() -> None:
    rows = [(value, 1) for value in range(100)] + [(40, 300)]
    assert propose(build(rows), 8) == [39, 40, 50]
    assert propose(build([(value, 1) for value in range(30)] + [(99, 10**6)]), 5) == [29]
    assert propose(build([(0, 10**6)] + [(value, 1) for value in range(1, 30)]), 5) == [0]


def test_totals_near_the_largest_that_rows_can_have_do_not_overflow() -> None:
    heavy = 2**56 // 1000
    rows = [(value, heavy) for value in range(1000)]
    cuts = propose(prune(build(rows), 600), 200)
    assert len(cuts) == 199
    assert max(np.diff(cuts)) <= 7


@pytest.mark.parametrize("rows", [[], [(1, 0), (2, 0)]])
def test_nothing_and_what_weighs_nothing_make_an_empty_summary(rows: reference.Weighted) -> None:
    assert build(rows) == []
    assert prune(build(rows), 5) == []
    assert merge(build(rows), build([(5, 2)])) == [Entry(5, 2, 0, 2)]
