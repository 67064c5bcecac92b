"""The kernels of shards against loops in plain Python, in memory full of rubbish."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from unit.tree.factories import (
    CANDIDATE,
    POISON,
    empty_nodes,
    n_cells,
    random_bins,
    random_gradients,
    rules,
    tree_input,
    workspace,
)
from unit.tree.shards.naive import goes_left
from weald.tree.growth.grower import columns_of_node
from weald.tree.histograms.cells import cell_words, pack_cell, read_cell
from weald.tree.histograms.histogram import build_histogram
from weald.tree.search import Search
from weald.tree.shards import kernels, search
from weald.tree.shards.kernels import Counts, Layout
from weald.tree.shards.state import Splits
from weald.tree.splits.constraints import Constraints
from weald.tree.splits.gain import NO_GAIN
from weald.tree.splits.split import find_best_split
from weald.tree.state import (
    BIN_WORDS,
    LEFT_BINS,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    NOBODY,
    PACKED_BLOCK,
    WIDE_BLOCK,
    NodeSums,
)

N_BINS = [9, 5, 3, 40]
KEY = np.uint64(0x1234_5678_9ABC_DEF0)


BLOCK_BINS = [9, 5, 3, 40, 2]  # four columns are counted at a time
SIZES = [0, 1, 7, 700]
KINDS = np.array([column in (0, 3) for column in range(len(BLOCK_BINS))])
Segments = NDArray[np.int64]


def layout_of(columns: list[int]) -> Layout:
    """Of a block of which these columns are read; no two columns share a cell, and some cells belong to none."""
    place = np.full(len(BLOCK_BINS), -1, np.int64)
    place[columns] = np.arange(len(columns))
    offsets = np.cumsum([3, *(number + 4 for number in BLOCK_BINS[:-1])]).astype(np.uint64)
    return Layout(np.array(columns, np.int64), place, offsets, np.array(BLOCK_BINS, np.int64), KINDS)


CELLS = 3 + sum(BLOCK_BINS) + 4 * len(BLOCK_BINS)


def random_splits(generator: np.random.Generator, nodes: list[int], first: int) -> Splits:
    size = len(nodes)
    return Splits(
        np.array(nodes, np.int64),
        first + 2 * np.arange(size, dtype=np.int64),
        generator.integers(0, len(BLOCK_BINS), size),
        generator.integers(0, 5, size),
        generator.integers(-(2**62), 2**62, (size, BIN_WORDS)),
        generator.integers(0, 2, size),
    )


def segments_of(sizes: list[int]) -> Segments:
    """Neighbouring segments of the nodes from 0 on, and rubbish behind them."""
    ends = np.cumsum([0, *sizes])
    rubbish = np.full((20, 2), POISON, np.int64)
    return np.concatenate([np.stack([ends[:-1], ends[1:]], axis=1), rubbish])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("n_rows", SIZES)
def test_children_get_the_two_parts_of_a_segment_in_order(n_rows: int, dtype: Any) -> None:
    generator = np.random.default_rng(n_rows)
    bins = random_bins(generator, n_rows, BLOCK_BINS)
    read = [3, 0, 4, 2, 1]  # a block is read in an order of its own
    codes = np.ascontiguousarray(bins.T[read].astype(dtype))
    rows = generator.permutation(n_rows).astype(np.uint64)
    entries = rows << np.uint64(32) | np.uint64(5)
    sizes = generator.multinomial(n_rows, [0.25, 0.0, 0.25, 0.25, 0.25]).tolist()
    segments, splits = segments_of(sizes), random_splits(generator, [3, 1, 4], first=5)
    expected, places = entries.copy(), segments.copy()
    for place, node in enumerate(splits.node.tolist()):
        begin, end = segments[node].tolist()
        feature, child = int(splits.feature[place]), int(splits.left[place])
        sides: tuple[list[Any], list[Any]] = [], []
        for entry in entries[begin:end]:
            code = int(bins[int(entry) >> 32, feature])
            sides[not goes_left(splits, place, code, BLOCK_BINS[feature], bool(KINDS[feature]))].append(entry)
        expected[begin:end] = sides[0] + sides[1]
        places[child : child + 2] = [[begin, begin + len(sides[0])], [begin + len(sides[0]), end]]
    spare = np.full(n_rows, 0xDEAD_BEEF, np.uint64)
    kernels.divide_nodes_of_block(codes, layout_of(read), splits, segments, entries, spare)
    assert entries.tolist() == expected.tolist()
    assert segments.tolist() == places.tolist()


def sums_by_hand(bins: Any, columns: list[int], words: list[tuple[int, int, int]]) -> NDArray[np.int64]:
    """Gradient, hessian and count by cell, (3, cells); ``words``: row, gradient and hessian."""
    sums, offsets = np.zeros((3, CELLS), np.int64), layout_of(columns).offsets.tolist()
    for row, gradient, hessian in words:
        for column in columns:
            sums[:, offsets[column] + int(bins[row, column])] += (gradient, hessian, 1)
    return sums


def decoded(packed: bool, wide: Any, entry: int) -> tuple[int, int, int]:
    """Row, gradient and hessian of an entry."""
    row = entry >> 32
    word = entry & 0xFFFFFFFF if packed else int(wide[row])
    if packed:
        return row, (word ^ 2**31) - 2**31 >> 12, word & 4095
    return row, (word >> 32 ^ 2**31) - 2**31, word & 0xFFFFFFFF


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("columns", [[0, 1, 2, 3], [1, 2, 3], [3], [4, 2, 3, 0, 1]])
@pytest.mark.parametrize("n_rows", SIZES)
def test_nodes_are_counted_as_by_hand(packed: bool, columns: list[int], n_rows: int) -> None:
    generator = np.random.default_rng(n_rows)
    bins = random_bins(generator, n_rows, BLOCK_BINS)
    codes = np.ascontiguousarray(bins.T[columns])
    gradients, entries = random_gradients(generator, n_rows, packed)
    generator.shuffle(entries)
    segments = segments_of(generator.multinomial(n_rows, [0.5, 0.0, 0.5]).tolist())
    nodes = np.array([2, 1, 0])
    counts = empty_counts(len(nodes))
    for _ in range(2):  # two blocks of the same rows
        kernels.count_nodes_of_block(codes, layout_of(columns), gradients, nodes, segments, entries, counts)
    kernels.finish_counts(packed, counts)
    for place, node in enumerate(nodes.tolist()):
        begin, end = segments[node].tolist()
        words = [decoded(packed, gradients.wide, entry) for entry in entries[begin:end].tolist()]
        assert np.array_equal(counts.sums[place], 2 * sums_by_hand(bins, columns, words))
    assert not counts.cells.any() and not counts.rows.any()


def empty_counts(n_nodes: int) -> Counts:
    return Counts(
        np.zeros((n_nodes, 2, CELLS), np.int64),
        np.zeros(n_nodes, np.int64),
        np.zeros((n_nodes, 3, CELLS), np.int64),
    )


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("extreme", [-1, 1])
def test_sums_that_would_overflow_a_cell_are_moved_in_time(packed: bool, extreme: int) -> None:
    most = PACKED_BLOCK if packed else WIDE_BLOCK
    n_rows = most + 3
    gradients, entries = random_gradients(np.random.default_rng(0), 1, packed, extreme=extreme)
    codes, counts = np.zeros((1, 1), np.uint8), empty_counts(1)
    places = (np.array([0]), np.array([[0, n_rows]]), np.repeat(entries, n_rows), counts)
    for _ in range(2):
        kernels.count_nodes_of_block(codes, layout_of([1]), gradients, *places)
    kernels.finish_counts(packed, counts)
    _, gradient, hessian = decoded(packed, gradients.wide, int(entries[0]))
    cell = int(layout_of([1]).offsets[1])
    total = 2 * n_rows
    assert counts.sums[0, :, cell].tolist() == [total * gradient, total * hessian, total]
    assert np.count_nonzero(counts.sums) == 3


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
@pytest.mark.parametrize("n_rows", SIZES)
def test_rows_of_a_node_are_told_its_leaf(n_rows: int, dtype: Any) -> None:
    generator = np.random.default_rng(n_rows)
    rows = generator.permutation(2 * n_rows)[:n_rows].astype(np.uint64)
    entries = rows << np.uint64(32) | np.uint64(9)
    segments = segments_of(generator.multinomial(n_rows, [0.3, 0.3, 0.0, 0.4]).tolist())
    leaf_of_row, expected = np.full(2 * n_rows, 99, dtype), np.full(2 * n_rows, 99, dtype)
    nodes, leaves = np.array([3, 0, 2]), np.array([7, 1, 4])
    for node, leaf in zip(nodes.tolist(), leaves.tolist(), strict=True):
        begin, end = segments[node].tolist()
        expected[rows[begin:end].astype(np.int64)] = leaf
        found = np.full(end - begin, POISON, np.int64)
        kernels.rows_of_node(entries, begin, end, 1000, found)
        assert found.tolist() == [int(row) + 1000 for row in rows[begin:end]]
    kernels.tell_leaves(entries, segments, nodes, leaves, leaf_of_row)
    assert leaf_of_row.tolist() == expected.tolist()


@pytest.mark.parametrize("packed", [False, True])
def test_a_packed_cell_is_read_back(packed: bool) -> None:
    block, limits = (PACKED_BLOCK, (4095, 4095)) if packed else (WIDE_BLOCK, (2**31 - 1, 2**25 - 1))
    generator = np.random.default_rng(5)
    for n_rows in (1, 2, block, block + 1):
        words = cell_words(packed, n_rows)
        for sign in (-1, 1):
            histogram = np.full((3, 4), POISON, np.int64)
            count = int(generator.integers(0, n_rows + 1))
            for cell, sums in enumerate(
                [(0, 0, 0), (sign * n_rows * limits[0], n_rows * limits[1], n_rows), (-count, count, count)]
            ):
                pack_cell(histogram, words, cell, *sums)
                assert read_cell(histogram, words, cell) == sums
            assert (histogram[:, 3] == POISON).all() and (histogram[words:] == POISON).all()


def a_search(packed: bool, n_rows: int = 900, **changes: Any) -> tuple[Search, Any, Any]:
    """A root with its sums and histogram, its children 1 and 2 with theirs, and nodes full of rubbish."""
    generator = np.random.default_rng(6)
    bins = random_bins(generator, n_rows, N_BINS)
    data = tree_input(bins, N_BINS, [2])._replace(n_cells=len(N_BINS) * 264)
    gradients, entries = random_gradients(generator, n_rows, packed, bins[:, 3] / 40 - bins[:, 0] / 9)
    work = workspace(n_rows, n_cells(data), 1, slots=4)
    nodes = empty_nodes(12)
    state = Constraints(signs=(1, 0, 0, -1), groups=((0, 1), (2, 3))).state(4, 12, False)
    own = Search(data, gradients, rules(**changes), KEY, work, nodes, state)
    return own, entries, workspace(n_rows, n_cells(data), 1)


def histograms(own: Search, entries: Any, ends: list[int]) -> NDArray[np.int64]:
    """The sums of neighbouring segments, (nodes, 3, cells), row by row."""
    data, cells = own.data, n_cells(own.data)
    sums = np.zeros((len(ends) - 1, 3, cells), np.int64)
    for place, (begin, end) in enumerate(pairwise(ends)):
        for entry in entries[begin:end].tolist():
            row, gradient, hessian = decoded(own.gradients.packed, own.gradients.wide, entry)
            for column in range(len(N_BINS)):
                cell = int(data.offsets[column]) + int(data.columns[column, row])
                sums[place, :, cell] += (gradient, hessian, 1)
    return sums


def opened(packed: bool, **changes: Any) -> tuple[Search, Any]:
    """The same with the root's histogram stored."""
    own, entries, _ = a_search(packed, **changes)
    n_rows = len(entries)
    search.open_tree(own, n_rows)
    own.nodes.slot[0] = 3
    sums = histograms(own, entries, [0, n_rows])
    search.store_histograms(own, sums, np.array([0]), np.array([NOBODY]), 1)
    search.settle_sums(own, np.arange(4))
    return own, sums


@pytest.mark.parametrize("packed", [False, True])
def test_the_root_has_all_rows_and_their_sums(packed: bool) -> None:
    own, sums = opened(packed, path_smooth=0.0)
    nodes, offset = own.nodes, int(own.data.offsets[0])
    total = sums[0, :, offset : offset + N_BINS[0] + 1].sum(axis=1)
    assert (nodes.begin[0], nodes.end[0], nodes.depth[0], nodes.feature[0], nodes.left[0]) == (
        0,
        900,
        0,
        -1,
        0,
    )
    assert (nodes.gradient_sum[0], nodes.hessian_sum[0], 900) == tuple(total)
    assert own.state.lower[0] == -np.inf and own.state.upper[0] == np.inf and own.state.last_column[0] == -1
    words = cell_words(packed, 900)
    for cell in range(sums.shape[2]):
        assert read_cell(own.work.pool[3], words, cell) == tuple(sums[0, :, cell])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("n_rows", [900, PACKED_BLOCK + 400])
def test_a_sibling_gets_what_the_counted_node_leaves(packed: bool, n_rows: int) -> None:
    own, entries, memory = a_search(packed, n_rows)
    nodes, half = own.nodes, n_rows // 3
    for node, (begin, end, slot) in enumerate([(0, n_rows, -1), (0, half, 1), (half, n_rows, 2)]):
        nodes.begin[node], nodes.end[node], nodes.slot[node] = begin, end, slot
    places = (own.data, np.arange(4), own.gradients, entries)
    sums = histograms(own, entries, [0, half, n_rows])
    build_histogram(*places, False, 0, n_rows, 1, memory, own.work.pool[2])  # the parent's
    search.store_histograms(own, sums[:1].copy(), np.array([1]), np.array([2]), 1)
    for node in (1, 2):
        words = cell_words(packed, int(nodes.end[node] - nodes.begin[node]))
        for cell in range(sums.shape[2]):
            assert read_cell(own.work.pool[nodes.slot[node]], words, cell) == tuple(sums[node - 1, :, cell])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("limits", [{}, {"level_share": 0.5, "node_share": 0.7}, {"min_gain": 1e300}])
def test_nodes_are_searched_and_divided_one_by_one(packed: bool, limits: dict[str, Any]) -> None:
    own, _ = opened(packed, **limits)
    nodes = own.nodes
    search.search_nodes(own, np.arange(4), np.array([0]), 1)
    totals = (nodes.gradient_sum[0], nodes.hessian_sum[0], np.int64(900))
    best = np.full(CANDIDATE, POISON, np.int64)
    drawn = columns_of_node(np.arange(4), own.rules, KEY, nodes.depth[0], 0)
    node = NodeSums(own.work.pool[3], totals, 0, KEY)
    gain = find_best_split(node, own.data, drawn, own.gradients, own.rules, own.state, 1, best)
    if "min_gain" in limits:
        assert nodes.candidate_gain[0] == NO_GAIN
        return
    assert gain > 0.0 and nodes.candidate_gain[0] == gain
    assert np.array_equal(nodes.candidate[0], best)
    search.divide_nodes(own, np.array([0]), 7)
    n_left = int(best[LEFT_COUNT])
    assert (nodes.left[0], nodes.gain[0], nodes.feature[0]) == (7, gain, best[0])
    places = [(7, 0, n_left, best[LEFT_GRADIENT], best[LEFT_HESSIAN])]
    places += [(8, n_left, 900, totals[0] - best[LEFT_GRADIENT], totals[1] - best[LEFT_HESSIAN])]
    for node, *expected in places:
        found = (nodes.begin, nodes.end, nodes.gradient_sum, nodes.hessian_sum)
        assert [int(values[node]) for values in found] == [int(number) for number in expected]
        assert (nodes.depth[node], nodes.side[node], nodes.feature[node], nodes.slot[node]) == (1, 1, -1, -1)
        assert own.state.last_column[node] == best[0]


@pytest.mark.parametrize("packed", [False, True])
def test_a_level_of_one_node_has_its_split(packed: bool) -> None:
    own, _ = opened(packed)
    alone, _ = opened(packed)
    assert search.search_level(own, np.arange(4), 0, 1, 1)
    search.search_nodes(alone, np.arange(4), np.array([0]), 1)
    numeric = slice(0, LEFT_BINS)  # the bins of a set are not read
    assert np.array_equal(own.nodes.candidate[0, numeric], alone.nodes.candidate[0, numeric])
    search.divide_level(own, 0, 1)
    search.divide_nodes(alone, np.array([0]), 1)
    for name, values in own.nodes._asdict().items():
        if name in ("gain", "candidate_gain"):  # summed in another order
            assert values[0] == pytest.approx(getattr(alone.nodes, name)[0], rel=1e-12)
        elif name not in ("slot", "candidate", "left_bins"):
            assert np.array_equal(values[:3], getattr(alone.nodes, name)[:3]), name
    assert np.array_equal(own.state.lower[:3], alone.state.lower[:3])
    assert not search.search_level(own._replace(rules=rules(gamma=1e300)), np.arange(4), 0, 1, 1)


def test_children_come_by_size_and_small_or_deep_ones_are_left_alone() -> None:
    own, _, _ = a_search(True, max_depth=3, min_samples_leaf=4, min_samples_split=9)
    nodes = own.nodes
    for left, sizes, depth in ((1, (3, 9), 1), (3, (9, 8), 2), (5, (6, 6), 1), (7, (90, 80), 3)):
        nodes.left[left // 2] = left
        for child, size in enumerate(sizes):
            node = left + child
            nodes.begin[node], nodes.end[node], nodes.depth[node] = 0, size, depth
    found = search.children_by_size(own, np.arange(4))
    assert found.tolist() == [[0, 1, 2], [1, 4, 3], [2, 5, 6], [3, 8, 7]]
    assert search.may_be_split(own, np.arange(1, 9)).tolist() == [
        size >= 9 for size in (3, 9, 9, 8, 6, 6, 0, 0)
    ]
