"""Cross-validation: the rows of the folds, and trainings side by side that wait for each other after every round."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError

Ints = NDArray[np.int64]
Fold = tuple[Ints, Ints]


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


class Race:
    """Trainings in threads of their own, which wait for each other after every round.

    ``between`` is run by one of the waiting threads when all have finished a round; whether it says to stop.
    """

    def __init__(self, trainings: Sequence[Callable[[], None]], between: Callable[[], bool]) -> None:
        self._trainings = trainings
        self._between = between
        self._error: BaseException | None = None
        self._barrier = threading.Barrier(len(trainings), self._meet)
        #: whether no round is to begin any more
        self.stopped = False

    def run(self) -> None:
        """Train all; the first error that one of them met is raised."""
        threads = [threading.Thread(target=self._train, args=(one,)) for one in self._trainings]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def finished(self) -> bool:
        """Called by every training after a round; whether to stop."""
        self._barrier.wait()
        return self.stopped

    def _train(self, training: Callable[[], None]) -> None:
        try:
            training()
        except BaseException as error:
            if not isinstance(error, threading.BrokenBarrierError) and self._error is None:
                self._error = error
            self._barrier.abort()

    def _meet(self) -> None:
        try:
            self.stopped = self._between()
        except BaseException as error:
            self._error = error
            raise
