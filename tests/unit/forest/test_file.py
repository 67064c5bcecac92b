from __future__ import annotations

import json
import math
import random
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import weald
from unit.forest.factories import (
    ZEROS,
    arrays_of,
    craft,
    craft_table,
    metadata_of,
    mutate,
    random_forest,
    sign,
    split_file,
    vector_forest,
)
from weald.forest import container
from weald.forest.builder import ForestBuilder
from weald.forest.file import dumps, loads
from weald.forest.forest import Forest
from weald.forest.layout import ARRAY_DTYPES, OPTIONAL_ARRAYS
from weald.runtime.errors import InputError, ModelFileError

HEADER = {
    "params": {"loss": "squared", "max_depth": None},
    "history": [0.5, math.inf, 0.25],
    "names": ["ä", "\ud800"],
}


def refuse(data: bytes, match: str) -> None:
    with pytest.raises(ModelFileError, match=match) as caught:
        loads(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_model_comes_back_with_the_same_bytes(seed: int, n_outputs: int) -> None:
    forest = random_forest(seed, n_outputs=n_outputs)
    data = dumps(forest, HEADER)
    loaded, header = loads(data)
    assert loaded == forest
    assert header == HEADER
    assert dumps(loaded, header) == data


def test_loaded_arrays_are_read_only_aligned_and_native() -> None:
    loaded, _ = loads(dumps(random_forest(), {}))
    for name, dtype in ARRAY_DTYPES.items():
        array = getattr(loaded, name)
        assert array.dtype == dtype
        assert array.flags.aligned
        assert not array.flags.writeable


def test_vector_leaves_come_back_and_only_they_need_the_newer_format() -> None:
    forest = vector_forest(2, n_outputs=3)
    data = dumps(forest, HEADER)
    loaded, header = loads(data)
    assert loaded == forest
    assert dumps(loaded, header) == data
    found = [
        json.loads(json.loads(split_file(bytes_)[0])["__metadata__"]["weald"])["format"]
        for bytes_ in (data, dumps(random_forest(), {}))
    ]
    assert found == [2, 1]


def test_vectors_that_do_not_fit_their_forest_are_refused() -> None:
    forest = vector_forest(2, n_outputs=3)
    arrays = arrays_of(forest)
    refuse(craft(arrays | {"vectors": arrays["vectors"][:-1]}, metadata_of(forest, format=2)), "vectors")
    refuse(
        craft(arrays | {"vectors": arrays["vectors"][:0]}, metadata_of(forest, format=2)),
        "'vectors' is empty",
    )
    refuse(
        craft(arrays | {"vectors": arrays["vectors"].astype(np.float32)}, metadata_of(forest, format=2)),
        "F32",
    )
    refuse(craft(arrays, metadata_of(forest, format=2, n_outputs=2)), "base_score|vectors")


def weighted_forest(parallel_trees: int = 2) -> Forest:
    """Three rounds of `parallel_trees` trees for each of two outputs, one of them rescaled."""
    builder = ForestBuilder.continuing(random_forest(2, rounds=3, n_outputs=2, parallel_trees=parallel_trees))
    builder.scale(1, 0.75)
    return builder.build()


def test_weights_of_trees_and_parallel_trees_come_back_and_need_the_newest_format() -> None:
    for forest in (weighted_forest(1), weighted_forest(2), random_forest(parallel_trees=3)):
        data = dumps(forest, HEADER)
        loaded, header = loads(data)
        assert loaded == forest
        assert (loaded.parallel_trees, loaded.n_rounds) == (forest.parallel_trees, forest.n_rounds)
        assert dumps(loaded, header) == data
        assert json.loads(json.loads(split_file(data)[0])["__metadata__"]["weald"])["format"] == 3


def test_weights_and_parallel_trees_that_do_not_fit_their_forest_are_refused() -> None:
    forest = weighted_forest()
    arrays, metadata = arrays_of(forest), metadata_of(forest, format=3, parallel_trees=2)
    assert loads(craft(arrays, metadata))[0] == forest
    weights = arrays["tree_weights"]
    refuse(craft(arrays | {"tree_weights": weights[:-1]}, metadata), "11 entries for 12 trees")
    refuse(craft(arrays | {"tree_weights": weights[:0]}, metadata), "'tree_weights' is empty")
    refuse(craft(arrays | {"tree_weights": -weights}, metadata), "a weight cannot be negative")
    refuse(craft(arrays | {"tree_weights": np.full(12, np.nan)}, metadata), "not a finite number")
    refuse(craft(arrays, metadata | {"parallel_trees": 5}), "rounds of 5 trees each")
    refuse(craft(arrays, metadata | {"parallel_trees": 0}), "parallel_trees is not valid")
    refuse(craft(arrays, metadata | {"parallel_trees": 1}), "parallel_trees is 1")
    refuse(craft(arrays, metadata | {"parallel_trees": "2"}), "parallel_trees is not valid")
    vectors = vector_forest(2)
    refuse(craft(arrays_of(vectors), metadata_of(vectors, format=3, parallel_trees=2)), "vector leaves")


def test_an_empty_forest_comes_back() -> None:
    forest = random_forest(rounds=0)
    assert loads(dumps(forest, {})) == (forest, {})


def test_nan_in_the_training_history_comes_back() -> None:
    _, header = loads(
        dumps(random_forest(), {"history": {"valid": [math.nan, -math.inf]}, "float": {"float": "nan"}})
    )
    assert math.isnan(header["history"]["valid"][0])
    assert header["history"]["valid"][1] == -math.inf
    assert header["float"] == {"float": "nan"}


def test_the_order_of_header_keys_does_not_change_the_bytes() -> None:
    forest = random_forest()
    assert dumps(forest, {"a": 1, "b": 2}) == dumps(forest, {"b": 2, "a": 1})


def test_safetensors_reads_the_arrays_and_the_one_metadata_entry(tmp_path: Path) -> None:
    forest = random_forest(n_outputs=2)
    path = tmp_path / "model.weald"
    path.write_bytes(dumps(forest, HEADER))
    tensors = safetensors.numpy.load_file(path)
    assert tensors.keys() == ARRAY_DTYPES.keys() - OPTIONAL_ARRAYS
    for name, array in tensors.items():
        assert array.dtype == ARRAY_DTYPES[name]
        assert np.array_equal(array, getattr(forest, name))
    with safetensors.safe_open(path, framework="numpy") as opened:
        metadata = opened.metadata()
    assert metadata.keys() == {"weald"}
    stored = json.loads(metadata["weald"])
    assert metadata["weald"] == json.dumps(stored, sort_keys=True, separators=(",", ":"), allow_nan=False)
    assert (stored["format"], stored["version"]) == (1, weald.__version__)
    assert (stored["n_features"], stored["n_outputs"]) == (5, 2)


def test_the_checksum_follows_the_documented_recipe() -> None:
    data = dumps(random_forest(), HEADER)
    assert sign(data) == data


def test_a_file_written_by_safetensors_and_signed_by_hand_loads() -> None:
    forest = random_forest(n_outputs=2)
    assert loads(craft(arrays_of(forest), metadata_of(forest))) == (forest, {})


def test_a_header_that_looks_like_the_checksum_does_not_confuse_it() -> None:
    header = {"sha256": ZEROS, "text": '"sha256":"' + ZEROS + '"', '"sha256":"': [{"sha256": ZEROS}]}
    forest = random_forest()
    data = dumps(forest, header)
    assert loads(data) == (forest, header)
    assert sign(data) == data


def test_a_forest_that_could_not_be_loaded_is_not_written() -> None:
    arrays = arrays_of(random_forest())
    arrays["value"][0] = np.nan
    with pytest.raises(ModelFileError, match="value"):
        dumps(Forest(5, 1, **arrays), {})


def test_a_header_that_no_file_can_hold_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"header\.model is a function"):
        dumps(random_forest(), {"model": refuse})
    monkeypatch.setattr(container, "_MAXIMUM_TABLE_BYTES", 5000)
    with pytest.raises(InputError, match="at most 5000"):
        dumps(random_forest(), {"names": ["column"] * 1000})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234567",
        b"\0" * 8,
        b"\0" * 1000,
        b"\xff" * 1000,
        b"PK\x03\x04" + b"x" * 100,
        b"\x80\x04\x95" + b"x" * 99,
    ]
    + [b"tree\nversion=v4\n" * 10, struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 2**63) + b"{}"],
)
def test_other_files_are_called_what_they_are(data: bytes) -> None:
    refuse(data, "not a Weald model file")


def test_a_safetensors_file_of_somebody_else_is_called_what_it_is() -> None:
    refuse(
        safetensors.numpy.save({"weight": np.zeros(3)}, metadata={"format": "np"}), "not a Weald model file"
    )


def test_a_damaged_array_is_called_damaged() -> None:
    data = bytearray(dumps(random_forest(), {}))
    data[-1] ^= 1
    refuse(bytes(data), "damaged: its checksum")


def test_uppercase_digits_are_not_the_checksum() -> None:
    data = dumps(random_forest(), {})
    digits = json.loads(json.loads(split_file(data)[0])["__metadata__"]["weald"])["sha256"].encode()
    refuse(data.replace(digits, digits.upper()), "damaged")


def test_a_newer_format_is_recognised_before_anything_else_is_read() -> None:
    forest = random_forest()
    number = container.NEWEST_FORMAT + 1
    newer = metadata_of(forest, format=number, zeal=[1])
    newer["sha256"] = ZEROS
    refuse(
        craft({"something": np.zeros(2, dtype=np.float32)}, newer),
        rf"newer Weald \(format {number}\), update Weald",
    )


@pytest.mark.parametrize("value", [0, -1, "1", 1.0, True, None, [1]])
def test_a_format_that_is_no_number_is_refused(value: Any) -> None:
    forest = random_forest()
    refuse(craft(arrays_of(forest), metadata_of(forest, format=value)), "format must be")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"n_features": 1}, "feature"),
        ({"n_features": 2**70}, "n_features"),
        ({"n_features": 5.0}, "n_features"),
        ({"n_outputs": 0}, "n_outputs"),
        ({"n_outputs": 2}, "base_score"),
        ({"n_outputs": True}, "n_outputs"),
        ({"header": []}, "header must be a dictionary"),
        ({"header": {"float": "nan"}}, "header must be a dictionary"),
        ({"header": {"x": {"float": "infinite"}}}, "none of"),
        ({"version": 1}, "sha256 and version"),
        ({"extra": 1}, "unknown keys: 'extra'"),
    ],
)
def test_signed_metadata_with_wrong_values_is_refused(changes: dict[str, Any], match: str) -> None:
    forest = random_forest()
    refuse(craft(arrays_of(forest), metadata_of(forest, **changes)), match)


@pytest.mark.parametrize("key", ["header", "n_features", "n_outputs", "version"])
def test_signed_metadata_with_a_missing_key_is_refused(key: str) -> None:
    forest = random_forest()
    metadata = metadata_of(forest)
    del metadata[key]
    refuse(craft(arrays_of(forest), metadata), f"keys: '{key}'")


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('"header":{}', '"header":{"x":NaN}', "NaN"),
        ('"header":{}', '"header":{"x":-Infinity}', "Infinity"),
        ('"header":{}', '"header":{"x":1e999}', "too large"),
        ('"header":{}', '"header":{"x":' + "9" * 10_000 + "}", "not valid JSON|none of"),
        ('"header":{}', '"header":{"x":1,"x":2}', "twice"),
        ('"header":{}', '"header":{},"header":{}', "twice"),
        ('"format":1', '"format":1,"format":1', "twice"),
        ('"header":{}', '"header":' + "[" * 150 + "]" * 150, "nested"),
        ('"header":{}', '"header":' + "[" * 200_000 + "]" * 200_000, "nested"),
        ('"header":{}', '"header":' + '{"a":' * 100_000 + "1" + "}" * 100_000, "nested"),
        ('"header":{}', '"header":{', "not valid JSON"),
        ('"header":{}', '"header":"\x00"', "not valid JSON"),
    ],
)
def test_signed_metadata_that_is_hostile_json_is_refused(old: str, new: str, match: str) -> None:
    forest = random_forest()
    text = json.dumps(metadata_of(forest), sort_keys=True, separators=(",", ":"))
    assert old in text
    if "9999" in new and not hasattr(sys, "get_int_max_str_digits"):
        pytest.skip("this Python reads whole numbers of any length")
    refuse(craft(arrays_of(forest), text.replace(old, new)), match)


@pytest.mark.parametrize("text", ["[]", "1", '"text"', "", "null"])
def test_signed_metadata_that_is_no_dictionary_is_refused(text: str) -> None:
    table = json.dumps({"__metadata__": {"weald": text, "x": '"sha256":"' + ZEROS + '"'}})
    refuse(craft_table(table), "metadata must be one text")
    refuse(
        craft_table(json.dumps({"__metadata__": {"weald": text + '"sha256":"' + ZEROS + '"'}})),
        "model file's",
    )


Edit = Callable[[dict[str, np.ndarray]], None]


def put(field: str, index: int, value: Any) -> Edit:
    def edit(arrays: dict[str, np.ndarray]) -> None:
        arrays[field][index] = value

    return edit


def cast(field: str, dtype: Any) -> Edit:
    def edit(arrays: dict[str, np.ndarray]) -> None:
        arrays[field] = arrays[field].astype(dtype)

    return edit


def reshape(field: str, *shape: int) -> Edit:
    def edit(arrays: dict[str, np.ndarray]) -> None:
        arrays[field] = arrays[field].reshape(shape)

    return edit


@pytest.mark.parametrize(
    ("edit", "match"),
    [
        (put("left", 0, 0), "left"),
        (put("left", 0, 2**31 - 1), "left"),
        (put("left", 0, -5), "left"),
        (put("feature", 0, 5), "feature"),
        (put("feature", 0, -2), "feature"),
        (put("category_set", 0, 10**6), "category_set"),
        (put("set_codes", 0, -1), "set_codes"),
        (put("tree_offsets", 1, 2**62), "tree_offsets"),
        (put("tree_offsets", 1, -(2**63)), "tree_offsets"),
        (put("set_offsets", 1, 2**62), "set_offsets"),
        (put("value", 0, np.nan), "value"),
        (put("threshold", 0, np.nan), "threshold"),
        (put("base_score", 0, np.inf), "base_score"),
        (put("cover", 0, -np.inf), "cover"),
        (put("gain", 0, np.nan), "gain"),
        (put("count", 0, -1), "count"),
        (put("missing_left", 0, 255), "missing_left"),
        (cast("value", np.float32), "'value' has the type F32 instead of F64"),
        (cast("left", np.int64), "'left' has the type I64 instead of I32"),
        (cast("missing_left", np.bool_), "'missing_left' has the type BOOL instead of U8"),
        (cast("count", np.uint64), "'count' has the type U64 instead of I64"),
        (reshape("value", 1, -1), "'value' must have one dimension"),
        (reshape("base_score"), "'base_score' must have one dimension"),
        (lambda arrays: arrays.pop("gain"), "arrays: 'gain'"),
        (lambda arrays: arrays.update(extra=np.zeros(1)), "arrays: 'extra'"),
        (lambda arrays: arrays.update(value=arrays["value"][:-1]), "value"),
        (lambda arrays: arrays.update(tree_offsets=arrays["tree_offsets"][:0]), "tree_offsets"),
    ],
)
def test_signed_arrays_that_are_hostile_are_refused_by_name(edit: Edit, match: str) -> None:
    forest = random_forest(seed=3)
    arrays = arrays_of(forest)
    edit(arrays)
    refuse(craft(arrays, metadata_of(forest)), match)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda table: table["value"].update(shape=[2**62]), "table of arrays"),
        (lambda table: table["value"].update(shape=[2**64]), "table of arrays"),
        (lambda table: table["value"].update(shape=[-1]), "table of arrays"),
        (lambda table: table["value"].update(shape="all"), "table of arrays"),
        (lambda table: table["value"].update(data_offsets=[0, 2**60]), "table of arrays"),
        (lambda table: table["value"].update(data_offsets=[8, 0]), "table of arrays"),
        (lambda table: table["value"].update(data_offsets=table["gain"]["data_offsets"]), "table of arrays"),
        (lambda table: table["value"].update(dtype="OBJECT"), "table of arrays"),
        (lambda table: table.update(value=None), "table of arrays"),
        (lambda table: table["__metadata__"].update(other="x"), "one text"),
        (lambda table: table.update({"": table.pop("value")}), "unknown arrays"),
    ],
)
def test_signed_tables_that_lie_about_the_arrays_are_refused(
    change: Callable[[Any], Any], match: str
) -> None:
    text, data = split_file(dumps(random_forest(), {}))
    table = json.loads(text)
    change(table)
    refuse(craft_table(json.dumps(table, separators=(",", ":")), data), match)


def test_signed_tables_that_are_hostile_json_are_refused() -> None:
    text, data = split_file(dumps(random_forest(), {}))
    text = text.rstrip()
    entry = json.dumps(json.loads(text)["value"], separators=(",", ":"))
    refuse(craft_table(text[:-1] + ',"value":' + entry + "}", data), "twice")
    refuse(craft_table(text + "{}", data), "not valid JSON")
    refuse(craft_table(text[:-1], data), "not valid JSON")
    refuse(craft_table(text[:-1] + ',"x":' + "[" * 200_000 + "]" * 200_000 + "}", data), "nested")
    refuse(craft_table(text[:-1] + ',"ä":1}', data), "not valid JSON")
    refuse(craft_table(text, data + b"\0"), "table of arrays")
    refuse(craft_table(text, data[:-8]), "table of arrays")
    refuse(craft_table('{"\\"sha256\\":\\"":1}', data + b"0" * 64), "not valid JSON")


@pytest.mark.parametrize("make", [random_forest, vector_forest])
def test_no_mutant_of_a_model_file_is_accepted_and_none_crashes(make: Callable[..., Forest]) -> None:
    data = dumps(make(n_outputs=2), HEADER)
    generator = random.Random(20)
    refused = 0
    while refused < 2000:
        mutant = mutate(data, generator)
        if mutant == data:
            continue
        with pytest.raises(ModelFileError):
            loads(mutant)
        refused += 1


@pytest.mark.parametrize("make", [random_forest, vector_forest])
def test_a_mutant_signed_anew_is_refused_or_is_a_valid_forest(make: Callable[..., Forest]) -> None:
    data = dumps(make(n_outputs=2), HEADER)
    generator = random.Random(21)
    accepted = 0
    for _ in range(2000):
        mutant = mutate(data, generator)
        if len(mutant) > 8:
            mutant = sign(mutant)
        try:
            forest, header = loads(mutant)
        except ModelFileError:
            continue
        accepted += 1
        forest.validate()
        assert forest.max_depth().size == forest.n_trees
        assert loads(dumps(forest, header))[0] == forest
    assert 0 < accepted < 1500
