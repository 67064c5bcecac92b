"""Fitted estimators as model files and back: what goes into the header, and what is checked when it comes out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema
from weald.forest import file as model_file
from weald.forest.forest import Forest
from weald.losses.links import LINKS
from weald.params import PARAMETERS
from weald.runtime.errors import InputError, ModelFileError

if TYPE_CHECKING:
    from weald.estimators.boosted import BoostedTrees

# These change neither the model nor its predictions: the same model must have the same bytes.
NOT_SAVED = frozenset({"n_jobs", "verbose", "warm_start"})
_KEYS = {"estimator", "params", "schema", "loss", "link", "classes", "history", "best_iteration"}


@dataclass(frozen=True)
class FittedModel:
    """All that prediction needs and a model file holds."""

    forest: Forest
    schema: Schema
    loss: str  # its name
    link: str
    classes: NDArray[Any] | None
    history: dict[str, dict[str, list[float]]]
    best_iteration: int


def to_bytes(estimator: BoostedTrees, model: FittedModel) -> bytes:
    """The model file's bytes; equal for equal models."""
    header = {
        "estimator": type(estimator).__name__,
        "params": {
            name: _plain(value)
            for name, value in estimator.get_params(deep=False).items()
            if name not in NOT_SAVED
        },
        "schema": model.schema.to_json(),
        "loss": model.loss,
        "link": model.link,
        "classes": None if model.classes is None else _classes_to_json(model.classes),
        "history": model.history,
        "best_iteration": model.best_iteration,
    }
    return model_file.dumps(model.forest, header)


def from_bytes(data: bytes) -> tuple[str, dict[str, Any], FittedModel]:
    """Class name, parameters and model of a file's bytes; everything is checked."""
    forest, header = model_file.loads(data)
    if set(header) != _KEYS:
        raise ModelFileError("The file's header does not have the fields of a boosted model.")
    schema = Schema.from_json(header["schema"])
    if schema.n_columns != forest.n_features:
        raise ModelFileError(
            f"The schema has {schema.n_columns} columns, but the forest {forest.n_features}."
        )
    _check_codes(forest, schema)
    if not isinstance(header["link"], str) or header["link"] not in LINKS:
        raise ModelFileError(f"The file's link is {header['link']!r}, which is not known.")
    if not isinstance(header["loss"], str):
        raise ModelFileError("The file's loss must be a name.")
    classes = None if header["classes"] is None else _classes_from_json(header["classes"])
    _check_outputs(forest, classes, header["link"])
    model = FittedModel(
        forest,
        schema,
        header["loss"],
        header["link"],
        classes,
        _checked_history(header["history"]),
        _checked_round(header["best_iteration"], forest),
    )
    params = header["params"]
    if not isinstance(params, dict) or not set(params) <= set(PARAMETERS) - NOT_SAVED:
        raise ModelFileError("The file's parameters are not those of a boosted model.")
    name = header["estimator"]
    if not isinstance(name, str):
        raise ModelFileError("The file's estimator must be a name.")
    return name, {key: _restored(value) for key, value in params.items()}, model


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that an estimator's ``save`` has written; nothing in the file is executed.

    >>> import os, tempfile
    >>> import numpy as np
    >>> import weald
    >>> X, y = np.arange(100.0).reshape(-1, 1), np.arange(100.0)
    >>> model = weald.BoostedTreesRegressor(n_estimators=5).fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.weald")
    >>> model.save(path)
    >>> bool((weald.load(path).predict(X) == model.predict(X)).all())
    True
    """
    from weald.estimators.boosted import ESTIMATORS

    data = model_file.read(path)
    try:
        name, params, model = from_bytes(data)
        if name not in ESTIMATORS:
            raise ModelFileError(f"The file holds a {name!r}, which this Weald does not know.")
        if (model.classes is None) != (name == "BoostedTreesRegressor"):
            raise ModelFileError(f"A {name} cannot have these classes.")
        kind = ESTIMATORS[name]
        unknown = set(params) - set(kind._get_param_names())
        if unknown:
            raise ModelFileError(f"A {name} has no parameter {sorted(unknown)[0]!r}.")
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)!r}: {error}") from None
    estimator = kind(**params)
    estimator._set_model(model)
    return estimator


def _plain(value: Any) -> Any:
    """A parameter's value as JSON data; functions are remembered by name only."""
    if callable(value):
        return {"function": getattr(value, "__name__", type(value).__name__)}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {"pairs": [[_plain(key), _plain(entry)] for key, entry in value.items()]}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(entry) for entry in value]
    return value


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"function"}:
            return value["function"]
        pairs = value.get("pairs")
        if set(value) != {"pairs"} or not isinstance(pairs, list):
            raise ModelFileError("A parameter in the file is not in a known form.")
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ModelFileError("A parameter in the file is not in a known form.")
        return {_hashable(key): _restored(entry) for key, entry in pairs}
    if isinstance(value, list):
        return [_restored(entry) for entry in value]
    return value


def _hashable(value: Any) -> Any:
    if isinstance(value, list | dict):
        raise ModelFileError("A parameter in the file is not in a known form.")
    return value


def _classes_to_json(classes: NDArray[Any]) -> dict[str, Any]:
    return {"dtype": classes.dtype.str, "values": [_plain(value) for value in classes.tolist()]}


def _classes_from_json(stored: Any) -> NDArray[Any]:
    if (
        not isinstance(stored, dict)
        or set(stored) != {"dtype", "values"}
        or not isinstance(stored["values"], list)
    ):
        raise ModelFileError("The file's classes must have a dtype and values.")
    values = stored["values"]
    if not all(isinstance(value, str | int | float) for value in values) or len(set(values)) != len(values):
        raise ModelFileError("The file's classes must be different strings, booleans or numbers.")
    try:
        kind = np.dtype(stored["dtype"]).kind
        if kind not in "biufUSO":
            raise TypeError
        classes = np.array(values, dtype=stored["dtype"])
    except (TypeError, ValueError, OverflowError):
        raise ModelFileError(f"The file's classes do not have the type {stored['dtype']!r}.") from None
    if len(classes) < 2:
        raise ModelFileError("The file must have at least two classes.")
    return classes


def _check_codes(forest: Forest, schema: Schema) -> None:
    """Categorical tests must be on categorical columns and within their dictionaries."""
    inner = forest.feature >= 0
    categorical = schema.categorical_mask
    uses_set = forest.category_set[inner] >= 0
    features = forest.feature[inner]
    if (categorical[features] != uses_set).any():
        raise ModelFileError("A tree tests a column in a way that does not fit the column's kind.")
    sizes = np.array([len(column.categories) for column in schema.columns])
    for feature, index in zip(features[uses_set], forest.category_set[inner][uses_set], strict=True):
        codes = forest.set_codes[forest.set_offsets[index] : forest.set_offsets[index + 1]]
        if len(codes) and codes[-1] >= sizes[feature]:
            raise ModelFileError(
                f"A tree tests a category that column {schema.names[feature]!r} does not have."
            )


def _check_outputs(forest: Forest, classes: NDArray[Any] | None, link: str) -> None:
    if classes is None:
        return
    wanted = 1 if len(classes) == 2 else len(classes)
    if forest.n_outputs != wanted or link != ("logit" if wanted == 1 else "softmax"):
        raise ModelFileError(
            f"{len(classes)} classes do not fit {forest.n_outputs} outputs and link {link!r}."
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


def _checked_round(value: Any, forest: Forest) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < max(forest.n_rounds, 1):
        raise ModelFileError(f"The file's best_iteration is {value!r}, which is not one of its rounds.")
    return value


def check_same_training(path: Any, estimator: BoostedTrees, name: str, params: dict[str, Any]) -> None:
    """Refuse to resume from a checkpoint of another kind of training."""
    if name != type(estimator).__name__:
        raise InputError(f"resume_from={os.fspath(path)!r} holds a {name}, not a {type(estimator).__name__}.")
    free = NOT_SAVED | {"n_estimators"}
    for key, value in estimator.get_params(deep=False).items():
        if key not in free and _restored(_plain(value)) != params.get(key):
            raise InputError(
                f"resume_from={os.fspath(path)!r} was trained with {key}={params.get(key)!r}, not {value!r}; "
                "resume with the same parameters."
            )
