"""Trees on presorted columns against twins that count every value of every node; segments against Python's sorting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
import reference_exact
from reference_oblivious import grow_oblivious as naive_oblivious
from unit.tree.factories import POISON, empty_nodes, random_gradients, rules
from unit.tree.growth import test_grower, test_oblivious
from unit.tree.splits import test_constraints
from weald.binning.ranks import RankMapper, Ranks
from weald.runtime.jit import kernel
from weald.tree.exact.grower import grow_exact
from weald.tree.exact.oblivious import grow_exact_oblivious, unpack
from weald.tree.exact.segments import divide_segment, fill_segment
from weald.tree.exact.state import NOT_SAMPLED, ExactInput, ExactSearch, ExactWork
from weald.tree.splits.constraints import Constraints
from weald.tree.state import DEPTHWISE, PACKED_BLOCK, Gradients, Rules, TreeInput

MANY = [300, 5, 3, 60, 9, 270]
CATEGORICAL = (1, 4)
KEY = test_grower.KEY


def one_from_the_rest(rules: dict[str, dict[str, Any]]) -> list[str]:
    """The rules that ask for no sets of categories, which exact splits do not have."""
    return [name for name, limits in rules.items() if "max_cat_to_onehot" not in limits]


def case(
    n_rows: int, packed: bool, n_bins: Sequence[int] = MANY, seed: int = 0
) -> tuple[TreeInput, Gradients, NDArray[np.uint64]]:
    """Codes with missing values in every second column, gradients and entries."""
    generator = np.random.default_rng([n_rows, seed])
    columns = []
    for feature, number in enumerate(n_bins):
        column = (generator.random(n_rows) ** 2 * number).astype(np.uint32)
        if feature % 2:
            column[generator.random(n_rows) < 0.15] = number
        columns.append(column)
    codes = np.stack(columns, axis=1)
    signal = np.sin(codes @ (3.0 / np.array(n_bins)))
    gradients, entries = random_gradients(generator, n_rows, packed, signal)
    return reference_exact.tree_input(codes, n_bins, CATEGORICAL), gradients, entries


def exact_input(data: TreeInput) -> ExactInput:
    codes = data.columns.astype(np.uint32)
    empty = tuple(np.empty(0) for _ in data.n_bins)
    mapper = RankMapper(empty, data.n_bins, data.categorical, np.zeros(len(empty), np.int64))
    blocks = Ranks(codes, mapper).blocks
    nothing = np.empty(0, np.uint32)
    return ExactInput(
        codes, np.empty(0, np.int64), nothing, nothing, *blocks, data.n_bins, data.categorical, 0
    )


def grown(
    data: TreeInput,
    features: Sequence[int],
    gradients: Gradients,
    limits: Rules,
    entries: NDArray[np.uint64],
    tasks: int,
    constraints: Constraints,
    oblivious: bool = False,
) -> tuple[int, Any, Any]:
    """The kernel's tree, grown in rubbish."""
    exact, n_rows = exact_input(data), data.columns.shape[1]
    most_leaves = 2**limits.max_depth if oblivious else limits.max_leaves
    work = ExactWork(
        np.full((2, n_rows), 0xDEAD_BEEF, np.uint64),
        np.full((2, len(exact.sorted_rows)), 0xDEAD_BEEF, np.uint64),
        np.full((most_leaves, len(data.n_bins), 3), POISON, np.int64),
        np.full((2 * most_leaves + 1, 3), POISON, np.int64),
        np.full(n_rows, 0x1234_5678, np.uint32),
        np.full(n_rows, 77, np.uint8),
        np.full(most_leaves + 1, POISON, np.int64),
        np.full(tasks, POISON, np.int64),
        np.full((tasks, 1), POISON, np.int64),
        np.full((tasks, 1), POISON, np.int64),
        np.full((tasks, 1, 4), POISON, np.int64),
    )
    work.entries[0, : len(entries)] = entries
    nodes = empty_nodes(2 * most_leaves + 1)
    state = constraints.state(len(data.n_bins), len(nodes.feature), limits.path_smooth > 0.0)
    grow = grow_exact
    if oblivious:
        grow = grow_exact_oblivious
        if gradients.packed:
            wide = np.zeros(n_rows, np.uint64)
            unpack(entries, len(entries), wide)
            gradients = gradients._replace(packed=False, wide=wide)
    chosen = np.array(features, np.int64)
    search = ExactSearch(exact, gradients, limits, KEY, work, nodes, state)
    n_nodes = grow(search, chosen, len(entries), tasks)
    return n_nodes, work, nodes


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", one_from_the_rest(test_grower.RULES))
def test_a_tree_is_that_of_the_twin_under_every_rule(packed: bool, name: str) -> None:
    limits = rules(**test_grower.RULES[name])
    for n_rows in (3, 300):
        data, gradients, entries = case(n_rows, packed)
        expected = reference.grow_tree(data, range(6), gradients, limits, int(KEY), entries)
        tree = grown(data, range(6), gradients, limits, entries, 1, Constraints())
        test_grower.assert_same(tree, expected)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", one_from_the_rest(test_oblivious.RULES))
def test_an_oblivious_tree_is_that_of_the_twin_under_every_rule(packed: bool, name: str) -> None:
    limits = rules(**test_oblivious.RULES[name])
    data, gradients, entries = case(300, packed, [90, 5, 3, 40, 9])
    expected = naive_oblivious(data, range(5), gradients, limits, int(KEY), entries)
    tree = grown(data, range(5), gradients, limits, entries, 1, Constraints(), oblivious=True)
    test_grower.assert_same(tree, expected)


@pytest.mark.parametrize("name", test_constraints.CONSTRAINTS)
def test_a_constrained_tree_is_that_of_the_twin(name: str) -> None:
    constraints = test_constraints.CONSTRAINTS[name]
    data, gradients, entries = case(400, True, [90, 5, 3, 40, 9])
    limits = rules(growth=DEPTHWISE, max_leaves=20)
    expected = reference.grow_tree(data, range(5), gradients, limits, int(KEY), entries, constraints)
    tree = grown(data, range(5), gradients, limits, entries, 1, constraints)
    test_grower.assert_same(tree, expected)
    limits = rules(max_depth=3)
    expected = naive_oblivious(data, range(5), gradients, limits, int(KEY), entries, constraints)
    tree = grown(data, range(5), gradients, limits, entries, 1, constraints, oblivious=True)
    test_grower.assert_same(tree, expected)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("n_rows", [PACKED_BLOCK + 1, 12_000])
def test_sampled_rows_and_columns_grow_the_twins_tree_for_any_number_of_tasks(
    packed: bool, n_rows: int
) -> None:
    data, gradients, entries = case(n_rows, packed)
    sampled = entries[np.random.default_rng(1).random(len(entries)) < 0.6]
    for features, rows in ((range(6), entries), ([0, 2, 3, 5], sampled)):
        limits = rules(max_leaves=4, node_share=0.7, min_samples_leaf=5)
        expected = reference.grow_tree(data, features, gradients, limits, int(KEY), rows)
        for tasks in (1, 2, 3):
            tree = grown(data, features, gradients, limits, rows, tasks, Constraints())
            test_grower.assert_same(tree, expected)


@kernel
def run_fill(data: Any, feature: Any, coded: Any, words: Any, items: Any, segment: Any) -> None:
    fill_segment(data, feature, coded, words, items, segment)


@kernel
def run_divide(source: Any, begin: Any, end: Any, n_left: Any, goes_left: Any, target: Any) -> None:
    divide_segment(source, begin, end, n_left, goes_left, target)


@pytest.mark.parametrize("seed", range(6))
def test_segments_are_filled_and_divided_as_sorting_would(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n_rows = int(generator.integers(1, 200))
    data, _, _ = case(n_rows, True, [30, 4, 3, 50, 9, 6], seed)
    exact, feature = exact_input(data), int(generator.integers(6))
    words = generator.integers(0, 2**31, n_rows).astype(np.uint32)
    words[generator.random(n_rows) < 0.3] = NOT_SAMPLED
    rows = np.flatnonzero(words != NOT_SAMPLED).tolist()
    codes, n_bins = exact.codes[feature].tolist(), int(data.n_bins[feature])
    items, target = np.full((2, len(exact.sorted_rows)), 0xDEAD, np.uint64)
    begin = int(exact.offsets[feature])
    for coded, low in ((True, codes), (False, words.tolist())):
        expected = reference_exact.segment(codes, rows, low, n_bins)
        where = np.full(3, POISON, np.int64)
        run_fill(exact, feature, coded, words, items, where)
        end = int(where[2])
        assert where[:2].tolist() == [begin, begin]
        assert items[begin:end].tolist() == expected
    goes_left = (generator.random(n_rows) < 0.4).astype(np.uint8)
    left = reference_exact.segment(codes, [row for row in rows if goes_left[row]], low, n_bins)
    right = reference_exact.segment(codes, [row for row in rows if not goes_left[row]], low, n_bins)
    run_divide(items, begin, end, len(left), goes_left, target)
    no_mark = 2**63 - 1  # the first item of a node needs none
    for part, twin in (
        (target[begin : begin + len(left)], left),
        (target[begin + len(left) : end], right),
    ):
        assert part[1:].tolist() == twin[1:]
        assert [item & no_mark for item in part[:1].tolist()] == [item & no_mark for item in twin[:1]]
