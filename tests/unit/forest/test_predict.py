from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import reference_predict as reference
from unit.forest.factories import N_CATEGORIES, random_forest, random_tree, vector_forest
from weald.forest import packing, predict
from weald.forest.builder import ForestBuilder
from weald.forest.codes import FLOAT, RANK, ROWS
from weald.forest.forest import Forest
from weald.forest.packed import MASKED, SYMMETRIC, WALKED, WALKED_SETS
from weald.forest.predict import leaf_indices, raw_scores, staged_scores
from weald.runtime.errors import InputError

DTYPES = (np.float32, np.float64)
FLOAT32_MAX = float(np.finfo(np.float32).max)
TINY = 2.0**-149  # the smallest positive float32


def mixed_rows(seed: int, n_rows: int, n_features: int, dtype: Any) -> NDArray[Any]:
    """Numbers in even columns, category codes (some unknown to every set) in odd ones, a tenth missing."""
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n_rows, n_features))
    codes = generator.integers(0, N_CATEGORIES + 3, size=rows.shape)
    rows[:, 1::2] = codes[:, 1::2]
    rows[generator.random(rows.shape) < 0.1] = np.nan
    return rows.astype(dtype)


def stump(
    threshold: float, missing_left: bool = False, category_codes: list[int] | None = None
) -> dict[str, Any]:
    """The arguments of `ForestBuilder.append` for a tree with one test; left is worth 1, right 2."""
    numeric = category_codes is None
    return {
        "feature": [0, -1, -1],
        "threshold": [threshold, 0, 0],
        "left": [1, 0, 0],
        "missing_left": [missing_left, 0, 0],
        "category_set": [-1 if numeric else 0, -1, -1],
        "value": [0, 1, 2],
        "gain": [1, 0, 0],
        "cover": [2, 1, 1],
        "count": [2, 1, 1],
        "set_offsets": [0] if category_codes is None else [0, len(category_codes)],
        "set_codes": category_codes or [],
    }


def forest_of(*trees: dict[str, Any], n_features: int = 1, n_outputs: int = 1) -> Forest:
    builder = ForestBuilder(n_features, n_outputs, np.arange(n_outputs) * 0.5)
    for tree in trees:
        builder.append(**tree)
    forest = builder.build()
    forest.validate()
    return forest


def symmetric_tree(generator: np.random.Generator, n_features: int, depth: int) -> dict[str, Any]:
    """A full tree in which all nodes of a level make the same test."""
    n_nodes = 2 ** (depth + 1) - 1
    level = np.array([(node + 1).bit_length() - 1 for node in range(n_nodes)])
    inner = level < depth
    feature = generator.integers(n_features, size=depth + 1)[level]
    return {
        "feature": np.where(inner, feature, -1),
        "threshold": np.where(inner, generator.normal(size=depth + 1)[level], 0.0),
        "left": np.where(inner, 2 * np.arange(n_nodes) + 1, 0),
        "missing_left": generator.integers(2, size=depth + 1)[level],
        "category_set": np.full(n_nodes, -1),
        "value": generator.normal(size=n_nodes),
        "gain": np.ones(n_nodes),
        "cover": np.ones(n_nodes),
        "count": np.ones(n_nodes),
    }


def chain_tree(generator: np.random.Generator, n_features: int, n_leaves: int) -> dict[str, Any]:
    """A tree whose every split has a leaf on the left: as deep as it has splits."""
    tree = random_tree(generator, 1, n_leaves)
    tree["feature"] = np.where(np.arange(2 * n_leaves - 1) % 2 == 0, 0, -1)
    tree["feature"][-1] = -1
    inner = tree["feature"] >= 0
    tree["left"] = np.where(inner, np.arange(2 * n_leaves - 1) + 1, 0)
    tree["feature"][inner] = generator.integers(0, n_features, size=inner.sum())
    tree["threshold"] = np.where(inner, generator.normal(size=inner.size) - 2.0, 0.0)
    tree["category_set"] = np.full(inner.size, -1)
    return tree


def numeric_tree(generator: np.random.Generator, n_features: int, n_leaves: int) -> dict[str, Any]:
    """A random tree without categories."""
    tree = random_tree(generator, n_features, n_leaves)
    inner = tree["feature"] >= 0
    tree["category_set"] = np.full(inner.size, -1)
    tree["threshold"] = np.where(inner, generator.normal(size=inner.size), 0.0)
    tree["set_offsets"], tree["set_codes"] = np.zeros(1, np.int64), np.zeros(0, np.int64)
    return tree


def ways(forest: Forest) -> list[int]:
    ways_of_trees: list[int] = packing.pack_trees(forest, False).trees[:, 2].tolist()
    return ways_of_trees


def assert_same_as_reference(forest: Forest, rows: NDArray[Any], tasks: int = 1) -> None:
    expected = reference.raw_scores(forest, rows)
    scores = raw_scores(forest, [(0, rows)], len(rows), tasks)
    assert scores.dtype == np.float64
    assert scores.shape == expected.shape
    assert scores.tobytes() == expected.tobytes()
    leaves = leaf_indices(forest, [(0, rows)], len(rows), tasks)
    assert leaves.dtype == np.int32
    assert np.array_equal(leaves, reference.leaf_indices(forest, rows))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_scores_and_leaves_equal_the_naive_walk_bit_for_bit(seed: int, n_outputs: int, dtype: Any) -> None:
    n_leaves = (2, 20, 32, 33, 70, 150, 400, 31)[seed]
    forest = random_forest(seed, rounds=3, n_outputs=n_outputs, n_features=6, n_leaves=n_leaves)
    assert_same_as_reference(forest, mixed_rows(seed, ROWS + 45, 6, dtype))


@pytest.mark.parametrize("n_leaves", [2, 20, 32, 70, 400])
@pytest.mark.parametrize("dtype", DTYPES)
def test_vector_leaves_are_added_as_the_naive_walk_adds_them(n_leaves: int, dtype: Any) -> None:
    forest = vector_forest(n_leaves, n_trees=5, n_outputs=4, n_features=6, n_leaves=n_leaves)
    forest.validate()
    for n_rows in (1, 11, ROWS + 45):
        assert_same_as_reference(forest, mixed_rows(n_leaves, n_rows, 6, dtype))


def test_vector_leaves_of_all_ways_mix_and_rounds_are_trees() -> None:
    generator = np.random.default_rng(12)
    trees = [symmetric_tree(generator, 6, 4), random_tree(generator, 6, 31), random_tree(generator, 6, 3000)]
    trees.append(numeric_tree(generator, 6, 3000))
    scalar = forest_of(*trees, n_features=6)
    vectors = generator.normal(size=scalar.n_leaves * 2)
    forest = replace(scalar, n_outputs=2, base_score=np.array([0.5, -1.0]), vectors=vectors)
    assert ways(forest) == [SYMMETRIC, MASKED, WALKED_SETS, WALKED]
    rows = mixed_rows(1, 300, 6, np.float32)
    assert_same_as_reference(forest, rows)
    some = raw_scores(forest, [(0, rows)], 300, first_round=1, last_round=3)
    assert some.tobytes() == reference.raw_scores(forest, rows, range(1, 3)).tobytes()


@pytest.mark.parametrize("tasks", [1, 2, 3])
@pytest.mark.parametrize("with_vectors", [False, True])
def test_trees_too_large_for_the_cache_are_walked_by_several_blocks_at_a_time(
    tasks: int, with_vectors: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict, "PARALLEL_WORK", 0)
    monkeypatch.setattr(packing, "_NODES_IN_CACHE", 1000)
    monkeypatch.setattr(packing, "_CODES_TOGETHER", 2**20)
    generator = np.random.default_rng(2)
    sizes = (3000, 1, 20, 2000)
    forest = forest_of(*(random_tree(generator, 6, size) for size in sizes), n_features=6, n_outputs=2)
    if with_vectors:
        forest = replace(forest, vectors=generator.normal(size=forest.n_leaves * 2))
    assert packing.pack_trees(forest, False).together > 1
    for n_rows in (5, 300):
        assert_same_as_reference(forest, mixed_rows(n_rows, n_rows, 6, np.float32), tasks)


@pytest.mark.parametrize("n_rows", [0, 1, 2, 3, 7, 8, 11, 12, 13, 127, 128, 129, 257])
def test_every_number_of_rows_is_scored_to_its_end(n_rows: int) -> None:
    forest = random_forest(5, rounds=7, n_outputs=2, n_features=4, n_leaves=12)
    assert_same_as_reference(forest, mixed_rows(n_rows, n_rows, 4, np.float32))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("round_to_float32", [False, True])
def test_values_at_and_next_to_thresholds_fall_on_the_right_side(dtype: Any, round_to_float32: bool) -> None:
    forest = random_forest(2, rounds=12, n_features=1, n_leaves=25)
    if round_to_float32:
        forest = replace(forest, threshold=forest.threshold.astype(np.float32).astype(np.float64))
    expected_kind = FLOAT if round_to_float32 or dtype == np.float32 else RANK
    kinds = packing.pack_trees(forest, dtype == np.float64).channels[:, 0]
    assert set(kinds.tolist()) == {expected_kind}
    at = np.unique(forest.threshold).astype(dtype)
    rows = np.concatenate([at, np.nextafter(at, dtype(-np.inf)), np.nextafter(at, dtype(np.inf))])
    assert_same_as_reference(forest, rows[:, None])


SPECIAL = [0.0, -0.0, TINY, -TINY, TINY / 2, -TINY / 2, 0.75 * TINY, -0.75 * TINY, 5e-324, -5e-324, 1e-40]
SPECIAL += [1.0, 0.1, float(np.float32(0.1)), -0.1, 2.0**24, 2.0**24 + 1, FLOAT32_MAX, -FLOAT32_MAX]
SPECIAL += [FLOAT32_MAX * 1.0000001, 1e300, -1e300, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("missing_left", [False, True])
@pytest.mark.parametrize("threshold", [t for t in SPECIAL if t == t])
def test_signed_zeros_infinities_and_tiny_numbers_compare_as_floats_do(
    threshold: float, missing_left: bool, dtype: Any
) -> None:
    with np.errstate(over="ignore"):
        rows = np.array(SPECIAL).astype(dtype)[:, None]
    assert_same_as_reference(forest_of(stump(threshold, missing_left)), rows)


doubles = st.floats(allow_nan=False, allow_subnormal=True)


@settings(deadline=None, max_examples=150)
@given(
    thresholds=st.lists(doubles, min_size=1, max_size=6),
    values=st.lists(st.floats(allow_subnormal=True), min_size=1, max_size=20),
    singles=st.booleans(),
)
def test_any_double_is_compared_exactly_with_any_threshold(
    thresholds: list[float], values: list[float], singles: bool
) -> None:
    cuts = np.array(thresholds)
    with np.errstate(over="ignore"):
        cuts = cuts.astype(np.float32).astype(np.float64) if singles else cuts
        narrow = np.array(values + thresholds).astype(np.float32)
        around = np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf)
    wide = np.concatenate([values, cuts, *around])
    forest = forest_of(*(stump(t, missing_left=i % 2 == 1) for i, t in enumerate(cuts.tolist())))
    assert_same_as_reference(forest, wide[:, None])
    assert_same_as_reference(forest, narrow[:, None])


@pytest.mark.parametrize("dtype", DTYPES)
def test_category_sets_take_codes_one_by_one_and_missing_values_by_their_own_rule(dtype: Any) -> None:
    sets = [[0], [1, 2, 31, 32, 33], [5, 64, 2**24], [], list(range(100)), [2**31 - 1], [1, 2, 31, 32, 33]]
    trees = [stump(0.0, i % 2 == 0, codes) for i, codes in enumerate(sets)]
    codes = [0, 1, 2, 3, 5, 30, 31, 32, 33, 63, 64, 65, 99, 100, 1e6, 2**24, 2**31 - 1, 2**31, -1, 0.5, 1.5]
    rows = np.array([*codes, np.inf, -np.inf, np.nan], dtype=dtype)[:, None]
    assert_same_as_reference(forest_of(*trees), np.repeat(rows, 3, axis=0))


def test_equal_category_sets_are_encoded_once() -> None:
    forest = forest_of(*(stump(0.0, False, [1, 2]) for _ in range(5)), stump(0.0, True, [1, 2]))
    assert (
        len(packing.pack_trees(forest, False).channels) == 3
    )  # the feature's slots, and a set for either rule


def test_a_feature_may_be_tested_as_a_number_and_as_a_category() -> None:
    forest = forest_of(stump(1.5), stump(0.0, True, [1, 2]), stump(1.5, True))
    assert_same_as_reference(forest, np.array([[0.0], [1.0], [2.0], [3.0], [np.nan]]))


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 6, 9])
@pytest.mark.parametrize("dtype", DTYPES)
def test_symmetric_trees_take_their_own_way_to_the_same_scores(depth: int, dtype: Any) -> None:
    generator = np.random.default_rng(depth)
    forest = forest_of(*(symmetric_tree(generator, 4, depth) for _ in range(6)), n_features=4, n_outputs=2)
    assert ways(forest) == [SYMMETRIC] * 6
    rows = generator.normal(size=(200, 4)).astype(dtype)
    rows[generator.random(rows.shape) < 0.1] = np.nan
    assert_same_as_reference(forest, rows)


@pytest.mark.parametrize("field", ["feature", "threshold", "missing_left"])
def test_a_full_tree_with_one_other_test_is_not_taken_for_a_symmetric_one(field: str) -> None:
    generator = np.random.default_rng(3)
    tree = symmetric_tree(generator, 4, 3)
    tree[field][4] = {"feature": (tree["feature"][4] + 1) % 4, "threshold": 0.25, "missing_left": 1}[field]
    tree["missing_left"][[3, 5, 6]] = 0
    forest = forest_of(tree, n_features=4)
    assert ways(forest) == [MASKED]
    rows = generator.normal(size=(200, 4))
    rows[::7, tree["feature"][4]] = np.nan
    assert_same_as_reference(forest, rows)


@pytest.mark.parametrize("way", [WALKED, WALKED_SETS])
def test_the_ways_mix_within_one_forest(way: int) -> None:
    generator = np.random.default_rng(11)
    deep = numeric_tree(generator, 6, 3000) if way == WALKED else random_tree(generator, 6, 3000)
    trees = [symmetric_tree(generator, 6, 4), random_tree(generator, 6, 31), deep]
    trees += [random_tree(generator, 6, 1), chain_tree(generator, 6, 33), chain_tree(generator, 6, 64)]
    forest = forest_of(*trees, n_features=6, n_outputs=3)
    assert ways(forest) == [SYMMETRIC, MASKED, way, SYMMETRIC, MASKED, MASKED]
    for dtype in DTYPES:
        assert_same_as_reference(forest, mixed_rows(1, 300, 6, dtype))
        assert_same_as_reference(forest, mixed_rows(1, 5, 6, dtype))


@pytest.mark.parametrize("n_leaves", [31, 32, 33, 63, 64, 65, 96, 97])
def test_no_leaf_is_lost_where_one_mask_ends_and_the_next_begins(n_leaves: int) -> None:
    generator = np.random.default_rng(n_leaves)
    forest = forest_of(chain_tree(generator, 3, n_leaves), random_tree(generator, 3, n_leaves), n_features=3)
    rows = mixed_rows(n_leaves, 500, 3, np.float64)
    assert_same_as_reference(forest, rows)


def test_a_huge_tree_is_walked_to_the_right_leaves() -> None:
    generator = np.random.default_rng(0)
    for make, way in ((numeric_tree, WALKED), (random_tree, WALKED_SETS)):
        forest = forest_of(make(generator, 6, 60_000), n_features=6)
        assert ways(forest) == [way]
        assert_same_as_reference(forest, mixed_rows(0, 300, 6, np.float32))


def test_walked_trees_with_many_sets_need_no_code_a_set() -> None:
    generator = np.random.default_rng(5)
    for n_features in (2, 6):
        trees = [random_tree(generator, n_features, 3000), random_tree(generator, n_features, 20)]
        for tree in trees:
            tree["feature"] = np.where(
                tree["feature"] >= 0, 1, -1
            )  # categories alone: the first code is a slot
            tree["threshold"] = np.zeros(len(tree["feature"]))
            inner = tree["feature"] >= 0
            sets = [np.flatnonzero(generator.random(12) < 0.5) for _ in range(int(inner.sum()))]
            tree["category_set"] = np.full(len(inner), -1)
            tree["category_set"][inner] = np.arange(inner.sum())
            tree["set_offsets"] = np.cumsum([0] + [len(codes) for codes in sets])
            tree["set_codes"] = np.concatenate(sets)
        forest = forest_of(*trees, n_features=n_features)
        assert len(packing.pack_trees(forest, False).channels) <= 20
        assert_same_as_reference(forest, mixed_rows(2, ROWS + 45, n_features, np.float64))
        assert_same_as_reference(forest, mixed_rows(2, 3, n_features, np.float64))


def test_a_forest_too_large_for_a_node_word_is_refused_in_one_sentence() -> None:
    forest = random_forest(3)
    with pytest.raises(InputError, match=r"largest tree has \d+ nodes and .* 4294967296 kinds of tests"):
        packing._left_bits(forest, 2**32)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_forest_without_trees_gives_the_base_score(dtype: Any) -> None:
    forest = random_forest(rounds=0, n_outputs=2)
    rows = np.zeros((20, 5), dtype=dtype)
    assert_same_as_reference(forest, rows)
    assert leaf_indices(forest, [(0, rows)], 20).shape == (20, 0)


@pytest.mark.parametrize("tasks", [1, 2, 3, 7])
@pytest.mark.parametrize("n_rows", [1, 130, 1000])
def test_the_number_of_tasks_does_not_change_a_bit(
    tasks: int, n_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict, "PARALLEL_WORK", 0)
    forest = random_forest(8, rounds=4, n_outputs=3, n_features=6, n_leaves=40)
    assert_same_as_reference(forest, mixed_rows(4, n_rows, 6, np.float32), tasks)


def strided(rows: NDArray[Any]) -> NDArray[Any]:
    wide = np.zeros((2 * len(rows), 2 * rows.shape[1]), dtype=rows.dtype)
    wide[::2, ::2] = rows
    return wide[::2, ::2]


def of_a_frame(rows: NDArray[Any]) -> NDArray[Any]:
    columns = np.full((rows.shape[1], len(rows) + 9), 77.0, rows.dtype)
    columns[:, 4:-5] = rows.T
    return columns[:, 4:-5].T


def backwards(rows: NDArray[Any]) -> NDArray[Any]:
    return np.asfortranarray(rows[:, ::-1])[:, ::-1]


def unaligned(rows: NDArray[Any]) -> NDArray[Any]:
    memory = np.zeros(rows.nbytes + 1, dtype=np.uint8)[1:]
    moved = memory.view(rows.dtype).reshape(rows.shape)
    moved[:] = rows
    return moved


def read_only(rows: NDArray[Any]) -> NDArray[Any]:
    fixed = rows.copy()
    fixed.flags.writeable = False
    return fixed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("arrange", [np.asfortranarray, of_a_frame, backwards, strided, read_only, unaligned])
@pytest.mark.parametrize("n_rows", [1, 200, 5000])
def test_memory_order_strides_alignment_and_read_only_memory_do_not_matter(
    arrange: Any, dtype: Any, n_rows: int
) -> None:
    forest = random_forest(1, n_features=6)
    rows = mixed_rows(1, n_rows, 6, dtype)
    arranged = arrange(rows)
    before = arranged.copy(), arranged.flags.writeable
    expected = raw_scores(forest, [(0, rows)], n_rows)
    assert raw_scores(forest, [(0, arranged)], n_rows).tobytes() == expected.tobytes()
    assert np.array_equal(arranged, before[0], equal_nan=True)
    assert arranged.flags.writeable == before[1]


def test_cutting_the_rows_into_blocks_of_either_dtype_does_not_matter() -> None:
    forest = random_forest(6, rounds=5, n_outputs=3, n_features=6, n_leaves=40)
    rows = mixed_rows(2, 500, 6, np.float32)
    blocks = [(0, rows[:1]), (300, rows[300:]), (1, rows[1:300].astype(np.float64))]
    assert raw_scores(forest, iter(blocks), 500).tobytes() == reference.raw_scores(forest, rows).tobytes()
    assert np.array_equal(leaf_indices(forest, iter(blocks), 500), reference.leaf_indices(forest, rows))


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 2), (2, 4), (4, None), (6, None), (6, 6)])
def test_rounds_can_be_chosen(first: int, last: int | None) -> None:
    forest = random_forest(6, rounds=6, n_outputs=3, n_features=6, n_leaves=40)
    trees = range(first * 3, (6 if last is None else last) * 3)
    for n_rows in (3, 200):
        rows = mixed_rows(2, n_rows, 6, np.float64)
        scores = raw_scores(forest, [(0, rows)], n_rows, first_round=first, last_round=last)
        assert scores.tobytes() == reference.raw_scores(forest, rows, trees).tobytes()


@pytest.mark.parametrize(("first", "last"), [(-1, 2), (3, 2), (0, 7), (7, None)])
def test_rounds_that_do_not_exist_are_refused(first: int, last: int | None) -> None:
    with pytest.raises(InputError, match=f"first_round is {first} and last_round is {last}; .* 0 to 6"):
        raw_scores(random_forest(rounds=6), [], 0, first_round=first, last_round=last)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([(0, np.zeros((4, 5), dtype=np.int64))], "dtype int64"),
        ([(0, np.zeros((4, 5), dtype=">f4"))], "dtype >f4"),
        ([(0, np.zeros((4, 3)))], r"shape \(4, 3\).* 5 columns"),
        ([(0, np.zeros(5))], r"shape \(5,\)"),
        ([(1, np.zeros((4, 5)))], "rows 1 to 5"),
        ([(-1, np.zeros((4, 5)))], "rows -1 to 3"),
        ([(0, np.zeros((3, 5)))], "3 rows together; n_rows is 4"),
        ([], "0 rows together"),
    ],
)
def test_blocks_that_do_not_fit_are_refused_before_memory_is_touched(blocks: Any, message: str) -> None:
    forest = random_forest(n_features=5)
    for function in (raw_scores, leaf_indices):
        with pytest.raises(InputError, match=message):
            function(forest, blocks, 4)


def test_many_threads_on_a_fresh_forest_get_the_same_scores() -> None:
    rows = mixed_rows(3, 400, 6, np.float64)
    forest = random_forest(9, rounds=10, n_features=6, n_leaves=31)
    expected = reference.raw_scores(forest, rows).tobytes()
    for _ in range(3):
        fresh = replace(forest)
        with ThreadPoolExecutor(8) as pool:
            found = [pool.submit(raw_scores, fresh, [(0, rows)], 400) for _ in range(16)]
        assert {scores.result().tobytes() for scores in found} == {expected}


def test_packing_happens_once_and_leaves_the_forest_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    forest, rows = random_forest(4), mixed_rows(0, 30, 5, np.float64)
    untouched = pickle.dumps(forest)
    expected = raw_scores(forest, [(0, rows)], 30)
    raw_scores(forest, [(0, rows.astype(np.float32))], 30)
    assert pickle.dumps(forest) == untouched
    assert forest == random_forest(4)
    monkeypatch.setattr(predict, "pack_trees", lambda *_: pytest.fail("packed a second time"))
    assert raw_scores(forest, [(0, rows)], 30).tobytes() == expected.tobytes()
    monkeypatch.undo()
    assert raw_scores(copy.deepcopy(forest), [(0, rows)], 30).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_without_missing_values_need_fewer_codes_of_a_large_forest(
    dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict, "_LARGE_FOREST", 100)
    forest = random_forest(4, rounds=3, n_features=6, n_leaves=120)
    rows = mixed_rows(4, 200, 6, dtype)
    complete = np.nan_to_num(rows, nan=0.5)
    assert_same_as_reference(forest, rows)
    assert_same_as_reference(forest, complete)
    is_double = dtype == np.float64
    forms = [predict._packed(forest, is_double, is_complete) for is_complete in (False, True)]
    assert len(forms[1].channels) < len(forms[0].channels)
    blocks = [(0, complete[:100]), (100, rows[100:])]
    whole = np.concatenate([complete[:100], rows[100:]])
    assert raw_scores(forest, blocks, 200).tobytes() == reference.raw_scores(forest, whole).tobytes()
    assert predict._packed(forest, is_double, True) is forms[1]


def test_float64_rows_share_the_packed_form_where_all_thresholds_are_float32() -> None:
    forest = random_forest(4)
    forest = replace(forest, threshold=forest.threshold.astype(np.float32).astype(np.float64))
    assert predict._packed(forest, True) is predict._packed(forest, False)


@pytest.mark.parametrize("together", [1, 5, 1000])
def test_stages_are_the_scores_of_so_many_rounds(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predict, "_TREES_TOGETHER", together)
    forest = random_forest(rounds=7, n_outputs=2)
    rows = mixed_rows(1, 150, forest.n_features, np.float64)
    blocks = [(0, rows[:80]), (80, rows[80:])]
    stops = [1, 2, 5, 7]
    stages = list(staged_scores(forest, blocks, 150, stops))
    for stop, scores in zip(stops, stages, strict=True):
        assert np.array_equal(scores, raw_scores(forest, blocks, 150, last_round=stop))
    assert list(staged_scores(forest, blocks, 150, [])) == []
