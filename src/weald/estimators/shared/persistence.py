"""Fitted estimators as model files and back: what goes into the header, and what is checked when it comes out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.parameters import BINS, Bins
from weald.data import Dataset, Schema
from weald.data.missing import Missing
from weald.data.sparse import Unstored
from weald.encoding import file as statistic_file
from weald.encoding.model import ModelStatistics
from weald.estimators.shared.checkpoints import (
    interruption_arrays,
    interruption_from_file,
    interruption_to_file,
)
from weald.estimators.shared.plain import (
    NOT_SAVED,
    check_choices,
    check_parameters,
    classes_from_json,
    labels_to_json,
    parameters_to_json,
    plain,
    restored,
    shortest,
    values_to_json,
)
from weald.explain.importances import by_source
from weald.forest import file as model_file
from weald.forest.container import Container, of_one_kind, unpack
from weald.forest.forest import Forest
from weald.forest.predictor import Predictor
from weald.linear.model import LinearModel
from weald.losses.links import LINKS, SEVERAL
from weald.params.choice import Choice, same
from weald.params.declare import declared
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError
from weald.training.boosting.door.categories import WAYS
from weald.training.boosting.flat import from_flat
from weald.training.boosting.parameters import FAMILIES, BoostingParameters
from weald.training.boosting.session import Interruption

if TYPE_CHECKING:
    from weald.estimators.boosted.fitted import BoostedModel

_OF_CLASSES = {"class_weight", "scale_pos_weight"}
_BOOSTED_PARAMETERS = set(declared(BoostingParameters)) | _OF_CLASSES
_CHOSEN_RATE = "learning_rate"  # is there only where the parameter does not say it
_CATEGORY_WAYS = "category_ways"  # is there only where the parameter does not say them
_STATISTICS = "statistics"  # tables of derived columns, where there are any
_ROWS = "rows"  # of a checkpoint: what its rows are known by
_INTERRUPTION = "interruption"  # of a checkpoint, where the model alone does not tell how to go on
_KEYS = {"estimator", "params", "schema", "loss", "link", "classes", "history", "best_iteration"}


@dataclass(frozen=True)
class FittedModel:
    """All that prediction needs and a model file holds."""

    predictor: Predictor
    schema: Schema
    loss: str  # its name
    link: str
    classes: NDArray[Any] | None
    history: dict[str, dict[str, list[float]]]
    best_iteration: int
    unstored: Unstored = "zero"  # what a sparse table to predict does not store
    missing: Missing = "nan"  # which of its numbers are missing
    learning_rate: float | None = None  # of the training; None: not chosen there, so it is the parameter
    statistics: ModelStatistics | None = None  # of the columns behind the user's own
    params: Mapping[str, Any] | None = (
        None  # of the fit, as its file has them; None: those that the estimator has
    )
    category_ways: tuple[str, ...] | None = (
        None  # of every categorical column, chosen by the training; None: the parameter
    )

    @property
    def forest(self) -> Forest:
        """The trees, where the predictor has some."""
        if not isinstance(self.predictor, Forest):
            raise NotSupportedError("A model of booster='linear' has no trees; see coef_ and intercept_.")
        return self.predictor

    def by_source(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers of the predictor's columns, (..., columns), added up by the user's columns that they come from."""
        if self.sources is None:
            return numbers
        return by_source(numbers, self.sources, self.schema.n_columns)

    @property
    def sources(self) -> list[tuple[int, ...]] | None:
        """The user's columns that every column of the predictor comes from; None where they are the same."""
        return None if self.statistics is None else self.statistics.sources

    def extended(self, dataset: Dataset) -> Dataset:
        """A table with the columns that the predictor reads: the user's own, and statistics where there are any."""
        return dataset if self.statistics is None else self.statistics.extend(dataset)


def to_bytes(
    estimator: BoostedModel,
    model: FittedModel,
    interruption: Interruption | None = None,
    rows: Mapping[str, Any] | None = None,
) -> bytes:
    """The model file's bytes; equal for equal models. ``interruption`` and ``rows``: what a checkpoint holds beside the model."""
    header: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "params": _params_to_file(estimator, model),
        "schema": model.schema.to_json(),
        "loss": model.loss,
        "link": model.link,
        "classes": None if model.classes is None else labels_to_json(model.classes),
        "history": model.history,
        "best_iteration": model.best_iteration,
    }
    if header["params"].get("learning_rate") == "auto":
        header[_CHOSEN_RATE] = model.learning_rate
    if rows is not None:
        header[_ROWS] = dict(rows)
    if model.category_ways:
        header[_CATEGORY_WAYS] = list(model.category_ways)
    arrays: dict[str, NDArray[Any]] = {}
    if model.statistics is not None:
        header[_STATISTICS], arrays = statistic_file.to_file(model.statistics)
    if interruption is not None:
        header[_INTERRUPTION], more = interruption_to_file(interruption)
        arrays |= more
    return model_file.dumps(model.forest, header, arrays) if arrays else model.predictor.dumps(header)


def _params_to_file(estimator: BoostedModel, model: FittedModel) -> dict[str, Any]:
    """The parameters of the fit; what a finished model is asked by has its value of today."""
    if model.params is None:
        return parameters_to_json(estimator)
    params = dict(model.params)
    if "importance_type" in params:
        params["importance_type"] = estimator.importance_type
    return params


def from_bytes(data: bytes) -> tuple[str, dict[str, Any], FittedModel]:
    """Class name, parameters and model of a file's bytes; everything is checked."""
    return _from_content(unpack(data))[:3]


def from_checkpoint(
    data: bytes,
) -> tuple[str, dict[str, Any], FittedModel, Interruption | None, Mapping[str, Any]]:
    """The same of a checkpoint, and what it holds beside the model; what the rows are known by is empty in older ones."""
    with of_one_kind("a checkpoint"):
        content = unpack(data)
        rows = content.header.get(_ROWS, {})
        if not isinstance(rows, dict):
            raise ModelFileError("The file's rows are not those of a checkpoint.")
        return *_from_content(content), rows


def _from_content(content: Container) -> tuple[str, dict[str, Any], FittedModel, Interruption | None]:
    header = content.header
    if set(header) - {_CHOSEN_RATE, _CATEGORY_WAYS, _STATISTICS, _INTERRUPTION, _ROWS} != _KEYS:
        raise ModelFileError("The file's header does not have the fields of a boosted model.")
    schema = Schema.from_json(header["schema"])
    predictor, statistics, interruption = _predictor_of(content, schema)
    if not isinstance(header["link"], str) or header["link"] not in LINKS:
        raise ModelFileError(f"The file's link is {header['link']!r}, which is not known.")
    if not isinstance(header["loss"], str):
        raise ModelFileError("The file's loss must be a name.")
    classes = None if header["classes"] is None else classes_from_json(header["classes"])
    _check_outputs(predictor, classes, header["link"])
    name = header["estimator"]
    if not isinstance(name, str):
        raise ModelFileError("The file's estimator must be a name.")
    params = _parameters_of(name, header["params"])
    bins = _bins_of(params)
    model = FittedModel(
        predictor,
        schema,
        header["loss"],
        header["link"],
        classes,
        _checked_history(header["history"]),
        _checked_round(header["best_iteration"], predictor),
        bins.unstored,
        bins.missing,
        _checked_rate(header.get(_CHOSEN_RATE, _given_rate(params, predictor))),
        statistics,
        values_to_json(params),
        _checked_ways(header.get(_CATEGORY_WAYS), schema),
    )
    return name, params, model, interruption


def _parameters_of(name: str, stored: Any) -> dict[str, Any]:
    """The parameters of a file's header; the first version wrote those of boosted trees one beside another."""
    if not isinstance(stored, dict):
        raise ModelFileError("The file's parameters are not those of a boosted model.")
    params = {key: restored(value) for key, value in stored.items()}
    check_choices(params)
    if not name.startswith("BoostedTrees") or set(params) <= _BOOSTED_PARAMETERS:
        return params
    try:
        return from_flat(params)
    except InputError as error:
        raise ModelFileError(f"The file's parameters are not those of a boosted model: {error}") from None


def _given_rate(params: Mapping[str, Any], predictor: Predictor) -> float | None:
    """The learning rate of trees whose parameter says it."""
    rate = params.get("learning_rate")
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not isinstance(predictor, Forest):
        return None
    return float(rate)


def _bins_of(params: dict[str, Any]) -> Bins:
    """How a model's tables are read."""
    try:
        return BINS.resolve(params.get("bins", "auto"))
    except InputError as error:
        raise ModelFileError(f"The file's bins are not valid: {error}") from None


def _predictor_of(
    content: Container, schema: Schema
) -> tuple[Predictor, ModelStatistics | None, Interruption | None]:
    """The trees or the linear model of an opened file, checked against the columns; the statistics of derived ones; and what
    a checkpoint holds."""
    if LinearModel.is_in(content):
        model = LinearModel.from_content(content)
        model.check_schema(schema)
        return model, None, None
    described, kept = content.header.get(_STATISTICS), content.header.get(_INTERRUPTION)
    types = {} if described is None else dict(statistic_file.ARRAYS)
    forest, arrays = model_file.forest_and_more(content, types | interruption_arrays(kept))
    statistics = None if described is None else statistic_file.from_file(described, arrays, schema)
    check_schema(forest, schema if statistics is None else statistics.extended_schema)
    return forest, statistics, None if kept is None else interruption_from_file(kept, arrays, schema)


def estimator_from_content(kind: type[Any], content: Container) -> Any:
    """The fitted estimator of an opened model file."""
    name, params, model, _ = _from_content(content)
    if (model.classes is None) != name.endswith("Regressor"):
        raise ModelFileError(f"A {name} cannot have these classes.")
    check_parameters(kind, params)
    estimator = kind(**params)
    estimator._set_model(model)
    return estimator


def check_schema(forest: Forest, schema: Schema) -> None:
    """The columns must be the forest's; categorical tests must be on categorical columns, within their dictionaries."""
    if schema.n_columns != forest.n_features:
        raise ModelFileError(
            f"The schema has {schema.n_columns} columns, but the forest {forest.n_features}."
        )
    inner = forest.feature >= 0
    uses_set = forest.category_set[inner] >= 0
    features = forest.feature[inner]
    if (schema.categorical_mask[features] != uses_set).any():
        raise ModelFileError("A tree tests a column in a way that does not fit the column's kind.")
    sizes = np.array([len(column.categories) for column in schema.columns])
    ends = forest.set_offsets[1:]
    largest = np.where(np.diff(forest.set_offsets) > 0, np.append(forest.set_codes, -1)[ends - 1], -1)
    beyond = largest[forest.category_set[inner][uses_set]] >= sizes[features[uses_set]]
    if beyond.any():
        name = schema.names[features[uses_set][np.argmax(beyond)]]
        raise ModelFileError(f"A tree tests a category that column {name!r} does not have.")


def _check_outputs(predictor: Predictor, classes: NDArray[Any] | None, link: str) -> None:
    if classes is None:
        return
    wanted = 1 if len(classes) == 2 else len(classes)
    if predictor.n_outputs != wanted or link not in (
        ("logit", "half_logit", "step") if wanted == 1 else SEVERAL
    ):
        raise ModelFileError(
            f"{len(classes)} classes do not fit {predictor.n_outputs} outputs and link {link!r}."
        )


def _checked_history(history: Any) -> dict[str, dict[str, list[float]]]:
    ok = isinstance(history, dict) and all(
        isinstance(metrics, dict)
        and all(
            isinstance(values, list) and all(isinstance(value, int | float) for value in values)
            for values in metrics.values()
        )
        for metrics in history.values()
    )
    if not ok:
        raise ModelFileError("The file's history must hold lists of numbers.")
    return history  # type: ignore[no-any-return]


def _checked_round(value: Any, predictor: Predictor) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < max(predictor.n_rounds, 1):
        raise ModelFileError(f"The file's best_iteration is {value!r}, which is not one of its rounds.")
    return value


def _checked_rate(value: Any) -> float | None:
    if value is not None and (not isinstance(value, float) or not 0.0 < value < float("inf")):
        raise ModelFileError(f"The file's learning rate is {value!r}; it must be a number above 0.")
    return value


def _checked_ways(value: Any, schema: Schema) -> tuple[str, ...] | None:
    if value is None:
        return None
    n_categorical = int(schema.categorical_mask.sum())
    known = isinstance(value, list) and all(isinstance(way, str) and way in WAYS for way in value)
    if not known or len(value) != n_categorical:
        raise ModelFileError(
            f"The file's ways of splitting categories are {value!r}; it must have a known one for each of "
            f"{n_categorical} columns."
        )
    return tuple(value)


def check_same_training(path: Any, estimator: BoostedModel, name: str, params: dict[str, Any]) -> None:
    """Refuse to resume from a checkpoint of another kind of training."""
    if name != type(estimator).__name__:
        raise InputError(f"resume_from={os.fspath(path)!r} holds a {name}, not a {type(estimator).__name__}.")
    free = NOT_SAVED | {"n_estimators"}
    for key, value in estimator.get_params(deep=False).items():
        before, now = (_spelling(key, one) for one in (params.get(key), restored(plain(value))))
        if key not in free and not same(before, now):
            raise InputError(
                f"resume_from={os.fspath(path)!r} was trained with {key}={params.get(key)!r}, not {value!r}; "
                "resume with the same parameters."
            )


def _spelling(key: str, value: Any) -> Any:
    return shortest(key, value) if key in FAMILIES and isinstance(value, Choice | int) else value
