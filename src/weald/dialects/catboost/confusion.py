"""Metrics of classes that count which class was taken for which."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
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


def _accuracy(counts: Float64s) -> float:
    return _ratio(np.trace(counts), counts.sum())


def _precision(counts: Float64s) -> float:
    return _ratio(counts[1, 1], counts[:, 1].sum(), 1.0)


def _recall(counts: Float64s) -> float:
    return _ratio(counts[1, 1], counts[1].sum(), 1.0)


def _f(counts: Float64s, value: float = 1.0) -> float:
    squared = value * value
    hits = (1.0 + squared) * counts[1, 1]
    return _ratio(hits, squared * counts[1].sum() + counts[:, 1].sum())


def _total_f1(counts: Float64s, value: Any = "Weighted") -> float:
    true, taken, hits = counts.sum(axis=1), counts.sum(axis=0), np.diag(counts)
    if value == "Micro":
        return _accuracy(counts)
    scores = np.divide(2.0 * hits, true + taken, out=np.zeros(len(hits)), where=true + taken > 0.0)
    return float(scores.mean() if value == "Macro" else (scores * true).sum() / true.sum())


def _balanced(counts: Float64s) -> float:
    true = counts.sum(axis=1)
    recalls = np.divide(np.diag(counts), true, out=np.ones(len(true)), where=true > 0.0)
    return float(recalls.mean())


def _mcc(counts: Float64s) -> float:
    true, taken, total = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    covariance = np.trace(counts) * total - (true * taken).sum()
    spread = (total**2 - (taken**2).sum()) * (total**2 - (true**2).sum())
    return float(covariance / math.sqrt(spread)) if spread > 0.0 else 0.0


def _kappa(counts: Float64s) -> float:
    total = counts.sum()
    chance = (counts.sum(axis=1) * counts.sum(axis=0)).sum() / total**2
    return _ratio(_accuracy(counts) - chance, 1.0 - chance, 1.0)


@dataclass(frozen=True)
class OfClasses:
    """A metric of counts; its fields are those of `metrics.Known`."""

    counted: Callable[..., float]
    needs: str
    larger: bool = True
    option: tuple[str, Any] | None = None

    def function(self, y: Float64s, prediction: Float64s, weight: Float64s | None, **options: Any) -> float:
        """The metric of predictions."""
        return self.counted(confusion(y, prediction, weight), **options)


OF_CLASSES: dict[str, OfClasses] = {
    "Accuracy": OfClasses(_accuracy, "classes"),
    "ZeroOneLoss": OfClasses(lambda counts: 1.0 - _accuracy(counts), "classes", False),
    "HammingLoss": OfClasses(lambda counts: 1.0 - _accuracy(counts), "classes", False),
    "Precision": OfClasses(_precision, "two"),
    "Recall": OfClasses(_recall, "two"),
    "F1": OfClasses(_f, "two"),
    "F": OfClasses(_f, "two", option=("beta", None)),
    "TotalF1": OfClasses(_total_f1, "classes", option=("average", "Weighted")),
    "BalancedAccuracy": OfClasses(_balanced, "two"),
    "BalancedErrorRate": OfClasses(lambda counts: 1.0 - _balanced(counts), "two", False),
    "MCC": OfClasses(_mcc, "classes"),
    "Kappa": OfClasses(_kappa, "classes"),
}
