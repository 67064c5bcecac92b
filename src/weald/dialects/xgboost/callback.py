"""Callbacks of training, with XGBoost's names."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from weald.dialects.shared.run import Values
from weald.dialects.shared.values import whole_number
from weald.dialects.xgboost.metrics import maximises
from weald.dialects.xgboost.positional import by_position
from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from weald.dialects.xgboost.booster import Booster

#: evaluation set -> metric -> a value (in cv: mean and deviation) for every round
EvalsLog: TypeAlias = dict[str, dict[str, Any]]


class TrainingCallback:
    """What a callback may do; override some of these."""

    def before_training(self, model: Any) -> Any:
        """Called once before training; returns the model."""
        return model

    def after_training(self, model: Any) -> Any:
        """Called once after training; returns the model that `train` returns."""
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: EvalsLog) -> bool:
        """Called before every round; True stops."""
        return False

    def after_iteration(self, model: Any, epoch: int, evals_log: EvalsLog) -> bool:
        """Called after every round; True stops."""
        return False


class EarlyStopping(TrainingCallback):
    """Stop when a metric has not improved for some rounds.

    Parameters
    ----------
    rounds : rounds without an improvement
    metric_name, data_name : which metric on which set; the last of each when None
    maximize : whether larger is better; None: as the metric's name says
    save_best : return the model of the best round
    min_delta : an improvement must be larger than this

    Rounds of a model that training goes on from count: ``best_iteration`` is a round of the whole model. After training
    ``stopping_history`` has the watched values of all rounds, ``best_scores`` those that were improvements, as set -> metric ->
    list, and ``current_rounds`` the rounds since the last of them.
    """

    @by_position
    def __init__(
        self,
        *,
        rounds: int,
        metric_name: str | None = None,
        data_name: str | None = None,
        maximize: bool | None = None,
        save_best: bool | None = False,
        min_delta: float = 0.0,
    ) -> None:
        if min_delta < 0:
            raise InputError(f"min_delta must be at least 0, not {min_delta!r}.")
        self.rounds = whole_number("rounds", rounds, 1)
        self.metric_name = metric_name
        self.data = data_name
        self.maximize = maximize
        self.save_best = save_best
        self._min_delta = min_delta
        self._forget()

    def _forget(self) -> None:
        self.stopping_history: EvalsLog = {}
        self.best_scores: EvalsLog = {}
        self.current_rounds = 0
        self.starting_round = 0
        self._best: tuple[int, Any] | None = None

    def before_training(self, model: Any) -> Any:
        """Forget an earlier training, and count on from the rounds that are there."""
        if self.save_best and not hasattr(model, "__getitem__"):
            raise InputError("save_best=True has no meaning in cv, which returns no model; leave it out.")
        self._forget()
        self.starting_round = model.num_boosted_rounds()
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: EvalsLog) -> bool:
        """Stop after too many rounds without improvement; the model's attributes tell the best round."""
        value, data, metric = self._watched(evals_log)
        if self.maximize is None:
            self.maximize = maximises(metric)
        sign = -1.0 if self.maximize else 1.0
        self.stopping_history.setdefault(data, {}).setdefault(metric, []).append(value)
        if self._best is None or sign * _mean(value) < sign * _mean(self._best[1]) - self._min_delta:
            self._best, self.current_rounds = (self.starting_round + epoch, value), 0
            self.best_scores.setdefault(data, {}).setdefault(metric, []).append(value)
        else:
            self.current_rounds += 1
        self._tell(model, self._best)
        return self.current_rounds >= self.rounds

    def after_training(self, model: Any) -> Any:
        """The model of the best round, if that was asked for."""
        if not self.save_best or self._best is None:
            return model
        best: Any = model[: model.best_iteration + 1]
        self._tell(best, self._best)
        return best

    @staticmethod
    def _tell(model: Any, best: tuple[int, Any]) -> None:
        model.set_attr(best_iteration=str(best[0]), best_score=str(_mean(best[1])))

    def _watched(self, evals_log: EvalsLog) -> tuple[Any, str, str]:
        if not evals_log:
            raise InputError("early stopping needs at least one evaluation set; give evals or eval_set.")
        data = self.data if self.data is not None else list(evals_log)[-1]
        if data not in evals_log:
            raise InputError(
                f"data_name={data!r} is not evaluated; there are {', '.join(map(repr, evals_log))}."
            )
        known = evals_log[data]
        if not known:
            raise InputError("early stopping needs a metric; name one in eval_metric.")
        metric = self.metric_name if self.metric_name is not None else list(known)[-1]
        if metric not in known:
            raise InputError(
                f"metric_name={metric!r} is not evaluated; there are {', '.join(map(repr, known))}."
            )
        return known[metric][-1], data, metric


def _mean(value: Any) -> Any:
    """A round's value; in cv, where it comes with a deviation, the mean."""
    return value[0] if isinstance(value, tuple) else value


class LearningRateScheduler(TrainingCallback):
    """Another learning rate in every round: a function of its number, or a list."""

    def __init__(self, learning_rates: Callable[[int], float] | Sequence[float]) -> None:
        if not callable(learning_rates) and not isinstance(learning_rates, Sequence):
            raise InputError("learning_rates must be a function of the round or a list of numbers.")
        self.learning_rates = learning_rates

    def rate(self, epoch: int) -> float:
        """The rate of a round."""
        if callable(self.learning_rates):
            return float(self.learning_rates(epoch))
        if epoch >= len(self.learning_rates):
            raise InputError(
                f"learning_rates has {len(self.learning_rates)} numbers, but there are more rounds."
            )
        return float(self.learning_rates[epoch])

    def before_iteration(self, model: Any, epoch: int, evals_log: EvalsLog) -> bool:
        """Set the rate of the round to come."""
        model.set_param("learning_rate", self.rate(epoch))
        return False


def _say(line: str) -> None:
    print(line.rstrip("\n"))


class EvaluationMonitor(TrainingCallback):
    """Print the metrics every few rounds, and of the last.

    rank : the worker that prints. There is one, whose rank is 0, so that any other number has nothing printed.
    """

    def __init__(
        self,
        rank: int = 0,
        period: int = 1,
        show_stdv: bool = False,
        logger: Callable[[str], None] = _say,
    ) -> None:
        self.printer_rank = rank
        self.period = whole_number("period", period, 1)
        self.show_stdv = show_stdv
        self._logger = logger
        self._latest: str | None = None

    def after_iteration(self, model: Any, epoch: int, evals_log: EvalsLog) -> bool:
        """Print the round's metrics, or keep them in case that it was the last."""
        if not evals_log or self.printer_rank != 0:
            return False
        line = f"[{epoch}]" + "".join(
            self._text(data, metric, values[-1])
            for data, metrics in evals_log.items()
            for metric, values in metrics.items()
        )
        if epoch % self.period == 0:
            self._logger(line + "\n")
            self._latest = None
        else:
            self._latest = line + "\n"
        return False

    def after_training(self, model: Any) -> Any:
        """Print the last round's metrics, if they are still to be told."""
        if self._latest is not None:
            self._logger(self._latest)
            self._latest = None
        return model

    def _text(self, data: str, metric: str, value: Any) -> str:
        deviation = f"+{value[1]:.5f}" if self.show_stdv and isinstance(value, tuple) else ""
        return f"\t{data}-{metric}:{_mean(value):.5f}{deviation}"


class TrainingCheckPoint(TrainingCallback):
    """Save the model to a directory every few rounds."""

    default_format = "ubj"

    def __init__(
        self,
        directory: str | os.PathLike[str],
        name: str = "model",
        as_pickle: bool = False,
        interval: int = 100,
    ) -> None:
        self._directory = Path(directory)
        self._name = name
        self._as_pickle = as_pickle
        self._interval = whole_number("interval", interval, 1)
        self._start = 0
        self._epoch = 0

    def before_training(self, model: Any) -> Any:
        """Count on from the rounds that are there."""
        self._start = model.num_boosted_rounds()
        self._epoch = 0
        return model

    def after_iteration(self, model: Booster, epoch: int, evals_log: EvalsLog) -> bool:
        """Write a file, named by its round, when enough rounds have passed."""
        if self._epoch == self._interval:
            kind = "pkl" if self._as_pickle else self.default_format
            path = self._directory / f"{self._name}_{epoch + self._start}.{kind}"
            if self._as_pickle:
                path.write_bytes(pickle.dumps(model))
            else:
                model.save_model(path)
            self._epoch = 0
        self._epoch += 1
        return False


# What a callback answers to: one of another package's classes does, too, such as those for XGBoost's own trainings.
_MOMENTS = ("before_training", "after_training", "before_iteration", "after_iteration")


class _Score(float):
    """A score that can be read as folds' scores are, too: the mean and the deviation, of one model 0."""

    def __getitem__(self, place: int) -> float:
        return (float(self), 0.0)[place]


def _score(value: Any) -> Any:
    return value if isinstance(value, tuple) else _Score(value)


class CallbackContainer:
    """Callbacks, called one after another, with the metrics of all rounds so far."""

    def __init__(self, callbacks: Sequence[TrainingCallback]) -> None:
        for callback in callbacks:
            if not all(callable(getattr(callback, name, None)) for name in _MOMENTS):
                raise InputError(f"callbacks must be of TrainingCallback, but one is {callback!r}.")
        self.callbacks = list(callbacks)
        self.history: EvalsLog = {}

    def before_training(self, model: Any) -> Any:
        """Tell all callbacks; the model that they return."""
        for callback in self.callbacks:
            model = _returned(callback.before_training(model), "before_training")
        return model

    def after_training(self, model: Any) -> Any:
        """Tell all callbacks; the model that they return."""
        for callback in self.callbacks:
            model = _returned(callback.after_training(model), "after_training")
        return model

    def before_iteration(self, model: Any, epoch: int) -> bool:
        """Tell the callbacks, up to the first that stops; whether one does."""
        return any(
            callback.before_iteration(model, epoch, self._told(callback)) for callback in self.callbacks
        )

    def after_iteration(self, model: Any, epoch: int) -> bool:
        """Tell the callbacks, up to the first that stops; whether one does."""
        return any(
            callback.after_iteration(model, epoch, self._told(callback)) for callback in self.callbacks
        )

    def _told(self, callback: Any) -> EvalsLog:
        """The history as a callback reads it; one of XGBoost's own class takes our boosters for those of folds."""
        if not any(kind.__module__.partition(".")[0] == "xgboost" for kind in type(callback).__mro__):
            return self.history
        return {
            data: {metric: list(map(_score, values)) for metric, values in metrics.items()}
            for data, metrics in self.history.items()
        }

    def take(self, found: Values) -> None:
        """Append a round's values."""
        for data, metrics in found.items():
            for metric, value in metrics:
                self.history.setdefault(data, {}).setdefault(metric, []).append(value)


# XGBoost's own place for it, where annotations of users' callbacks look.
TrainingCallback.EvalsLog = EvalsLog  # type: ignore[attr-defined]


def _returned(model: Any, method: str) -> Any:
    if model is None:
        raise InputError(f"{method} of a callback must return the model, not None.")
    return model
