"""A model as one JavaScript module without dependencies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from weald.exchange.formats.javascript_text import RUNTIME
from weald.exchange.model import Lookup, Map, Model, Normalise, Output, Step, Trees, TreeValues
from weald.forest.forest import Forest

_HEAD: Final = """\
// A model that Weald has exported: predict(row), predictValues(row), scores(row). A row is an array of cells in the
// order of columns, or an object by their names; null, undefined and NaN are missing values.
"""


def write(model: Model, path: Path) -> dict[Path, bytes]:
    """One ES module, ASCII."""
    return {path: text_of(model).encode("ascii")}


def text_of(model: Model) -> str:
    """The source."""
    columns = model.schema.columns
    categories = [None if column.kind == "numeric" else list(column.categories) for column in columns]
    lines = [
        _HEAD,
        f"export const estimator = {literal(model.name)};",
        f"export const columns = {literal([column.name for column in columns])};",
        f"const categories = {literal(categories)};",
        f"const missing = {literal(model.missing)};",
        f"const scoreSlots = {literal(list(model.answer.scores))};",
        f"const outputs = {literal([_output(output) for output in model.answer.outputs])};",
        "export const classes = outputs[0].classes;",
        RUNTIME,
        "const steps = [",
        *(f"  [{_call(step)}]," for step in model.steps),
        "];",
    ]
    return "\n".join(lines) + "\n"


def literal(value: Any) -> str:
    """A value as JavaScript writes it: ASCII, and nothing that could end a script element."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return json.dumps(value).replace("<", "\\u003c")


def _output(output: Output) -> dict[str, Any]:
    return {
        "values": output.values,
        "classes": None if output.classes is None else output.classes,
        "rule": output.rule,
        "decided": output.decided,
        "refusal": output.refusal,
    }


def _call(step: Step) -> str:
    """The function of a step and its arguments."""
    reads = literal(step.reads)
    if isinstance(step, Trees | TreeValues):
        forest = step.forest
        tables = f"{reads}, {_forest(forest)}"
        if isinstance(step, TreeValues):
            return f"treeValues, {tables}"
        averaged = max(forest.n_rounds, 1) if forest.averaged else 0
        return f"trees, {tables}, {literal(forest.base_score)}, {averaged}, {literal(step.divisor)}"
    if isinstance(step, Lookup):
        groups = ", ".join(
            f"[{group}, {literal(cells)}]"
            for group, cells in zip(step.groups.tolist(), step.cells.T, strict=True)
        )
        return f"lookup, {reads}, {literal(step.sizes)}, new Map([{groups}]), {literal(step.default)}"
    if isinstance(step, Map):
        return f"mapped, {reads}, {step.function}"
    if isinstance(step, Normalise):
        return f"{'softmax' if step.function == 'softmax' else 'oneVsRest'}, {reads}"
    name = type(step).__name__.lower()
    others = [value for key, value in vars(step).items() if key not in ("reads", "n_outputs")]
    return ", ".join([name, reads, *map(literal, others)])


def _forest(forest: Forest) -> str:
    start = np.repeat(forest.tree_offsets[:-1], np.diff(forest.tree_offsets))
    by_set = forest.category_set >= 0
    sets = {}
    for node in np.flatnonzero(by_set).tolist():
        begin, end = (
            forest.set_offsets[forest.category_set[node]],
            forest.set_offsets[forest.category_set[node] + 1],
        )
        sets[node] = forest.set_codes[begin:end].tolist()
    values: list[Any] = forest.value.tolist()
    if forest.has_vectors:
        vectors = iter(forest.vectors.reshape(-1, forest.n_outputs).tolist())
        values = [next(vectors) if feature < 0 else 0 for feature in forest.feature.tolist()]
    fields = {
        "roots": forest.tree_offsets[:-1],
        "feature": forest.feature,
        "threshold": forest.threshold,
        "left": np.where(forest.feature >= 0, forest.left + start, 0),
        "missingLeft": forest.missing_left,
        "values": values,
    }
    written = ", ".join(f"{name}: {literal(entry)}" for name, entry in fields.items())
    listed = ", ".join(f"[{node}, new Set({literal(codes)})]" for node, codes in sets.items())
    return f"{{{written}, sets: new Map([{listed}])}}"
