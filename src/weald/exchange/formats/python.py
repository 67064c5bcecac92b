"""A model as one Python file that needs the standard library only."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from weald.exchange.formats.python_text import RUNTIME
from weald.exchange.model import (
    Average,
    Choose,
    Constant,
    Divide,
    Lookup,
    Map,
    Median,
    Model,
    Normalise,
    Output,
    Step,
    Trees,
    TreeValues,
    Votes,
    Weighted,
)
from weald.forest.forest import Forest

_LINE: Final = 120
_HEAD: Final = '''"""A model that Weald has exported: predict(row), predict_proba(row), scores(row).

A row is a list of cells in the order of COLUMNS, or a dict by their names; None and NaN are missing values.
It needs Python 3.8 or newer and nothing else.
"""

import math

INF, NAN = math.inf, math.nan
'''


def write(model: Model, path: Path) -> dict[Path, bytes]:
    """One file, ASCII."""
    return {path: text_of(model).encode("ascii")}


def text_of(model: Model) -> str:
    """The source."""
    columns = model.schema.columns
    codes = [
        None if column.kind == "numeric" else {one: float(code) for code, one in enumerate(column.categories)}
        for column in columns
    ]
    tables, calls = [], []
    for number, step in enumerate(model.steps):
        written, call = _step(step, number)
        tables += written
        calls.append(call)
    lines = [
        _HEAD,
        f"ESTIMATOR = {literal(model.name)}",
        f"COLUMNS = {literal([column.name for column in columns])}",
        f"CATEGORIES = {literal(codes)}",
        f"MISSING = {literal(model.missing)}",
        f"SCORES = {literal(list(model.answer.scores))}",
        f"OUTPUTS = {literal([_output(output) for output in model.answer.outputs])}",
        "CLASSES = OUTPUTS[0]['classes']",
        *tables,
        RUNTIME,
        "",
        "STEPS = [",
        *(f"    ({call})," for call in calls),
        "]",
    ]
    return "\n".join(lines) + "\n"


def _output(output: Output) -> dict[str, Any]:
    return {
        "values": list(output.values),
        "classes": None if output.classes is None else list(output.classes),
        "rule": output.rule,
        "decided": list(output.decided),
        "refusal": output.refusal,
    }


def literal(value: Any) -> str:
    """A value as Python writes it, in ASCII, on lines that are not too long."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return _wrapped(_literal(value))


def _literal(value: Any) -> str:
    if isinstance(value, float) and not np.isfinite(value):
        return "NAN" if np.isnan(value) else "INF" if value > 0 else "-INF"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + "".join(_literal(one) + ", " for one in value) + ")"
    return ascii(value)


def _wrapped(text: str) -> str:
    """Long text broken behind commas that are not in quotes."""
    if len(text) < 10 * _LINE or "'" in text or '"' in text:
        return text
    lines, line = [], ""
    for part in text.split(", "):
        if len(line) > _LINE:
            lines.append(line.rstrip(" "))
            line = ""
        line += part + ", "
    return "\n".join([*lines, line.removesuffix(", ")])


def _step(step: Step, number: int) -> tuple[list[str], str]:
    """The tables of a step, and its call."""
    reads = literal(list(step.reads))
    if isinstance(step, Trees | TreeValues):
        forest, name = step.forest, f"TREES_{number}"
        tables = _tables(forest, name)
        arguments = f"{reads}, {name}_NODES, {name}_ROOTS, {name}_VALUES"
        if isinstance(step, TreeValues):
            return tables, f"tree_values, ({arguments})"
        averaged = max(forest.n_rounds, 1) if forest.averaged else 0
        base = literal(forest.base_score.tolist())
        return tables, f"trees, ({arguments}, {base}, {averaged}, {step.divisor!r})"
    if isinstance(step, Lookup):
        cells = dict(zip(step.groups.tolist(), map(tuple, step.cells.T.tolist()), strict=True))
        table = f"LOOKUP_{number} = {literal(cells)}"
        return [
            table
        ], f"lookup, ({reads}, {step.sizes!r}, LOOKUP_{number}, {literal(step.default.tolist())})"
    return [], _call(step, reads)


def _call(step: Step, reads: str) -> str:
    if isinstance(step, Weighted):
        return f"weighted, ({reads}, {literal(step.start)}, {literal(step.weights)})"
    if isinstance(step, Map):
        return f"mapped, ({reads}, {step.function!r})"
    if isinstance(step, Divide):
        return f"divide, ({reads}, {step.by!r})"
    if isinstance(step, Normalise):
        return f"{step.function}, ({reads},)"
    if isinstance(step, Average):
        return f"average, ({reads}, {step.members}, {literal(list(step.weights))})"
    if isinstance(step, Choose):
        return f"choose, ({reads},)"
    if isinstance(step, Votes):
        return f"votes, ({reads}, {literal(list(step.weights))}, {step.classes}, {step.rounded})"
    if isinstance(step, Median):
        return f"median, ({reads}, {literal(list(step.weights))})"
    assert isinstance(step, Constant)
    return f"constant, ({reads}, {literal(list(step.values))})"


def _tables(forest: Forest, name: str) -> list[str]:
    start = np.repeat(forest.tree_offsets[:-1], np.diff(forest.tree_offsets))
    left = np.where(forest.feature >= 0, forest.left + start, 0)
    by_set = forest.category_set >= 0
    thresholds = [
        None if is_set else float(number) for is_set, number in zip(by_set, forest.threshold, strict=True)
    ]
    sets: dict[int, tuple[int, ...]] = {}
    for node in np.flatnonzero(by_set).tolist():
        begin, end = (
            forest.set_offsets[forest.category_set[node]],
            forest.set_offsets[forest.category_set[node] + 1],
        )
        sets[node] = tuple(forest.set_codes[begin:end].tolist())
    values: list[Any] = forest.value.tolist()
    if forest.has_vectors:
        vectors = iter(map(tuple, forest.vectors.reshape(-1, forest.n_outputs).tolist()))
        values = [next(vectors) if feature < 0 else None for feature in forest.feature.tolist()]
    nodes = f"({name}_FEATURE, {name}_THRESHOLD, {name}_LEFT, {name}_MISSING_LEFT, {name}_SETS)"
    return [
        f"{name}_ROOTS = {literal(forest.tree_offsets[:-1])}",
        f"{name}_FEATURE = {literal(forest.feature)}",
        f"{name}_THRESHOLD = {literal(thresholds)}",
        f"{name}_LEFT = {literal(left)}",
        f"{name}_MISSING_LEFT = {literal(forest.missing_left)}",
        f"{name}_SETS = {literal(sets)}",
        f"{name}_VALUES = {literal(values)}",
        f"{name}_NODES = {nodes}",
    ]
