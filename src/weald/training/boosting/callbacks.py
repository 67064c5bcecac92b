"""Listeners of the boosting loop; these are the ones that come with Weald.

A callback is any function of a finished `Round`. One that also has a method ``before_round`` is shown the round before it
begins: it may set the round's ``learning_rate``, or ``stop`` training there.
"""

from __future__ import annotations

import math
import numbers
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weald.params import declare
from weald.params.parameter import Parameter
from weald.runtime.errors import InputError
from weald.training.boosting.rounds import Round

_GAIN_DECAY = 0.99  # how much of an expected gain is left a round later


def _check(name: str, declaration: Parameter, value: Any) -> None:
    replace(declaration, name=name).check(value)


def _check_names(metric: Any, on: Any) -> None:
    for name, value in (("metric", metric), ("on", on)):
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be a name or None, not {value!r}.")


def best_round(values: list[float], greater_is_better: bool) -> int:
    """The index of the best value, the first of equals; NaN is never best.

    >>> best_round([0.5, 0.3, 0.3, 0.4], greater_is_better=False)
    1
    """
    best = 0
    for number, value in enumerate(values):
        better = value > values[best] if greater_is_better else value < values[best]
        if better or (values[best] != values[best] and value == value):
            best = number
    return best


@dataclass(eq=False)
class EarlyStopping:
    """Stop when a metric has not improved for some rounds.

    Parameters
    ----------
    rounds : how many rounds without an improvement are one too many.
    metric : its name; the first of the fit's metrics when None.
    on : name of the evaluation set; the first when None.
    min_delta : an improvement must be larger than this.

    >>> EarlyStopping(rounds=10, metric="auc")
    EarlyStopping(rounds=10, metric='auc', on=None, min_delta=0.0)
    """

    rounds: int
    metric: str | None = None
    on: str | None = None
    min_delta: float = 0.0

    def __post_init__(self) -> None:
        _check("rounds", declare.whole("", 1), self.rounds)
        _check("min_delta", declare.number("", 0), self.min_delta)
        _check_names(self.metric, self.on)

    def __call__(self, state: Round) -> None:
        values, greater = watched_values(state, self.metric, self.on)
        sign = -1.0 if greater else 1.0
        best, since = float("inf"), 0
        for value in values:
            if sign * value < best - self.min_delta:
                best, since = sign * value, 0
            else:
                since += 1
        if since >= self.rounds:
            state.stop(f"no improvement for {self.rounds} rounds")


@dataclass(eq=False)
class OverfittingDetector:
    """Stop when a metric has lost too much of what it gained before: CatBoost's detector "IncToDec".

    With s the metric, turned so that larger is better, the gain that may still be expected after round i is

        inc = max over i1 <= i2 <= i of 0.99^(i - i1) (s[i2] - s[i1]),

    and the loss since the best round is d = max s - s[i]. The p-value is exp(-0.5 d / inc): 1 in a best round, and the less the
    deeper the metric falls and the longer ago it rose.

    Parameters
    ----------
    pvalue : training stops when the p-value is less; from 1e-10, patient, to 1e-2.
    wait : rounds after the best one that are trained in any case.
    metric : its name; the first of the fit's metrics when None.
    on : name of the evaluation set; the first when None.

    >>> OverfittingDetector(pvalue=1e-3)
    OverfittingDetector(pvalue=0.001, wait=20, metric=None, on=None)
    """

    pvalue: float
    wait: int = 20
    metric: str | None = None
    on: str | None = None

    def __post_init__(self) -> None:
        is_number = not isinstance(self.pvalue, bool) and isinstance(self.pvalue, numbers.Real)
        if not is_number or not 0.0 < self.pvalue < 1.0:
            raise InputError(f"pvalue must be between 0 and 1, not {self.pvalue!r}.")
        _check("wait", declare.whole("", 1), self.wait)
        _check_names(self.metric, self.on)

    def __call__(self, state: Round) -> None:
        values, greater = watched_values(state, self.metric, self.on)
        since = len(values) - 1 - best_round(values, greater)
        if since < self.wait:
            return
        current = decline_pvalue(values, greater)
        if current < self.pvalue:
            state.stop(f"overfitting, p-value {current:.3g}, {since} rounds after the best one")


def decline_pvalue(values: Sequence[float], greater_is_better: bool) -> float:
    """The p-value of `OverfittingDetector` after the last of the values of a metric.

    >>> round(decline_pvalue([5.0, 1.0, 3.0], greater_is_better=False), 3)
    0.775
    """
    sign = 1.0 if greater_is_better else -1.0
    expected, best_after = 0.0, -math.inf
    for age, value in enumerate(reversed(values)):
        best_after = max(best_after, sign * value)
        expected = max(expected, _GAIN_DECAY**age * (best_after - sign * value))
    decline = best_after - sign * values[-1]
    if decline <= 0.0:
        return 1.0
    return math.exp(-0.5 * decline / expected) if expected > 0.0 else 0.0


def watched_values(state: Round, metric: str | None, on: str | None) -> tuple[list[float], bool]:
    """The values of one metric on one set so far, and whether larger ones are better."""
    history = state.history
    if not history:
        raise InputError("early stopping needs an eval_set; pass eval_set=[(X_valid, y_valid)] to fit.")
    known = {known_metric.name: known_metric for known_metric in state.metrics}
    name = metric if metric is not None else next(iter(known))
    chosen = on if on is not None else next(iter(history))
    if chosen not in history:
        raise InputError(
            f"on={chosen!r} is not an evaluation set; there are {', '.join(map(repr, history))}."
        )
    if name not in known:
        raise InputError(f"metric={name!r} is not evaluated; eval_metric has {', '.join(map(repr, known))}.")
    return history[chosen][name], known[name].greater_is_better


class TimeBudget:
    """Stop after the first round that ends when so many seconds have passed since training began.

    The rounds that fit depend on the machine; those that are there have the bytes they always have.

    >>> TimeBudget(60.0)
    TimeBudget(60.0)
    """

    def __init__(self, seconds: float) -> None:
        _check("seconds", declare.number("", 0, open_low=True), seconds)
        self.seconds = seconds
        self._end: float | None = None

    def __repr__(self) -> str:
        return f"TimeBudget({self.seconds})"

    def start(self) -> None:
        """Begin to count; `fit` calls it."""
        self._end = time.monotonic() + self.seconds

    def __call__(self, state: Round) -> None:
        if self._end is None:
            self.start()
        assert self._end is not None
        if time.monotonic() >= self._end:
            state.stop(f"{self.seconds} seconds have passed")


class LearningRateScheduler:
    """Set every round's learning rate.

    Parameters
    ----------
    rates : a function from the round's number, from 0, to its learning rate; or a list with a rate for every round.

    >>> import numpy as np
    >>> import weald
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> slower = weald.LearningRateScheduler(lambda number: 0.5 * 0.9**number)
    >>> model = weald.BoostedTreesRegressor(n_estimators=10).fit(X, X[:, 0], callbacks=[slower])
    >>> model.forest_.n_rounds
    10
    """

    def __init__(self, rates: Callable[[int], float] | Sequence[float]) -> None:
        if not callable(rates) and (isinstance(rates, str | bytes) or not isinstance(rates, Iterable)):
            raise InputError(f"rates must be a function of the round's number or a list of rates, not {rates!r}.")
        self.rates = rates if callable(rates) else list(rates)

    def __repr__(self) -> str:
        return f"LearningRateScheduler({self.rates!r})"

    def before_round(self, state: Round) -> None:
        """Set the rate of the round that is about to begin."""
        if callable(self.rates):
            state.learning_rate = self.rates(state.number)
        elif state.number < len(self.rates):
            state.learning_rate = self.rates[state.number]
        else:
            raise InputError(
                f"rates has {len(self.rates)} learning rates, but there are {state.n_rounds} rounds."
            )

    def __call__(self, state: Round) -> None:
        """Nothing is left to do after a round."""


class Checkpoint:
    """Save the model every few rounds; ``fit(..., resume_from=path)`` goes on from there to the same bytes.

    The file is replaced atomically: a process that is killed leaves the last whole checkpoint.

    >>> Checkpoint("model.weald", every=20)
    Checkpoint('model.weald', every=20)
    """

    def __init__(self, path: str | os.PathLike[str], every: int = 10) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"path must be the name of a file, not {path!r}.")
        _check("every", declare.whole("", 1), every)
        self.path = Path(path)
        self.every = every
        self._save: Callable[[Path, Round], None] | None = None

    def __repr__(self) -> str:
        return f"Checkpoint({str(self.path)!r}, every={self.every})"

    def bind(self, save: Callable[[Path, Round], None] | None) -> None:
        """Tell how a model is written, or forget it; `fit` calls it before and after."""
        self._save = save

    def __call__(self, state: Round) -> None:
        if self._save is None:
            raise InputError("Checkpoint works only as one of fit's callbacks.")
        if (state.number + 1) % self.every == 0:
            self._save(self.path, state)
