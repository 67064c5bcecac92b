"""Universal Binary JSON: what XGBoost writes, and what nobody should."""

from __future__ import annotations

import json

import pytest

from tools.fuzz.foreign import to_ubjson
from weald.exchange.foreign.ubjson import ubjson_of
from weald.runtime.errors import ModelFileError


def test_values_come_back() -> None:
    value = {"a": [1, -2.5, None, True, False, "text"], "b": {"c": [], "d": {}}, "é": [[1], [[2]]]}
    assert ubjson_of(to_ubjson(value)) == value


def test_typed_arrays_are_arrays() -> None:
    found = ubjson_of(b"[$d#U\x02" + b"\x3f\x80\x00\x00" + b"\x40\x00\x00\x00")
    assert found.tolist() == [1.0, 2.0]
    assert ubjson_of(b"[#U\x02U\x07SU\x01x") == [7, "x"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "too early"),
        (b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff", "more than is left"),
        (b"[#l\x7f\xff\xff\xff", "more than is left"),
        (b"[$Z#L\x00\x00\x00\x00\x00\x00\x00\x01", "constants|more than is left"),
        (b"SU\x05ab", "more than is left|too early"),
        (b"SU\x01\xff", "UTF-8"),
        (b"Q", "not known"),
        (b"[$d]", "without its length"),
        (b"{SU\x01a}", "length belongs"),
        (b"U\x05U\x05", "after its end"),
        (b"[" * 100_000, "nested deeper"),
        (b"[#i\xffU", "more than is left"),
    ],
)
def test_hostile_bytes_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(ModelFileError, match=said):
        ubjson_of(data)


def test_a_file_of_json_and_of_ubjson_is_the_same_model() -> None:
    import weald

    forest = {"learner": json.loads(json.dumps(_LEARNER))}
    assert (
        weald.load_foreign(to_ubjson(forest)).predict([[0.0], [1.0], [float("nan")]]).tolist()
        == weald.load_foreign(forest).predict([[0.0], [1.0], [float("nan")]]).tolist()
        == [1.5, 2.5, 2.5]
    )


def test_what_a_tree_says_of_itself_need_not_be_an_object() -> None:
    import weald

    learner = json.loads(json.dumps(_LEARNER))
    learner["learner_model_param"]["num_target"] = "2"
    learner["gradient_booster"]["model"]["trees"][0]["tree_param"] = 0.5
    assert weald.load_foreign({"learner": learner}).predict([[0.0]]).tolist() == [[1.5, 0.5]]


_LEARNER = {
    "learner_model_param": {"base_score": "5E-1", "num_class": "0", "num_feature": "1", "num_target": "1"},
    "objective": {"name": "reg:squarederror"},
    "feature_names": [],
    "feature_types": [],
    "gradient_booster": {
        "name": "gbtree",
        "model": {
            "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "1"},
            "tree_info": [0],
            "trees": [
                {
                    "left_children": [1, -1, -1],
                    "right_children": [2, -1, -1],
                    "split_indices": [0, 0, 0],
                    "split_conditions": [0.5, 1.0, 2.0],
                    "default_left": [0, 0, 0],
                    "sum_hessian": [2.0, 1.0, 1.0],
                }
            ],
        },
    },
}
