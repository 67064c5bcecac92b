"""Callbacks of training, with LightGBM's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from weald.dialects.lightgbm.basic import DOOR, EvalResult, log_info, log_warning
from weald.dialects.shared.values import whole_of
from weald.params.lightgbm import LIGHTGBM_PARAMETERS
from weald.runtime.errors import InputError

_FIXED = ("num_class", "boosting", "metric", "objective")


@dataclass
class CallbackEnv:
    """What a callback is told."""

    model: Any
    params: dict[str, Any]
    iteration: int
    begin_iteration: int
    end_iteration: int
    evaluation_result_list: list[EvalResult] | None


class EarlyStopException(Exception):
    """Raised by a callback to stop training; ``best_iteration`` counts from 0."""

    def __init__(self, best_iteration: int, best_score: Sequence[Any]) -> None:
        super().__init__()
        self.best_iteration = best_iteration
        self.best_score = [EvalResult(*result) for result in best_score]


def in_order(callbacks: Sequence[Callable[..., Any]] | None) -> tuple[list[Any], list[Any]]:
    """The callbacks to be called before a round, and those after it, each by its ``order``."""
    given = list(dict.fromkeys(callbacks or ()))
    for callback in given:
        if not callable(callback):
            raise InputError(f"callbacks must be functions of a CallbackEnv, but one is {callback!r}.")
    ranked = sorted(enumerate(given), key=lambda pair: getattr(pair[1], "order", pair[0] - len(given)))
    before = [callback for _, callback in ranked if getattr(callback, "before_iteration", False)]
    return before, [callback for _, callback in ranked if callback not in before]


def _text(results: Sequence[EvalResult], show_stdv: bool = True) -> str:
    def one(result: EvalResult) -> str:
        deviation = result.metric_std_dev if show_stdv else None
        more = "" if deviation is None else f" + {deviation:g}"
        return f"{result.dataset_name}'s {result.metric_name}: {result.metric_value:g}{more}"

    return "\t".join(one(result) for result in results)


@dataclass(eq=False)
class LogEvaluation:
    """Say the metrics every few rounds; ``show_stdv``: in `cv` the deviation too."""

    order = 10
    before_iteration = False

    period: int = 1
    show_stdv: bool = True

    def __call__(self, env: CallbackEnv) -> None:
        if self.period > 0 and env.evaluation_result_list and (env.iteration + 1) % self.period == 0:
            log_info(f"[{env.iteration + 1}]\t{_text(env.evaluation_result_list, self.show_stdv)}")


@dataclass(eq=False)
class RecordEvaluation:
    """Keep the metrics of every round in a dict: set -> metric -> values."""

    order = 20
    before_iteration = False

    eval_result: dict[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.eval_result, dict):
            raise TypeError(f"eval_result must be a dict, not {type(self.eval_result).__name__}.")

    def __call__(self, env: CallbackEnv) -> None:
        if env.iteration == env.begin_iteration:
            self.eval_result.clear()
        for result in env.evaluation_result_list or ():
            metrics = self.eval_result.setdefault(result.dataset_name, {})
            if result.is_cv_result():
                metrics.setdefault(f"{result.metric_name}-mean", []).append(result.metric_value)
                metrics.setdefault(f"{result.metric_name}-stdv", []).append(result.metric_std_dev)
            else:
                metrics.setdefault(result.metric_name, []).append(result.metric_value)


@DOOR.owner
class ResetParameter:
    """Other parameters in every round: a list for each, or a function of the round's number.

    A learning rate costs nothing to change; for others all rows are scored again, on the same bins.
    """

    order = 10
    before_iteration = True

    def __init__(self, **kwargs: Any) -> None:
        for name, schedule in kwargs.items():
            if LIGHTGBM_PARAMETERS.own_name(name) in _FIXED:
                raise InputError(f"{name} cannot be changed while a model is trained; leave it out.")
            if not callable(schedule) and not isinstance(schedule, list):
                raise InputError(f"{name} must be a list, one value a round, or a function of the round.")
        self.kwargs = kwargs

    def __call__(self, env: CallbackEnv) -> None:
        number, rounds = env.iteration - env.begin_iteration, env.end_iteration - env.begin_iteration
        changed = {}
        for name, schedule in self.kwargs.items():
            if isinstance(schedule, list) and len(schedule) != rounds:
                raise InputError(f"{name} has {len(schedule)} values, but there are {rounds} rounds.")
            value = schedule[number] if isinstance(schedule, list) else schedule(number)
            if value != env.params.get(name):
                changed[name] = value
        if changed:
            env.model.reset_parameter(changed)
            env.params.update(changed)


@dataclass(eq=False)
class EarlyStopping:
    """Stop when a metric of a valid set has not improved for so many rounds.

    All metrics on all sets but the training set are watched, or with ``first_metric_only`` the first one. ``min_delta``: what an
    improvement must exceed, for all metrics or for each. With a number of rounds below 1 it does nothing.

    ``best_score``, ``best_iter`` and ``best_score_list`` have, for every metric of every set, its best value, the round of
    that value, counted from 0, and all results of that round.
    """

    order = 30
    before_iteration = False

    stopping_rounds: int
    first_metric_only: bool = False
    verbose: bool = True
    min_delta: float | list[float] = 0.0
    enabled: bool = field(default=True, init=False)
    best_score: list[float] = field(default_factory=list, init=False)
    best_iter: list[int] = field(default_factory=list, init=False)
    best_score_list: list[list[EvalResult]] = field(default_factory=list, init=False)
    first_metric: str = field(default="", init=False)

    def __post_init__(self) -> None:
        rounds = whole_of(self.stopping_rounds)
        if rounds is None:
            raise TypeError(f"stopping_rounds must be a whole number, not {self.stopping_rounds!r}.")
        self.stopping_rounds, self.enabled = rounds, rounds > 0

    def __call__(self, env: CallbackEnv) -> None:
        if self.stopping_rounds > 0 and env.iteration == env.begin_iteration:
            self._begin(env)
        if not self.enabled:
            return
        results = env.evaluation_result_list or []
        deltas = self._deltas(results)
        for place, result in enumerate(results):
            self._keep(place, result, results, deltas[place], env.iteration)
            if not self._counts(result, results, env):
                continue
            best, found = self.best_iter[place], self.best_score_list[place]
            if env.iteration - best >= self.stopping_rounds:
                self._stop("Early stopping, best iteration is:", best, found, result)
            if env.iteration == env.end_iteration - 1:
                self._stop("Did not meet early stopping. Best iteration is:", best, found, result)

    def _keep(
        self, place: int, result: EvalResult, results: list[EvalResult], delta: float, number: int
    ) -> None:
        """Remember a result that is better than the best one before it."""
        value = result.metric_value
        if place == len(self.best_score):
            self.best_score.append(value)
            self.best_iter.append(number)
            self.best_score_list.append(results)
            return
        best = self.best_score[place]
        if value > best + delta if result.maximize else value < best - delta:
            self.best_score[place], self.best_iter[place], self.best_score_list[place] = (
                value,
                number,
                results,
            )

    def _begin(self, env: CallbackEnv) -> None:
        results = env.evaluation_result_list
        if not results:
            raise InputError("early stopping needs at least one valid set and one metric.")
        self.best_score, self.best_iter, self.best_score_list = [], [], []
        self.first_metric, self.enabled = results[0].metric_name, True
        if getattr(env.model, "_params", {}).get("boosting") == "dart":
            self.enabled = False
            log_warning(
                "early stopping does not go with boosting='dart', whose later rounds change earlier trees."
            )
        elif not any(self._counts(result, results, env) for result in results):
            self.enabled = False
            log_warning("only the training set is evaluated, so training does not stop early.")
        elif self.verbose:
            log_info(f"Request until validation scores don't improve for {self.stopping_rounds} rounds")
        self._deltas(results)

    def _deltas(self, results: Sequence[EvalResult]) -> list[float]:
        """What an improvement must exceed, for every result."""
        names = list(dict.fromkeys(result.metric_name for result in results))
        given = self.min_delta if isinstance(self.min_delta, list) else [self.min_delta]
        if any(delta < 0 for delta in given):
            raise InputError(f"min_delta must be at least 0, not {self.min_delta!r}.")
        given = (given or [0.0]) * (len(names) if len(given) < 2 else 1)
        if len(given) != len(names):
            raise InputError(f"min_delta must be one number, or one for each of the {len(names)} metrics.")
        return [given[names.index(result.metric_name)] for result in results]

    def _counts(self, result: EvalResult, results: Sequence[EvalResult], env: CallbackEnv) -> bool:
        """Whether a result can stop training: not of the training set, and of the first metric where only that one does."""
        if self.first_metric_only and result.metric_name != results[0].metric_name:
            return False
        return result.dataset_name != getattr(env.model, "_train_data_name", "train")

    def _stop(self, line: str, best: int, found: list[EvalResult], result: EvalResult) -> None:
        if self.verbose:
            log_info(f"{line}\n[{best + 1}]\t{_text(found)}")
            if self.first_metric_only:
                log_info(f"Evaluated only: {result.metric_name}")
        raise EarlyStopException(best, found)


# LightGBM's own names, which users call.
log_evaluation = LogEvaluation
record_evaluation = RecordEvaluation
reset_parameter = ResetParameter
early_stopping = EarlyStopping
