"""How the trees of boosting add up: what a learner asks of a booster, and the plain one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from weald.binning import AnyBins
from weald.forest.builder import ForestBuilder
from weald.training.boosting.descent import Descent, Position
from weald.tree.growers import AnyGrower
from weald.tree.grown import GrownTree

if TYPE_CHECKING:
    from weald.training.boosting.plan import Plan
    from weald.training.boosting.rounds import Evaluation


@dataclass
class Making:
    """A model in the making: what a learner and its booster share."""

    builder: ForestBuilder
    at: Position
    evaluations: Sequence[Evaluation[AnyBins]]
    grower: AnyGrower
    descent: Descent


class Booster(Protocol):
    """Keeps the model, and the scores of all rows in step with it.

    The trees of a round see the same scores, so these change only between rounds. (A round of one tree an output may
    add it at once: an output's tree asks for no other output's scores but through the gradients.)
    """

    def begin(self, making: Making) -> None:
        """Take over the trees that are there and the scores that follow them."""

    def change(self, plan: Plan) -> None:
        """Follow another plan from the next round on."""

    def begin_round(self, number: int) -> None:
        """Bring the training scores to where the round's gradients are to be taken."""

    def add(self, tree: GrownTree, share: float, output: int) -> None:
        """Take a tree; ``share`` is what its leaves' values are shrunk by."""

    def end_round(self, learning_rate: float) -> None:
        """Bring the model and the scores of the evaluation sets to where the round leaves them."""

    def settle(self) -> None:
        """Bring the training scores to where the last round has left the model."""

    def state(self) -> dict[str, Any]:
        """What a booster that goes on needs beside the trees: numbers, texts and arrays by name."""

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state, after `begin`."""


class KnownByTrees:
    """A booster whose scores follow from its trees alone."""

    def change(self, plan: Plan) -> None:
        """Trees add up as before."""

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Nothing is left to do."""


class PlainBooster(KnownByTrees):
    """Trees are added, and stay as they are; the descent says how far their leaves go."""

    def begin(self, making: Making) -> None:
        """The scores follow at once, or a copy of them where the trees of a round must not see each other."""
        self._making = making
        at = making.at
        self._sums = at.scores if making.builder.parallel_trees == 1 else at.scores.copy()

    def begin_round(self, number: int) -> None:
        """All trees count."""

    def add(self, tree: GrownTree, share: float, output: int) -> None:
        """Add the leaves' values to the scores."""
        making = self._making
        values = making.descent.leaf_values(tree, making.at, output) * share
        tree.add_to(self._sums[output], values)
        for evaluation in making.evaluations:
            tree.add_to_binned(evaluation.bins, evaluation.scores[output], values)
        making.builder.append(**tree.for_forest(values, share))

    def end_round(self, learning_rate: float) -> None:
        """Show the next round what this one has added."""
        if self._sums is not self._making.at.scores:
            self._making.at.scores[...] = self._sums

    def settle(self) -> None:
        """They are there."""
