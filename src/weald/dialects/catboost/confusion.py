"""Metrics of classes that count which class was taken for which."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weald.dialects.shared.tables import Float64s


def confusion(y: Float64s, prediction: Float64s, weight: Float64s | None) -> Float64s:
    """(true class, predicted class) -> weight of the rows; of equally likely classes the first is predicted."""
    several = prediction.ndim == 2
    taken = np.argmax(prediction, axis=1) if several else (prediction > 0.5).astype(np.int64)
    n_classes = prediction.shape[1] if several else 2
    true = y.astype(np.int64) if several else (y > 0.5).astype(np.int64)
    counts = np.bincount(true * n_classes + taken, weight, n_classes * n_classes)
    return counts.astype(np.float64).reshape(n_classes, n_classes)


def _ratio(part: float, whole: float, otherwise: float = 0.0) -> float:
    return float(part / whole) if whole > 0.0 else otherwise


def accuracy(counts: Float64s) -> float:
    """The share of rows whose class is right."""
    return _ratio(np.trace(counts), counts.sum())


def precision(counts: Float64s) -> float:
    """Of the rows that are taken for the second class the share that is of it."""
    return _ratio(counts[1, 1], counts[:, 1].sum(), 1.0)


def recall(counts: Float64s) -> float:
    """Of the rows of the second class the share that is taken for it."""
    return _ratio(counts[1, 1], counts[1].sum(), 1.0)


def f_score(counts: Float64s, value: float = 1.0) -> float:
    """The harmonic mean of precision and recall, which counts ``value`` times."""
    squared = value * value
    hits = (1.0 + squared) * counts[1, 1]
    return _ratio(hits, squared * counts[1].sum() + counts[:, 1].sum())


def total_f1(counts: Float64s, value: Any = "Weighted") -> float:
    """The mean of all classes' F1: of all alike ("Macro"), by their rows, or of all rows together ("Micro")."""
    true, taken, hits = counts.sum(axis=1), counts.sum(axis=0), np.diag(counts)
    if value == "Micro":
        return accuracy(counts)
    scores = np.divide(2.0 * hits, true + taken, out=np.zeros(len(hits)), where=true + taken > 0.0)
    return float(scores.mean() if value == "Macro" else (scores * true).sum() / true.sum())


def balanced_accuracy(counts: Float64s) -> float:
    """The mean of all classes' recall."""
    true = counts.sum(axis=1)
    recalls = np.divide(np.diag(counts), true, out=np.ones(len(true)), where=true > 0.0)
    return float(recalls.mean())


def mcc(counts: Float64s) -> float:
    """The correlation of the classes with what they are taken for (Matthews)."""
    true, taken, total = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    covariance = np.trace(counts) * total - (true * taken).sum()
    spread = (total**2 - (taken**2).sum()) * (total**2 - (true**2).sum())
    return float(covariance / math.sqrt(spread)) if spread > 0.0 else 0.0


def kappa(counts: Float64s) -> float:
    """How much better than by chance the classes are told (Cohen)."""
    total = counts.sum()
    chance = (counts.sum(axis=1) * counts.sum(axis=0)).sum() / total**2
    return _ratio(accuracy(counts) - chance, 1.0 - chance, 1.0)


def counted(metric: Callable[..., float]) -> Callable[..., float]:
    """A metric of counts as one of predictions."""

    def of_predictions(y: Float64s, prediction: Float64s, weight: Float64s | None, **options: Any) -> float:
        return metric(confusion(y, prediction, weight), **options)

    return of_predictions
