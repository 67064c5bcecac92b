"""One training through `BoostedTreesRegressor`, with XGBoost's objective, labels, metrics and callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.ensemble.rounds import Round
from weald.estimators.boosted import BoostedTreesRegressor
from weald.estimators.labels import Labels
from weald.estimators.persistence import FittedModel
from weald.losses import LINKS, Loss, Metric
from weald.losses.xgboost import Objective
from weald.runtime.errors import InputError
from weald.xgboost.callback import CallbackContainer
from weald.xgboost.dmatrix import DMatrix, QuantileDMatrix
from weald.xgboost.metrics import metric_of
from weald.xgboost.objectives import Chosen
from weald.xgboost.translate import native_parameters

Float64s = NDArray[np.float64]
#: function(predictions, DMatrix) -> (name, value), or a list of these
CustomMetric = Callable[[Any, DMatrix], Any]
#: function(predictions, DMatrix) -> (gradient, hessian)
CustomObjective = Callable[[Any, DMatrix], Any]
_CUSTOM = "custom metric"


class Engine(BoostedTreesRegressor):
    """The native estimator whose loss is an objective of XGBoost's and whose labels come in a `DMatrix`."""

    _objective: Loss

    def _labels(self, y: Any, n_rows: int, weight: Float64s | None) -> Labels:
        return Labels(self._encode(y, n_rows, None), weight, self._objective, None)

    def _encode(self, y: Any, n_rows: int, classes: NDArray[Any] | None) -> Float64s:
        labels: Float64s = y
        return labels


@dataclass
class Training:
    """What one call of `train` asks for."""

    params: Mapping[str, Any]
    chosen: Chosen
    dtrain: DMatrix
    evals: Sequence[tuple[DMatrix, str]] = ()
    objective: CustomObjective | None = None
    metric: CustomMetric | None = None
    #: place of an evaluation set -> what the custom metric returned for the round
    told: dict[int, list[tuple[str, float]]] = field(default_factory=dict)
    _places: dict[int, int] = field(default_factory=dict)

    def run(
        self, rounds: int, earlier: FittedModel | None, model: Any, container: CallbackContainer
    ) -> FittedModel:
        """Boost so many more rounds, telling the callbacks about ``model``, which is in the making."""
        engine = self._engine(rounds, earlier)
        metrics = self._metrics()
        engine.eval_metric = metrics or None
        evals = self.evals if metrics else ()
        labels = [labels_of(matrix) for matrix, _ in evals]
        self._places = {id(label): place for place, label in enumerate(labels)}
        margins: dict[str, Any] = {}
        if self.dtrain.base_margin is not None:
            margins["init_score"] = self._margin(self.dtrain)
            margins["eval_init_scores"] = [self._margin(matrix) for matrix, _ in evals] if evals else None
        y = labels_of(self.dtrain)
        weight = None if self.objective is not None else self.chosen.weights(y, self.dtrain.weight)
        engine.fit(
            self.dtrain.table,
            y,
            sample_weight=weight,
            eval_set=[(one[0].table, label, one[0].weight) for one, label in zip(evals, labels, strict=True)]
            or None,
            eval_names=[name for _, name in evals] or None,
            callbacks=[_Listener(self, model, container, rounds, [name for _, name in evals])],
            **margins,
        )
        fitted = engine._model
        return replace(fitted, history={}, best_iteration=fitted.predictor.n_rounds - 1)

    def _engine(self, rounds: int, earlier: FittedModel | None) -> Engine:
        matrix = self.dtrain
        params = dict(self.params)
        own = matrix.max_bin if isinstance(matrix, QuantileDMatrix) else None
        if own is not None and params.setdefault("max_bin", own) != own:
            raise InputError(f"max_bin is {params['max_bin']}, but the QuantileDMatrix was made with {own}.")
        native = native_parameters(
            params,
            self.chosen,
            feature_names=matrix.feature_names,
            n_rows=matrix.num_row(),
            n_columns=matrix.num_col(),
            has_categories=matrix.has_categories,
        )
        done = 0 if earlier is None else earlier.predictor.n_rounds
        engine = Engine(
            **native,
            n_estimators=done + max(rounds, 1),
            categorical_features=matrix.categorical or "auto",
            base_score=_base_score(params, self.chosen),
            warm_start=earlier is not None,
        )
        engine._objective = self._loss()
        if earlier is not None:
            # Trees add up whatever they were grown for, so another objective may go on from them.
            engine._model = replace(earlier, loss=engine._objective.name)
        return engine

    def _loss(self) -> Loss:
        if self.objective is None:
            return self.chosen.loss()
        function, matrix = self.objective, self.dtrain
        name = str(getattr(function, "__name__", type(function).__name__))
        return Objective(lambda scores: function(_single(scores), matrix), self.chosen.n_outputs, name)

    def _margin(self, matrix: DMatrix) -> Float64s:
        shape = (matrix.num_row(), self.chosen.n_outputs)
        if matrix.base_margin is None:
            return np.zeros(shape)
        if matrix.base_margin.size != shape[0] * shape[1]:
            raise InputError(
                f"base_margin must have {shape[1]} numbers a row, but its shape is {matrix.base_margin.shape}."
            )
        return matrix.base_margin.reshape(shape)

    def _metrics(self) -> list[Metric]:
        if not self.evals:
            return []
        metrics = metrics_of(self.params, self.chosen)
        return metrics if self.metric is None else [*metrics, Metric(_CUSTOM, self._call_metric)]

    def _call_metric(self, y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
        assert self.metric is not None
        place = self._places[id(y)]
        if self.chosen.name == "multi:softmax" and not self.chosen.custom:
            prediction = prediction.argmax(axis=1).astype(np.float64)
        self.told[place] = named_values(self.metric(_single(prediction), self.evals[place][0]))
        return self.told[place][0][1]


def labels_of(matrix: DMatrix) -> Float64s:
    """The labels of a matrix, in an array that nobody else has."""
    if matrix.label is None:
        raise InputError("a DMatrix needs labels for training and evaluation; give it label.")
    return matrix.label.copy()


class _Listener:
    """Stands between the boosting loop and XGBoost's callbacks."""

    def __init__(
        self,
        training: Training,
        model: Any,
        container: CallbackContainer,
        rounds: int,
        names: Sequence[str],
    ) -> None:
        self._training = training
        self._model = model
        self._container = container
        self._rounds = rounds
        self._names = names
        self._epoch = 0

    def before_round(self, state: Round) -> None:
        """Let callbacks see the round before it begins; they may set its learning rate, or stop."""
        if self._epoch >= self._rounds:
            state.stop("all rounds are done")
            return
        self._model._follow(state.model, self._training.dtrain)
        if self._container.before_iteration(self._model, self._epoch):
            state.stop("a callback stops")
        if (rate := self._model._rate()) is not None:
            state.learning_rate = rate

    def __call__(self, state: Round) -> None:
        """Keep the round's metrics and tell the callbacks."""
        history = state.history
        for place, name in enumerate(self._names):
            for metric, values in history[name].items():
                if metric != _CUSTOM:
                    self._container.record(name, metric, values[-1])
                    continue
                for own, value in self._training.told[place]:
                    self._container.record(name, own, value)
        self._model._follow(state.model, self._training.dtrain)
        if self._container.after_iteration(self._model, self._epoch):
            state.stop("a callback stops")
        self._epoch += 1


def metrics_of(params: Mapping[str, Any], chosen: Chosen) -> list[Metric]:
    """The metrics that are asked for by name, or the objective's own."""
    names = params.get("eval_metric")
    if names is None:
        names = [] if params.get("disable_default_eval_metric", False) else [chosen.default_metric]
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"eval_metric must be names here, not {name!r}; give a function as custom_metric."
            )
    metrics = [metric_of(name, chosen.options, chosen.n_outputs) for name in dict.fromkeys(names)]
    if chosen.name != "binary:logitraw" or chosen.custom:
        return metrics
    return [replace(metric, function=_of_scores(metric.function)) for metric in metrics]


def _of_scores(function: Callable[..., float]) -> Callable[..., float]:
    """A metric of probabilities as one of raw scores."""

    def of_scores(y: Float64s, scores: Float64s, weight: Float64s | None) -> float:
        return function(y, LINKS["logit"](scores[None]), weight)

    return of_scores


def evaluated(chosen: Chosen, scores: Float64s) -> Float64s:
    """Predictions as the named metrics see them."""
    if chosen.custom:
        return LINKS["identity"](scores)
    return chosen.loss().respond(scores)


def named_values(returned: Any) -> list[tuple[str, float]]:
    """What a custom metric returned, as a list of names and values."""
    several = returned if isinstance(returned, list) else [returned]
    try:
        return [(str(name), float(value)) for name, value in several]
    except (TypeError, ValueError):
        raise InputError(f"custom_metric must return a name and a number, not {returned!r}.") from None


def _single(values: Float64s) -> NDArray[np.float32]:
    return values.astype(np.float32)


def _base_score(params: Mapping[str, Any], chosen: Chosen) -> Any:
    """The first prediction as the native parameter takes it; of several classes XGBoost's are scores."""
    given = params.get("base_score")
    if given is None or not chosen.name.startswith("multi:"):
        return given
    scores = np.broadcast_to(np.asarray(given, np.float64), (chosen.n_outputs,))
    return LINKS["softmax"](np.ascontiguousarray(scores[:, None]))[0].tolist()
