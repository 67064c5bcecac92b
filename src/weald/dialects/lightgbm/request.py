"""What a training of LightGBM's interface asks of the engine: objective, labels, starts and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weald.binning import missing_of
from weald.data.missing import Missing
from weald.dialects.lightgbm.basic import EvalResult
from weald.dialects.lightgbm.columns import Categories, in_codes
from weald.dialects.lightgbm.dataset import Dataset
from weald.dialects.lightgbm.metrics import metrics_of
from weald.dialects.lightgbm.objectives import Chosen
from weald.dialects.lightgbm.translate import column_weights, device_of, native_parameters
from weald.dialects.shared.request import BoosterRequest, name_of
from weald.dialects.shared.run import GivenRows, Order
from weald.dialects.shared.tables import Float64s
from weald.estimators.shared.persistence import FittedModel
from weald.losses import Loss
from weald.losses.objective import Objective
from weald.params.lightgbm import value_of
from weald.runtime.errors import InputError

#: function(predictions, Dataset) -> (name, value, whether larger is better), or a list of these
CustomMetric = Callable[[Any, Dataset], Any]
#: function(scores, Dataset) -> (gradient, hessian)
CustomObjective = Callable[[Any, Dataset], Any]


@dataclass(frozen=True)
class Request(BoosterRequest):
    """What a booster's next rounds ask for."""

    chosen: Chosen
    train: Dataset
    metrics: Sequence[CustomMetric] = ()
    #: rows start from scores of their own, or from 0, in place of the best constant
    from_scores: bool = False
    #: the categories of the model's frame
    categories: Categories = None

    def order(self, earlier: FittedModel | None) -> Order:
        native, train, _ = self.native(), self.train, self._parts
        if earlier is None and not self.from_scores:
            native["base_score"] = self.chosen.start(train.all_labels, train.all_weights)
        return Order(
            native,
            self._loss(),
            replace(self._given(train), label=self.chosen.labels(train.labels), weight=self._weights()),
            [self._given(data, name) for data, name in self.evals],
            metrics_of(self.params, self.chosen) if self.evals else [],
            self._call_metrics if self.metrics else None,
            keeps_empty_rounds=value_of(self.params, "boosting") in ("rf", "dart"),
            device=device_of(self.params),
            column_weights=column_weights(self.params, train.feature_name),
        )

    def _given(self, data: Dataset, name: str = "") -> GivenRows:
        table = data.table_by(self.params if data is self.train else {})
        return replace(
            data.given(self._start(data), name), table=in_codes(table, self.train.coded, self.categories)
        )

    @property
    def missing(self) -> Missing:
        """Which numbers of a table are missing."""
        params = {**self.train.data_params(), **self.params}
        return missing_of(value_of(params, "use_missing"), value_of(params, "zero_as_missing"))

    def native(self) -> dict[str, Any]:
        """The parameters of `BoostedTreesRegressor`."""
        train = self.train
        native = native_parameters(
            {**train.data_params(), **self.params},
            self.chosen,
            feature_names=train.feature_name,
            has_categories=train.has_categories(self.params),
        )
        native["categorical_features"] = train.categorical(self.params) or "auto"
        return native

    def _loss(self) -> Loss:
        if self.objective is None:
            return self.chosen.loss(self.train.all_labels)
        function, data = self.objective, self.train
        return Objective(lambda scores: function(scores, data), self.chosen.n_outputs, name_of(function))

    def _weights(self) -> Float64s | None:
        weight = self.train.own(self.chosen.weights(self.train.all_labels, self.train.all_weights))
        if self.objective is not None and weight is not None and not weight.all():
            return None  # a row of weight 0 would be left out, and the user's function gives gradients of all rows
        return weight

    def _start(self, data: Dataset) -> Float64s | None:
        return data.starts(self.chosen.n_outputs) if self.from_scores else None

    def _call_metrics(self, prediction: Float64s, place: int) -> list[tuple[Any, ...]]:
        return called(self.metrics, prediction, self.evals[place][0])


def called(
    metrics: Sequence[CustomMetric], prediction: Float64s, data: Dataset
) -> list[tuple[str, float, bool]]:
    """What users' own metrics return: names, values, and whether larger is better."""
    found = []
    for metric in metrics:
        returned = metric(prediction.copy(), data)
        if returned is None:
            continue
        for one in returned if isinstance(returned, list) else [returned]:
            try:
                name, value, larger = one
                found.append((str(name), float(value), bool(larger)))
            except (TypeError, ValueError):
                raise InputError(
                    f"feval must return a name, a number and whether larger is better, not {one!r}."
                ) from None
    return found


def results_of(name: str, values: Sequence[tuple[Any, ...]], larger: Mapping[str, bool]) -> list[EvalResult]:
    """Values of metrics as LightGBM hands them out; ``larger``: whether larger is better, of those by name."""
    return [
        EvalResult(name, metric, value, more[0] if more else larger[metric])
        for metric, value, *more in values
    ]


def functions_of(feval: Any) -> list[CustomMetric]:
    """Users' own metrics: one function, or several."""
    several = [] if feval is None else list(feval) if isinstance(feval, list | tuple) else [feval]
    for function in several:
        if not callable(function):
            raise InputError(f"feval must be a function or a list of functions, not {function!r}.")
    return several
