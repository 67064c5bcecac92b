"""Where boosting starts: the best constant, a prediction or scores of the user's, or the trees of an earlier fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.forest.predict import raw_scores, trees_alone
from weald.losses import Loss, scores_of
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.row_memory import RowMemory

Floats = NDArray[np.float64]
Blocks = Iterable[tuple[int, NDArray[Any]]]

_ADD_UP = "probabilities between 0 and 1, both excluded, that add up to 1, one for each class"
# Link -> what a prediction must be, and between which numbers it lies.
_RANGES = {
    "identity": ("a number", -np.inf, np.inf),
    "step": ("a number, the raw score itself", -np.inf, np.inf),
    "log": ("a number above 0", 0.0, np.inf),
    "logit": ("a probability between 0 and 1, both excluded", 0.0, 1.0),
    "half_logit": ("a probability between 0 and 1, both excluded", 0.0, 1.0),
    "softmax": (_ADD_UP, 0.0, 1.0),
    "one_vs_rest": (_ADD_UP, 0.0, 1.0),
    "sigmoids": ("probabilities between 0 and 1, both excluded, one for each class or one for all", 0.0, 1.0),
}
_SUM_TOLERANCE = 1e-6  # of probabilities that the user has rounded


def base_scores(base_score: Any, loss: Loss) -> Floats:
    """The raw scores, (outputs,), of the prediction that a user wants to start from.

    >>> from weald.losses import make_loss
    >>> base_scores(0.5, make_loss("logistic")).tolist()
    [0.0]
    """
    if loss.link not in _RANGES:
        raise NotSupportedError(
            f"base_score has no raw score with loss={loss.name!r}; leave it at None, or give fit an init_score."
        )
    wanted, low, high = _RANGES[loss.link]
    several = loss.n_outputs > 1
    if several and loss.link == "identity":
        wanted = f"{loss.n_outputs} numbers, one for each output, or one for all"
    try:
        given = np.array(base_score, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"base_score must be {wanted}, not {base_score!r}.") from None
    if given.ndim == 0 and wanted != _ADD_UP:
        given = np.full(loss.n_outputs, given)
    fits = given.shape == (loss.n_outputs,) and bool(((given > low) & (given < high)).all())
    if fits and wanted == _ADD_UP:
        fits = abs(float(given.sum()) - 1.0) <= _SUM_TOLERANCE
    if not fits:
        raise InputError(f"base_score must be {wanted}, not {base_score!r}.")
    return scores_of(loss.link, given[None] if several else given).reshape(-1)


def read_init_score(given: Any, n_rows: int, n_outputs: int, name: str = "init_score") -> Floats | None:
    """Scores that the rows start from, (outputs, rows), or None."""
    if given is None:
        return None
    wanted = f"({n_rows},)" if n_outputs == 1 else f"({n_rows}, {n_outputs})"
    try:
        scores = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers of shape {wanted}.") from None
    if scores.shape != (n_rows, n_outputs) and (n_outputs > 1 or scores.shape != (n_rows,)):
        raise InputError(f"{name} must have the shape {wanted}, not {scores.shape}.")
    scores = np.ascontiguousarray(scores.reshape(n_rows, n_outputs).T)
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores).all(axis=0))[0])
        raise InputError(f"{name} must be finite, but row {row} has {scores[:, row].tolist()}.")
    return scores


def without_trees(n_columns: int, base: Floats, parallel_trees: int = 1, averaged: bool = False) -> Forest:
    """The forest before the first round."""
    return ForestBuilder(n_columns, len(base), base, parallel_trees, averaged).build()


def origin_of(forest: Forest, init_score: Floats | None) -> Floats:
    """Where rows stand before the first tree: (outputs, 1), the same for all, or (outputs, rows)."""
    base: Floats = forest.base_score[:, None]
    return base.copy() if init_score is None else init_score + base


def scores_so_far(
    forest: Forest, blocks: Blocks, n_rows: int, tasks: int, init_score: Floats | None = None
) -> Floats:
    """The scores (outputs, rows) of the trees that are there, on top of where the rows start.

    Tree after tree, as training adds them, so that training that goes on comes to the bytes of training in one go.
    """
    origin = origin_of(forest, init_score)
    if not forest.n_trees:
        return np.repeat(origin, n_rows, axis=1) if init_score is None else origin
    if init_score is None:
        return raw_scores(forest, blocks, n_rows, tasks)
    if forest.averaged:
        return origin + raw_scores(trees_alone(forest), blocks, n_rows, tasks) / forest.n_rounds
    trees = replace(forest, base_score=np.zeros(forest.n_outputs), parallel_trees=1)
    pieces = list(blocks)
    for number in range(trees.n_rounds):
        origin += raw_scores(trees, pieces, n_rows, tasks, number, number + 1)
    return origin


def scores_in_memory(forest: Forest, blocks: Blocks, n_rows: int, tasks: int, memory: RowMemory) -> Floats:
    """`scores_so_far` of the rows of a table in blocks, in its own memory, block by block."""
    scores = memory.zeros((forest.n_outputs, n_rows), np.float64)
    if not forest.n_trees:
        step = memory.piece_rows or max(1, n_rows)
        for first in range(0, n_rows, step):
            scores[:, first : first + step] = origin_of(forest, None)
            memory.release(scores[:, first : first + step])
        return scores
    for first, part in blocks:
        here = scores[:, first : first + len(part)]
        if len(part):
            here[...] = raw_scores(forest, [(0, part)], len(part), tasks)
        memory.release(here)
    return scores
