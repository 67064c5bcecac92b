"""A model as one SQL query, for SQLite and DuckDB.

Every stage is a materialised table of its own, so that nothing is nested deeply.
"""

from __future__ import annotations

from pathlib import Path

from weald.data import Column
from weald.exchange.formats.sql_steps import columns_of
from weald.exchange.formats.sql_text import Query, name_of, text
from weald.exchange.model import Label, Model, Output
from weald.runtime.errors import InputError, NotSupportedError


def write(model: Model, path: Path, *, dialect: str = "sqlite", table: str = "rows") -> dict[Path, bytes]:
    """One file with one query.

    dialect: "sqlite" or "duckdb"; table: what the rows are selected from.
    """
    return {path: text_of(model, dialect, table).encode()}


def text_of(model: Model, dialect: str = "sqlite", table: str = "rows") -> str:
    """The query: the columns of the table, and behind them labels, values and scores."""
    if dialect not in ("sqlite", "duckdb"):
        raise InputError(f"dialect must be 'sqlite' or 'duckdb', not {dialect!r}.")
    query = Query(dialect, name_of(table), model.schema.names)
    for column in model.schema.columns:
        query.slots.append(query.stage_column(_cell(query, column, model)))
    query.end_stage()
    for step in model.steps:
        columns_of(step, query)
    return query.text(_results(query, model))


def _cell(query: Query, column: Column, model: Model) -> str:
    """A column as a number or a code; NULL is missing."""
    cell = name_of(column.name)
    if column.kind == "categorical":
        if not column.categories:
            return query.cast("NULL")
        cases = " ".join(
            f"WHEN {_label(query, label)} THEN {query.real(float(code))}"
            for code, label in enumerate(column.categories)
        )
        return f"CASE {cell} {cases} END"
    number = query.cast(cell)
    if query.dialect == "duckdb":
        number = f"CASE WHEN isnan({number}) THEN NULL ELSE {number} END"
    if model.missing == "zero":
        return f"NULLIF({number}, {query.real(0.0)})"
    return f"COALESCE({number}, {query.real(0.0)})" if model.missing == "none" else number


def _label(query: Query, label: Label) -> str:
    if isinstance(label, str):
        return text(label)
    return str(int(label)) if float(label).is_integer() and abs(label) < 2**53 else query.real(float(label))


def _results(query: Query, model: Model) -> list[tuple[str, str]]:
    """(expression, name) of every column of the result."""
    results = [(name_of(name), name) for name in model.schema.names]
    outputs = model.answer.outputs
    for place, output in enumerate(outputs):
        suffix = "" if len(outputs) == 1 else f"_{place}"
        if output.classes is not None:
            results.append((_chosen(query, output), f"weald_label{suffix}"))
        results += [
            (query.slots[slot], f"weald_value{suffix}_{number}") for number, slot in enumerate(output.values)
        ]
    results += [
        (query.slots[slot], f"weald_score_{number}") for number, slot in enumerate(model.answer.scores)
    ]
    names = [name.lower() for _, name in results]
    if len(set(names)) < len(names):
        raise NotSupportedError(
            "format='sql' names its results weald_label, weald_value_0 and so on, and SQL does not tell upper case from lower; "
            "rename the columns that are alike."
        )
    return results


def _chosen(query: Query, output: Output) -> str:
    assert output.classes is not None
    decided = [query.slots[slot] for slot in output.decided]
    labels = [_label(query, label) for label in output.classes]
    if output.rule == "above":
        return f"CASE WHEN {decided[0]} > {query.real(0.0)} THEN {labels[1]} ELSE {labels[0]} END"
    refused = ""
    if output.rule == "majority":
        assert output.refusal is not None
        half = query.real(0.5)
        small = " AND ".join(f"{one} <= {half}" for one in decided)
        refused = f" WHEN {small} THEN {_label(query, output.refusal)}"
    return f"CASE{refused} {query.first_largest(decided, labels)} END"
