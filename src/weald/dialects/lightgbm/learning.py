"""The part of LightGBM's `Booster` that learns: rounds by `train` and `update`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from weald.dialects.lightgbm.basic import EvalResult, log_warning
from weald.dialects.lightgbm.columns import ColumnFacts
from weald.dialects.lightgbm.dataset import Dataset
from weald.dialects.lightgbm.metrics import metrics_of
from weald.dialects.lightgbm.objectives import Chosen
from weald.dialects.lightgbm.request import CustomMetric, CustomObjective, Request, results_of
from weald.dialects.shared.booster import LearningHolder
from weald.dialects.shared.run import Run
from weald.params.choice import same
from weald.params.lightgbm import LIGHTGBM_PARAMETERS, read_parameters, value_of
from weald.runtime.errors import InputError

_FIXED = frozenset({"num_class", "boosting", "metric", "objective"})
_OWNERS = ("boosting", "data_sample_strategy", "objective")  # what other parameters belong to

#: told of a round before it begins, by its number from 0
Before = Callable[[int], None]
#: told of a round and its metrics; whether to stop
After = Callable[[int, list[EvalResult]], bool]


class LearningBooster(LearningHolder):
    """A booster that adds rounds to its model."""

    params: dict[str, Any]
    _params: dict[str, Any]
    _custom: bool
    _names: list[str]
    _train_set: Dataset | None
    _objective: CustomObjective | None
    _from_scores: bool
    _facts: ColumnFacts | None
    #: the learning rate of every round
    _rates: list[float]
    _request: Request | None = None

    def _set_train_set(self, train_set: Any) -> None:
        if not isinstance(train_set, Dataset):
            raise TypeError(f"train_set must be a Dataset, not {type(train_set).__name__}.")
        if self._rounds() and train_set.num_feature() != self.num_feature():
            raise InputError(
                f"train_set has {train_set.num_feature()} columns, but the model was trained with {self.num_feature()}."
            )
        self._train_set = train_set
        self._names = train_set.get_feature_name()

    @property
    def train_set(self) -> Dataset | None:
        """The rows to train on, while the Booster keeps them."""
        return self._train_set

    def num_feature(self) -> int:
        """How many columns the model was trained on."""
        if self._train_set is not None:
            return self._train_set.num_feature()
        return self._fitted().schema.n_columns

    def _chosen(self) -> Chosen:
        return Chosen(self._params, self._custom)

    def _boost(
        self,
        rounds: int,
        metrics: Sequence[CustomMetric] = (),
        evals: Sequence[tuple[Dataset, str]] = (),
        before: Before = lambda number: None,
        after: After = lambda number, results: False,
    ) -> None:
        """Add rounds to the model; callbacks may change parameters between them."""
        self._begin(None, metrics, evals)
        for number in range(rounds):
            before(number)
            if after(number, self._step()):
                break
        self._finish()

    def _begin(
        self,
        objective: CustomObjective | None = None,
        metrics: Sequence[CustomMetric] = (),
        evals: Sequence[tuple[Dataset, str]] = (),
    ) -> None:
        """Open a run that goes on from the model."""
        data, earlier = self._train_set, self._finish()
        if data is None:
            raise InputError("this Booster has no train_set to learn from; give update one.")
        if not data.num_data():
            raise InputError("train_set has no rows; training needs at least one.")
        if earlier is None:
            self._from_scores = data.start is not None or not value_of(self._params, "boost_from_average")
        self._check_starts(evals)
        objective = self._objective_of(objective)
        self._rates = self._rates[: self._rounds()]
        if self._facts is None:
            self._facts = data.facts(value_of(self._params, "bin_construct_sample_cnt"))
        request = Request(
            dict(self._params),
            self._chosen(),
            data,
            evals,
            objective,
            metrics,
            self._from_scores,
            self._facts.categories,
        )
        if earlier is not None and earlier.missing != request.missing:
            raise InputError(
                "training goes on with use_missing and zero_as_missing of the model that is there; leave them as they were."
            )
        self._missing = request.missing
        self._set_run(Run(request.order(earlier), earlier))
        self._request = request

    def _objective_of(self, objective: CustomObjective | None) -> CustomObjective | None:
        """The user's function that gives gradients, if there is one; otherwise the parameters must name an objective."""
        objective = self._objective if objective is None else objective
        if objective is None and self._params.get("objective") == "custom":
            raise InputError(
                "objective is 'custom', so a function must give the gradients; pass one as objective, or to update."
            )
        self._custom = objective is not None
        if objective is None:
            self._chosen().loss()  # which says what it lacks
        return objective

    def _step(self) -> list[EvalResult]:
        """Train a round by the parameters as they are now, and tell its metrics."""
        assert self._run is not None and self._request is not None
        before = self._request
        if not same(_watched(self._params), _watched(before.params)):
            self._follow(replace(before, params=dict(self._params), chosen=self._chosen()))
        rate = None if value_of(self._params, "boosting") == "rf" else value_of(self._params, "learning_rate")
        rounds = self._run.n_rounds
        self._rates += [self._run.step(rate).learning_rate] * (self._run.n_rounds - rounds)
        metrics = metrics_of(self._params, self._request.chosen)
        larger = {metric.name: metric.greater_is_better for metric in metrics}
        return [
            result for name, found in self._run.values().items() for result in results_of(name, found, larger)
        ]

    def _check_starts(self, evals: Sequence[tuple[Dataset, str]]) -> None:
        for data, name in evals:
            if data.start is not None and not self._from_scores:
                raise InputError(f"the valid set {name!r} has an init_score, but the training set has none.")

    def update(self, train_set: Dataset | None = None, fobj: CustomObjective | None = None) -> bool:
        """Train one more round; ``fobj``: function(scores, Dataset) -> (gradient, hessian). True: it found no split."""
        with self._updating():
            return self._update(train_set, fobj)

    def _update(self, train_set: Dataset | None, fobj: CustomObjective | None) -> bool:
        if train_set is not None:
            self._set_train_set(train_set)
        request = self._request
        if request is None or self._train_set is None or not request.is_of(self._train_set):
            self._begin(fobj)
        else:
            objective = self._objective_of(fobj)
            if objective is not request.objective:
                self._follow(replace(request, chosen=self._chosen(), objective=objective))
        rounds = self._rounds()
        self._step()
        return self._rounds() == rounds

    def reset_parameter(self, params: dict[str, Any]) -> Any:
        """Set parameters of the rounds to come; those of the data and the task cannot be changed any more."""
        given = {LIGHTGBM_PARAMETERS.own_name(name) for name in params}
        company = {name: self._params[name] for name in _OWNERS if name in self._params and name not in given}
        known = read_parameters({**company, **params}, warn=log_warning)
        for name, value in known.items():
            fixed = name in _FIXED or LIGHTGBM_PARAMETERS[name].group == "dataset"
            if fixed and value != value_of(self._params, name):
                raise InputError(f"{name} cannot be changed while a model is trained; train another one.")
        kept = {
            name: value
            for name, value in self.params.items()
            if LIGHTGBM_PARAMETERS.own_name(name) not in given
        }
        self.params = {**kept, **params}
        self._params = {**self._params, **known}
        return self


def _watched(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters whose change is a change of plan: not of the learning rate, but where it says when goss begins."""
    if "goss" in (value_of(params, "boosting"), value_of(params, "data_sample_strategy")):
        return dict(params)
    return {name: value for name, value in params.items() if name != "learning_rate"}
