"""Histograms against their naive twin, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from unit.tree.factories import POISON, n_cells, random_bins, random_gradients, tree_input, workspace
from weald.tree.histograms import histogram as kernels
from weald.tree.histograms.cells import cell_words, read_cell
from weald.tree.histograms.histogram import build_histogram, subtract_histogram
from weald.tree.state import PACKED_BLOCK, WIDE_BLOCK, Gradients, TreeInput

TASKS = (1, 2, 3, 5)
NINE = [
    255,
    1,
    3,
    16,
    200,
    64,
    2,
    255,
    7,
]  # not a multiple of four; 45,000 rows are enough for several tasks


def assert_same(
    data: TreeInput,
    features: Sequence[int],
    gradients: Gradients,
    entries: NDArray[np.uint64],
    tasks: int,
    in_order: bool = False,
    begin: int = 0,
    end: int | None = None,
) -> None:
    """Build into rubbish; the features' words are the twin's and the buffers are zero again."""
    end = len(entries) if end is None else end
    cells = n_cells(data)
    work = workspace(1, cells, tasks)
    out = np.full((3, cells), POISON, np.int64)
    chosen = np.array(features, np.int64)
    build_histogram(data, chosen, gradients, entries, in_order, begin, end, tasks, work, out)
    sums = reference.histogram(data, features, gradients, entries[begin:end])
    used = reference.feature_cells(data, features)
    expected = reference.encode_histogram(sums[:, used], gradients.packed, end - begin)
    assert np.array_equal(out[: len(expected), used], expected)
    assert not work.buffers.any()


def shuffled(generator: np.random.Generator, entries: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    return generator.permutation(entries)[:size]


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("n_rows", [1, 700, PACKED_BLOCK, PACKED_BLOCK + 1, 2 * PACKED_BLOCK + 1, 45_000])
def test_every_layout_size_and_number_of_tasks_gives_the_twins_words(
    packed: bool, uniform: bool, n_rows: int
) -> None:
    generator = np.random.default_rng(n_rows)
    total = n_rows + 50
    data = tree_input(random_bins(generator, total, NINE), NINE, uniform=uniform)
    gradients, entries = random_gradients(generator, total, packed)
    scattered = shuffled(generator, entries, n_rows)
    for features in (range(9), [0, 2, 3, 5, 7, 8], [1, 4, 8], [6]):
        for tasks in TASKS:
            assert_same(data, features, gradients, scattered, tasks)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("n_rows", [3, PACKED_BLOCK, 2 * PACKED_BLOCK + 1, 3 * PACKED_BLOCK, 51_000])
def test_rows_in_order_are_counted_as_scattered_ones(packed: bool, n_rows: int) -> None:
    generator = np.random.default_rng(n_rows)
    for number in (8, 9, 11):
        n_bins = (NINE + [30, 40])[:number]
        data = tree_input(random_bins(generator, n_rows, n_bins), n_bins)
        gradients, entries = random_gradients(generator, n_rows, packed)
        for tasks in TASKS:
            assert_same(data, range(number), gradients, entries, tasks, in_order=True)


@pytest.mark.parametrize("n_rows", [1, 400, 1024, 1025, PACKED_BLOCK + 1])
def test_more_columns_than_a_tile_are_counted_once_each(n_rows: int) -> None:
    generator = np.random.default_rng(n_rows)
    for number in (kernels.TILE, kernels.TILE + 1, 2 * kernels.TILE + 30):
        n_bins = [3 + feature % 40 for feature in range(number)]
        data = tree_input(random_bins(generator, n_rows, n_bins), n_bins)
        gradients, entries = random_gradients(generator, n_rows, True)
        for tasks in (1, 3):
            assert_same(data, range(number), gradients, entries[::-1].copy(), tasks)
        assert_same(data, range(number), gradients, entries, 2, in_order=True)
        assert_same(data, range(0, number, 7), gradients, entries, 2)


@pytest.mark.parametrize("packed", [True, False])
def test_a_node_in_the_middle_of_the_entries_counts_only_its_own_rows(packed: bool) -> None:
    generator = np.random.default_rng(5)
    data = tree_input(random_bins(generator, 25_000, NINE), NINE)
    gradients, entries = random_gradients(generator, 25_000, packed)
    scattered = shuffled(generator, entries, 25_000)
    for begin, end in ((0, 10), (24_990, 25_000), (3, 3 + PACKED_BLOCK), (1_234, 21_235), (7, 7)):
        for tasks in TASKS:
            assert_same(data, range(9), gradients, scattered, tasks, begin=begin, end=end)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("n_rows", [PACKED_BLOCK, 3 * PACKED_BLOCK])
def test_the_largest_gradients_in_one_bin_do_not_spill_into_another_field(packed: bool, n_rows: int) -> None:
    data = tree_input(np.zeros((n_rows, 9), np.uint8), NINE)
    for sign in (-1, 1):
        gradients, entries = random_gradients(np.random.default_rng(0), n_rows, packed, extreme=sign)
        for tasks in TASKS:
            assert_same(data, range(9), gradients, entries, tasks, in_order=True)
            assert_same(data, [2, 5], gradients, entries[::-1].copy(), tasks)


@pytest.mark.parametrize("n_rows", [WIDE_BLOCK, WIDE_BLOCK + 1])
def test_wide_histograms_change_their_words_above_one_block(n_rows: int) -> None:
    generator = np.random.default_rng(2)
    n_bins = [5, 2]
    data = tree_input(random_bins(generator, n_rows, n_bins), n_bins, uniform=False)
    gradients, entries = random_gradients(generator, n_rows, False)
    for tasks in (1, 3):
        assert_same(data, [0, 1], gradients, entries, tasks)


@pytest.mark.parametrize("packed", [True, False])
def test_a_cell_of_any_node_reads_as_what_was_added(packed: bool) -> None:
    generator = np.random.default_rng(3)
    g_limit, h_limit = (4095, 4095) if packed else (2**31 - 1, 2**25 - 1)
    block = PACKED_BLOCK if packed else WIDE_BLOCK
    for n_rows in (1, 5_000, block, block + 1):
        assert cell_words(packed, n_rows) == reference.cell_words(packed, n_rows)
        n = generator.integers(0, n_rows + 1, 40)
        n[0] = n_rows
        sums = np.array([n * g_limit, n * h_limit, n])
        sums[0, ::3] *= -1
        words = reference.encode_histogram(sums, packed, n_rows)
        for cell in range(40):
            assert tuple(read_cell(words, len(words), cell)) == tuple(sums[:, cell].tolist())


SIZES = {
    True: [(8_000, 3_000), (8_192, 1), (12_000, 5_000), (20_000, 3_000), (20_000, 9_000), (9_000, 0)],
    False: [(20_000, 3_000), (530_000, 200_000), (530_000, 4_000), (1_100_000, 530_000)],
}


@pytest.mark.parametrize(("cells", "tasks"), [(37, 1), (50_001, 2)])
@pytest.mark.parametrize(("packed", "parent_rows", "child_rows"), [(p, *s) for p in SIZES for s in SIZES[p]])
def test_a_sibling_by_subtraction_has_the_words_of_a_direct_count(
    packed: bool, parent_rows: int, child_rows: int, cells: int, tasks: int
) -> None:
    generator = np.random.default_rng(child_rows)
    limits = (4095, 4095) if packed else (2**31 - 1, 2**25 - 1)

    def random_sums(n_rows: int) -> NDArray[np.int64]:
        n = generator.multinomial(n_rows, generator.dirichlet(np.ones(cells)))
        signs = generator.choice([-1, 1], cells)
        hessian = (generator.random(cells) * n * limits[1]).astype(np.int64)
        return np.array([signs * n * limits[0], hessian, n])

    child, sibling = random_sums(child_rows), random_sums(parent_rows - child_rows)
    memory = np.full((2, 3, cells), POISON, np.int64)
    for place, sums, n_rows in ((0, child + sibling, parent_rows), (1, child, child_rows)):
        words = reference.encode_histogram(sums, packed, n_rows)
        memory[place, : len(words)] = words
    subtract_histogram(packed, parent_rows, child_rows, tasks, memory[0], memory[1])
    expected = reference.encode_histogram(sibling, packed, parent_rows - child_rows)
    assert np.array_equal(memory[0, : len(expected)], expected)
