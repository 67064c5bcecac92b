"""The rows of the folds of a cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.shared.run import Values
from weald.runtime.errors import InputError

Ints = NDArray[np.int64]
Fold = tuple[Ints, Ints]


def add_means(
    table: dict[str, list[float]], name: str, values: Sequence[float], word: str, ddof: int = 0
) -> tuple[float, float]:
    """The mean and the deviation of the folds' values of a metric; a table keeps them as name-mean and name-``word``."""
    mean, deviation = float(np.mean(values)), float(np.std(values, ddof=ddof))
    table.setdefault(f"{name}-mean", []).append(mean)
    table.setdefault(f"{name}-{word}", []).append(deviation)
    return mean, deviation


def means_of(folds: Sequence[Values], table: dict[str, list[float]], word: str) -> Values:
    """Set -> metric -> (mean, deviation) of a round of all folds; a table keeps them, as `add_means` does."""
    return {
        data: [
            (metric, add_means(table, f"{data}-{metric}", [fold[data][place][1] for fold in folds], word))
            for place, (metric, *_) in enumerate(metrics)
        ]
        for data, metrics in folds[0].items()
    }


def fold_rows(
    label: Any, n_rows: int, nfold: int, stratified: bool, folds: Any, shuffle: bool, seed: int
) -> list[Fold]:
    """The training and test rows of every fold; ``folds``: a splitter of scikit-learn's, or such pairs."""
    rows = np.arange(n_rows)
    if folds is not None:
        if hasattr(folds, "split"):
            return list(folds.split(X=rows[:, None], y=label))
        return [(np.asarray(train), np.asarray(test)) for train, test in folds]
    if nfold < 2 or nfold > n_rows:
        raise InputError(f"nfold must be from 2 to the number of rows, {n_rows}, not {nfold!r}.")
    if stratified:
        from sklearn.model_selection import StratifiedKFold

        splitter = StratifiedKFold(n_splits=nfold, shuffle=shuffle, random_state=seed if shuffle else None)
        return list(splitter.split(rows[:, None], label))
    order = np.random.RandomState(seed).permutation(rows) if shuffle else rows
    parts = np.array_split(order, nfold)
    return [(np.concatenate([*parts[:k], *parts[k + 1 :]]), part) for k, part in enumerate(parts)]
