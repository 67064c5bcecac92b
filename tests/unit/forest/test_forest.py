from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from unit.forest.factories import arrays_of, random_forest, vector_forest
from weald.forest.forest import Forest
from weald.forest.layout import ARRAY_DTYPES, NODE_DTYPES
from weald.runtime.errors import InputError, ModelFileError


def changed(forest: Forest, field: str, index: int, value: Any) -> Forest:
    array = getattr(forest, field).copy()
    array[index] = value
    return replace(forest, **{field: array})


def first_leaf(forest: Forest) -> int:
    return int(np.argmax(forest.feature < 0))


def depth_by_walking(forest: Forest, tree: int) -> int:
    view = forest.tree(tree)

    def deepest(node: int) -> int:
        if view.feature[node] < 0:
            return 0
        return 1 + max(deepest(view.left[node]), deepest(view.left[node] + 1))

    return deepest(0)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_valid_forests_pass_validation(seed: int, n_outputs: int) -> None:
    random_forest(seed, n_outputs=n_outputs).validate()


def test_a_forest_without_trees_is_valid() -> None:
    forest = random_forest(rounds=0, n_outputs=2)
    forest.validate()
    assert forest.n_trees == forest.n_rounds == forest.n_leaves == 0
    assert forest.max_depth().size == forest.leaves_per_tree().size == 0
    assert forest.importances().tolist() == [0.0] * 5
    assert "0 trees" in forest.describe()


@pytest.mark.parametrize("field", list(ARRAY_DTYPES))
def test_validation_names_a_field_of_a_wrong_dtype(field: str) -> None:
    forest = random_forest()
    other = np.float32 if ARRAY_DTYPES[field] != np.float32 else np.float64
    with pytest.raises(ModelFileError, match=rf"The forest's {field} .*dtype"):
        replace(forest, **{field: getattr(forest, field).astype(other)}).validate()


@pytest.mark.parametrize("field", list(ARRAY_DTYPES))
def test_validation_refuses_foreign_byte_order_lists_strides_and_matrices(field: str) -> None:
    forest = random_forest()
    array = getattr(forest, field)
    if array.dtype.itemsize > 1:
        with pytest.raises(ModelFileError, match=field):
            replace(forest, **{field: array.astype(array.dtype.newbyteorder())}).validate()
    candidates: list[Any] = [array.tolist(), None, array.reshape(1, -1), np.repeat(array, 2)[::2]]
    for wrong in candidates:
        if isinstance(wrong, np.ndarray) and wrong.flags.c_contiguous and wrong.ndim == 1:
            continue  # an array of one entry has no strides to speak of
        with pytest.raises(ModelFileError, match=field):
            replace(forest, **{field: wrong}).validate()


@pytest.mark.parametrize("field", ["base_score", *NODE_DTYPES, "set_codes", "tree_offsets", "set_offsets"])
def test_validation_refuses_arrays_that_are_too_short(field: str) -> None:
    forest = random_forest()
    with pytest.raises(ModelFileError, match="The forest's"):
        replace(forest, **{field: getattr(forest, field)[:-1]}).validate()
    with pytest.raises(ModelFileError, match="The forest's"):
        replace(forest, **{field: getattr(forest, field)[:0]}).validate()


@pytest.mark.parametrize("field", ["n_features", "n_outputs"])
@pytest.mark.parametrize("value", [0, -1, True, 1.0, "3", None, 2**31, 10**30])
def test_validation_refuses_sizes_that_are_no_sizes(field: str, value: Any) -> None:
    with pytest.raises(ModelFileError, match=field):
        replace(random_forest(), **{field: value}).validate()


@pytest.mark.parametrize("field", ["base_score", "value", "gain", "cover"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_validation_refuses_numbers_that_are_not_finite(field: str, value: float) -> None:
    with pytest.raises(ModelFileError, match=rf"The forest's {field} .*entry 0"):
        changed(random_forest(), field, 0, value).validate()


@pytest.mark.parametrize("field", ["base_score", "value"])
def test_validation_refuses_numbers_whose_sums_would_be_infinite(field: str) -> None:
    with pytest.raises(ModelFileError, match=rf"The forest's {field} .*1e\+307"):
        changed(random_forest(), field, 0, -1.7e308).validate()


def test_thresholds_may_be_infinite_but_not_nan() -> None:
    forest = random_forest()
    changed(forest, "threshold", 0, np.inf).validate()
    changed(forest, "threshold", 0, -np.inf).validate()
    with pytest.raises(ModelFileError, match="threshold"):
        changed(forest, "threshold", 0, np.nan).validate()


@pytest.mark.parametrize(
    ("field", "value"),
    [("feature", -2), ("feature", 5), ("category_set", -2), ("category_set", 2**31 - 1)]
    + [
        ("missing_left", 2),
        ("count", -1),
        ("left", 0),
        ("left", -1),
        ("left", 2**31 - 1),
        ("left", -(2**31)),
    ],
)
def test_validation_refuses_a_root_with_values_out_of_range(field: str, value: int) -> None:
    forest = random_forest(seed=3)
    assert forest.feature[0] >= 0
    with pytest.raises(ModelFileError, match=rf"The forest's {field}"):
        changed(forest, field, 0, value).validate()


@pytest.mark.parametrize(("field", "value"), [("left", 1), ("category_set", 0)])
def test_validation_refuses_a_leaf_that_looks_like_an_inner_node(field: str, value: int) -> None:
    forest = random_forest()
    with pytest.raises(ModelFileError, match=rf"The forest's {field} .*leaf"):
        changed(forest, field, first_leaf(forest), value).validate()


def test_no_link_can_point_anywhere_else_without_being_refused() -> None:
    forest = random_forest(seed=5, rounds=3)
    for node in np.flatnonzero(forest.feature >= 0):
        for target in range(-2, forest.n_nodes + 2):
            if target != forest.left[node]:
                with pytest.raises(ModelFileError, match="The forest's left"):
                    changed(forest, "left", int(node), target).validate()


def test_validation_refuses_a_node_that_nobody_leads_to() -> None:
    forest = random_forest(seed=3)
    leaf = changed(forest, "feature", 0, -1)
    leaf = changed(changed(leaf, "left", 0, 0), "category_set", 0, -1)
    with pytest.raises(ModelFileError, match="child of 0 nodes"):
        leaf.validate()


@pytest.mark.parametrize("field", ["tree_offsets", "set_offsets"])
@pytest.mark.parametrize(
    ("index", "value"), [(0, 1), (0, -1), (1, 10**6), (1, -1), (-1, 0), (1, -(2**63)), (-1, 2**63 - 1)]
)
def test_validation_refuses_offsets_that_do_not_rise_from_zero_to_the_end(
    field: str, index: int, value: int
) -> None:
    with pytest.raises(ModelFileError, match=field):
        changed(random_forest(), field, index, value).validate()


def test_validation_refuses_a_tree_without_nodes() -> None:
    forest = random_forest()
    offsets = np.insert(forest.tree_offsets, 1, 0)
    with pytest.raises(ModelFileError, match=r"tree_offsets .*without nodes"):
        replace(forest, tree_offsets=offsets).validate()


def test_validation_refuses_half_a_round() -> None:
    forest = random_forest(rounds=3)
    with pytest.raises(ModelFileError, match=r"3 trees .* 2 outputs"):
        replace(forest, n_outputs=2, base_score=np.zeros(2)).validate()


def test_validation_refuses_category_sets_that_do_not_rise() -> None:
    forest = random_forest()
    sizes = np.diff(forest.set_offsets)
    start = int(forest.set_offsets[np.argmax(sizes >= 2)])
    changed(forest, "set_codes", start, 0).validate()
    with pytest.raises(ModelFileError, match="set_codes"):
        changed(forest, "set_codes", start + 1, forest.set_codes[start]).validate()
    with pytest.raises(ModelFileError, match="set_codes"):
        changed(forest, "set_codes", start, -1).validate()


def test_an_empty_category_set_is_valid() -> None:
    forest = random_forest()
    ends = np.append(forest.set_offsets, forest.set_offsets[-1])
    replace(forest, set_offsets=ends).validate()
    replace(forest, set_offsets=np.insert(forest.set_offsets, 1, forest.set_offsets[1])).validate()


@pytest.mark.parametrize("seed", range(5))
def test_depth_and_leaf_counts_agree_with_walking_every_tree(seed: int) -> None:
    forest = random_forest(seed, rounds=6, n_outputs=2, n_leaves=20)
    depths = [depth_by_walking(forest, tree) for tree in range(forest.n_trees)]
    assert forest.max_depth().tolist() == depths
    leaves = [forest.tree(tree).n_leaves for tree in range(forest.n_trees)]
    assert forest.leaves_per_tree().tolist() == leaves
    assert forest.n_leaves == sum(leaves)
    assert forest.n_nodes == sum(forest.tree(tree).n_nodes for tree in range(forest.n_trees))


def test_depth_of_a_very_long_chain_needs_no_recursion() -> None:
    n_inner = 50_000
    n_nodes = 2 * n_inner + 1
    feature = np.full(n_nodes, -1, dtype=np.int32)
    left = np.zeros(n_nodes, dtype=np.int32)
    feature[0], left[0] = 0, 1
    feature[2:-1:2], left[2:-1:2] = 0, np.arange(3, n_nodes, 2)
    zeros = {name: np.zeros(n_nodes, dtype=dtype) for name, dtype in NODE_DTYPES.items()}
    zeros |= {"feature": feature, "left": left, "category_set": np.full(n_nodes, -1, dtype=np.int32)}
    forest = Forest(
        n_features=1,
        n_outputs=1,
        base_score=np.zeros(1),
        tree_offsets=np.array([0, n_nodes]),
        set_offsets=np.zeros(1, dtype=np.int64),
        set_codes=np.zeros(0, dtype=np.int32),
        **zeros,
    )
    forest.validate()
    assert forest.max_depth().tolist() == [n_inner]


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_first_rounds_and_the_rest_make_the_whole(n_outputs: int) -> None:
    forest = random_forest(7, rounds=6, n_outputs=n_outputs)
    for rounds in range(7):
        start = forest.first(rounds)
        start.validate()
        assert start.n_rounds == rounds
        assert start.n_trees == rounds * n_outputs
    assert forest.first(6) == forest
    assert forest.first(4).first(2) == forest.first(2)


def test_joined_forests_are_the_trees_of_both_in_order() -> None:
    start = random_forest(1, n_outputs=2)
    rest = replace(random_forest(2, n_outputs=2), base_score=start.base_score)
    joined = Forest.concatenate(start, rest)
    joined.validate()
    assert joined.first(start.n_rounds) == start
    for tree in range(rest.n_trees):
        expected, found = rest.tree(tree), joined.tree(start.n_trees + tree)
        assert found.categories_left == expected.categories_left
        assert np.array_equal(found.value, expected.value)
        assert np.array_equal(found.left, expected.left)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("with_vectors", [False, True])
def test_any_run_of_whole_rounds_can_be_taken_and_joined_again(n_outputs: int, with_vectors: bool) -> None:
    make = vector_forest if with_vectors else random_forest
    count = {"n_trees": 6} if with_vectors else {"rounds": 6}
    forest = make(3, n_outputs=n_outputs, **count)
    step = forest.trees_per_round
    assert step == (1 if with_vectors else n_outputs)
    for begin in range(0, forest.n_trees + 1, step):
        rest = forest.trees(begin, forest.n_trees)
        rest.validate()
        assert Forest.concatenate(forest.trees(0, begin), rest) == forest
        for tree in range(rest.n_trees):
            expected, found = forest.tree(begin + tree), rest.tree(tree)
            assert found.categories_left == expected.categories_left
            assert np.array_equal(found.value, expected.value)
            assert np.array_equal(found.vectors, expected.vectors)


@pytest.mark.parametrize(("begin", "end"), [(-1, 2), (2, 1), (0, 14), (1, 3), (0, 2)])
def test_trees_that_are_not_there_or_no_whole_rounds_are_refused(begin: int, end: int) -> None:
    with pytest.raises(
        InputError, match=rf"trees {begin} to {end} cannot be taken from 12 trees in rounds of 3"
    ):
        random_forest(n_outputs=3).trees(begin, end)


def test_vector_leaves_are_counted_shown_and_compared() -> None:
    forest = vector_forest(5, n_outputs=2)
    assert forest.has_vectors
    assert forest.n_rounds == forest.n_trees == 4
    rows = np.concatenate([forest.tree(index).vectors for index in range(4)])
    assert np.array_equal(rows.reshape(-1), forest.vectors)
    assert forest.tree(1).output is None
    assert forest == pickle.loads(pickle.dumps(forest))
    assert forest != changed(forest, "vectors", 0, 0.5)
    assert forest.tree(0).vectors.shape == (forest.tree(0).n_leaves, 2)
    assert random_forest().tree(0).vectors.shape == (0, 1)


def test_validation_refuses_vectors_that_do_not_fit_the_leaves() -> None:
    forest = vector_forest(5, n_outputs=2)
    for wrong in (forest.vectors[:-1], np.append(forest.vectors, 1.0), forest.vectors[:2]):
        with pytest.raises(ModelFileError, match=r"The forest's vectors .*leaves and 2 outputs"):
            replace(forest, vectors=wrong).validate()
    for number in (np.nan, np.inf):
        with pytest.raises(ModelFileError, match=r"The forest's vectors .*entry 3 .*finite"):
            changed(forest, "vectors", 3, number).validate()


def test_joining_refuses_vector_leaves_with_others() -> None:
    forest = vector_forest(n_outputs=1)
    with pytest.raises(InputError, match="vector leaves"):
        Forest.concatenate(forest, replace(forest, vectors=np.zeros(0)))


def test_joining_refuses_forests_of_different_shape_or_start() -> None:
    forest = random_forest()
    with pytest.raises(InputError, match="n_features 5 and 6"):
        Forest.concatenate(forest, replace(forest, n_features=6))
    with pytest.raises(InputError, match="n_outputs"):
        Forest.concatenate(forest, random_forest(n_outputs=2))
    with pytest.raises(InputError, match="base_score"):
        Forest.concatenate(forest, replace(forest, base_score=forest.base_score + 1))


@pytest.mark.parametrize("rounds", [-1, 5])
def test_cutting_to_an_impossible_number_of_rounds_says_what_is_possible(rounds: int) -> None:
    with pytest.raises(InputError, match=rf"rounds is {rounds}; .* 0 to 4 rounds"):
        random_forest().first(rounds)


def test_importances_sum_gains_and_count_splits() -> None:
    forest = random_forest(4, rounds=10)
    gain, split = [0.0] * 5, [0.0] * 5
    for feature, node_gain in zip(forest.feature, forest.gain, strict=True):
        if feature >= 0:
            gain[feature] += node_gain
            split[feature] += 1
    assert forest.importances().tolist() == gain
    assert forest.importances("split").tolist() == split
    assert forest.importances("split").dtype == forest.importances().dtype == np.float64
    with pytest.raises(InputError, match="kind is 'cover'"):
        forest.importances("cover")  # type: ignore[arg-type]


def test_a_tree_view_shows_output_and_category_sets() -> None:
    forest = random_forest(3, n_outputs=2)
    for index in range(forest.n_trees):
        view = forest.tree(index)
        assert (view.index, view.output) == (index, index % 2)
        for node in range(view.n_nodes):
            categorical = view.feature[node] >= 0 and view.feature[node] % 2 == 1
            assert (view.categories_left[node] is not None) == categorical
    with pytest.raises(InputError, match="index is 8; this forest has 8 trees"):
        forest.tree(8)


def test_arrays_cannot_be_written_not_even_after_pickling_or_copying() -> None:
    forest = random_forest()
    for twin in (forest, pickle.loads(pickle.dumps(forest)), copy.deepcopy(forest), forest.first(2)):
        for name in ARRAY_DTYPES:
            with pytest.raises(ValueError, match="read-only"):
                getattr(twin, name)[:] = 0


def test_making_a_forest_leaves_the_callers_arrays_writeable() -> None:
    arrays = arrays_of(random_forest())
    forest = Forest(n_features=5, n_outputs=1, **arrays)
    assert not forest.value.flags.writeable
    assert all(array.flags.writeable for array in arrays.values())


def test_equality_compares_bytes() -> None:
    forest = random_forest()
    assert forest == random_forest()
    assert hash(forest) == hash(random_forest())
    assert forest == pickle.loads(pickle.dumps(forest))
    assert forest != random_forest(1)
    assert forest != "forest"
    assert replace(forest, n_features=6) != forest
    zero = changed(forest, "base_score", 0, 0.0)
    assert zero != changed(forest, "base_score", 0, -0.0)


def test_the_description_counts_rounds_trees_and_leaves() -> None:
    text = random_forest(rounds=2, n_outputs=3, n_features=1).describe()
    assert text.startswith("Forest of 2 rounds: 6 trees, 3 outputs, 1 feature, ")
    assert "\n" not in text
    assert repr(random_forest()).startswith("<Forest of 4 rounds")
