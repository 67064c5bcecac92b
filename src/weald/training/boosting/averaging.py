"""A random forest of boosted trees: every round is fitted where boosting starts, and the mean of the rounds is added.

Trees differ by the rows and columns that they are shown (Breiman 2001). Leaves are Newton steps from the constant that boosting
starts from, or the loss's own. LightGBM calls it boosting="rf".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import NotSupportedError
from weald.training.boosting.boosters import KnownByTrees, Making
from weald.tree.grown import GrownTree

Float64s = NDArray[np.float64]


@dataclass(frozen=True)
class AveragedRows:
    """What is kept of the training rows or an evaluation set beside their scores."""

    origin: Float64s  # scores before the first tree, (outputs, rows) or (outputs, 1)
    sums: Float64s  # of all trees that are there, (outputs, rows)


class AveragingBooster(KnownByTrees):
    """A booster whose trees do not see each other; ``rows``: of the training set, then of every evaluation set."""

    def __init__(self, rows: Sequence[AveragedRows]) -> None:
        self._rows = rows
        self._settled = True

    def begin(self, making: Making) -> None:
        """The scores are those of the mean so far."""
        self._making = making
        self._scores = [making.at.scores, *(evaluation.scores for evaluation in making.evaluations)]

    def begin_round(self, number: int) -> None:
        """Go back to where boosting starts: no tree has moved the gradients."""
        self._scores[0][...] = self._rows[0].origin
        self._settled = False

    def add(self, tree: GrownTree, share: float, output: int) -> None:
        """Add the leaves' values to the sums; scores follow when the round is over."""
        values = self._making.descent.leaf_values(tree, self._making.at, output) * share
        tree.add_to(self._rows[0].sums[output], values)
        for evaluation, rows in zip(self._making.evaluations, self._rows[1:], strict=True):
            tree.add_to_binned(evaluation.bins, rows.sums[output], values)
        self._making.builder.append(**tree.for_forest(values, share))

    def end_round(self, learning_rate: float) -> None:
        """Show the evaluation sets the mean with the round's trees."""
        if learning_rate != 1.0:
            raise NotSupportedError(
                "booster='averaging' averages whole trees: leave out callbacks that set a learning rate."
            )
        for place in range(1, len(self._scores)):
            self._average(place)

    def settle(self) -> None:
        """Bring the training scores from the start to the mean."""
        if not self._settled:
            self._average(0)
            self._settled = True

    def _average(self, place: int) -> None:
        # As prediction does it, to the last bit.
        scores, rows = self._scores[place], self._rows[place]
        np.divide(rows.sums, self._making.builder.n_rounds, out=scores)
        scores += rows.origin
