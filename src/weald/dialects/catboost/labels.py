"""A fit's labels as numbers: classes as codes, by class_names or a border where these are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import read_regression_target, read_several_classes
from weald.dialects.catboost.objectives import CLASSES, Chosen, choose
from weald.dialects.catboost.pool import Pool
from weald.dialects.shared.tables import Float64s
from weald.estimators.shared.labels import known_codes
from weald.params.catboost import CATBOOST_PARAMETERS
from weald.runtime.errors import InputError

_SHARES = "CrossEntropy"
_OF_CLASSES = (
    "class_weights", "auto_class_weights", "scale_pos_weight", "class_names", "classes_count", "target_border",
)  # fmt: skip


def training_labels(
    owner: str, loss: Any, labels_are: str | None, data: tuple[Any, Pool], params: Mapping[str, Any]
) -> tuple[Float64s, NDArray[Any] | None, Chosen]:
    """The labels as numbers, the classes where they are some, and the loss; ``data``: labels as they were given, and the pool.

    ``labels_are``: "classes", "numbers", or None: by the loss.
    """
    target, pool = data
    name = loss.partition(":")[0] if isinstance(loss, str) else ""
    shares = name == _SHARES
    if labels_are == "numbers" and (name in CLASSES or shares):
        raise InputError(f"loss_function={name!r} is for classes; use CatBoostClassifier.")
    if shares or not (labels_are == "classes" or name in CLASSES):
        chosen = choose(loss, 2)
        _refuse_of_classes(params, chosen)
        y = read_regression_target(target, pool.num_row(), owner=owner)
        return y, np.array([0, 1]) if shares else None, chosen
    codes, classes = _read_classes(_bordered(target, pool.num_row(), params, owner), pool, params, owner)
    several = len(classes) > 2 or params.get("classes_count") is not None
    chosen = choose(loss if loss is not None else "MultiClass" if several else "Logloss", len(classes))
    if chosen.own is None and not chosen.of_classes:
        raise InputError(f"loss_function={chosen.name!r} is for numbers; use CatBoostRegressor.")
    if not chosen.several and len(classes) > 2:
        raise InputError(
            f"loss_function={chosen.name!r} is for two classes, but the labels have {len(classes)}; use 'MultiClass'."
        )
    return codes, classes, chosen


def known_labels(
    pool: Pool, chosen: Chosen, classes: NDArray[Any] | None, full: Mapping[str, Any], owner: str
) -> Float64s:
    """The labels of another set than the training's as numbers."""
    if classes is None or chosen.name == _SHARES:
        return read_regression_target(pool.labels, pool.num_row(), owner=owner)
    return _coded(_bordered(pool.labels, pool.num_row(), full, owner), classes, owner, "eval_set has")


def _refuse_of_classes(params: Mapping[str, Any], chosen: Chosen) -> None:
    """Refuse what is of classes where the labels are numbers or shares."""
    for name in _OF_CLASSES:
        value = params.get(name)
        if value is not None and value not in (CATBOOST_PARAMETERS[name].default, "None"):
            raise InputError(
                f"{name}={value!r} needs a loss of classes, but loss_function is {chosen.name!r}; leave it out."
            )


def _read_classes(
    values: Any, pool: Pool, params: Mapping[str, Any], owner: str
) -> tuple[Float64s, NDArray[Any]]:
    """Codes of the labels and the classes, in the order of class_names where they are given."""
    names, count = params.get("class_names"), params.get("classes_count")
    if names is not None:
        if not isinstance(names, list | tuple) or len(set(names)) < max(len(names), 2):
            raise InputError(f"class_names must be a list of two or more different classes, not {names!r}.")
        if count is not None and count != len(names):
            raise InputError(f"class_names has {len(names)} classes, but classes_count is {count}.")
        classes = np.array(list(names))
    elif count is not None:
        classes = np.arange(int(count))
    else:
        codes, classes = read_several_classes(values, pool.num_row(), pool.weights, owner=owner)
        return codes.astype(np.float64), classes
    return _coded(values, classes, owner, "the labels have"), classes


def _coded(values: Any, classes: NDArray[Any], owner: str, who: str) -> Float64s:
    return known_codes(values, len(values), classes, owner, who, f"is not one of {classes.tolist()}")


def _bordered(values: Any, n_rows: int, params: Mapping[str, Any], owner: str) -> Any:
    """The labels, or, with a target_border, whether they are above it."""
    border = params.get("target_border")
    if border is None:
        return values
    return (read_regression_target(values, n_rows, owner=owner) > border).astype(np.int64)
