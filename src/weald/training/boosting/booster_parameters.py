"""How the trees of boosting add up, as choices.

A new booster is a class here, a line in `BOOSTERS`, and its rules of rounds as in boosters.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from weald.params.choice import Choice, Family, documented, flag, number, one_of, whole
from weald.runtime.errors import InputError
from weald.training.boosting.dart import DropRules

_PARALLEL_TREES = whole(
    "Trees of a round and output, each with its own rows and columns, whose mean is added.", 1, 100_000
)
_LIMITED = ("greedy", "thrifty")


class BoosterChoice(Choice):
    """How trees, or the steps of a linear model, add up."""

    #: Whether there are trees at all.
    has_trees: ClassVar[bool] = True
    #: Whether trees are averaged, each at its whole length.
    averages: ClassVar[bool] = False
    parallel_trees: int = 1


@documented
@dataclass(repr=False, eq=False)
class Plain(BoosterChoice):
    """One tree after another, each fitted to what the ones before it have left.

    The usual way. Friedman, "Greedy function approximation: a gradient boosting machine", 2001.

    Examples
    --------
    >>> Plain(parallel_trees=4)
    Plain(parallel_trees=4)
    """

    parallel_trees: Annotated[int, _PARALLEL_TREES] = 1


@documented
@dataclass(repr=False, eq=False)
class Ordered(BoosterChoice):
    """Each row's gradients come from trees that have not seen its label.

    Slower, and better on small tables. Prokhorenkova et al., "CatBoost: unbiased boosting with categorical features", 2018.

    Examples
    --------
    >>> Ordered(permutations=1)
    Ordered(permutations=1)
    """

    permutations: Annotated[
        int, whole("Orders of the rows that take turns, beside that of the leaf values.", 1, 64)
    ] = 3
    prefix_growth: Annotated[
        float,
        number(
            "How many times longer each next prefix of an order is that a model is kept for.",
            1,
            1024,
            open_low=True,
        ),
    ] = 2.0
    parallel_trees: Annotated[int, _PARALLEL_TREES] = 1


@documented
@dataclass(repr=False, eq=False)
class Dart(BoosterChoice):
    """Dropout: every round leaves out some earlier trees at random, so that no tree is there only to mend another.

    Against overfitting by many small late trees; it takes longer, and early stopping fits it less. Rashmi and
    Gilad-Bachrach, "DART: dropouts meet multiple additive regression trees", 2015.

    Examples
    --------
    >>> Dart(rate_drop=0.2)
    Dart(rate_drop=0.2)
    >>> sorted(Dart().get_params())[:3]
    ['max_drop', 'normalize_type', 'one_drop']
    """

    rate_drop: Annotated[float, number("Share of the earlier trees that a round drops.", 0, 1)] = 0.1
    skip_drop: Annotated[float, number("Share of the rounds that drop no tree.", 0, 1)] = 0.0
    one_drop: Annotated[bool, flag("A round drops at least one tree of every output.")] = False
    sample_type: Annotated[
        str,
        one_of(
            "Which trees are dropped: all alike, or in proportion to their weights.", "uniform", "weighted"
        ),
    ] = "uniform"
    normalize_type: Annotated[
        str,
        one_of(
            "What a new tree weighs: as much as one dropped tree, as all of them together, or one part of k + 1 beside k.",
            "tree",
            "forest",
            "paper",
        ),
    ] = "tree"
    max_drop: Annotated[
        int, whole("Most trees of an output that a round drops; 0: no limit.", 0, 2**31 - 1)
    ] = 0
    parallel_trees: Annotated[int, _PARALLEL_TREES] = 1

    @property
    def rules(self) -> DropRules:
        """The rules as the loop knows them."""
        return DropRules(
            self.rate_drop,
            self.skip_drop,
            self.one_drop,
            self.sample_type,
            self.normalize_type,
            self.max_drop,
        )


@documented
@dataclass(repr=False, eq=False)
class Averaging(BoosterChoice):
    """The mean of trees that do not follow one another: a random forest on gradients.

    Rows or columns must be drawn, or all trees would be the same. Breiman, "Random forests", 2001.

    Examples
    --------
    >>> Averaging()
    Averaging()
    """

    averages: ClassVar[bool] = True
    parallel_trees: Annotated[int, _PARALLEL_TREES] = 1


@documented
@dataclass(repr=False, eq=False)
class Linear(BoosterChoice):
    """A linear model in place of trees, by coordinate descent with L1 and L2 penalties.

    For many numeric columns of which each says a little. Friedman, Hastie and Tibshirani, "Regularization paths for
    generalized linear models via coordinate descent", 2010.

    Examples
    --------
    >>> Linear(selector="greedy", top_k=10)
    Linear(selector='greedy', top_k=10)
    """

    has_trees: ClassVar[bool] = False
    selector: Annotated[
        str,
        one_of("Which coordinate moves next.", "cyclic", "shuffle", "random", "greedy", "thrifty"),
    ] = "cyclic"
    top_k: Annotated[
        int, whole("Coordinates a round of the greedy and thrifty selectors; 0: all.", 0, 2**31 - 1)
    ] = 0

    def check_together(self, path: str) -> None:
        if self.top_k and self.selector not in _LIMITED:
            raise InputError(
                f"{path}.top_k={self.top_k} belongs to selector='greedy' and 'thrifty', not {self.selector!r}; leave it at 0."
            )


BOOSTERS: Family[BoosterChoice] = Family(
    "booster",
    {
        "plain": Plain,
        "ordered": Ordered,
        "dart": Dart,
        "averaging": Averaging,
        "linear": Linear,
    },
    instead={"forest": "averaging"},
)
