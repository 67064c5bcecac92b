from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weald.forest.floats import MAXIMUM_DEPTH, decode_floats, encode_floats
from weald.runtime.errors import InputError, ModelFileError

KEYS = st.sampled_from(["float", "loss", "nan"]) | st.text(max_size=3)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["nan", "inf"])
    | st.text(max_size=3),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(KEYS, children, max_size=3),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_everything_that_json_holds_and_every_float_round_trips(value: Any) -> None:
    text = json.dumps(encode_floats(value), allow_nan=False)
    assert repr(decode_floats(json.loads(text))) == repr(value)
    twice = decode_floats(decode_floats(encode_floats(encode_floats(value))))
    assert repr(twice) == repr(value)


def test_the_spelling_of_nan_and_infinities_is_fixed() -> None:
    encoded = encode_floats([math.nan, math.inf, -math.inf, -0.0, 0.1])
    assert encoded == [{"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, -0.0, 0.1]


def test_numpy_scalars_and_tuples_become_plain_values() -> None:
    encoded = encode_floats(
        {"a": np.float32(0.5), "b": (np.int64(3), np.bool_(True)), "c": np.float64("nan")}
    )
    assert encoded == {"a": 0.5, "b": [3, True], "c": {"float": "nan"}}
    assert type(encoded["a"]) is float
    assert type(encoded["b"][0]) is int
    assert type(encoded["b"][1]) is bool


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", np.zeros(2), 1j, np.datetime64("2020-01-01")])
def test_what_json_cannot_hold_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InputError, match=r"header\.params\[\] is a"):
        encode_floats({"params": [value]})


def test_keys_that_are_not_text_are_refused() -> None:
    with pytest.raises(InputError, match="header has the key 1"):
        encode_floats({1: 2})


def test_nesting_has_a_limit_in_both_directions() -> None:
    deep: Any = 1
    for _ in range(MAXIMUM_DEPTH):
        deep = [deep]
    assert decode_floats(encode_floats(deep)) == deep
    with pytest.raises(InputError, match="nested"):
        encode_floats([deep])
    with pytest.raises(ModelFileError, match="nested"):
        decode_floats([deep])
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InputError, match="nested"):
        encode_floats(endless)


@pytest.mark.parametrize(
    "wrapped", ["NaN", "infinity", "1.5", 1.5, None, [], {}, {"loss": 1}, {"float": 1, "b": 2}]
)
def test_a_wrapper_with_anything_else_inside_is_refused(wrapped: Any) -> None:
    with pytest.raises(ModelFileError, match="none of"):
        decode_floats({"float": wrapped})
