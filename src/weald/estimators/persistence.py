"""Fitted estimators as model files and back: what goes into the header, and what is checked when it comes out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import missing_of
from weald.data import Schema
from weald.data.missing import Missing
from weald.data.sparse import Unstored
from weald.estimators.plain import classes_from_json, labels_to_json, plain, restored
from weald.forest import file as model_file
from weald.forest.container import Container, unpack
from weald.forest.forest import Forest
from weald.forest.predictor import Predictor
from weald.linear.model import LinearModel
from weald.losses.links import LINKS, SEVERAL
from weald.params import GRADIENT_BOOSTING_PARAMETERS, PARAMETERS
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

if TYPE_CHECKING:
    from weald.estimators.boosted import BoostedTrees

# These change neither the model nor its predictions: the same model must have the same bytes.
NOT_SAVED = frozenset({"n_jobs", "verbose", "warm_start"})
_KNOWN_PARAMETERS = (set(PARAMETERS) | set(GRADIENT_BOOSTING_PARAMETERS)) - NOT_SAVED
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

    @property
    def forest(self) -> Forest:
        """The trees, where the predictor has some."""
        if not isinstance(self.predictor, Forest):
            raise NotSupportedError("A model of booster='linear' has no trees; see coef_ and intercept_.")
        return self.predictor


def to_bytes(estimator: BoostedTrees, model: FittedModel) -> bytes:
    """The model file's bytes; equal for equal models."""
    header = {
        "estimator": type(estimator).__name__,
        "params": {
            name: plain(value)
            for name, value in estimator.get_params(deep=False).items()
            if name not in NOT_SAVED
        },
        "schema": model.schema.to_json(),
        "loss": model.loss,
        "link": model.link,
        "classes": None if model.classes is None else labels_to_json(model.classes),
        "history": model.history,
        "best_iteration": model.best_iteration,
    }
    return model.predictor.dumps(header)


def from_bytes(data: bytes) -> tuple[str, dict[str, Any], FittedModel]:
    """Class name, parameters and model of a file's bytes; everything is checked."""
    return _from_content(unpack(data))


def _from_content(content: Container) -> tuple[str, dict[str, Any], FittedModel]:
    header = content.header
    if set(header) != _KEYS:
        raise ModelFileError("The file's header does not have the fields of a boosted model.")
    schema = Schema.from_json(header["schema"])
    predictor = _predictor_of(content, schema)
    if not isinstance(header["link"], str) or header["link"] not in LINKS:
        raise ModelFileError(f"The file's link is {header['link']!r}, which is not known.")
    if not isinstance(header["loss"], str):
        raise ModelFileError("The file's loss must be a name.")
    classes = None if header["classes"] is None else classes_from_json(header["classes"])
    _check_outputs(predictor, classes, header["link"])
    params = header["params"]
    if not isinstance(params, dict) or not set(params) <= _KNOWN_PARAMETERS:
        raise ModelFileError("The file's parameters are not those of a boosted model.")
    model = FittedModel(
        predictor,
        schema,
        header["loss"],
        header["link"],
        classes,
        _checked_history(header["history"]),
        _checked_round(header["best_iteration"], predictor),
        "missing" if params.get("unstored") == "missing" else "zero",
        missing_of(params.get("use_missing", True) is not False, params.get("zero_as_missing") is True),
    )
    name = header["estimator"]
    if not isinstance(name, str):
        raise ModelFileError("The file's estimator must be a name.")
    return name, {key: restored(value) for key, value in params.items()}, model


def _predictor_of(content: Container, schema: Schema) -> Predictor:
    """The trees or the linear model of an opened file, checked against the columns."""
    if LinearModel.is_in(content):
        model = LinearModel.from_content(content)
        model.check_schema(schema)
        return model
    forest = model_file.forest_of(content)
    check_schema(forest, schema)
    return forest


def estimator_from_content(kind: type[BoostedTrees], content: Container) -> BoostedTrees:
    """The fitted estimator of an opened model file."""
    name, params, model = _from_content(content)
    if (model.classes is None) != name.endswith("Regressor"):
        raise ModelFileError(f"A {name} cannot have these classes.")
    unknown = set(params) - set(kind._get_param_names())
    if unknown:
        raise ModelFileError(f"A {name} has no parameter {sorted(unknown)[0]!r}.")
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


def check_same_training(path: Any, estimator: BoostedTrees, name: str, params: dict[str, Any]) -> None:
    """Refuse to resume from a checkpoint of another kind of training."""
    if name != type(estimator).__name__:
        raise InputError(f"resume_from={os.fspath(path)!r} holds a {name}, not a {type(estimator).__name__}.")
    free = NOT_SAVED | {"n_estimators"}
    for key, value in estimator.get_params(deep=False).items():
        if key not in free and restored(plain(value)) != params.get(key):
            raise InputError(
                f"resume_from={os.fspath(path)!r} was trained with {key}={params.get(key)!r}, not {value!r}; "
                "resume with the same parameters."
            )
