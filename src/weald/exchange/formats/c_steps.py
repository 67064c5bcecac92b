"""The tables and the loop of every kind of step in C."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.exchange.formats.c_tables import array, number
from weald.exchange.model import (
    Average,
    Choose,
    Constant,
    Divide,
    Lookup,
    Map,
    Median,
    Normalise,
    Slots,
    Trees,
    TreeValues,
    Votes,
    Weighted,
)
from weald.forest.forest import Forest

Written = tuple[list[str], str]  # tables, and the code

_FUNCTIONS: Final = {
    "exp": "weald_exp(x) < 1.7976931348623157e308 ? weald_exp(x) : x != x ? x : 1.7976931348623157e308",
    "sigmoid": "weald_sigmoid(x)",
    "step": "x > 0.0 ? 1.0 : 0.0",
    "double": "2.0 * x",
    "complement": "1.0 - x",
    "choose_above": "x > 0.0 ? 1.0 : 0.0",
}


@singledispatch
def code_of(step: Any, place: int, first: int) -> Written:
    """The tables and the code of the step at a place, whose slots begin at `first`."""
    raise AssertionError(f"a model has no step {type(step).__name__}")


def _rows(lines: list[str]) -> str:
    """A loop over the rows of a block."""
    body = "\n".join("        " + line for line in lines)
    return f"    for (i = 0; i < n_rows; i++) {{\n{body}\n    }}"


def _reads(reads: Slots, place: int) -> str:
    return array("uint32_t", f"reads{place}", reads)


def _forest_tables(reads: Slots, forest: Forest, place: int) -> list[str]:
    """Nodes, trees and sets."""
    start = np.repeat(forest.tree_offsets[:-1], np.diff(forest.tree_offsets))
    inner, by_set = forest.feature >= 0, forest.category_set >= 0
    own = np.arange(forest.n_nodes)
    left = np.where(inner, forest.left + start, own)
    slots = np.array(reads)[np.where(inner, forest.feature, 0)]
    words = slots * 4 + by_set * 2 + (inner & (forest.missing_left == 0))
    limits = np.where(by_set, forest.category_set, np.where(inner, forest.threshold, np.inf))
    nodes = [
        f"{{{number(float(limit))}, {child}, {word}}}"
        for limit, child, word in zip(limits.tolist(), left.tolist(), words.tolist(), strict=True)
    ]
    asks = np.add.reduceat(by_set, forest.tree_offsets[:-1]) > 0 if forest.n_trees else np.zeros(0, bool)
    trees = (
        [
            f"{{{root}, {depth}, {int(has_sets)}}}"
            for root, depth, has_sets in zip(
                forest.tree_offsets[:-1].tolist(), forest.max_depth().tolist(), asks.tolist(), strict=True
            )
        ]
        if forest.n_trees
        else []
    )
    sets, bits = _sets(forest)
    return [
        _struct("Node", f"nodes{place}", nodes),
        _struct("Tree", f"trees{place}", trees),
        _struct("Set", f"sets{place}", sets),
        array("uint32_t", f"bits{place}", bits),
    ]


def _struct(kind: str, name: str, entries: list[str]) -> str:
    lines = ",\n".join(f"    {entry}" for entry in entries or ["{0, 0}" if kind == "Set" else "{0, 0, 0}"])
    return f"static const {kind} {name}[] = {{\n{lines}\n}};"


def _sets(forest: Forest) -> tuple[list[str], list[int]]:
    """(first word, words) of every set, and the words: a bit for every code that goes left."""
    sets: list[str] = []
    words: list[int] = []
    for begin, end in zip(forest.set_offsets[:-1], forest.set_offsets[1:], strict=True):
        codes: NDArray[np.int64] = forest.set_codes[begin:end].astype(np.int64)
        own = [0] * (int(codes.max(initial=-1)) // 32 + 1)
        for code in codes.tolist():
            own[code // 32] |= 1 << code % 32
        sets.append(f"{{{len(words)}, {len(own)}}}")
        words += own
    return sets, words


@code_of.register
def _(step: Trees, place: int, first: int) -> Written:
    forest, outputs = step.forest, step.n_outputs
    tables = _forest_tables(step.reads, forest, place)
    if forest.has_vectors:
        leaf = forest.feature < 0
        tables.append(array("uint32_t", f"vector{place}", np.where(leaf, np.cumsum(leaf) - 1, 0)))
        tables.append(array("double", f"values{place}", forest.vectors))
        add = (
            f"for (k = 0; k < {outputs}; k++) s[{first} + k][i + j] += "
            f"values{place}[(size_t)vector{place}[leaf[j]] * {outputs} + k];"
        )
    else:
        tables.append(array("double", f"values{place}", forest.value))
        output = f"{first}" if outputs == 1 else f"{first} + t % {outputs}"
        add = f"s[{output}][i + j] += values{place}[leaf[j]];"
    tables.append(array("double", f"base{place}", forest.base_score))
    start = "0.0" if forest.averaged else f"base{place}[k]"
    ends = ""
    if forest.averaged:
        ends += (
            f" s[{first} + k][i] = s[{first} + k][i] / {float(max(forest.n_rounds, 1))!r} + base{place}[k];"
        )
    if step.divisor != 1.0:
        ends += f" s[{first} + k][i] /= {step.divisor!r};"
    code = f"""\
    {{
        uint32_t leaf[ABREAST];
        size_t t, j, k;
        for (k = 0; k < {outputs}; k++)
            for (i = 0; i < n_rows; i++) s[{first} + k][i] = {start};
        for (t = 0; t < {forest.n_trees}; t++)
            for (i = 0; i < n_rows; i += ABREAST) {{
                find_leaves(nodes{place}, sets{place}, bits{place}, trees{place}[t], &s[0][i], leaf);
                for (j = 0; j < ABREAST; j++) {add}
            }}
        for (k = 0; k < {outputs}; k++)
            for (i = 0; i < n_rows; i++) {{{ends} }}
    }}"""
    return tables, code


@code_of.register
def _(step: TreeValues, place: int, first: int) -> Written:
    tables = [
        *_forest_tables(step.reads, step.forest, place),
        array("double", f"values{place}", step.forest.value),
    ]
    code = f"""\
    {{
        uint32_t leaf[ABREAST];
        size_t t, j;
        for (t = 0; t < {step.n_outputs}; t++)
            for (i = 0; i < n_rows; i += ABREAST) {{
                find_leaves(nodes{place}, sets{place}, bits{place}, trees{place}[t], &s[0][i], leaf);
                for (j = 0; j < ABREAST; j++) s[{first} + t][i + j] = values{place}[leaf[j]];
            }}
    }}"""
    return tables, code


@code_of.register
def _(step: Lookup, place: int, first: int) -> Written:
    tables = [
        _reads(step.reads, place),
        array("int64_t", f"groups{place}", step.groups),
        array("double", f"cells{place}", np.hstack([step.cells, step.default[:, None]]).reshape(-1)),
        array("int64_t", f"sizes{place}", step.sizes),
    ]
    size = len(step.groups)
    lines = [
        "int64_t group = 0;",
        "size_t k, found;",
        f"for (k = 0; k < {len(step.reads)}; k++) {{",
        f"    const double x = s[reads{place}[k]][i];",
        f"    group = group * sizes{place}[k] + (x != x ? sizes{place}[k] - 1 : (int64_t)x);",
        "}",
        f"found = place_of(groups{place}, {size}, group);",
        f"for (k = 0; k < {step.n_outputs}; k++) s[{first} + k][i] = cells{place}[k * {size + 1} + found];",
    ]
    return tables, _rows(lines)


@code_of.register
def _(step: Weighted, place: int, first: int) -> Written:
    outputs, columns = step.weights.shape
    tables = [
        _reads(step.reads, place),
        array("double", f"start{place}", step.start),
        array("double", f"weights{place}", step.weights.reshape(-1)),
    ]
    lines = [
        "size_t j, k;",
        f"for (k = 0; k < {outputs}; k++) {{",
        f"    double score = start{place}[k];",
        f"    for (j = 0; j < {columns}; j++) {{",
        f"        const double x = s[reads{place}[j]][i], weight = weights{place}[k * {columns} + j];",
        "        if (weight != 0.0) score += weight * (x != x ? 0.0 : x);",
        "    }",
        f"    s[{first} + k][i] = score;",
        "}",
    ]
    return tables, _rows(lines)


@code_of.register
def _(step: Map, place: int, first: int) -> Written:
    lines = [
        f"size_t k; for (k = 0; k < {step.n_outputs}; k++) {{",
        f"    const double x = s[reads{place}[k]][i];",
        f"    s[{first} + k][i] = {_FUNCTIONS[step.function]};",
        "}",
    ]
    return [_reads(step.reads, place)], _rows(lines)


@code_of.register
def _(step: Divide, place: int, first: int) -> Written:
    line = f"size_t k; for (k = 0; k < {step.n_outputs}; k++) s[{first} + k][i] = s[reads{place}[k]][i] / {step.by!r};"
    return [_reads(step.reads, place)], _rows([line])


@code_of.register
def _(step: Normalise, place: int, first: int) -> Written:
    size = step.n_outputs
    lines = [
        "double most, total = 0.0;",
        "size_t k;",
        f"most = s[reads{place}[0]][i];",
        f"for (k = 1; k < {size}; k++) most = s[reads{place}[k]][i] > most ? s[reads{place}[k]][i] : most;",
        *(["most = most < 0.0 ? most : 0.0;"] if step.function == "one_vs_rest" else []),
        f"for (k = 0; k < {size}; k++) {{",
        f"    const double x = s[reads{place}[k]][i];",
        *(
            ["    const double power = weald_exp(x - most);"]
            if step.function == "softmax"
            else [
                "    const double power = (x > 0.0 ? 1.0 : weald_exp(x - most)) / (1.0 + weald_exp(x < 0.0 ? x : -x));"
            ]
        ),
        f"    s[{first} + k][i] = power;",
        "    total += power;",
        "}",
        f"for (k = 0; k < {size}; k++) s[{first} + k][i] /= total;",
    ]
    return [_reads(step.reads, place)], _rows(lines)


@code_of.register
def _(step: Average, place: int, first: int) -> Written:
    size = step.n_outputs
    tables = [_reads(step.reads, place)]
    said = f"s[reads{place}[m * {size} + k]][i]"
    if step.weights:
        tables.append(array("double", f"weights{place}", step.weights))
        sums = [
            "double total = 0.0;",
            f"for (m = 0; m < {step.members}; m++) total += weights{place}[m] * {said};",
        ]
        result = "total"
    else:
        sums = [
            f"double total = s[reads{place}[k]][i];",
            f"for (m = 1; m < {step.members}; m++) total += {said};",
        ]
        result = f"total / {float(step.members)!r}"
    lines = ["size_t m, k;", f"for (k = 0; k < {size}; k++) {{", *sums, f"s[{first} + k][i] = {result};", "}"]
    return tables, _rows(lines)


@code_of.register
def _(step: Choose, place: int, first: int) -> Written:
    lines = [
        "size_t k, best = 0;",
        f"for (k = 1; k < {len(step.reads)}; k++)",
        f"    best = s[reads{place}[k]][i] > s[reads{place}[best]][i] ? k : best;",
        f"s[{first}][i] = (double)best;",
    ]
    return [_reads(step.reads, place)], _rows(lines)


@code_of.register
def _(step: Votes, place: int, first: int) -> Written:
    lines = [
        "size_t k;",
        f"for (k = 0; k < {step.classes}; k++) s[{first} + k][i] = 0.0;",
        f"for (k = 0; k < {len(step.reads)}; k++) s[{first} + (size_t)s[reads{place}[k]][i]][i] += weights{place}[k];",
    ]
    if step.rounded:
        rounded = f"((s[{first} + k][i] * 1e12 + 6755399441055744.0) - 6755399441055744.0) / 1e12"
        lines.append(f"for (k = 0; k < {step.classes}; k++) s[{first} + k][i] = {rounded};")
    return [_reads(step.reads, place), array("double", f"weights{place}", step.weights)], _rows(lines)


@code_of.register
def _(step: Median, place: int, first: int) -> Written:
    size = len(step.reads)
    lines = [
        f"uint32_t order[{size}], own;",
        "double total = 0.0, below = 0.0;",
        "size_t k, at;",
        f"for (k = 0; k < {size}; k++) {{",
        f"    for (at = k; at > 0 && s[reads{place}[order[at - 1]]][i] > s[reads{place}[k]][i]; at--) order[at] = order[at - 1];",
        "    order[at] = (uint32_t)k;",
        "}",
        f"for (k = 0; k < {size}; k++) total += weights{place}[order[k]];",
        f"for (k = 0, own = order[0]; k < {size}; k++) {{",
        f"    below += weights{place}[order[k]];",
        "    own = order[k];",
        "    if (below >= 0.5 * total) break;",
        "}",
        f"s[{first}][i] = s[reads{place}[own]][i];",
    ]
    return [_reads(step.reads, place), array("double", f"weights{place}", step.weights)], _rows(lines)


@code_of.register
def _(step: Constant, place: int, first: int) -> Written:
    lines = [f"s[{first + k}][i] = {number(value)};" for k, value in enumerate(step.values)]
    return [], _rows(lines)
