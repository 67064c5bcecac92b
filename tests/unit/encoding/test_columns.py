"""Known, unknown and missing categories keep apart, whatever holds the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.data import read_table
from weald.encoding.columns import n_codes, split_columns

TRAINING = ["b", "a", "b", None]
LATER = ["a", "z", None, "b"]
MANY = 200  # rows above which table libraries translate by themselves


def _frame(library: str, kind: str, cells: list[Any]) -> Any:
    if library == "numpy":
        return np.array(cells, dtype=object)[:, None]
    frames = pytest.importorskip(library)
    if library == "pandas":
        return frames.DataFrame({"c": cells}).astype("category" if kind == "categories" else "str")
    dtype = frames.Categorical if kind == "categories" else frames.String
    return frames.DataFrame({"c": frames.Series(cells, dtype=dtype)})


@pytest.mark.parametrize("times", [1, MANY])
@pytest.mark.parametrize(
    ("library", "kind"),
    [
        ("numpy", "objects"),
        ("pandas", "strings"),
        ("pandas", "categories"),
        ("polars", "strings"),
        ("polars", "categories"),
    ],
)
def test_unknown_and_missing_categories_have_codes_of_their_own(library: str, kind: str, times: int) -> None:
    training = read_table(_frame(library, kind, TRAINING * times), unknown="coded")
    assert split_columns(training).codes[0].tolist() == [0, 1, 0, 3] * times
    assert n_codes(training.schema.columns[0]) == 4
    later = read_table(_frame(library, kind, LATER * times), schema=training.schema, unknown="coded")
    assert split_columns(later).codes[0].tolist() == [1, 2, 3, 0] * times
    plain = read_table(_frame(library, kind, LATER * times), schema=training.schema)
    assert np.isnan(plain.take(np.arange(4))[1:3]).all()


def test_numbers_can_be_categories_and_others_stay_numbers() -> None:
    X = np.array([[5.0, 0.5], [7.0, 1.5], [np.nan, np.nan]], np.float32)
    training = read_table(X, categorical=[0], unknown="coded")
    columns = split_columns(training)
    assert columns.codes.tolist() == [[0, 1, 3]]
    assert np.array_equal(columns.numbers, [[0.5], [1.5], [np.nan]], equal_nan=True)
    later = read_table(np.array([[7, 1], [6, 2]]), schema=training.schema, unknown="coded")
    assert split_columns(later).codes.tolist() == [[1, 2]]
