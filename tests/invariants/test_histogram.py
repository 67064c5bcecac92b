"""What holds for every histogram of integers, whatever the rows: small cases drawn by hypothesis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import reference
from unit.tree.factories import POISON, n_cells, random_bins, random_gradients, tree_input, workspace
from weald.tree.histograms.histogram import build_histogram, subtract_histogram
from weald.tree.state import Gradients, TreeInput

quick = settings(max_examples=25, deadline=None)


class Case(NamedTuple):
    data: TreeInput
    gradients: Gradients
    entries: NDArray[np.uint64]
    seed: int

    def build(self, entries: NDArray[np.uint64], tasks: int = 1, in_order: bool = False) -> NDArray[np.int64]:
        """The words of all features' cells."""
        cells = n_cells(self.data)
        out = np.full((3, cells), POISON, np.int64)
        features = np.arange(len(self.data.n_bins))
        work = workspace(1, cells, tasks)
        build_histogram(
            self.data, features, self.gradients, entries, in_order, 0, len(entries), tasks, work, out
        )
        assert not work.buffers.any()
        words = reference.cell_words(self.gradients.packed, len(entries))
        return out[:words, reference.feature_cells(self.data, range(len(self.data.n_bins)))]

    def sums(self, entries: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The same, read as gradient, hessian and count."""
        words = self.build(entries)
        if len(words) == 3:
            return words
        if len(words) == 2:
            return np.array([words[0], words[1].view(np.uint64) >> 20, words[1] & 0xFFFFF], np.int64)
        return np.array([words[0] >> 38, (words[0] >> 13) & 0x1FFFFFF, words[0] & 0x1FFF], np.int64)


@st.composite
def cases(draw: st.DrawFn, most_rows: int = 400, most_features: int = 12) -> Case:
    """Few rows of few features, or, now and then, more than one packed block."""
    n_rows = draw(st.one_of(st.integers(1, most_rows), st.sampled_from([8_190, 8_193, 17_000])))
    n_bins = draw(st.lists(st.integers(1, 255), min_size=1, max_size=most_features))
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    data = tree_input(random_bins(generator, n_rows, n_bins), n_bins, uniform=draw(st.booleans()))
    gradients, entries = random_gradients(generator, n_rows, draw(st.booleans()))
    return Case(data, gradients, entries, seed)


@quick
@given(cases(), st.floats(0.0, 1.0))
def test_the_histogram_of_a_union_is_the_sum_of_its_parts(case: Case, share: float) -> None:
    chosen = np.random.default_rng(case.seed).random(len(case.entries)) < share
    parts = case.sums(case.entries[chosen]) + case.sums(case.entries[~chosen])
    assert np.array_equal(case.sums(case.entries), parts)


@quick
@given(cases(), st.floats(0.0, 1.0))
def test_a_sibling_by_subtraction_is_the_sibling_that_is_counted(case: Case, share: float) -> None:
    chosen = np.random.default_rng(case.seed).random(len(case.entries)) < share
    if 2 * chosen.sum() > len(chosen):
        chosen = ~chosen  # the smaller child is the one that is counted
    child, sibling = case.entries[chosen], case.entries[~chosen]
    parent_words, child_words = case.build(case.entries), case.build(child)
    memory = np.full((2, 3, parent_words.shape[1]), POISON, np.int64)
    memory[0, : len(parent_words)] = parent_words
    memory[1, : len(child_words)] = child_words
    subtract_histogram(case.gradients.packed, len(case.entries), len(child), 1, memory[0], memory[1])
    expected = case.build(sibling)
    assert np.array_equal(memory[0, : len(expected)], expected)


@quick
@given(cases())
def test_the_order_of_the_rows_does_not_matter(case: Case) -> None:
    shuffled = np.random.default_rng(case.seed).permutation(case.entries)
    expected = case.build(case.entries, in_order=True)
    assert np.array_equal(case.build(shuffled), expected)
    assert np.array_equal(case.build(case.entries), expected)


@quick
@given(cases(most_rows=9_000), st.integers(2, 6))
def test_the_number_of_tasks_does_not_matter(case: Case, tasks: int) -> None:
    expected = case.build(case.entries)
    assert np.array_equal(case.build(case.entries, tasks), expected)
    assert np.array_equal(case.build(case.entries, tasks, in_order=True), expected)


@quick
@given(cases())
def test_every_feature_has_the_same_totals(case: Case) -> None:
    sums, begin, totals = case.sums(case.entries), 0, []
    for number in case.data.n_bins.tolist():
        totals.append(sums[:, begin : begin + number + 1].sum(axis=1).tolist())
        begin += number + 1
    assert all(total == totals[0] for total in totals)
    assert totals[0][2] == len(case.entries)
