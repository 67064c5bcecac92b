from __future__ import annotations

import math
import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from exchange_models import CASES, case, hard_rows, numbers, scores_of, table_for
from weald.exchange.formats.sql import text_of
from weald.exchange.formats.sql_text import Query, name_of
from weald.exchange.model import Model

ANSWERED = sorted(set(CASES) - {"adaboost_values"})


def by_sqlite(model: Model, rows: pd.DataFrame) -> pd.DataFrame:
    with sqlite3.connect(":memory:") as database:
        kinds = ["REAL" if column.kind == "numeric" else "" for column in model.schema.columns]
        named = ", ".join(f"{name_of(name)} {kind}" for name, kind in zip(rows.columns, kinds, strict=True))
        database.execute(f"CREATE TABLE rows ({named})")
        cells = [[_plain(cell) for cell in row] for row in rows.to_numpy(dtype=object).tolist()]
        database.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(rows.columns))})", cells)
        return _fetched(database.execute(text_of(model)))


def by_duckdb(model: Model, rows: pd.DataFrame) -> pd.DataFrame:
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    kinds = ["DOUBLE" if column.kind == "numeric" else "VARCHAR" for column in model.schema.columns]
    named = ", ".join(f"{name_of(name)} {kind}" for name, kind in zip(rows.columns, kinds, strict=True))
    database.execute(f"CREATE TABLE rows ({named})")
    database.executemany(
        f"INSERT INTO rows VALUES ({', '.join('?' * len(rows.columns))})",
        rows.to_numpy(dtype=object).tolist(),
    )
    return _fetched(database.execute(text_of(model, "duckdb")))


def _fetched(cursor: Any) -> pd.DataFrame:
    names = [entry[0] for entry in cursor.description]
    return pd.DataFrame(cursor.fetchall(), columns=names)


def _plain(cell: Any) -> Any:
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def check(name: str, found: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Labels are equal, scores to the bit where there is no exp, else to its last bits."""
    model, estimator = case(name).model, case(name).estimator
    table = table_for(model, rows)
    with np.errstate(invalid="ignore", over="ignore"):
        expected, labels = scores_of(estimator, table), estimator.predict(table)
    known = np.ones(len(rows), bool)
    if expected is not None:  # SQL has NULL, or nothing, for inf - inf
        wanted = expected.reshape(len(rows), -1)
        known = ~np.isnan(wanted).any(axis=1)
        names = [one for one in found.columns if one.startswith("weald_value")]
        values = found[names].to_numpy(dtype=float)
        assert np.allclose(values[known], wanted[known], rtol=1e-12, atol=1e-300)
    if hasattr(estimator, "classes_"):
        assert found["weald_label"].to_numpy()[known].tolist() == labels[known].tolist()
    if hasattr(estimator, "decision_function") and model.answer.scores and name != "blending":
        decided = estimator.decision_function(table)
        scores = found[[one for one in found.columns if one.startswith("weald_score")]].to_numpy(dtype=float)
        assert np.array_equal(scores.reshape(decided.shape)[known], decided[known])


@pytest.mark.parametrize("name", ANSWERED)
def test_sqlite_answers_as_the_model_does(name: str) -> None:
    rows = hard_rows(case(name).model, 80)
    check(name, by_sqlite(case(name).model, rows), rows)


@pytest.mark.parametrize(
    "name",
    ["regressor", "sets_three", "statistics", "averaged", "voting_soft", "voting_majority", "stacking"],
)
def test_duckdb_answers_as_the_model_does(name: str) -> None:
    rows = hard_rows(case(name).model, 80)
    check(name, by_duckdb(case(name).model, rows), rows)


def test_a_deep_tree_is_no_deep_nesting() -> None:
    X = np.arange(700.0)[:, None]
    chain = weald.DecisionTreeRegressor(max_bins=255, min_samples_leaf=1).fit(X, 2.0 ** (X[:, 0] / 3))
    model = chain._exchanged()
    rows = pd.DataFrame({"x0": X[:, 0]})
    for found in (by_sqlite(model, rows), by_duckdb(model, rows)):
        assert np.array_equal(found["weald_value_0"].to_numpy(dtype=float), chain.predict(X))


def test_hundreds_of_trees_are_added_in_stages() -> None:
    X = numbers()
    many = weald.BoostedTreesRegressor(n_estimators=250, max_leaves=3).fit(X, np.nan_to_num(X[:, 0]))
    rows = pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"])
    assert np.array_equal(
        by_sqlite(many._exchanged(), rows)["weald_value_0"].to_numpy(dtype=float), many.predict(X)
    )


def test_numbers_have_the_same_bits_in_sqlite() -> None:
    query = Query("sqlite", '"rows"', ["x"])
    random = np.random.default_rng(0)
    values = random.normal(size=400) * 10.0 ** random.integers(-300, 300, 400)
    values = np.concatenate(
        [values, [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1, -1e22, np.inf]]
    )
    with sqlite3.connect(":memory:") as database:
        for value in values.tolist():
            assert database.execute(f"SELECT {query.real(value)}").fetchone()[0] == value


def test_what_sql_cannot_say_is_refused() -> None:
    with pytest.raises(weald.NotSupportedError, match="weighted median"):
        text_of(case("adaboost_values").model)
    with pytest.raises(weald.InputError, match="dialect must be"):
        text_of(case("regressor").model, "oracle")
