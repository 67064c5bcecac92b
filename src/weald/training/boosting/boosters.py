"""How the trees of boosting add up: what the loop asks of a booster, and the plain one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from weald.binning import AnyBins
from weald.forest.builder import ForestBuilder
from weald.tree.growers import AnyGrower
from weald.tree.tree import GrownTree

if TYPE_CHECKING:
    from weald.training.boosting.descent import Descent, Position
    from weald.training.boosting.rounds import Evaluation


class Booster(Protocol):
    """Keeps the model, and the scores of all rows in step with it.

    The trees of a round see the same scores, so these change only between rounds. (A round of one tree an output may
    add it at once: an output's tree asks for no other output's scores but through the gradients.)
    """

    def begin(
        self,
        builder: ForestBuilder,
        at: Position,
        evaluations: Sequence[Evaluation[AnyBins]],
        grower: AnyGrower,
    ) -> None:
        """Take over the trees that are there and the scores that follow them."""

    def begin_round(self, number: int) -> None:
        """Bring the training scores to where the round's gradients are to be taken."""

    def add(self, tree: GrownTree, share: float, output: int) -> None:
        """Take a tree; ``share`` is what its leaves' values are shrunk by."""

    def end_round(self, learning_rate: float) -> None:
        """Bring the model and the scores of the evaluation sets to where the round leaves them."""

    def settle(self) -> None:
        """Bring the training scores to where the last round has left the model."""


class Plain:
    """Trees are added, and stay as they are; the descent says how far their leaves go."""

    def __init__(self, descent: Descent) -> None:
        self._descent = descent

    def begin(
        self,
        builder: ForestBuilder,
        at: Position,
        evaluations: Sequence[Evaluation[AnyBins]],
        grower: AnyGrower,
    ) -> None:
        """The scores follow at once, or a copy of them where the trees of a round must not see each other."""
        self._builder = builder
        self._at = at
        self._evaluations = evaluations
        self._sums = at.scores if builder.parallel_trees == 1 else at.scores.copy()

    def begin_round(self, number: int) -> None:
        """All trees count."""

    def add(self, tree: GrownTree, share: float, output: int) -> None:
        """Add the leaves' values to the scores."""
        values = self._descent.leaf_values(tree, self._at, output) * share
        tree.add_to(self._sums[output], values)
        for evaluation in self._evaluations:
            tree.add_to_binned(evaluation.bins, evaluation.scores[output], values)
        self._builder.append(**tree.for_forest(values, share))

    def end_round(self, learning_rate: float) -> None:
        """Show the next round what this one has added."""
        if self._sums is not self._at.scores:
            self._at.scores[...] = self._sums

    def settle(self) -> None:
        """They are there."""
