"""The part of XGBoost's `Booster` that learns: rounds by `train`, `update` and `boost`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weald.dialects.shared.booster import LearningHolder
from weald.dialects.shared.run import Run, Values
from weald.dialects.xgboost.callback import CallbackContainer
from weald.dialects.xgboost.config import get_config
from weald.dialects.xgboost.dmatrix import DMatrix
from weald.dialects.xgboost.objectives import Chosen, choose
from weald.dialects.xgboost.request import CustomMetric, CustomObjective, Request, check_may_change
from weald.linear.model import LinearModel
from weald.params.xgboost import objective_of, read_parameters, used_parameters
from weald.runtime.errors import InputError, NotSupportedError


class LearningBooster(LearningHolder):
    """A booster that adds rounds to its model."""

    _params: dict[str, Any]
    _categories: list[list[Any] | None] | None
    _names: list[str] | None
    _kinds: list[str] | None
    _n_columns: int | None
    _request: Request | None = None
    #: whether a linear model has come to where its tolerance ends training
    _is_still = False

    def _train(
        self,
        dtrain: DMatrix,
        rounds: int,
        container: CallbackContainer,
        evals: Sequence[tuple[DMatrix, str]] = (),
        objective: CustomObjective | None = None,
        metric: CustomMetric | None = None,
    ) -> None:
        """Add rounds to the model; callbacks may set parameters between them."""
        before, params = self._finish(), self._params
        try:
            self._begin(dtrain, evals, objective, metric)
            for epoch in range(rounds):
                if container.before_iteration(self, epoch):
                    break
                container.take(self._step())
                if container.after_iteration(self, epoch):
                    break
            self._finish()
        except BaseException:
            self._set_model(before)
            self._params = params
            raise
        # A scheduler's learning rate was of its round.
        self._params = {name: value for name, value in self._params.items() if name != "eta"}
        self._params |= {"eta": params["eta"]} if "eta" in params else {}

    def _begin(
        self,
        dtrain: DMatrix,
        evals: Sequence[tuple[DMatrix, str]] = (),
        objective: CustomObjective | None = None,
        metric: CustomMetric | None = None,
        by_hand: bool = False,
    ) -> None:
        """Open a run that goes on from the model."""
        if self._params.get("process_type") == "update":
            raise NotSupportedError(
                "process_type='update' is for train, with the model as xgb_model; leave it out here."
            )
        self._is_still = False
        earlier = self._finish()
        if earlier is None:
            self._names, self._kinds = dtrain.feature_names, dtrain.feature_types
            self._categories = dtrain.categories
        else:
            self._check_columns(dtrain)
        request = Request(self._asked(warn=True), self._chosen(), dtrain, evals, objective, metric, by_hand)
        self._set_run(Run(request.order(earlier), earlier))
        self._request = request

    def _step(self) -> Values:
        """Train a round by the parameters as they are now, and tell its metrics."""
        assert self._run is not None and self._request is not None
        self._ask(replace(self._request, params=self._asked(), chosen=self._chosen()))
        self._add_round()
        return self._run.values()

    def _ask(self, request: Request) -> None:
        """Have the run go on by a request, where it is another one."""
        assert self._request is not None
        changed = check_may_change(self._request.params, request.params)
        if changed or request.objective is not self._request.objective:
            self._follow(request)

    def _chosen(self) -> Chosen:
        return choose(self._params)

    def _asked(self, warn: bool = False) -> dict[str, Any]:
        """The parameters that say anything, without those of other boosters and objectives; ``warn``: name these."""
        used, unused = used_parameters(self._params)
        verbosity = min(get_config()["verbosity"], self._params.get("verbosity", 1))
        if warn and unused and verbosity > 0:
            warnings.warn(
                f"Not used with booster={used.get('booster', 'gbtree')!r} and objective={objective_of(used)!r}: "
                f"{', '.join(unused)}.",
                stacklevel=7,
            )
        return used

    def update(self, dtrain: DMatrix, iteration: int, fobj: CustomObjective | None = None) -> None:
        """Train one more round; the rows are kept ready for the next. The model counts its rounds, not ``iteration``."""
        self._add(dtrain, fobj)

    def _add(self, dtrain: DMatrix, objective: CustomObjective | None, by_hand: bool = False) -> None:
        with self._updating():
            request = self._request
            if request is None or not request.is_of(dtrain) or request.evals:
                self._begin(dtrain, objective=objective, by_hand=by_hand)
            else:
                self._ask(replace(request, params=self._asked(), chosen=self._chosen(), objective=objective))
            self._add_round()

    def _add_round(self) -> None:
        """A round at the rate of now; a linear model that no longer moves keeps its weights."""
        assert self._run is not None
        before = self._run.model().predictor if self._tolerance() > 0.0 else None
        self._run.step(0.0 if self._is_still else self._params.get("eta"))
        if isinstance(before, LinearModel):
            now: Any = self._run.model().predictor
            moved = max(np.abs(now.weights - before.weights).max(), np.abs(now.bias - before.bias).max())
            self._is_still = bool(moved <= self._tolerance())

    def _tolerance(self) -> float:
        return float(used_parameters(self._params)[0].get("tolerance", 0.0))

    def boost(
        self,
        dtrain: DMatrix,
        iteration: int,
        *,
        grad: Any = None,
        hess: Any = None,
        fobj: CustomObjective | None = None,
    ) -> None:
        """Train one more round on the given gradients and hessians. The model counts its rounds, not ``iteration``."""
        if fobj is not None or grad is None or hess is None:
            raise InputError(
                "boost takes grad and hess, one number a row and output; update takes a function."
            )
        self._add(dtrain, lambda scores, matrix: (grad, hess), by_hand=True)

    def set_param(self, params: Any, value: Any = None) -> None:
        """Set parameters by a dict, pairs, or one name and its value; in a callback, of the rounds to come."""
        given = {params: value} if isinstance(params, str) else params
        pairs = list(given.items()) if isinstance(given, Mapping) else list(given)
        if "booster" not in dict(pairs):  # what is set may belong to the one that is there
            pairs.insert(0, ("booster", self._params.get("booster")))
        params = read_parameters({**self._params, **read_parameters(pairs)})
        if self._request is not None:
            check_may_change(self._request.params, used_parameters(params)[0])
        if self._is_trained():
            choose(params)  # which says what does not go together
        self._params = params

    def num_features(self) -> int:
        """How many columns the model was trained on."""
        if not self._is_trained() and self._n_columns is not None:
            return self._n_columns
        return self._fitted().schema.n_columns

    def _check_count(self, n_columns: int) -> None:
        if n_columns != self.num_features():
            raise InputError(
                f"data has {n_columns} columns, but the model was trained with {self.num_features()}."
            )

    def _check_columns(self, data: DMatrix) -> None:
        self._check_count(data.num_col())
        names = data.feature_names
        if self._names is None or names == self._names:
            return
        if names is None:
            raise InputError("data has no feature_names, but the model was trained with some.")
        wrong = next(k for k, name in enumerate(names) if name != self._names[k])
        raise InputError(
            f"feature_names mismatch: column {wrong} is {names[wrong]!r}, but was {self._names[wrong]!r} in training."
        )
