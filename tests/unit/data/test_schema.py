"""The schema: round trips, and refusals of damaged ones."""

import json
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weald.data import Column, Schema
from weald.runtime.errors import ModelFileError

CATEGORIES = st.one_of(
    st.text(max_size=5), st.booleans(), st.integers(), st.floats(allow_nan=False), st.sampled_from([math.inf])
)


@st.composite
def schemas(draw):
    names = draw(st.lists(st.text(max_size=6), min_size=1, max_size=6, unique=True))
    columns = []
    for name in names:
        if draw(st.booleans()):
            columns.append(Column(name, "numeric"))
        else:
            columns.append(
                Column(name, "categorical", tuple(draw(st.lists(CATEGORIES, unique=True, max_size=5))))
            )
    return Schema(tuple(columns), draw(st.booleans()))


@given(schemas())
def test_a_schema_survives_json_with_the_types_of_its_categories(schema):
    text = json.dumps(schema.to_json(), allow_nan=False)
    again = Schema.from_json(json.loads(text))
    assert again == schema
    for before, after in zip(schema.columns, again.columns, strict=True):
        assert [type(value) for value in before.categories] == [type(value) for value in after.categories]


def test_names_and_masks_follow_the_columns():
    schema = Schema((Column("a", "numeric"), Column("b", "categorical", ("x",))), named=True)
    assert schema.names == ("a", "b")
    assert schema.n_columns == 2
    assert schema.categorical_mask.tolist() == [False, True]
    assert not schema.categorical_mask.flags.writeable


def test_a_pickle_does_not_grow_with_what_was_looked_up():
    schema = Schema((Column("b", "categorical", ("x", "y")),), named=True)
    before = pickle.dumps(schema)
    assert schema.columns[0].codes["y"] == 1.0
    assert math.isnan(schema.columns[0].codes["z"])
    assert schema.names == ("b",)
    assert pickle.dumps(schema) == before
    assert pickle.loads(before) == schema


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        {},
        {"named": True},
        {"named": 1, "columns": [{"name": "a", "kind": "numeric"}]},
        {"named": True, "columns": []},
        {"named": True, "columns": {"a": "numeric"}},
        {"named": True, "columns": ["a"]},
        {"named": True, "columns": [{"name": 1, "kind": "numeric"}]},
        {"named": True, "columns": [{"name": "a", "kind": "text"}]},
        {"named": True, "columns": [{"name": "a", "kind": ["numeric"]}]},
        {"named": True, "columns": [{"name": "a", "kind": "numeric", "categories": []}]},
        {"named": True, "columns": [{"name": "a", "kind": "numeric", "more": 1}]},
        {"named": True, "columns": [{"name": "a", "kind": "categorical"}]},
        {"named": True, "columns": [{"name": "a", "kind": "categorical", "categories": "xy"}]},
        {"named": True, "columns": [{"name": "a", "kind": "categorical", "categories": ["x", "x"]}]},
        {"named": True, "columns": [{"name": "a", "kind": "categorical", "categories": [1, True]}]},
        {"named": True, "columns": [{"name": "a", "kind": "categorical", "categories": [None]}]},
        {"named": True, "columns": [{"name": "a", "kind": "categorical", "categories": [math.nan]}]},
        {"named": True, "columns": [{"name": "a", "kind": "categorical", "categories": [math.inf]}]},
        {"named": True, "columns": [{"name": "a", "kind": "categorical", "categories": [{"float": "1"}]}]},
        {"named": True, "columns": [{"name": "a", "kind": "numeric"}, {"name": "a", "kind": "numeric"}]},
    ],
)
def test_a_damaged_schema_is_refused(damaged):
    with pytest.raises(ModelFileError):
        Schema.from_json(damaged)
