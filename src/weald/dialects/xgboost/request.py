"""What a training of XGBoost's interface asks of the engine: objective, labels, starts and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weald.dialects.shared.request import BoosterRequest, name_of
from weald.dialects.shared.run import GivenRows, Order
from weald.dialects.shared.tables import Float64s, columns_of, single
from weald.dialects.xgboost.coded import table_by_names
from weald.dialects.xgboost.dmatrix import DMatrix, QuantileDMatrix
from weald.dialects.xgboost.metrics import metric_of
from weald.dialects.xgboost.objectives import Chosen
from weald.dialects.xgboost.translate import column_weights, device_of, native_parameters
from weald.estimators.boosted.fitting import rows_that_count
from weald.estimators.shared.persistence import FittedModel
from weald.losses import Loss, Metric
from weald.losses.objective import Objective
from weald.runtime.errors import InputError
from weald.training.boosting.starts import base_scores

START_OF_CUSTOM = 0.5  # XGBoost's first prediction where a function of the user's decides the gradients
# What the trees that are there are made for.
_FIXED = ("booster", "num_class", "num_parallel_tree", "base_score")
_UNSAID = {"booster": "gbtree", "num_parallel_tree": 1}  # what they are where nothing is said
#: function(predictions, DMatrix) -> (name, value), or a list of these
CustomMetric = Callable[[Any, DMatrix], Any]
#: function(predictions, DMatrix) -> (gradient, hessian)
CustomObjective = Callable[[Any, DMatrix], Any]


@dataclass(frozen=True)
class Request(BoosterRequest):
    """What one call of `train` asks for."""

    chosen: Chosen
    train: DMatrix
    metric: CustomMetric | None = None
    by_hand: bool = False  # whether gradients are given, at the scores that an untrained model has

    def order(self, earlier: FittedModel | None) -> Order:
        self._check_classes()
        native, loss, _ = self.native(), self._loss(), self._parts
        y = self.train.labels
        weight = None if self.objective is not None else self.chosen.weights(y, self.train.weights)
        train = GivenRows(self.train.table, y, weight)
        if earlier is not None and self.params.get("base_score") is None:
            native["base_score"] = None  # training goes on from where it began
        base = self._first_score(native, loss, train, earlier)
        by_margin = self.train.start is not None
        if by_margin:
            native["base_score"] = None
        return Order(
            native,
            loss,
            replace(train, init_score=self._start(self.train, base)),
            [self._given(matrix, self._start(matrix, base), name) for matrix, name in self.evals],
            self._metrics(loss),
            None if self.metric is None else self._call_metric,
            base if by_margin else None,
            device=device_of(self.params),
            column_weights=column_weights(self.params, self.train.feature_weights),
        )

    def _check_classes(self) -> None:
        several = self.chosen.options.get("num_class", 0) > 1
        if several and self.objective is None and not self.chosen.is_of_several_classes:
            raise InputError(
                f"num_class belongs to objective='multi:softmax' and 'multi:softprob', but objective is {self.chosen.name!r}; "
                "leave it out."
            )

    def _given(self, matrix: DMatrix, start: Float64s | None, name: str) -> GivenRows:
        """An evaluation set, its categories as the training rows have them."""
        rows = matrix.given(start, name)
        return replace(
            rows, table=table_by_names(matrix, self.train.categories, columns_of(self.train.table))
        )

    def _metrics(self, loss: Loss) -> list[Metric]:
        """The metrics by name, of what the loss makes of scores."""
        metrics = metrics_of(
            self.params, self.chosen
        )  # which are checked even where there is nothing to evaluate
        if not self.evals:
            return []
        if self.objective is None and self.chosen.name != "binary:logitraw":
            return metrics
        return [replace(metric, function=_of_scores(metric.function, self.chosen)) for metric in metrics]

    def native(self) -> dict[str, Any]:
        """The engine's parameters by their flat names."""
        matrix = self.train
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
        native["categorical_features"] = matrix.categorical or "auto"
        native["base_score"] = self._base_score()
        return native

    def _base_score(self) -> Any:
        """The first prediction as the native parameter takes it; of several classes the loss has it."""
        given = self.params.get("base_score")
        if self.by_hand:
            return scores_before_training(self.params, self.chosen).tolist()
        if self.objective is not None:
            return _first_scores(START_OF_CUSTOM if given is None else given, self.chosen).tolist()
        return None if self.chosen.is_of_several_classes else given

    def _loss(self) -> Loss:
        if self.objective is None:
            given = self.params.get("base_score")
            several = self.chosen.is_of_several_classes and given is not None
            return self.chosen.loss(_first_scores(given, self.chosen) if several else None)
        function, matrix = self.objective, self.train
        return Objective(
            lambda scores: function(single(scores), matrix),
            self.chosen.n_outputs,
            name_of(function),
        )

    def _first_score(
        self, native: Mapping[str, Any], loss: Loss, train: GivenRows, earlier: FittedModel | None
    ) -> Float64s:
        """The score, (outputs,), that rows without a margin start from; nothing where all have one or none has."""
        if all(matrix.start is None for matrix in (self.train, *(matrix for matrix, _ in self.evals))):
            return np.zeros(self.chosen.n_outputs)
        if earlier is not None:
            return earlier.predictor.base_score
        if native["base_score"] is not None:
            return base_scores(native["base_score"], loss)
        loss.check_target(train.label)
        return loss.initial_score(*rows_that_count(train.label, train.weight))

    def _start(self, matrix: DMatrix, base: Float64s) -> Float64s | None:
        """Where the rows of a set start, (rows, outputs), beside what the engine's model starts from."""
        by_margin = self.train.start is not None
        if matrix.start is None:
            return np.tile(base, (matrix.n_rows, 1)) if by_margin else None
        margin = matrix.starts(self.chosen.n_outputs)
        return margin if by_margin else margin - base

    def _call_metric(self, prediction: Float64s, place: int) -> list[tuple[Any, ...]]:
        assert self.metric is not None
        if self.chosen.name == "multi:softmax" and self.objective is None:
            prediction = prediction.argmax(axis=1).astype(np.float64)
        return [*named_values(self.metric(single(prediction), self.evals[place][0]))]


def check_may_change(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether other parameters than the learning rate have changed; some may not, while a model is trained."""
    changed = {
        name
        for name in (*now, *before)
        if not _same(now.get(name, _UNSAID.get(name)), before.get(name, _UNSAID.get(name)))
    }
    for name in _FIXED:
        if name in changed:
            raise InputError(
                f"{name} cannot be changed to {now.get(name)!r} while a model is trained; train another one."
            )
    return bool(changed - {"eta"})


def _same(first: Any, second: Any) -> bool:
    return first is second or bool(np.array_equal(np.asarray(first), np.asarray(second)))


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
    return [metric_of(name, chosen.options, chosen.n_outputs) for name in dict.fromkeys(names)]


def _of_scores(function: Callable[..., float], chosen: Chosen) -> Callable[..., float]:
    """A metric of what `Chosen.seen` tells as one of raw scores, (rows,) or (rows, outputs)."""

    def of_scores(y: Float64s, scores: Float64s, weight: Float64s | None) -> float:
        return function(y, chosen.seen(np.ascontiguousarray(np.atleast_2d(scores.T))), weight)

    return of_scores


def named_values(returned: Any) -> list[tuple[str, float]]:
    """What a custom metric returned, as a list of names and values."""
    several = returned if isinstance(returned, list) else [returned]
    try:
        return [(str(name), float(value)) for name, value in several]
    except (TypeError, ValueError):
        raise InputError(f"custom_metric must return a name and a number, not {returned!r}.") from None


def scores_before_training(params: Mapping[str, Any], chosen: Chosen) -> Float64s:
    """The raw scores, (outputs,), of a model without a round that has seen no labels: XGBoost's are 0.5 where none are given."""
    given = params.get("base_score")
    return np.full(chosen.n_outputs, START_OF_CUSTOM) if given is None else _first_scores(given, chosen)


def _first_scores(given: Any, chosen: Chosen) -> Float64s:
    """The raw scores, (outputs,), of a base_score; of several classes XGBoost's are raw scores already."""
    if not chosen.is_of_several_classes:
        return base_scores(given, chosen.loss()) if chosen.n_outputs == 1 else _one_an_output(given, chosen)
    return _one_an_output(given, chosen)


def _one_an_output(given: Any, chosen: Chosen) -> Float64s:
    wanted = f"base_score must be a finite number, or {chosen.n_outputs}, one for each output, not {given!r}."
    try:
        scores = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise InputError(wanted) from None
    if scores.shape not in ((), (1,), (chosen.n_outputs,)) or not np.isfinite(scores).all():
        raise InputError(wanted)
    return np.array(np.broadcast_to(scores, (chosen.n_outputs,)))
