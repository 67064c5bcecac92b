"""Symmetric trees in small arrays come back to the last bit, and what does not fit is refused or written as before."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from unit.forest.factories import craft, metadata_of, mutate, random_forest, sign, split_file, vector_forest
from weald.forest.builder import ForestBuilder
from weald.forest.container import unpack
from weald.forest.file import SYMMETRIC_FORMAT, dumps, forest_and_more
from weald.forest.forest import Forest
from weald.forest.symmetric import ARRAYS, from_arrays, slim, to_arrays
from weald.runtime.errors import ModelFileError

Arrays = dict[str, Any]
MORE = {"other": np.arange(3, dtype=np.uint16)}
MORE_TYPES = {"other": np.dtype(np.uint16)}


def symmetric_forest(seed: int = 0, depths: tuple[int, ...] = (3, 0, 2, 4), n_outputs: int = 1) -> Forest:
    """A forest as training makes it: odd features are categorical, and some leaves have no rows."""
    generator = np.random.default_rng(seed)
    builder = ForestBuilder(5, n_outputs, generator.normal(size=n_outputs))
    for depth in depths:
        builder.append(**_symmetric_tree(generator, depth))
    return builder.build()


def _symmetric_tree(generator: np.random.Generator, depth: int) -> Arrays:
    n_nodes, n_inner = 2 ** (depth + 1) - 1, 2**depth - 1
    level = np.floor(np.log2(np.arange(n_nodes) + 1)).astype(int)
    inner = np.arange(n_nodes) < n_inner
    features = generator.integers(5, size=depth + 1)
    sets = [np.sort(generator.choice(9, 3, replace=False)) for feature in features[:depth] if feature % 2]
    set_of_level = np.where(features % 2, np.cumsum(features % 2) - 1, -1)
    count = np.where(inner, 0, generator.integers(3, size=n_nodes))
    for node in range(n_inner - 1, -1, -1):
        count[node] = count[2 * node + 1] + count[2 * node + 2]
    both = np.zeros(n_nodes, bool)
    both[:n_inner] = (count[1::2] > 0) & (count[2::2] > 0)
    return {
        "feature": np.where(inner, features[level], -1),
        "threshold": np.where(
            inner & (features[level] % 2 == 0), generator.normal(size=depth + 1)[level], 0.0
        ),
        "left": np.where(inner, 2 * np.arange(n_nodes) + 1, 0),
        "missing_left": np.where(inner, generator.integers(2, size=depth + 1)[level], 0),
        "category_set": np.where(inner, set_of_level[level], -1),
        "value": generator.normal(size=n_nodes).astype(np.float32),
        "gain": np.where(both, generator.random(n_nodes), 0.0),
        "cover": generator.random(n_nodes) * count,
        "count": count,
        "set_offsets": np.cumsum([0] + [len(codes) for codes in sets]),
        "set_codes": np.concatenate([np.zeros(0, int), *sets]),
    }


def _read(data: bytes) -> Forest:
    forest, more = forest_and_more(unpack(data), MORE_TYPES)
    assert np.array_equal(more["other"], MORE["other"])
    return forest


def _format_of(data: bytes) -> int:
    return int(json.loads(json.loads(split_file(data)[0])["__metadata__"]["weald"])["format"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_slim_forest_comes_back_from_its_small_file(seed: int, n_outputs: int) -> None:
    forest = slim(symmetric_forest(seed, n_outputs=n_outputs))
    data = dumps(forest, {"a": 1}, MORE)
    assert _format_of(data) == SYMMETRIC_FORMAT
    loaded = _read(data)
    assert loaded == forest
    assert dumps(loaded, {"a": 1}, MORE) == data


def test_slim_keeps_splits_leaves_and_counts_and_rounds_the_rest() -> None:
    forest = symmetric_forest(3)
    made = slim(forest)
    leaf = forest.feature < 0
    for name in ("feature", "threshold", "left", "missing_left", "category_set", "set_codes", "count"):
        assert np.array_equal(getattr(made, name), getattr(forest, name)), name
    assert np.array_equal(made.value[leaf], forest.value[leaf])
    assert np.allclose(made.gain, forest.gain, rtol=1e-7, atol=0.0)
    assert np.allclose(made.cover[leaf], forest.cover[leaf], rtol=1e-7, atol=0.0)
    assert slim(made) == made


def test_inner_nodes_hold_the_sums_and_the_mean_of_their_children() -> None:
    forest = slim(symmetric_forest(1))
    for index in range(forest.n_trees):
        tree = forest.tree(index)
        for node in np.flatnonzero(tree.feature >= 0):
            pair = slice(tree.left[node], tree.left[node] + 2)
            weight = tree.cover[pair] if tree.cover[node] > 0 else None
            assert tree.count[node] == tree.count[pair].sum()
            assert tree.cover[node] == tree.cover[pair].sum()
            assert np.isclose(tree.value[node], np.average(tree.value[pair], weights=weight), rtol=1e-14)


def test_a_tree_of_64_leaves_takes_less_than_a_kilobyte() -> None:
    forest = slim(symmetric_forest(depths=(6,) * 50))
    arrays = to_arrays(forest)
    assert arrays is not None
    assert sum(array.nbytes for array in arrays.values()) < 1000 * forest.n_trees
    assert arrays["leaf_value"].dtype == np.float32
    assert arrays["leaf_count"].dtype == np.uint8


def test_numbers_that_small_types_do_not_hold_are_written_in_wider_ones() -> None:
    forest = slim(symmetric_forest(2))
    leaf = forest.feature < 0
    wide = replace(
        forest,
        value=np.where(leaf, forest.value + 1e-12, forest.value),
        cover=np.where(leaf, 1e300, forest.cover),
    )
    count = np.where(forest.count > 0, 2**40, 0)
    arrays = to_arrays(slim(replace(wide, count=np.where(leaf, count, 0)))) or {}
    assert not arrays  # counts that do not add up are not touched
    arrays = to_arrays(slim(wide)) or {}
    assert {arrays["leaf_value"].dtype, arrays["leaf_cover"].dtype} == {np.dtype(np.float64)}
    assert len(arrays["leaf_cover"]) == wide.n_leaves  # also of leaves without rows, since these have some
    single = symmetric_forest(depths=(0, 0))
    counts = to_arrays(replace(single, count=np.full(2, 2**40))) or {}
    assert counts["leaf_count"].dtype == np.int64


@pytest.mark.parametrize(
    "forest",
    [
        random_forest(2, n_leaves=8),
        vector_forest(2),
        symmetric_forest(2),  # whose inner nodes are not the means of their children
        replace(slim(symmetric_forest(2)), threshold=np.arange(54.0)),
        replace(slim(symmetric_forest(2)), missing_left=(np.arange(54) % 2).astype(np.uint8)),
    ],
)
def test_other_forests_are_written_as_they_are(forest: Forest) -> None:
    data = dumps(forest, {}, MORE)
    assert _format_of(data) == SYMMETRIC_FORMAT - 1
    assert _read(data) == forest


def test_slim_leaves_forests_alone_whose_trees_are_not_symmetric() -> None:
    for forest in (random_forest(2), vector_forest(2)):
        assert slim(forest) is forest
    changed = replace(symmetric_forest(2), threshold=np.arange(54.0))
    assert slim(changed) is changed
    huge = replace(symmetric_forest(2), value=np.where(symmetric_forest(2).feature < 0, 1e308, 0.0))
    assert slim(huge) is huge


def test_without_statistics_the_format_stays() -> None:
    assert _format_of(dumps(slim(symmetric_forest()), {})) == 1


def test_weights_of_trees_and_an_empty_forest_come_back() -> None:
    builder = ForestBuilder.continuing(slim(symmetric_forest()))
    builder.scale(1, 0.5)
    for forest in (builder.build(), symmetric_forest(depths=())):
        data = dumps(forest, {}, MORE)
        assert _format_of(data) == SYMMETRIC_FORMAT
        assert _read(data) == forest


def _damaged(**changes: Callable[[Any], Any]) -> bytes:
    forest = slim(symmetric_forest(depths=(3, 0, 2, 4)))
    arrays = to_arrays(forest) or {}
    arrays |= {"base_score": forest.base_score} | MORE
    for name, change in changes.items():
        arrays[name] = np.array(change(arrays[name].copy()))
    return craft(arrays, metadata_of(forest, format=SYMMETRIC_FORMAT))


def test_a_file_signed_by_hand_loads() -> None:
    assert _read(_damaged()) == slim(symmetric_forest(depths=(3, 0, 2, 4)))


def _put(index: int, value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[index] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("tree_depth", _put(0, 255), "depth 255"),
        ("tree_depth", _put(0, 17), "depth 17; 16 is the deepest"),
        ("tree_depth", _put(0, 16), "entries instead of"),
        ("tree_depth", _put(0, 2), "entries instead of"),
        ("tree_depth", lambda array: array[:-1], "entries instead of"),
        ("level_split", _put(0, 255), "'level_split' has 255"),
        ("level_split", lambda array: -array.astype(np.int64), "'level_split'"),
        ("level_split", lambda array: array[:-1], "'level_split' has 8 entries instead of 9"),
        ("level_set", _put(0, 255), "'level_set' has 255"),
        ("level_set", lambda array: array[:-1], "'level_set' does not fit"),
        ("split_feature", _put(0, 5), "feature"),
        ("split_feature", lambda array: array[:-1], "'split_feature'"),
        ("split_feature", lambda array: array.astype(np.uint32) - 9, "feature|left"),
        ("split_threshold", _put(0, np.nan), "threshold"),
        ("split_threshold", lambda array: array[:-1], "'split_threshold'"),
        ("split_kind", _put(0, 4), "'split_kind' has 4"),
        ("set_sizes", _put(0, 200), "set_offsets"),
        ("set_sizes", lambda array: -array.astype(np.int64), "U8 or U16 or U32"),
        ("set_codes", lambda array: array[::-1], "set_codes"),
        ("set_codes", lambda array: array.astype(np.uint32) + 2**31, "set_codes"),
        ("leaf_value", _put(0, np.inf), "value"),
        ("leaf_value", lambda array: array[:-1], "'leaf_value'"),
        ("leaf_value", lambda array: array.astype(np.int64), "F32 or F64"),
        ("leaf_count", lambda array: array[:-1], "'leaf_count'"),
        ("leaf_count", lambda array: array.astype(np.int64) - 5, "count|'leaf_cover'"),
        ("leaf_count", lambda array: array * 0, "'leaf_cover'"),
        ("leaf_cover", _put(0, np.nan), "cover"),
        ("leaf_cover", lambda array: array[:-1], "'leaf_cover'"),
        ("inner_gain", _put(0, np.nan), "gain"),
        ("inner_gain", lambda array: array[:-1], "'inner_gain'"),
        ("inner_gain", lambda array: array.reshape(1, -1), "one dimension"),
    ],
)
def test_signed_arrays_that_are_hostile_are_refused_by_name(
    name: str, change: Callable[[Any], Any], match: str
) -> None:
    with pytest.raises(ModelFileError, match=match) as caught:
        _read(_damaged(**{name: change}))
    assert "\n" not in str(caught.value)


def test_a_file_that_lacks_an_array_is_refused() -> None:
    forest = slim(symmetric_forest())
    arrays = (to_arrays(forest) or {}) | {"base_score": forest.base_score} | MORE
    for name in ARRAYS:
        less = {key: array for key, array in arrays.items() if key != name}
        with pytest.raises(ModelFileError, match="arrays"):
            _read(craft(less, metadata_of(forest, format=SYMMETRIC_FORMAT)))


def test_no_mutant_is_accepted_and_one_signed_anew_is_refused_or_is_a_valid_forest() -> None:
    data = dumps(slim(symmetric_forest()), {"a": [1, 2]}, MORE)
    generator = random.Random(22)
    accepted = 0
    for _ in range(1000):
        mutant = mutate(data, generator)
        if mutant == data:
            continue
        with pytest.raises(ModelFileError):
            unpack(mutant)
        try:
            forest, _ = forest_and_more(unpack(sign(mutant) if len(mutant) > 8 else mutant), MORE_TYPES)
        except ModelFileError:
            continue
        accepted += 1
        assert _read(dumps(forest, {}, MORE)) == forest
    assert 0 < accepted < 700


def test_arrays_make_the_forest_without_a_file() -> None:
    forest = slim(symmetric_forest())
    others = {"n_features": 5, "n_outputs": 1, "base_score": forest.base_score}
    assert from_arrays(to_arrays(forest) or {}, **others) == forest
