"""Every kind of step as operators of ONNX."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any, Final

import numpy as np

from weald.exchange.formats.onnx_graph import Graph
from weald.exchange.formats.onnx_trees import tree_scores
from weald.exchange.model import (
    Average,
    Choose,
    Constant,
    Divide,
    Lookup,
    Map,
    Median,
    Normalise,
    Trees,
    TreeValues,
    Votes,
    Weighted,
)
from weald.exchange.plain import one_a_leaf, single_leaf

_LARGEST: Final = 1.7976931348623157e308


@singledispatch
def add_step(step: Any, graph: Graph) -> str:
    """Add a step's operators; the tensor of its slots."""
    raise AssertionError(f"a model has no step {type(step).__name__}")


@add_step.register
def _(step: Trees, graph: Graph) -> str:
    forest = step.forest
    trees = [one for number in range(forest.n_trees) for one in one_a_leaf(forest, number)]
    if not forest.averaged:  # where the sum begins is the first tree, of a single leaf
        trees = [single_leaf(output, float(start)) for output, start in enumerate(forest.base_score)] + trees
    scores = tree_scores(trees, step.reads, forest.n_outputs, graph)
    if forest.averaged:
        scores = graph.add("Div", scores, graph.constant([float(max(forest.n_rounds, 1))]))
        scores = graph.add("Add", scores, graph.constant(forest.base_score[None]))
    return scores if step.divisor == 1.0 else graph.add("Div", scores, graph.constant([step.divisor]))


@add_step.register
def _(step: TreeValues, graph: Graph) -> str:
    forest = step.forest
    trees = [replace(one_a_leaf(forest, number)[0], output=number) for number in range(forest.n_trees)]
    return tree_scores(trees, step.reads, forest.n_trees, graph)


@add_step.register
def _(step: Lookup, graph: Graph) -> str:
    codes, sizes = graph.matrix(step.reads), np.array([step.sizes])
    known = graph.add("Where", graph.add("IsNaN", codes), graph.constant(sizes - 1), codes)
    strides = np.cumprod([1, *step.sizes[:0:-1]])[::-1]
    products = graph.add("Mul", graph.cast(known, np.int64), graph.constant(strides[None], np.int64))
    group = graph.add("ReduceSum", products, graph.constant([1], np.int64), keepdims=1)
    size = len(step.groups)
    cells = graph.constant(np.hstack([step.cells, step.default[:, None]]).T)
    if not size:
        place = graph.add("Mul", group, graph.constant([0], np.int64))
    else:
        keys = step.groups.tolist()
        place = graph.add(
            "LabelEncoder",
            group,
            ml=True,
            keys_int64s=keys,
            values_int64s=list(range(size)),
            default_int64=size,
        )
    flat = graph.add("Reshape", place, graph.constant([-1], np.int64))
    return graph.add("Gather", cells, flat, axis=0)


@add_step.register
def _(step: Weighted, graph: Graph) -> str:
    given = graph.matrix(step.reads)
    numbers = graph.add("Where", graph.add("IsNaN", given), graph.constant([0.0]), given)
    scores = graph.constant(step.start[None])
    for column, weights in enumerate(step.weights.T):
        if not weights.any():
            continue
        x = graph.add("Gather", numbers, graph.constant([column], np.int64), axis=1)
        product = graph.add("Mul", x, graph.constant(weights[None]))
        if not weights.all():
            product = graph.add(
                "Where", graph.constant(weights[None] == 0.0, bool), graph.constant([0.0]), product
            )
        scores = graph.add("Add", scores, product)
    if not step.weights.any():
        scores = _for_every_row(graph, step.start.tolist())
    return scores


@add_step.register
def _(step: Map, graph: Graph) -> str:
    x, one = graph.matrix(step.reads), graph.constant([1.0])
    if step.function == "exp":
        return graph.add("Min", graph.add("Exp", x), graph.constant([_LARGEST]))
    if step.function == "sigmoid":
        return graph.add("Div", one, graph.add("Add", one, graph.add("Exp", graph.add("Neg", x))))
    if step.function == "double":
        return graph.add("Mul", x, graph.constant([2.0]))
    if step.function == "complement":
        return graph.add("Sub", one, x)
    return graph.cast(graph.add("Greater", x, graph.constant([0.0])), np.float64)


@add_step.register
def _(step: Divide, graph: Graph) -> str:
    return graph.add("Div", graph.matrix(step.reads), graph.constant([step.by]))


@add_step.register
def _(step: Normalise, graph: Graph) -> str:
    x, one, zero = graph.matrix(step.reads), graph.constant([1.0]), graph.constant([0.0])
    most = graph.add("ReduceMax", x, axes=[1], keepdims=1)
    if step.function == "softmax":
        powers = graph.add("Exp", graph.add("Sub", x, most))
    else:
        above = graph.add("Greater", x, zero)
        shifted = graph.add("Sub", graph.add("Where", above, zero, x), graph.add("Min", most, zero))
        top = graph.add("Where", above, one, graph.add("Exp", shifted))
        powers = graph.add(
            "Div", top, graph.add("Add", one, graph.add("Exp", graph.add("Neg", graph.add("Abs", x))))
        )
    total = graph.add("ReduceSum", powers, graph.constant([1], np.int64), keepdims=1)
    return graph.add("Div", powers, total)


@add_step.register
def _(step: Average, graph: Graph) -> str:
    size, total = step.n_outputs, ""
    for member in range(step.members):
        said = graph.matrix(step.reads[member * size : (member + 1) * size])
        if step.weights:
            said = graph.add("Mul", said, graph.constant([step.weights[member]]))
        total = graph.add("Add", total, said) if total else said
    return total if step.weights else graph.add("Div", total, graph.constant([float(step.members)]))


@add_step.register
def _(step: Choose, graph: Graph) -> str:
    return graph.cast(graph.add("ArgMax", graph.matrix(step.reads), axis=1, keepdims=1), np.float64)


@add_step.register
def _(step: Votes, graph: Graph) -> str:
    codes, shares = graph.constant([np.arange(float(step.classes))]), ""
    for slot, weight in zip(step.reads, step.weights, strict=True):
        vote = graph.cast(graph.add("Equal", graph.matrix((slot,)), codes), np.float64)
        vote = graph.add("Mul", vote, graph.constant([weight]))
        shares = graph.add("Add", shares, vote) if shares else vote
    if step.rounded:
        many = graph.constant([1e12])
        shares = graph.add("Div", graph.add("Round", graph.add("Mul", shares, many)), many)
    return shares


@add_step.register
def _(step: Median, graph: Graph) -> str:
    size = len(step.reads)
    values = graph.add(
        "TopK",
        graph.matrix(step.reads),
        graph.constant([size], np.int64),
        outputs=2,
        axis=1,
        largest=0,
        sorted=1,
    )
    weights = graph.add("Gather", graph.constant(step.weights), f"{values}.1")
    below = graph.add("CumSum", weights, graph.constant(1, np.int64))
    half = graph.add(
        "Mul", graph.add("Gather", below, graph.constant([size - 1], np.int64), axis=1), graph.constant([0.5])
    )
    reached = graph.cast(graph.add("GreaterOrEqual", below, half), np.int64)
    return graph.add("GatherElements", values, graph.add("ArgMax", reached, axis=1, keepdims=1), axis=1)


@add_step.register
def _(step: Constant, graph: Graph) -> str:
    return _for_every_row(graph, list(step.values))


def _for_every_row(graph: Graph, values: list[float]) -> str:
    shape = graph.add("Shape", graph.first_column())
    rows = graph.add("Gather", shape, graph.constant([0], np.int64))
    wanted = graph.add("Concat", rows, graph.constant([len(values)], np.int64), axis=0)
    return graph.add("Expand", graph.constant([values]), wanted)
