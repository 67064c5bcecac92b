"""The plain evaluator of `Model`: every step on whole columns, in the order in which the formats compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset
from weald.exchange.model import (
    Average,
    Choose,
    Constant,
    Divide,
    Floats,
    Function,
    Lookup,
    Map,
    Median,
    Model,
    Normalise,
    Output,
    Trees,
    TreeValues,
    Votes,
    Weighted,
)
from weald.forest.predict import leaf_indices, raw_scores
from weald.losses.elementary import exp_of
from weald.losses.links import LINKS

# Decimals of shares of votes, of which 0.1 + 0.2 is to be a tie with 0.3.
DECIMALS: Final = 12
# Numbers of rows that are there at once.
_NUMBERS_TOGETHER: Final = 2**22


@dataclass(frozen=True)
class Evaluated:
    """What a model says of rows: scores and values (rows, numbers), and labels, one array for every output."""

    scores: Floats
    values: list[Floats]
    labels: list[NDArray[Any]]


def evaluate(model: Model, rows: Floats) -> Evaluated:
    """Evaluate rows of numbers and codes, (rows, columns)."""
    slots = np.empty((model.n_slots, len(rows)))
    slots[: rows.shape[1]] = numbers_of(model, rows).T
    for step, first in zip(model.steps, model.starts(), strict=True):
        slots[first : first + step.n_outputs] = _outputs(step, slots[list(step.reads)])
    answer = model.answer
    return Evaluated(
        slots[list(answer.scores)].T,
        [slots[list(output.values)].T for output in answer.outputs],
        [_labels(output, slots) for output in answer.outputs],
    )


def evaluate_table(model: Model, dataset: Dataset) -> Evaluated:
    """Evaluate a table that was read by the model's schema, some rows at a time."""
    step = max(1, _NUMBERS_TOGETHER // model.n_slots)
    rows = np.arange(dataset.n_rows)
    starts = range(0, max(dataset.n_rows, 1), step)
    parts = [evaluate(model, dataset.take(rows[first : first + step]).astype(np.float64)) for first in starts]
    if len(parts) == 1:
        return parts[0]
    return Evaluated(
        np.concatenate([part.scores for part in parts]),
        [np.concatenate(own) for own in zip(*(part.values for part in parts), strict=True)],
        [np.concatenate(own) for own in zip(*(part.labels for part in parts), strict=True)],
    )


def numbers_of(model: Model, rows: Floats) -> Floats:
    """The rows with NaN where the model takes a number for missing."""
    if model.missing == "nan":
        return rows
    changed = rows == 0.0 if model.missing == "zero" else np.isnan(rows)
    instead = np.nan if model.missing == "zero" else 0.0
    return np.where(changed & ~model.schema.categorical_mask, instead, rows)


def _labels(output: Output, slots: Floats) -> NDArray[Any]:
    if output.classes is None:
        values = slots[list(output.values)]
        return values[0] if len(values) == 1 else values.T
    labels = np.array([*output.classes, *([] if output.refusal is None else [output.refusal])])
    decided = slots[list(output.decided)]
    if output.rule == "above":
        codes = (decided[0] > 0.0).astype(np.int64)
    else:
        codes = decided.argmax(axis=0)
    if output.rule == "majority":
        codes[decided.max(axis=0) <= 0.5] = len(output.classes)
    chosen: NDArray[Any] = labels[codes]
    return chosen


def _capped_exp(x: Floats) -> Floats:
    capped: Floats = np.minimum(exp_of(x), np.finfo(np.float64).max)
    return capped


_FUNCTIONS: Final[dict[Function, Callable[[Floats], Floats]]] = {
    "exp": _capped_exp,
    "sigmoid": lambda x: LINKS["logit"](x[None]),
    "step": lambda x: (x > 0.0).astype(np.float64),
    "double": lambda x: 2.0 * x,
    "complement": lambda x: 1.0 - x,
    "choose_above": lambda x: (x > 0.0).astype(np.float64),
}


@singledispatch
def _outputs(step: Any, values: Floats) -> Any:
    """(outputs, rows) of a step whose slots hold `values`, (slots, rows)."""
    raise AssertionError(f"a model has no step {type(step).__name__}")


@_outputs.register
def _(step: Lookup, values: Floats) -> Floats:
    group = np.zeros(values.shape[1], np.int64)
    for codes, size in zip(values, step.sizes, strict=True):
        known = (codes >= 0.0) & (codes < size)
        group = group * size + np.where(known, codes, size - 1).astype(np.int64)
    place = np.searchsorted(step.groups, group)
    known = place < len(step.groups)
    known[known] = step.groups[place[known]] == group[known]
    found = np.tile(step.default[:, None], len(group))
    found[:, known] = step.cells[:, place[known]]
    return found


@_outputs.register
def _(step: Trees, values: Floats) -> Floats:
    rows = np.ascontiguousarray(values.T)
    scores = raw_scores(step.forest, [(0, rows)], len(rows))
    return scores / step.divisor


@_outputs.register
def _(step: TreeValues, values: Floats) -> Floats:
    rows = np.ascontiguousarray(values.T)
    leaves = leaf_indices(step.forest, [(0, rows)], len(rows))
    found: Floats = step.forest.value[step.forest.tree_offsets[:-1] + leaves].T
    return found


@_outputs.register
def _(step: Weighted, values: Floats) -> Floats:
    numbers = np.where(np.isnan(values), 0.0, values)
    scores = np.tile(step.start[:, None], values.shape[1])
    for score, weights in zip(scores, step.weights, strict=True):
        for weight, column in zip(weights, numbers, strict=True):
            if weight != 0.0:
                score += weight * column
    return scores


@_outputs.register
def _(step: Map, values: Floats) -> Floats:
    return np.stack([_FUNCTIONS[step.function](np.ascontiguousarray(column)) for column in values])


@_outputs.register
def _(step: Divide, values: Floats) -> Floats:
    return values / step.by


@_outputs.register
def _(step: Normalise, values: Floats) -> Floats:
    return LINKS[step.function](np.ascontiguousarray(values)).T


@_outputs.register
def _(step: Average, values: Floats) -> Floats:
    members = values.reshape(step.members, -1, values.shape[1])
    total = members[0].copy() if not step.weights else 0.0 + step.weights[0] * members[0]
    for place, member in enumerate(members[1:], 1):
        total += step.weights[place] * member if step.weights else member
    mean: Floats = total if step.weights else total / step.members
    return mean


@_outputs.register
def _(step: Choose, values: Floats) -> Floats:
    chosen: Floats = values.argmax(axis=0)[None].astype(np.float64)
    return chosen


@_outputs.register
def _(step: Votes, values: Floats) -> Floats:
    shares = np.zeros((step.classes, values.shape[1]))
    for codes, weight in zip(values, step.weights, strict=True):
        (rows,) = np.nonzero((codes >= 0.0) & (codes < step.classes))
        shares[codes[rows].astype(np.int64), rows] += weight
    rounded: Floats = np.round(shares, DECIMALS)
    return rounded if step.rounded else shares


@_outputs.register
def _(step: Median, values: Floats) -> Floats:
    weights = np.array(step.weights)
    order = np.argsort(values, axis=0, kind="stable")
    below = np.cumsum(weights[order], axis=0)
    place = (below >= 0.5 * below[-1]).argmax(axis=0)
    rows = np.arange(values.shape[1])
    median: Floats = values[order[place, rows], rows][None]
    return median


@_outputs.register
def _(step: Constant, values: Floats) -> Floats:
    return np.tile(np.array(step.values)[:, None], values.shape[1])
