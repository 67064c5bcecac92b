"""The finished linear model: immutable, checked, and the same after a file."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from weald.data import read_table
from weald.forest.container import pack, unpack
from weald.linear.model import FORMAT, LinearModel
from weald.runtime.errors import ModelFileError


def model(**changes: Any) -> LinearModel:
    fields: dict[str, Any] = {
        "base_score": np.array([0.5, -0.5]),
        "bias": np.array([1.0, 2.0]),
        "weights": np.array([[1.0, 0.0, -2.0], [0.25, 4.0, 0.0]]),
        "n_rounds": 7,
    }
    return LinearModel(**(fields | changes))


def test_scores_are_the_intercept_plus_the_weighted_columns_without_the_missing() -> None:
    rows = np.array([[1.0, 2.0, 3.0], [np.nan, 1.0, np.nan]])
    assert model().raw_scores(read_table(rows)).tolist() == [[-3.5, 1.5], [9.75, 5.5]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_scores_do_not_depend_on_the_form_of_the_table(dtype: Any, order: Any) -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((200, 3)).astype(dtype)
    table[rng.random(table.shape) < 0.5] = 0.0
    expected = model().raw_scores(read_table(table)).tobytes()
    assert model().raw_scores(read_table(np.array(table, order=order))).tobytes() == expected
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_array):
        assert model().raw_scores(read_table(kind(table)), tasks=2).tobytes() == expected


def test_a_model_cannot_be_changed_and_leaves_its_arrays_to_the_caller() -> None:
    weights = np.ones((1, 2))
    made = LinearModel(np.zeros(1), np.zeros(1), weights, 1)
    with pytest.raises(ValueError, match="read-only"):
        made.weights[0, 0] = 2.0
    weights[0, 0] = 1.0
    again = pickle.loads(pickle.dumps(made))
    assert again == made and hash(again) == hash(made) and not again.weights.flags.writeable
    assert made != model() and made != 3


def test_a_model_comes_back_from_its_bytes() -> None:
    content = unpack(model().dumps({"kind": "test"}))
    assert LinearModel.is_in(content) and content.header == {"kind": "test"}
    assert LinearModel.from_content(content) == model()
    assert model().dumps({}) == model().dumps({})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bias": np.array([1.0])}, "as many outputs"),
        ({"bias": np.array([1.0, np.nan])}, "bias must be finite"),
        ({"weights": np.full((2, 3), np.inf)}, "weights must be finite"),
        ({"weights": np.zeros((2, 0))}, "at least one column"),
        ({"n_rounds": -1}, "n_rounds must not be negative"),
    ],
)
def test_a_model_that_cannot_be_is_not_written(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        model(**changes).dumps({})


@pytest.mark.parametrize(
    ("sizes", "arrays", "message"),
    [
        ({"n_outputs": 3}, {}, "not those of 3 outputs"),
        ({"n_features": 2}, {}, "not those of 2 outputs and 2 columns"),
        ({"n_rounds": "many"}, {}, "n_rounds is 'many'"),
        ({"n_rounds": True}, {}, "n_rounds is True"),
        ({"extra": 1}, {}, "unknown keys: 'extra'"),
        ({}, {"bias": np.zeros(3)}, "as many outputs"),
        ({}, {"weights": np.full(6, np.nan)}, "weights must be finite"),
        ({}, {"weights": np.zeros(6, np.float32)}, "has the type"),
        ({}, {"more": np.zeros(1)}, "unknown arrays: 'more'"),
    ],
)
def test_a_file_that_cannot_be_is_refused(
    sizes: dict[str, Any], arrays: dict[str, Any], message: str
) -> None:
    good = model()
    stored = {"base_score": good.base_score, "bias": good.bias, "weights": good.weights}
    data = pack(FORMAT, {}, {"n_features": 3, "n_outputs": 2, "n_rounds": 7} | sizes, stored | arrays)
    with pytest.raises(ModelFileError, match=message):
        LinearModel.from_content(unpack(data))
