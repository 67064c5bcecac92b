"""Every kind of step as expressions of SQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, Final

import numpy as np

from weald.exchange.formats.sql_text import Query, balanced
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
from weald.exchange.plain import OutputTree, one_a_leaf
from weald.runtime.errors import NotSupportedError

# Terms of a sum in one expression; more are added in the next stage.
_TERMS: Final = 100
_LARGEST: Final = 1.7976931348623157e308


@singledispatch
def columns_of(step: Any, query: Query) -> None:
    """Add a step's stages; its slots are the names that are added to `query.slots`."""
    raise AssertionError(f"a model has no step {type(step).__name__}")


def _add(query: Query, expressions: Sequence[str]) -> None:
    query.slots += [query.stage_column(expression) for expression in expressions]
    query.end_stage()


def _sums(query: Query, starts: list[str], terms: list[list[str]]) -> list[str]:
    """Of every output the start and its terms, added in their order, in as many stages as it takes."""
    names = starts
    for first in range(0, max(map(len, terms), default=0), _TERMS):
        names = [
            query.stage_column(" + ".join([name, *own[first : first + _TERMS]]))
            for name, own in zip(names, terms, strict=True)
        ]
        query.end_stage()
    return names


@columns_of.register
def _(step: Trees, query: Query) -> None:
    forest = step.forest
    terms: list[list[str]] = [[] for _ in range(forest.n_outputs)]
    for number in range(forest.n_trees):
        for tree in one_a_leaf(forest, number):
            terms[tree.output].append(_tree(tree, step.reads, query))
    base = [query.real(float(start)) for start in forest.base_score]
    sums = _sums(query, [query.real(0.0)] * forest.n_outputs if forest.averaged else base, terms)
    if forest.averaged:
        rounds = query.real(float(max(forest.n_rounds, 1)))
        sums = [f"{one} / {rounds} + {start}" for one, start in zip(sums, base, strict=True)]
    if step.divisor != 1.0:
        sums = [f"({one}) / {query.real(step.divisor)}" for one in sums]
    _add(query, sums)


@columns_of.register
def _(step: TreeValues, query: Query) -> None:
    forest = step.forest
    trees = [one_a_leaf(forest, number)[0] for number in range(forest.n_trees)]
    _add(query, [_tree(tree, step.reads, query) for tree in trees])


def _tree(tree: OutputTree, reads: Sequence[int], query: Query) -> str:
    """A tree as a flat CASE.

    The leaves come from left to right. A leaf asks only where its path turns left: had it been wrong to turn right
    somewhere, a leaf on the left of that place would have come first.
    """
    whens: list[str] = []
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while waiting:
        node, asked = waiting.pop()
        if tree.feature[node] >= 0:
            left = int(tree.left[node])
            waiting.append((left + 1, asked))
            waiting.append((left, (*asked, _test(tree, node, reads, query))))
            continue
        value = query.real(float(tree.value[node]))
        if not asked:
            return f"CASE {' '.join(whens)} ELSE {value} END" if whens else value
        whens.append(f"WHEN {balanced(asked, 'AND')} THEN {value}")
    raise AssertionError("the last leaf of a tree turns right everywhere")


def _test(tree: OutputTree, node: int, reads: Sequence[int], query: Query) -> str:
    x, codes = query.slots[reads[tree.feature[node]]], tree.categories_left[node]
    if codes is None:
        test = f"{x} <= {query.real(float(tree.threshold[node]))}"
    elif codes:
        test = f"{x} IN ({', '.join(query.real(float(code)) for code in codes)})"
    else:
        test = f"{x} <> {x}"
    return f"({test} OR {x} IS NULL)" if tree.missing_left[node] else test


@columns_of.register
def _(step: Lookup, query: Query) -> None:
    group = ""
    for slot, size in zip(step.reads, step.sizes, strict=True):
        code = f"COALESCE({query.slots[slot]}, {query.real(size - 1.0)})"
        group = f"({group}) * {query.real(float(size))} + {code}" if group else code
    name = query.stage_column(group)
    query.end_stage()
    columns = []
    for cells, default in zip(step.cells, step.default, strict=True):
        whens = " ".join(
            f"WHEN {query.real(float(one))} THEN {query.real(float(cell))}"
            for one, cell in zip(step.groups, cells, strict=True)
        )
        otherwise = query.real(float(default))
        columns.append(f"CASE {name} {whens} ELSE {otherwise} END" if whens else otherwise)
    _add(query, columns)


@columns_of.register
def _(step: Weighted, query: Query) -> None:
    terms = [
        [
            f"{query.real(float(weight))} * COALESCE({query.slots[slot]}, {query.real(0.0)})"
            for weight, slot in zip(weights, step.reads, strict=True)
            if weight != 0.0
        ]
        for weights in step.weights
    ]
    _add(query, _sums(query, [query.real(float(start)) for start in step.start], terms))


def _exp(x: str, query: Query) -> str:
    """exp without an error where it overflows."""
    most, least, zero = query.real(709.782712893384), query.real(-745.0), query.real(0.0)
    return (
        f"CASE WHEN {x} > {most} THEN {query.real(np.inf)} WHEN {x} < {least} THEN {zero} ELSE EXP({x}) END"
    )


@columns_of.register
def _(step: Map, query: Query) -> None:
    one, zero, columns = query.real(1.0), query.real(0.0), []
    for slot in step.reads:
        x = query.slots[slot]
        columns.append(
            {
                "exp": f"CASE WHEN {x} > {query.real(709.782712893384)} THEN {query.real(_LARGEST)} ELSE {_exp(x, query)} END",
                "sigmoid": f"{one} / ({one} + {_exp(f'(-{x})', query)})",
                "step": f"CASE WHEN {x} > {zero} THEN {one} ELSE {zero} END",
                "double": f"{query.real(2.0)} * {x}",
                "complement": f"{one} - {x}",
                "choose_above": f"CASE WHEN {x} > {zero} THEN {one} ELSE {zero} END",
            }[step.function]
        )
    _add(query, columns)


@columns_of.register
def _(step: Divide, query: Query) -> None:
    _add(query, [f"{query.slots[slot]} / {query.real(step.by)}" for slot in step.reads])


@columns_of.register
def _(step: Normalise, query: Query) -> None:
    scores = [query.slots[slot] for slot in step.reads]
    one, zero = query.real(1.0), query.real(0.0)
    most = query.stage_column(query.largest(scores))
    query.end_stage()
    if step.function == "softmax":
        powers = [_exp(f"({x} - {most})", query) for x in scores]
    else:
        shift = f"(CASE WHEN {most} < {zero} THEN {most} ELSE {zero} END)"
        tops = [
            f"CASE WHEN {x} > {zero} THEN {one} ELSE {_exp(f'({x} - {shift})', query)} END" for x in scores
        ]
        powers = [
            f"{top} / ({one} + {_exp(f'(-ABS({x}))', query)})" for top, x in zip(tops, scores, strict=True)
        ]
    names = [query.stage_column(power) for power in powers]
    query.end_stage()
    (total,) = _sums(query, [zero], [names])
    _add(query, [f"{name} / {total}" for name in names])


@columns_of.register
def _(step: Average, query: Query) -> None:
    size, terms, starts = step.n_outputs, [], []
    for place in range(size):
        said = [query.slots[step.reads[member * size + place]] for member in range(step.members)]
        if step.weights:
            starts.append(query.real(0.0))
            terms.append(
                [f"{query.real(weight)} * {one}" for weight, one in zip(step.weights, said, strict=True)]
            )
        else:
            starts.append(said[0])
            terms.append(said[1:])
    sums = _sums(query, starts, terms)
    _add(query, sums if step.weights else [f"{one} / {query.real(float(step.members))}" for one in sums])


@columns_of.register
def _(step: Choose, query: Query) -> None:
    codes = [query.real(float(code)) for code in range(len(step.reads))]
    _add(query, [f"CASE {query.first_largest([query.slots[slot] for slot in step.reads], codes)} END"])


@columns_of.register
def _(step: Votes, query: Query) -> None:
    zero, many = query.real(0.0), query.real(1e12)
    terms = [
        [
            f"CASE WHEN {query.slots[slot]} = {query.real(float(code))} THEN {query.real(weight)} ELSE {zero} END"
            for slot, weight in zip(step.reads, step.weights, strict=True)
        ]
        for code in range(step.classes)
    ]
    sums = _sums(query, [zero] * step.classes, terms)
    _add(query, [f"ROUND({one} * {many}) / {many}" for one in sums] if step.rounded else sums)


@columns_of.register
def _(step: Median, query: Query) -> None:
    raise NotSupportedError(
        "format='sql' has no weighted median of columns, by which AdaBoostRegressor predicts; export the model "
        "as 'c', 'onnx' or 'python'."
    )


@columns_of.register
def _(step: Constant, query: Query) -> None:
    _add(query, [query.real(value) for value in step.values])
