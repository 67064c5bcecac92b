"""Ordered boosting straight from its definitions, for the squared loss and trees whose structure is given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def _means(values: np.ndarray, leaf_of_row: np.ndarray, rows: Sequence[int]) -> dict[int, float]:
    """The mean of the rows of every leaf, 0 where there is none."""
    return {
        leaf: float(np.mean([values[row] for row in rows if leaf_of_row[row] == leaf] or [0.0]))
        for leaf in (0, 1)
    }


def naive_scores(
    y: np.ndarray, leaf_of_row: np.ndarray, order: np.ndarray, rate: float, rounds: int
) -> np.ndarray:
    """The algorithm of n models: M_i learns from the first i rows the residuals that each has by the model before it.

    A row's score is that of the model of the rows before it.
    """
    n = len(y)
    models = np.zeros((n + 1, n))  # models[i]: M_i at every row; M_0 stays 0
    for _ in range(rounds):
        residual = np.empty(n)
        for place, row in enumerate(order):
            residual[row] = y[row] - models[place, row]
        for i in range(1, n + 1):
            step = _means(residual, leaf_of_row, order[:i].tolist())
            models[i] += [rate * step[int(leaf)] for leaf in leaf_of_row]
    scores = np.empty(n)
    for place, row in enumerate(order):
        scores[row] = models[place, row]
    return scores


def prefix_scores(
    y: np.ndarray, leaf_of_row: np.ndarray, order: np.ndarray, ends: Sequence[int], rate: float, rounds: int
) -> np.ndarray:
    """The practical form: a model for every prefix, which learns its own residuals; the rest as above."""
    models = np.zeros((len(ends) - 1, len(y)))
    for _ in range(rounds):
        for model, end in zip(models, ends, strict=False):
            step = _means(y - model, leaf_of_row, order[:end].tolist())
            model += [rate * step[int(leaf)] for leaf in leaf_of_row]
    scores = np.empty(len(y))
    for place, row in enumerate(order):
        without = [number for number, end in enumerate(ends[:-1]) if end <= place]
        scores[row] = models[without[-1], row] if without else 0.0
    return scores


def plain_scores(y: np.ndarray, leaf_of_row: np.ndarray, rate: float, rounds: int) -> np.ndarray:
    """Plain boosting: one model of all rows."""
    scores = np.zeros(len(y))
    for _ in range(rounds):
        step = _means(y - scores, leaf_of_row, range(len(y)))
        scores += [rate * step[int(leaf)] for leaf in leaf_of_row]
    return scores
