"""Dates as numbers, in training tables and in later ones."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

import weald
from weald.data import Schema, read_table
from weald.data.dates import PARTS, date_parts, parts_of
from weald.runtime.errors import InputError

MOMENTS = ["1969-12-31T18:00:00", "2000-02-29T00:00:00", "2024-12-31T23:30:00"]


def test_the_parts_are_those_of_the_calendar() -> None:
    dates = [datetime.datetime.fromisoformat(text) for text in MOMENTS]
    found = parts_of(np.array([*MOMENTS, "NaT"], "datetime64[us]"))
    assert list(found) == list(PARTS)
    epoch = datetime.datetime(1970, 1, 1)
    expected = {
        "days": [(date - epoch).total_seconds() / 86400 for date in dates],
        "year": [date.year for date in dates],
        "month": [date.month for date in dates],
        "day": [date.day for date in dates],
        "weekday": [date.weekday() for date in dates],
        "hour": [date.hour + date.minute / 60 for date in dates],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(found[name][:3], values)
        assert np.isnan(found[name][3])


def frames() -> list[Any]:
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    dates = [datetime.datetime.fromisoformat(text) for text in MOMENTS]
    columns = {"n": [1.0, 2.0, 3.0], "when": dates}
    return [
        {"n": [1.0, 2.0, 3.0], "when": MOMENTS},
        {"n": np.arange(1.0, 4.0), "when": np.array(MOMENTS, "datetime64[s]")},
        pandas.DataFrame(columns, index=[7, 3, 5]),
        pandas.DataFrame({"n": [1.0, 2.0, 3.0], "when": MOMENTS}),
        pandas.DataFrame(columns).assign(when=lambda frame: frame["when"].dt.tz_localize("UTC")),
        polars.DataFrame(columns),
        pyarrow.table(columns),
    ]


def test_every_container_gives_the_same_numbers() -> None:
    expected = None
    for table in frames():
        dataset = read_table(date_parts(table, ["when"]))
        floats = dataset.take(np.arange(3))
        expected = floats if expected is None else expected
        np.testing.assert_array_equal(floats, expected)
        assert dataset.schema.names == ("n", *(f"when.{part}" for part in PARTS))


def test_a_schema_with_parts_takes_the_dates_themselves_also_from_a_file() -> None:
    tables = frames()
    trained = read_table(date_parts(tables[0], ["when"]))
    schema = Schema.from_json(trained.schema.to_json())
    for table in tables:
        dataset = read_table(table, schema=schema)
        np.testing.assert_array_equal(dataset.take(np.arange(3)), trained.take(np.arange(3)))


def test_a_model_of_dates_predicts_dates_after_it_was_saved(tmp_path: Any) -> None:
    days = np.datetime64("2024-01-01") + np.arange(200)
    table = {"when": days, "n": np.zeros(200)}
    weekend = (np.arange(200) % 7 >= 5).astype(float)
    model = weald.BoostedTreesRegressor(n_estimators=20).fit(weald.date_parts(table, ["when"]), weekend)
    model.save(tmp_path / "m")
    again = weald.load(tmp_path / "m").predict(table)
    np.testing.assert_array_equal(again, model.predict(weald.date_parts(table, ["when"])))
    assert np.corrcoef(again, weekend)[0, 1] > 0.99


def test_dates_that_nobody_declared_are_refused_with_what_to_do() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"when": pandas.to_datetime(MOMENTS)})
    for table in (frame, {"when": np.array(MOMENTS, "datetime64[s]")}):
        with pytest.raises(InputError, match=r"'when'.*weald\.date_parts\(X, \['when'\]\)"):
            read_table(table)


@pytest.mark.parametrize(
    ("table", "columns", "says"),
    [
        ({"a": ["2024-01-31"]}, ["b"], "'b', which X does not have"),
        ({"a": ["soon"]}, ["a"], "'soon' in row 0"),
        ({"a": ["2024-02-31"]}, ["a"], "no date"),
        ({"a": ["2024-01-31"], "a.days": [1.0]}, ["a"], "a.days already"),
        ({"a": ["2024-01-31"]}, "a", "must be a list"),
        (np.zeros((2, 2)), ["a"], "must have names"),
    ],
)
def test_what_is_no_date_is_refused(table: Any, columns: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        date_parts(table, columns)
