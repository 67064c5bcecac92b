"""The weak learners of AdaBoost: any scikit-learn estimator, and trees on bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinnedTable, DenseBins
from weald.runtime.random import MEMBER_ROWS, stream_key
from weald.sampling import draw_by_weight
from weald.training.classical.members import seeded_clone, take_rows
from weald.tree.cart import CartLabels, CartRules, CartTree, Draw, grow_cart_trees


class EstimatorLearner:
    """Copies of an estimator, fitted to a table by weights, or to rows that are drawn by their weights."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        binned: BinnedTable | None,
        y: NDArray[Any],
        output: Callable[[Any, Any], NDArray[Any]],
        seed: int,
        draws: bool,
        total_weight: float,
    ) -> None:
        """``binned``: the table as Weald's own estimators take it; ``output``: what a member makes of a table.

        Members get weights that sum to ``total_weight``, so that the first one is the estimator as it is by itself: to a
        regularised estimator the scale of the weights matters.
        """
        self._estimator = estimator
        self._X, self._y = X, y
        self._training = X if binned is None else binned
        self._output = output
        self._seed = seed
        self.draws = draws
        self._total_weight = total_weight

    def fit(self, number: int, weight: NDArray[np.float64]) -> Any:
        """A fitted copy of the estimator."""
        member = seeded_clone(self._estimator, self._seed, number)
        if self.draws:
            counts = _drawn(weight, self._seed, number)
            rows = np.repeat(np.arange(len(counts)), counts)
            member.fit(take_rows(self._training, rows), self._y[rows])
        else:
            member.fit(self._training, self._y, sample_weight=weight * self._total_weight)
        return member

    def predict(self, member: Any) -> NDArray[Any]:
        """The member's output for the training rows."""
        return self._output(member, self._X)


class WeakTree:
    """Trees on bins; what a tree says of the training rows comes from their bins too. A member is its number and its tree."""

    def __init__(
        self,
        bins: DenseBins,
        labels: CartLabels,
        rules: CartRules,
        key: Callable[[int], int],
        real: bool,
        seed: int,
        draws: bool,
        total_weight: float,
        tasks: int,
    ) -> None:
        """``key``: of a tree's own randomness, by its number; ``real``: classifiers say probabilities, not codes."""
        self._bins, self._labels, self._rules = bins, labels, rules
        self._key = key
        self._real = real
        self._seed = seed
        self.draws = draws
        self._total_weight = total_weight
        self._tasks = tasks

    def fit(self, number: int, weight: NDArray[np.float64]) -> tuple[int, CartTree]:
        """A tree; drawn rows count as often as they were drawn."""
        used = weight * self._total_weight
        if self.draws:
            used = _drawn(weight, self._seed, number).astype(np.float64)
        keys = np.array([self._key(number)], np.uint64)
        (tree,) = grow_cart_trees(self._bins, self._labels, used, self._rules, Draw(), keys)
        return number, tree

    def predict(self, member: tuple[int, CartTree]) -> NDArray[Any]:
        """The tree's codes, probabilities or values of the training rows."""
        tree = member[1]
        leaves = tree.leaf_of_row(self._bins, self._tasks)
        if not self._labels.n_classes:
            return tree.value[leaves]
        probabilities = node_probabilities(tree.feature, tree.value, tree.vectors)
        said: NDArray[Any] = probabilities if self._real else probabilities.argmax(axis=1)
        return said[leaves]


def node_probabilities(
    feature: NDArray[np.int32], value: NDArray[np.float64], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(nodes, classes) probabilities of a classification tree; zeros, where leaves are vectors, in inner nodes."""
    if not len(vectors):
        return np.column_stack([1.0 - value, value])
    every = np.zeros((len(feature), vectors.shape[1]))
    every[feature < 0] = vectors
    return every


def _drawn(weight: NDArray[np.float64], seed: int, number: int) -> NDArray[np.int64]:
    """How often a member gets each row when as many as there are are drawn by their weights."""
    return draw_by_weight(weight, len(weight), stream_key(seed, MEMBER_ROWS, number))
