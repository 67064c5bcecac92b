"""The kernels of shards against loops in plain Python, in memory full of rubbish."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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


def random_splits(generator: np.random.Generator, nodes: list[int]) -> Splits:
    size = len(nodes)
    return Splits(
        np.array(nodes, np.int64),
        100 + 2 * np.arange(size, dtype=np.int64),
        generator.integers(0, len(N_BINS), size),
        generator.integers(0, 5, size),
        generator.integers(-(2**62), 2**62, (size, BIN_WORDS)),
        generator.integers(0, 2, size),
    )


@pytest.mark.parametrize("n_rows", [0, 1, 700])
def test_entries_are_grouped_by_node_in_their_order(n_rows: int) -> None:
    generator = np.random.default_rng(n_rows)
    node_of_row = generator.integers(0, 9, n_rows).astype(np.int32)
    rows = np.flatnonzero(generator.random(n_rows) < 0.7)
    entries = (rows.astype(np.uint64) << np.uint64(32)) | np.uint64(5)
    asked = [7, 2, 8, 0]
    place_of_node = np.full(9, -1, np.int32)
    place_of_node[asked] = np.arange(4)
    starts, grouped = np.full(5, POISON, np.int64), np.full(n_rows, 77, np.uint64)
    kernels.group_entries(entries, node_of_row, place_of_node, starts, grouped)
    groups = [[int(entry) for entry in entries if node_of_row[int(entry) >> 32] == node] for node in asked]
    assert starts.tolist() == np.cumsum([0, *map(len, groups)]).tolist()
    assert grouped[: starts[-1]].tolist() == [entry for group in groups for entry in group]
    assert (grouped[starts[-1] :] == 77).all()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("uniform", [False, True])
def test_nodes_are_counted_as_by_hand(packed: bool, uniform: bool) -> None:
    generator = np.random.default_rng(3)
    n_rows = PACKED_BLOCK + 900
    bins = random_bins(generator, n_rows, N_BINS)
    data = tree_input(bins, N_BINS, [2], uniform)
    gradients, entries = random_gradients(generator, n_rows, packed)
    starts = np.array([0, 0, 700, 707, n_rows])
    for begin in (starts, np.array([0, n_rows])):
        out = np.full((len(begin) - 1, n_cells(data), 3), POISON, np.int64)
        work = workspace(n_rows, n_cells(data), 1)
        kernels.count_nodes(data, np.arange(4), gradients, entries, begin, 1, work, out)
        expected = np.zeros_like(out)
        words = entries.tolist() if packed else gradients.wide.tolist()
        for place in range(len(begin) - 1):
            for i in range(int(begin[place]), int(begin[place + 1])):
                low = words[i] & 0xFFFFFFFF
                g, h = ((low ^ 2**31) - 2**31 >> 12, low & 4095) if packed else (words[i] >> 32, low)
                g = g if packed or g < 2**31 else g - 2**32
                for column in range(4):
                    expected[place, int(data.offsets[column]) + int(bins[i, column])] += (g, h, 1)
        assert np.array_equal(out, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_rows_move_to_the_side_of_their_bins(dtype: Any) -> None:
    generator = np.random.default_rng(4)
    bins = random_bins(generator, 600, N_BINS)
    data = tree_input(bins, N_BINS, [0, 3])
    node_of_row = generator.integers(0, 8, 600).astype(np.int32)
    splits = random_splits(generator, [6, 1, 3, 0])
    place_of_node = np.full(8, -1, np.int32)
    place_of_node[splits.node] = np.arange(4)
    expected = node_of_row.tolist()
    for row, node in enumerate(expected):
        place = int(place_of_node[node])
        if place >= 0:
            feature = int(splits.feature[place])
            left = goes_left(splits, place, int(bins[row, feature]), N_BINS[feature], feature in (0, 3))
            expected[row] = int(splits.left[place]) + (0 if left else 1)
    columns = np.ascontiguousarray(bins.T.astype(dtype))
    kernels.move_rows(columns, data.n_bins, data.categorical, splits, place_of_node, node_of_row)
    assert node_of_row.tolist() == expected


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


def opened(packed: bool, **changes: Any) -> tuple[Search, Any]:
    """The same with the root's histogram stored."""
    own, entries, memory = a_search(packed, **changes)
    n_rows = len(entries)
    search.open_tree(own, n_rows)
    own.nodes.slot[0] = 3
    sums = np.empty((1, n_cells(own.data), 3), np.int64)
    begin = np.array([0, n_rows])
    kernels.count_nodes(own.data, np.arange(4), own.gradients, entries, begin, 1, memory, sums)
    search.store_histograms(own, sums, np.array([0]), np.array([NOBODY]), 1)
    search.settle_sums(own, np.arange(4))
    return own, sums


@pytest.mark.parametrize("packed", [False, True])
def test_the_root_has_all_rows_and_their_sums(packed: bool) -> None:
    own, sums = opened(packed, path_smooth=0.0)
    nodes, offset = own.nodes, int(own.data.offsets[0])
    total = sums[0, offset : offset + N_BINS[0] + 1].sum(axis=0)
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
    for cell in range(sums.shape[1]):
        assert read_cell(own.work.pool[3], words, cell) == tuple(sums[0, cell])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("n_rows", [900, PACKED_BLOCK + 400])
def test_a_sibling_gets_what_the_counted_node_leaves(packed: bool, n_rows: int) -> None:
    own, entries, memory = a_search(packed, n_rows)
    nodes, half = own.nodes, n_rows // 3
    for node, (begin, end, slot) in enumerate([(0, n_rows, -1), (0, half, 1), (half, n_rows, 2)]):
        nodes.begin[node], nodes.end[node], nodes.slot[node] = begin, end, slot
    places = (own.data, np.arange(4), own.gradients, entries)
    sums = np.empty((2, n_cells(own.data), 3), np.int64)
    kernels.count_nodes(*places, np.array([0, half, n_rows]), 1, memory, sums)
    build_histogram(*places, False, 0, n_rows, 1, memory, own.work.pool[2])  # the parent's
    search.store_histograms(own, sums[:1].copy(), np.array([1]), np.array([2]), 1)
    for node in (1, 2):
        words = cell_words(packed, int(nodes.end[node] - nodes.begin[node]))
        for cell in range(sums.shape[1]):
            assert read_cell(own.work.pool[nodes.slot[node]], words, cell) == tuple(sums[node - 1, cell])


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
