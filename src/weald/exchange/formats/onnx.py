"""A model as ONNX in float64: trees are ai.onnx.ml's `TreeEnsemble`, everything else plain operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

from weald.data import Column
from weald.exchange.formats.onnx_graph import Graph
from weald.exchange.formats.onnx_steps import add_step
from weald.exchange.model import Model, Output
from weald.runtime.errors import InputError, NotSupportedError

Categories = Literal["codes", "names"]


def write(
    model: Model, path: Path, *, categories: Categories = "codes", version: int = 5
) -> dict[Path, bytes]:
    """One file.

    categories: "codes": the rows are one float64 matrix, with codes for categories; "names": an input for every column,
    (rows, 1), of strings for those whose categories are text. version: of ai.onnx.ml; 5 computes in float64, 3 (for old
    runtimes) adds trees up in float32.
    """
    return {path: onnx_model(model, categories, version).SerializeToString()}


def onnx_model(model: Model, categories: Categories = "codes", version: int = 5) -> Any:
    """The model as an `onnx.ModelProto`."""
    if categories not in ("codes", "names"):
        raise InputError(f"categories must be 'codes' or 'names', not {categories!r}.")
    if version not in (3, 5):
        raise InputError(f"version must be 5, or 3 for old runtimes, not {version!r}.")
    graph = Graph(version)
    if categories == "codes":
        rows = graph.input("rows", float, model.schema.n_columns)
    else:
        rows = graph.add("Concat", *[_column(graph, column) for column in model.schema.columns], axis=1)
    rows = _with_missing(graph, model, rows)
    graph.keep(rows, model.schema.n_columns)
    for step in model.steps:
        graph.keep(add_step(step, graph), step.n_outputs)
    outputs = model.answer.outputs
    for place, output in enumerate(outputs):
        _add_output(graph, output, "" if len(outputs) == 1 else f"_{place}")
    if model.answer.scores:
        graph.output("scores", graph.matrix(model.answer.scores), float, len(model.answer.scores))
    return graph.model()


def _column(graph: Graph, column: Column) -> str:
    """An input of one column, as numbers or codes."""
    if column.kind == "numeric":
        return graph.input(column.name, float, 1)
    labels = column.categories
    if all(isinstance(label, str) for label in labels):
        given = graph.input(column.name, str, 1)
        if not labels:
            return graph.add(
                "Where", graph.add("Equal", given, given), graph.constant([np.nan]), graph.constant([np.nan])
            )
        codes = graph.add(
            "LabelEncoder",
            given,
            ml=True,
            keys_strings=list(labels),
            values_int64s=list(range(len(labels))),
            default_int64=-1,
        )
        known = graph.add("GreaterOrEqual", codes, graph.constant([0], np.int64))
        return graph.add("Where", known, graph.cast(codes, np.float64), graph.constant([np.nan]))
    if any(isinstance(label, str) for label in labels):
        raise NotSupportedError(
            f"Column {column.name!r} has text and numbers among its categories, and an ONNX input has one type; "
            "use categories='codes'."
        )
    given = graph.input(column.name, float, 1)
    equal = graph.cast(
        graph.add("Equal", given, graph.constant([[float(label) for label in labels]])), np.int64
    )
    known = graph.cast(graph.add("ReduceMax", equal, keepdims=1), bool)
    codes = graph.cast(graph.add("ArgMax", equal, axis=1, keepdims=1), np.float64)
    return graph.add("Where", known, codes, graph.constant([np.nan]))


def _with_missing(graph: Graph, model: Model, rows: str) -> str:
    if model.missing == "nan":
        return rows
    if model.missing == "zero":
        changed, instead = graph.add("Equal", rows, graph.constant([0.0])), np.nan
    else:
        changed, instead = graph.add("IsNaN", rows), 0.0
    numeric = graph.constant([~model.schema.categorical_mask], bool)
    return graph.add("Where", graph.add("And", changed, numeric), graph.constant([instead]), rows)


def _add_output(graph: Graph, output: Output, suffix: str) -> None:
    if output.classes is None:
        graph.output(f"values{suffix}", graph.matrix(output.values), float, len(output.values))
        return
    decided = graph.matrix(output.decided)
    if output.rule == "above":
        code = graph.cast(graph.add("Greater", decided, graph.constant([0.0])), np.int64)
    else:
        code = graph.add("ArgMax", decided, axis=1, keepdims=1)
    labels = list(output.classes)
    if output.rule == "majority":
        refused = graph.add(
            "LessOrEqual", graph.add("ReduceMax", decided, axes=[1], keepdims=1), graph.constant([0.5])
        )
        code = graph.add("Where", refused, graph.constant([len(labels)], np.int64), code)
        assert output.refusal is not None
        labels.append(output.refusal)
    flat = graph.add("Reshape", code, graph.constant([-1], np.int64))
    kind: type = str if isinstance(labels[0], str) else bool if isinstance(labels[0], bool) else float
    if kind is float and all(isinstance(label, int) for label in labels):
        kind = int
    chosen = graph.add(
        "Gather",
        graph.constant(labels, {str: object, bool: bool, int: np.int64, float: np.float64}[kind]),
        flat,
    )
    graph.output(f"label{suffix}", chosen, kind, None)
    if output.values:
        graph.output(f"probabilities{suffix}", graph.matrix(output.values), float, len(output.values))
