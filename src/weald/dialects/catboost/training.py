"""One training with CatBoost's loss, labels, metrics, overfitting detector and lines of progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from weald.dialects.catboost.metrics import Evaluated
from weald.dialects.catboost.objectives import Chosen
from weald.dialects.catboost.pool import Pool
from weald.dialects.catboost.translate import detector_of, device_of, native_parameters
from weald.dialects.shared.run import GivenRows, Order, Run
from weald.dialects.shared.tables import Float64s
from weald.estimators.shared.persistence import FittedModel
from weald.runtime.errors import InputError
from weald.training.boosting.callbacks import best_round, decline_pvalue

LEARN = "learn"
#: set -> metric -> a value for every evaluated round
Curves = dict[str, dict[str, list[float]]]
#: set -> metric -> its value in a round
Told = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Request:
    """What a fit asks for; ``pool``: the training rows as they were given."""

    full: Mapping[str, Any]
    chosen: Chosen
    pool: Pool
    train: GivenRows
    evals: Sequence[GivenRows] = ()
    metrics: Sequence[Evaluated] = ()

    def open(self, earlier: FittedModel | None = None) -> Run:
        """The training, at its first round; ``earlier``: the model that it goes on from."""
        train, weight = self.train, self.train.weight
        native = native_parameters(
            self.full,
            self.chosen,
            feature_names=self.pool.get_feature_names(),
            categorical=self.pool.get_cat_feature_indices(),
            weight=weight,
        )
        based = train.init_score is not None
        if any((one.init_score is not None) != based for one in self.evals):
            raise InputError("baseline must be there for the training set and every eval_set, or for none.")
        if earlier is None and not based:
            native["base_score"] = self.chosen.start(self.full["boost_from_average"])
        counts = slice(None) if weight is None else weight > 0
        loss = self.chosen.loss(train.label[counts], None if weight is None else weight[counts])
        metrics, device = [one.metric for one in self.metrics], device_of(self.full)
        return Run(Order(native, loss, train, self.evals, metrics, device=device), earlier)


def given_rows(
    pool: Pool, codes: Float64s, factors: Float64s | None, chosen: Chosen, name: str = LEARN
) -> GivenRows:
    """A pool with its labels as numbers and, where classes have weights, ``factors``, the rows' weights times those."""
    weight = pool.weights
    if factors is not None:
        own: Float64s = factors[codes.astype(np.int64)]
        weight = own if weight is None else own * weight
    start = None if pool.start is None else pool.starts(chosen.n_outputs)
    return GivenRows(pool.table, codes, weight, start, name)


@dataclass
class Course:
    """The rounds of a training: their metrics, the best one, whether to stop, and the lines that are printed.

    The best round is that of the first metric on the last eval_set, as in CatBoost.
    """

    full: Mapping[str, Any]
    metrics: Sequence[Evaluated]
    evals: Sequence[str] = ()
    callbacks: Sequence[Any] = ()
    say: Callable[[str], None] | None = None
    begin: int = 0
    curves: Curves = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rounds = int(self.full["iterations"])
        self._period = int(self.full["metric_period"])
        self._evaluated: list[int] = []
        self._started = time.perf_counter()

    # --- the best round -----------------------------------------------------------------------------

    @property
    def best_iteration(self) -> int | None:
        """The best round, from 0; None without an eval_set."""
        if not self.evals or not self._evaluated:
            return None
        first = next(k for k, number in enumerate(self._evaluated) if self._may_be_best(number))
        values = self.curves[self.evals[-1]][self.metrics[0].name][first:]
        place = best_round(values, self.metrics[0].metric.greater_is_better)
        return self.begin + self._evaluated[first + place]

    def _may_be_best(self, number: int) -> bool:
        return number + 1 >= int(self.full["best_model_min_trees"]) or number == self._evaluated[-1]

    @property
    def best_score(self) -> dict[str, dict[str, float]]:
        """Set -> metric -> its best value."""
        larger = {one.name: one.metric.greater_is_better for one in self.metrics}
        return {
            name: {metric: (max if larger[metric] else min)(values) for metric, values in curves.items()}
            for name, curves in self.curves.items()
        }

    # --- the rounds ---------------------------------------------------------------------------------

    def is_evaluated(self, number: int) -> bool:
        """Whether a round's metrics are asked for."""
        return number % self._period == 0 or number >= self._rounds - 1

    def told(self, run: Run) -> Told:
        """The metrics after the last round of a training: of its own rows and of every evaluation set."""
        at = run.session.settled()
        learnt = {
            one.name: one.value(at.loss, at.scores, at.train.y, at.train.weight)
            for one in self.metrics
            if one.on_train
        }
        values = run.values()
        return {LEARN: learnt} | {
            name: {metric: float(value) for metric, value in values[name]} for name in self.evals
        }

    def record(self, number: int, found: Told) -> bool:
        """Take down a round's metrics and print its line; whether to stop."""
        self.note(number, found)
        self._print(number, number == self._rounds - 1)
        return self._detects(number) or self._asked(number)

    def note(self, number: int, found: Told) -> None:
        """Take down a round's metrics."""
        self._evaluated.append(number)
        for name, metrics in found.items():
            for metric, value in metrics.items():
                self.curves.setdefault(name, {}).setdefault(metric, []).append(value)

    def _detects(self, number: int) -> bool:
        kind, wait = detector_of(self.full)
        best = self.best_iteration
        if kind is None or best is None:
            return False
        if self.begin + number - best < wait:
            return False
        if kind == "IncToDec":
            values = self.curves[self.evals[-1]][self.metrics[0].name]
            if decline_pvalue(values, self.metrics[0].metric.greater_is_better) >= self.full["od_pval"]:
                return False
        if self.say is not None:
            self.say(f"Stopped by overfitting detector  ({wait} iterations wait)")
        return True

    def _asked(self, number: int) -> bool:
        """Whether one of the user's callbacks, told of the round, stops."""
        info = SimpleNamespace(iteration=number + 1, metrics=self.curves)
        return not all([callback.after_iteration(info) for callback in self.callbacks])

    # --- lines --------------------------------------------------------------------------------------

    def _print(self, number: int, last: bool) -> None:
        if self.say is None or (number % print_period(self.full) and not last):
            return
        passed = time.perf_counter() - self._started
        parts = [f"{number}:"]
        name = self.metrics[0].name
        shown = [(LEARN, "learn"), *((one, f"test{place or ''}") for place, one in enumerate(self.evals))]
        for one, title in shown:
            if name in self.curves.get(one, {}):
                parts.append(f"{title}: {self.curves[one][name][-1]:.7f}")
        best = self.best_iteration
        if best is not None:
            parts.append(f"best: {self.best_score[self.evals[-1]][name]:.7f} ({best})")
        left = passed / (number + 1) * (self._rounds - number - 1)
        self.say("\t".join([*parts, f"total: {_duration(passed)}", f"remaining: {_duration(left)}"]))

    def tell_best(self, shrinks: bool) -> None:
        """Say which round was the best."""
        best = self.best_iteration
        if self.say is None or best is None:
            return
        value = self.best_score[self.evals[-1]][self.metrics[0].name]
        self.say(f"\nbestTest = {value:.10g}\nbestIteration = {best}\n")
        if shrinks:
            self.say(f"Shrink model to first {best + 1} iterations.")


def print_period(full: Mapping[str, Any]) -> int:
    """Rounds between two lines; 0: nothing is printed."""
    verbose = full["verbose"]
    if full["silent"] or full["logging_level"] == "Silent":
        return 0
    if verbose is None or verbose is True:
        return int(full["metric_period"])
    if isinstance(verbose, bool | int | np.integer) and verbose >= 0:
        return int(verbose)
    raise InputError(f"verbose must be True, False or a number of rounds, not {verbose!r}.")


def speaker(full: Mapping[str, Any], log_cout: Any) -> Callable[[str], None] | None:
    """What prints a line, on standard output or to ``log_cout``, or None where nothing is to be printed."""
    if not print_period(full):
        return None
    if log_cout is not None and not callable(log_cout) and not hasattr(log_cout, "write"):
        raise InputError(f"log_cout must have a method write or be a function, not {log_cout!r}.")
    write = log_cout if callable(log_cout) else (log_cout or sys.stdout).write

    def say(line: str) -> None:
        write(line + "\n")

    return say


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g}{unit}"
    return f"{seconds / 1e-6:.0f}us"
