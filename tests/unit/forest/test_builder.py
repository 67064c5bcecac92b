from __future__ import annotations

import numpy as np
import pytest

from unit.forest.factories import random_forest, random_tree
from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.forest.layout import ARRAY_DTYPES, NODE_DTYPES
from weald.runtime.errors import InputError


def trees(number: int, n_leaves: int = 9) -> list[dict[str, np.ndarray]]:
    generator = np.random.default_rng(11)
    return [random_tree(generator, 4, n_leaves) for _ in range(number)]


def test_many_trees_keep_their_values_when_the_memory_grows() -> None:
    given = trees(100)
    builder = ForestBuilder(4, 1, [0.5])
    for tree in given:
        builder.append(**tree)
    forest = builder.build()
    forest.validate()
    assert forest.n_trees == builder.n_trees == 100
    for name in NODE_DTYPES:
        if name != "category_set":
            expected = np.concatenate([tree[name] for tree in given])
            assert np.array_equal(getattr(forest, name), expected)
    for index, tree in enumerate(given):
        sets = [None if s < 0 else s for s in tree["category_set"].tolist()]
        offsets, codes = tree["set_offsets"], tree["set_codes"]
        expected_sets = [
            None if s is None else tuple(codes[offsets[s] : offsets[s + 1]].tolist()) for s in sets
        ]
        assert list(forest.tree(index).categories_left) == expected_sets


def test_built_arrays_are_read_only_contiguous_and_of_the_models_dtypes() -> None:
    forest = random_forest()
    for name, dtype in ARRAY_DTYPES.items():
        array = getattr(forest, name)
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert not array.flags.writeable


def test_a_built_forest_does_not_change_when_the_builder_goes_on() -> None:
    first, second = trees(2)
    builder = ForestBuilder(4, 1, [0.0])
    builder.append(**first)
    early = builder.build()
    builder.append(**second)
    assert early.n_trees == 1
    assert builder.build().first(1) == early


def test_appending_copies_what_it_is_given() -> None:
    tree = trees(1)[0]
    builder = ForestBuilder(4, 1, [0.0])
    before = tree["category_set"].copy()
    builder.append(**tree)
    builder.append(**tree)
    assert np.array_equal(tree["category_set"], before)
    tree["value"][:] = 0
    assert builder.build().value.any()


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_continuing_gives_the_same_bytes_as_never_having_stopped(rounds: int) -> None:
    given = trees(8)
    whole, start = ForestBuilder(4, 2, [0.1, 0.2]), ForestBuilder(4, 2, [0.1, 0.2])
    for tree in given:
        whole.append(**tree)
    for tree in given[: 2 * rounds]:
        start.append(**tree)
    resumed = ForestBuilder.continuing(start.build())
    for tree in given[2 * rounds :]:
        resumed.append(**tree)
    assert resumed.build() == whole.build()
    assert resumed.build() == whole.build()


def test_cutting_a_forest_equals_building_fewer_rounds() -> None:
    given = trees(6)
    whole, few = ForestBuilder(4, 1, [0.0]), ForestBuilder(4, 1, [0.0])
    for index, tree in enumerate(given):
        whole.append(**tree)
        if index < 4:
            few.append(**tree)
    assert whole.build().first(4) == few.build()


def test_the_last_build_gives_the_same_forest() -> None:
    builder = ForestBuilder(4, 1, [0.5])
    for tree in trees(5):
        builder.append(**tree)
    forest = builder.build()
    assert builder.finish() == forest


def test_half_a_round_cannot_be_built() -> None:
    builder = ForestBuilder(4, 2, [0.0, 0.0])
    builder.append(**trees(1)[0])
    with pytest.raises(InputError, match="1 trees were appended; 2 outputs"):
        builder.build()


def test_vector_leaves_are_appended_resumed_and_kept_apart_from_numbers() -> None:
    given = trees(3)
    rows = [np.arange(2.0 * ((len(tree["feature"]) + 1) // 2)).reshape(-1, 2) for tree in given]
    builder = ForestBuilder(4, 2, [0.0, 0.0])
    builder.append(**given[0], vectors=rows[0])
    resumed = ForestBuilder.continuing(builder.build())
    for tree, vectors in zip(given[1:], rows[1:], strict=True):
        resumed.append(**tree, vectors=vectors)
    forest = resumed.build()
    forest.validate()
    assert forest.n_rounds == 3
    assert np.array_equal(forest.vectors, np.concatenate(rows).reshape(-1))
    assert forest.trees(0, 1) == builder.build()
    with pytest.raises(InputError, match="for every tree of a forest or for none"):
        resumed.append(**given[0])
    with pytest.raises(InputError, match=r"vectors has shape .*a row per leaf"):
        resumed.append(**given[0], vectors=rows[0][:, :1])
    scalar = ForestBuilder(4, 1, [0.0])
    scalar.append(**given[0])
    with pytest.raises(InputError, match="for every tree of a forest or for none"):
        scalar.append(**given[1], vectors=rows[1][:, :1])


def test_a_refused_tree_leaves_the_builder_as_it_was() -> None:
    tree = trees(1)[0]
    builder = ForestBuilder(4, 1, [0.0])
    with pytest.raises(InputError, match="value has shape"):
        builder.append(**(tree | {"value": tree["value"][:-1]}))
    with pytest.raises(InputError, match="set_offsets runs from 0 to 0"):
        builder.append(**(tree | {"set_offsets": [0]}))
    with pytest.raises(InputError, match="feature is empty"):
        builder.append(**{name: [] for name in NODE_DTYPES})
    assert builder.build() == ForestBuilder(4, 1, [0.0]).build()


def test_a_base_score_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InputError, match=r"base_score has shape \(1,\)"):
        ForestBuilder(4, 2, [0.0])


def test_a_scaled_tree_adds_less_and_keeps_its_weight() -> None:
    whole = random_forest(3, rounds=4, n_outputs=2)
    builder = ForestBuilder.continuing(whole)
    assert builder.tree_weights().tolist() == [1.0] * 8
    assert builder.build() == whole
    builder.scale(5, 0.5)
    builder.scale(5, 0.25)
    builder.append(**random_tree(np.random.default_rng(0), 5, 3))
    builder.append(**random_tree(np.random.default_rng(1), 5, 3))
    forest = builder.build()
    assert forest.tree_weights.tolist() == [1.0] * 5 + [0.125] + [1.0] * 4
    assert forest.tree(5).value.tolist() == (0.125 * whole.tree(5).value).tolist()
    assert forest.tree(4).value.tolist() == whole.tree(4).value.tolist()
    assert forest.first(4) != whole
    assert ForestBuilder.continuing(forest).build() == forest
    assert forest.trees(4, 8).tree_weights.tolist() == [1.0, 0.125, 1.0, 1.0]
    assert Forest.concatenate(forest.first(4), forest.trees(8, 10)) == forest
    assert Forest.concatenate(whole, forest.trees(4, 8)).tree_weights.tolist() == [1.0] * 9 + [
        0.125,
        1.0,
        1.0,
    ]


def test_rounds_of_several_trees_are_counted_cut_and_joined_whole() -> None:
    forest = random_forest(3, rounds=4, n_outputs=2, parallel_trees=3)
    assert (forest.n_trees, forest.trees_per_round, forest.n_rounds) == (24, 6, 4)
    assert [forest.tree(index).output for index in range(6)] == [0, 1] * 3
    assert forest.first(2).n_trees == 12
    assert Forest.concatenate(forest.first(1), forest.trees(6, 24)) == forest
    with pytest.raises(InputError, match="in rounds of 6"):
        forest.trees(0, 4)
    with pytest.raises(InputError, match="parallel_trees 3 and 1"):
        Forest.concatenate(forest, random_forest(3, n_outputs=2))
    builder = ForestBuilder.continuing(forest)
    builder.append(**random_tree(np.random.default_rng(0), 5, 3))
    with pytest.raises(InputError, match="6 are a round"):
        builder.build()
