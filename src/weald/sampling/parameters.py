"""Ways to draw the rows of a round, as choices.

A new way is a class here, a line in `SAMPLINGS`, and a `RowSampler` in samplers.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from weald.params.choice import Choice, Family, documented, number, whole
from weald.runtime.errors import InputError, NotSupportedError
from weald.sampling.samplers import BayesianRows, GradientRows, RowSampler, UniformRows, VarianceRows

_FREQUENCY = whole("Rounds after which rows are drawn anew.", 1, 10_000_000)


class Sampling(Choice):
    """How the rows of a round are drawn, and what the rest of a training needs to know of it."""

    #: Whether the estimator's ``subsample`` says how many rows are drawn.
    takes_subsample: ClassVar[bool] = False
    #: Whether drawn rows have weights that other rows do not, so that leaf values are to come from all rows.
    weighs_rows: ClassVar[bool] = False
    #: Whether rows of large gradients are preferred, so that a sample is not like the other rows.
    keeps_large_gradients: ClassVar[bool] = False

    def sampler(
        self, y: NDArray[np.float64], seed: int, subsample: float, learning_rate: float
    ) -> RowSampler:
        """The way to draw rows with the given labels."""
        raise NotImplementedError

    def check_use(self, subsample: float, n_classes: int) -> None:
        """Refuse a share of rows and labels that do not go with this way; ``n_classes``: 0 for regression."""
        if subsample != 1.0 and not self.takes_subsample:
            raise NotSupportedError(
                f"subsample={subsample!r} has no meaning with sampling={self!r}; leave subsample at 1.0."
            )


@documented
@dataclass(repr=False, eq=False)
class Uniform(Sampling):
    """All rows alike: every round draws the share ``subsample`` of them.

    The usual way; below 1 it makes rounds faster and trees more different. Friedman, "Stochastic gradient boosting", 2002.

    Examples
    --------
    >>> Uniform(frequency=5)
    Uniform(frequency=5)
    """

    takes_subsample: ClassVar[bool] = True
    frequency: Annotated[int, _FREQUENCY] = 1

    def sampler(
        self, y: NDArray[np.float64], seed: int, subsample: float, learning_rate: float
    ) -> RowSampler:
        """Rows drawn with equal chances."""
        return UniformRows(seed, (subsample,), frequency=self.frequency)


@documented
@dataclass(repr=False, eq=False)
class ByClass(Sampling):
    """A share of each of two classes, so that a rare class need not lose rows where a frequent one does.

    Use it where one class has by far the more rows. LightGBM has it as pos_bagging_fraction and neg_bagging_fraction.

    Examples
    --------
    >>> ByClass(negative=0.1)
    ByClass(negative=0.1)
    """

    positive: Annotated[
        float, number("Share of the rows of the second class that a round draws.", 0, 1, open_low=True)
    ] = 1.0
    negative: Annotated[
        float, number("Share of the rows of the first class that a round draws.", 0, 1, open_low=True)
    ] = 1.0
    frequency: Annotated[int, _FREQUENCY] = 1

    def check_use(self, subsample: float, n_classes: int) -> None:
        """Refuse other labels than those of two classes."""
        if n_classes != 2:
            what = f"y has {n_classes}" if n_classes else "this is regression"
            raise NotSupportedError(
                f"sampling={self!r} is for two classes, but {what}; use sampling='uniform' with subsample."
            )
        super().check_use(subsample, n_classes)

    def sampler(
        self, y: NDArray[np.float64], seed: int, subsample: float, learning_rate: float
    ) -> RowSampler:
        """Rows drawn with the chances of their classes."""
        return UniformRows(seed, (self.negative, self.positive), y.astype(np.uint8), self.frequency)


@documented
@dataclass(repr=False, eq=False)
class Goss(Sampling):
    """Gradient-based one-side sampling: the rows of the largest gradients, and a sample of the others in their place.

    For large tables; the first 1 / learning_rate rounds see all rows. Ke et al., "LightGBM", 2017.

    Examples
    --------
    >>> Goss(top_rate=0.3).get_params()
    {'other_rate': 0.1, 'top_rate': 0.3}
    """

    keeps_large_gradients: ClassVar[bool] = True
    top_rate: Annotated[
        float, number("Share of the rows, those of the largest gradients, that is kept.", 0, 1)
    ] = 0.2
    other_rate: Annotated[
        float,
        number(
            "Share of the rows that is drawn from the others, to stand for all of them.", 0, 1, open_low=True
        ),
    ] = 0.1

    def check_together(self, path: str) -> None:
        if self.top_rate + self.other_rate > 1.0 + 1e-12:
            raise InputError(
                f"{path}.top_rate={self.top_rate} and {path}.other_rate={self.other_rate} are shares of the same rows; "
                "together they must be at most 1."
            )

    def sampler(
        self, y: NDArray[np.float64], seed: int, subsample: float, learning_rate: float
    ) -> RowSampler:
        """Rows drawn by their gradients."""
        # By then every row has been shown its error about once; the number is LightGBM's.
        first_round = int(1.0 / learning_rate)
        return GradientRows(seed, self.top_rate, self.other_rate, first_round)


@documented
@dataclass(repr=False, eq=False)
class Bayesian(Sampling):
    """The Bayesian bootstrap: all rows, each with a random weight.

    Use it on small tables, where leaving rows out costs too much. Rubin, "The Bayesian bootstrap", 1981; CatBoost's default.

    Examples
    --------
    >>> Bayesian(temperature=0.5)
    Bayesian(temperature=0.5)
    """

    weighs_rows: ClassVar[bool] = True
    # The largest weight is (53 log 2)**temperature, which a float32 holds up to 24.6; the rest is for gradients.
    temperature: Annotated[
        float, number("How unequal the weights are: 0 all alike, 1 exponential.", 0, 20)
    ] = 1.0
    frequency: Annotated[int, whole("Rounds after which weights are drawn anew.", 1, 10_000_000)] = 1

    def sampler(
        self, y: NDArray[np.float64], seed: int, subsample: float, learning_rate: float
    ) -> RowSampler:
        """All rows with random weights."""
        return BayesianRows(seed, self.temperature, self.frequency)


@documented
@dataclass(repr=False, eq=False)
class MinimalVariance(Sampling):
    """Minimal variance sampling: chances that grow with the gradient, and weights that make up for them.

    Draws the share ``subsample``, which must be below 1; of all samples of that size its sums vary least. Ibragimov and
    Gusev, "Minimal variance sampling in stochastic gradient boosting", 2019.

    Examples
    --------
    >>> MinimalVariance(reg=0.1)
    MinimalVariance(reg=0.1)
    """

    takes_subsample: ClassVar[bool] = True
    weighs_rows: ClassVar[bool] = True
    reg: Annotated[
        float | None,
        number(
            "What is added to a squared gradient, so that small ones keep a chance; None: their mean, squared.",
            0,
            optional=True,
        ),
    ] = None

    def check_use(self, subsample: float, n_classes: int) -> None:
        """Refuse to draw all rows."""
        if subsample == 1.0:
            raise InputError("sampling='mvs' draws a share of the rows; set subsample below 1, such as 0.8.")

    def sampler(
        self, y: NDArray[np.float64], seed: int, subsample: float, learning_rate: float
    ) -> RowSampler:
        """Rows drawn by their gradients, with weights."""
        return VarianceRows(seed, subsample, self.reg)


SAMPLINGS: Family[Sampling] = Family(
    "sampling",
    {
        "uniform": Uniform,
        "by_class": ByClass,
        "goss": Goss,
        "bayesian": Bayesian,
        "mvs": MinimalVariance,
    },
    instead={"bootstrap": "bayesian"},
)
