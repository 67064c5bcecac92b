"""What to train, complete and valid: a value that is made once, at the door, from parameters and a schema.

Nothing below this sees an estimator or the name of a parameter. Two plans that are equal train the same model on the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinChoices, Bundling
from weald.data.missing import Missing
from weald.data.sparse import Unstored
from weald.devices.parameters import DevicePlan
from weald.encoding.combinations import Projection
from weald.losses import Loss
from weald.sampling import RowSampler, UniformRows
from weald.sampling.parameters import Sampling
from weald.training.boosting.dart import DropRules
from weald.training.boosting.leaf_steps import LeafSteps
from weald.tree.rules import TreeRules

WHOLE_TREES = 1.0  # the learning rate of trees that are averaged


@dataclass(frozen=True)
class BinPlan:
    """The kind of binned table that the trees are grown on."""

    finder: str = "hist"  # or "exact", "approx"
    choices: BinChoices = field(default_factory=BinChoices)
    bundling: Bundling | None = None  # None: columns are not bundled
    buckets: int = 0  # of proposals; 0: nothing is proposed
    most_bins: int = 255  # of a column with proposals
    local: bool = False  # every node has proposals of its own
    precision: str = "packed"
    unstored: Unstored = "zero"

    @property
    def missing(self) -> Missing:
        """Which numbers of a table are missing."""
        return self.choices.missing


@dataclass(frozen=True)
class StatisticPlan:
    """Which categorical columns are split by target statistics, and how these are made."""

    kind: str
    columns: tuple[Projection, ...]  # that have statistics, by their places among the categorical ones
    alone: tuple[Projection, ...]  # of these, those that are not split as they are, too
    max_combination: int
    priors: tuple[float, ...] | None  # None: the mean of the labels
    prior_weight: float
    bins: int
    target_borders: int
    counters: bool


@dataclass(frozen=True)
class RowPlan:
    """How the rows of a round are drawn."""

    sampling: Sampling
    subsample: float = 1.0

    def sampler(self, y: NDArray[np.float64], seed: int, rate: float) -> RowSampler:
        """The sampler of rows with these labels."""
        return self.sampling.sampler(y, seed, self.subsample, rate)


@dataclass(frozen=True)
class LeafPlan:
    """How far the leaves of a tree go."""

    steps: LeafSteps | None = None  # None: one step from the tree's own rows
    whole_leaves: bool = False  # the loss's own step is that of all rows, also of those that were not drawn
    from_optimum: bool = True  # all scores start at the best constant, and no tree is ever missing


@dataclass(frozen=True)
class LinearPlan:
    """The descent of a linear model. Penalties are those of a row of mean weight: they grow with the table."""

    selector: str
    top_k: int  # 0: all columns
    reg_lambda: float
    reg_alpha: float
    max_delta_step: float  # the most by which a Newton step may move any row's score; 0: no limit


@dataclass(frozen=True)
class TreePlan:
    """How trees are grown, and how they add up."""

    rules: TreeRules
    bins: BinPlan = field(default_factory=BinPlan)
    rows: RowPlan | None = None  # None: all rows
    leaves: LeafPlan = field(default_factory=LeafPlan)
    column_share: float = 1.0
    column_weights: tuple[float, ...] | None = None  # of the draw; 0: never used
    noise: float = 0.0  # strength of that in the choice of splits
    parallel_trees: int = 1
    averaged: bool = False  # the model is the mean of its rounds
    drops: DropRules | None = None
    prefix_growth: float | None = None  # of ordered boosting
    statistics: StatisticPlan | None = None
    categories: tuple[str, ...] = ()  # how each categorical column is split, in a word
    permutations: int = 0  # orders of the rows that take turns, beside that of the model
    keeps_empty_rounds: bool = True  # of a plain booster: rounds but the first in which no tree splits are rounds, too

    @property
    def booster(self) -> str:
        """How trees add up, in the word that users choose it by."""
        if self.averaged:
            return "averaging"
        if self.drops is not None:
            return "dart"
        return "plain" if self.prefix_growth is None else "ordered"

    @property
    def takes_turns(self) -> bool:
        """Whether the orders of the rows, one or several, have scores of their own."""
        return self.prefix_growth is not None or self.statistics is not None


@dataclass(frozen=True)
class Plan:
    """What to train."""

    loss: Loss
    kind: TreePlan | LinearPlan
    rounds: int = 100
    rate: float = 0.1
    seed: int = 0
    n_jobs: int | None = None
    device: DevicePlan | None = None  # None: the CPU

    @property
    def trees(self) -> TreePlan:
        """The plan of the trees, where there are any."""
        assert isinstance(self.kind, TreePlan)
        return self.kind

    @property
    def booster(self) -> str:
        """How rounds add up, in the word that users choose it by."""
        return "linear" if isinstance(self.kind, LinearPlan) else self.kind.booster

    def sampler(self, y: NDArray[np.float64]) -> RowSampler:
        """What draws the rows of a round."""
        rows = self.trees.rows
        return UniformRows(self.seed, (1.0,)) if rows is None else rows.sampler(y, self.seed, self.rate)
