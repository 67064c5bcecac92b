"""AdaBoost: a member after another, each on the rows that the members before it got wrong.

The loops are written against a *weak learner* L: something that fits member m to weighted rows and says what the member
makes of the training rows. So they read as the papers do, and are the same for stumps on bins and for any
other estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.runtime import mathlib
from weald.runtime.elementwise import exp, log
from weald.runtime.errors import InputError

Floats = NDArray[np.float64]

# The least that probabilities, and weights as shares of the first ones, can fall to: a row that was easy for long can
# still become hard again.
LEAST = float(np.finfo(np.float64).eps)
# Beyond this power of e numbers would overflow, and all other rows' weights have fallen to their least long before.
_MOST_POWER = 700.0
_MOST = 1e300
_TINY = float(np.finfo(np.float64).tiny)


class WeakLearner(Protocol):
    """The weak learner. A member is whatever ``fit`` returns; the loops only hand it back.

    ``draws``: members are fitted to rows drawn by the weights, so that another round can do better with the same weights.
    """

    draws: bool

    def fit(self, number: int, weight: Floats) -> Any:
        """Member ``number``, trained on rows with these weights, which sum to 1."""

    def predict(self, member: Any) -> NDArray[Any]:
        """What the member says of the training rows: codes of classes, (rows, classes) probabilities, or values."""


@dataclass
class Boosted:
    """The members with their votes and errors, in the order of the rounds."""

    members: list[Any] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def append(self, member: Any, weight: float, error: float) -> None:
        """Add the member of a round; the sum of all weights must stay above 0 and finite."""
        if not 0.0 < weight < _MOST:
            raise InputError(
                f"learning_rate gives member {len(self.members)} the weight {weight:g}, with which votes cannot be added up; "
                f"use a {'smaller' if weight > 0.0 else 'larger'} learning_rate."
            )
        self.members.append(member)
        self.weights.append(weight)
        self.errors.append(error)


def _log_odds(error: float) -> float:
    """ln((1 - e) / e) of an error below 1."""
    return float(mathlib.log((1.0 - error) / max(error, _TINY)))


def boost_labels(
    learner: WeakLearner,
    codes: NDArray[np.int64],
    n_classes: int,
    weight: Floats,
    n_estimators: int,
    learning_rate: float,
) -> Boosted:
    """SAMME (Zhu, Zou, Rosset and Hastie 2009, algorithm 2): every member votes for one class.

    For two classes it is AdaBoost (Freund and Schapire 1997) with twice its alphas, ln((1 - e) / e) in place of
    1/2 ln((1 - e) / e): the same D in every round and the same sign of the vote. A round whose error is that of guessing, 1/2
    for two classes, would vote with weight 0 and leave D as it is, so boosting stops there as it does above it.
    """
    boosted = Boosted()
    guessing = 1.0 - 1.0 / n_classes
    D = start = _shares(weight)
    for m in range(n_estimators):
        h = learner.fit(m, D)
        wrong = learner.predict(h) != codes
        error = float(D[wrong].sum())
        if error <= 0.0:
            boosted.append(h, 1.0, 0.0)
            break
        # Rounding can leave nothing of a hair's breadth.
        better = 0.0 if error >= guessing else _log_odds(error) + float(mathlib.log(n_classes - 1.0))
        if better <= 0.0:
            if learner.draws and not boosted.members:
                continue
            break
        alpha = learning_rate * better
        boosted.append(h, alpha, error)
        D = _reweighted(start, D, np.where(wrong, mathlib.exp(min(alpha, _MOST_POWER)), 1.0))
    if not boosted.members:
        raise InputError(
            f"estimator is no better than guessing on these rows: its weighted error in the first round is {error:.3g} "
            f"for {n_classes} classes; use a stronger one, such as a deeper tree."
        )
    return boosted


def boost_probabilities(
    learner: WeakLearner,
    codes: NDArray[np.int64],
    n_classes: int,
    weight: Floats,
    n_estimators: int,
    learning_rate: float,
) -> Boosted:
    """SAMME.R (Zhu, Zou, Rosset and Hastie 2009, algorithm 4): every member gives probabilities, all members count alike.

    D changes by exp(-(K - 1)/K y·log p), where y is 1 for the row's class and -1/(K - 1) for each other.
    """
    boosted = Boosted()
    rows = np.arange(len(codes))
    D = start = _shares(weight)
    for m in range(n_estimators):
        h = learner.fit(m, D)
        p = learner.predict(h)
        error = float(D[p.argmax(axis=1) != codes].sum())
        boosted.append(h, 1.0, error)
        if error <= 0.0:
            break
        agreement = real_votes(p)[rows, codes] / (n_classes - 1.0)
        with np.errstate(over="ignore"):
            powers = np.clip(-learning_rate * agreement, -_MOST, _MOST)
        highest = float(powers[D > 0.0].max())
        if abs(highest) > _MOST_POWER:  # only their differences count
            powers = np.minimum(powers - highest, 0.0)
        D = _reweighted(start, D, exp(np.where(D > 0.0, powers, 0.0)))
    return boosted


def real_votes(probabilities: Floats) -> Floats:
    """The symmetric votes of SAMME.R, (K - 1)(log p - mean of log p), from (rows, K) probabilities.

    >>> real_votes(np.array([[0.5, 0.5]]))
    array([[0., 0.]])
    """
    n_classes = probabilities.shape[1]
    logarithms = log(np.maximum(probabilities, LEAST))
    votes: Floats = (n_classes - 1.0) * (logarithms - logarithms.mean(axis=1, keepdims=True))
    return votes


def label_votes(codes: NDArray[np.int64], n_classes: int) -> Floats:
    """The symmetric votes of SAMME, (rows, classes): 1 for the class that was predicted, -1/(K - 1) for each other.

    >>> label_votes(np.array([1, 0]), 2)
    array([[-1.,  1.],
           [ 1., -1.]])
    """
    votes = np.full((len(codes), n_classes), -1.0 / (n_classes - 1.0))
    votes[np.arange(len(codes)), codes] = 1.0
    return votes


def vote_probabilities(decision: Floats) -> Floats:
    """Probabilities from the decision function."""
    if decision.ndim == 1:
        second = 1.0 / (1.0 + exp(-decision))
        return np.column_stack([1.0 - second, second])
    scores = decision / (decision.shape[1] - 1.0)
    powers = exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: Floats = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


#: AdaBoost.R2's losses of a row, from its error's share of the largest error.
LOSSES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda shares: shares,
    "square": lambda shares: shares**2,
    "exponential": lambda shares: 1.0 - exp(-shares),
}


def boost_values(
    learner: WeakLearner, y: Floats, weight: Floats, n_estimators: int, learning_rate: float, loss: str
) -> Boosted:
    """AdaBoost.R2 (Drucker 1997): a row's loss is its error's share of the largest error.

    The average loss plays the part of the classifier's error; a member at 1/2 or above is dropped and ends the boosting, but the
    first one is kept.
    """
    boosted = Boosted()
    D = start = _shares(weight)
    counts = start > 0
    for m in range(n_estimators):
        h = learner.fit(m, D)
        distance = np.abs(learner.predict(h) - y)
        largest = float(distance[counts].max())
        if largest == 0.0:
            boosted.append(h, 1.0, 0.0)
            break
        losses = LOSSES[loss](np.where(counts, distance, 0.0) / largest)
        average = float((D * losses).sum())
        if average >= 0.5:
            if not boosted.members:
                boosted.append(h, 1.0, average)
            break
        beta = max(average, _TINY) / (1.0 - average)
        better = float(mathlib.log(1.0 / beta))
        boosted.append(h, learning_rate * better, average)
        powers = learning_rate * (1.0 - losses)
        lowest = float(powers[counts].min())
        if lowest * better > _MOST_POWER:  # only their differences count
            powers = np.maximum(powers - lowest, 0.0)
        D = _reweighted(start, D, exp(-better * powers))
    return boosted


def _shares(weight: Floats) -> Floats:
    """Weights that sum to 1, also of those whose sum is beyond float64 or so small that quotients are rough."""
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not _TINY < total < np.inf:
        weight = weight / weight.max()
        total = float(weight.sum())
    shares: Floats = weight / total
    return shares


def _reweighted(start: Floats, D: Floats, factors: Floats) -> Floats:
    """The next round's D: the weights times the factors, divided by their sum Z; rows without weight stay without."""
    changed = D * factors
    changed /= changed.sum()
    return np.maximum(changed, LEAST * start)


def weighted_median(values: Floats, weights: Floats) -> Floats:
    """The weighted median of each row of (rows, members) values: the smallest with half of the weight at or below it.

    >>> weighted_median(np.array([[1.0, 5.0, 2.0]]), np.array([1.0, 3.0, 1.0]))
    array([5.])
    """
    order = np.argsort(values, axis=1, kind="stable")
    below = np.cumsum(weights[order], axis=1)
    place = (below >= 0.5 * below[:, -1:]).argmax(axis=1)
    rows = np.arange(len(values))
    median: Floats = values[rows, order[rows, place]]
    return median
