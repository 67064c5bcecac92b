"""Stacks as the parts of a composite model file, and back; what comes back is checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from weald.estimators.combined.named_members import is_layered
from weald.estimators.shared.plain import classes_from_json, labels_to_json
from weald.runtime.errors import ModelFileError
from weald.training.combining.layers import METHODS, Layer, Stack

if TYPE_CHECKING:
    from weald.estimators.combined.final_estimator import FinalEstimator
    from weald.estimators.shared.composite import Members

_FINAL = "final_estimator"
_KEYS = {"layers", "widths", "layered", "n_features_in", "feature_names"}


def stack_parts(model: FinalEstimator) -> tuple[Members, dict[str, Any]]:
    """All fitted models, layer after layer, the final one last; and what else prediction needs."""
    members, layers = [], []
    for layer in model._stack.layers:
        described = []
        for name, method, models in zip(layer.names, layer.methods, layer.models, strict=True):
            described.append([name, method, len(models)])
            members += [(name, fitted) for fitted in models]
        layers.append(described)
    names = getattr(model, "feature_names_in_", None)
    extra: dict[str, Any] = {
        "layers": layers,
        "widths": [int(width) for width in model._widths],
        "layered": is_layered(model.estimators),
        "n_features_in": getattr(model, "n_features_in_", None),
        "feature_names": None if names is None else [str(name) for name in names],
    }
    if is_classifier(model):
        classes = model.classes_
        if isinstance(classes, list):
            classes = [labels_to_json(found) for found in classes]
        extra |= {"classes": classes, "member_labels": model._stack.layers[0].classes}
    return [*members, (_FINAL, model.final_estimator_)], extra


def stack_from_parts(
    cls: type[Any], params: dict[str, Any], members: list[tuple[str, Any]], extra: dict[str, Any]
) -> Any:
    """The fitted estimator of `stack_parts`; the members that it is made of are the loaded ones, unfitted."""
    passthrough = params.get("passthrough", False)
    model = cls([], **params)
    classifies = is_classifier(model)
    if set(extra) != _KEYS | ({"classes", "member_labels"} if classifies else set()):
        raise ModelFileError(f"The file does not have the fields of a {cls.__name__}.")
    several = isinstance(extra.get("classes"), list)
    labels = None
    if classifies and several:
        model.classes_ = [classes_from_json(found) for found in extra["classes"]]
        if len(model.classes_) < 2 or any(len(found) != 2 for found in model.classes_):
            raise ModelFileError("The file's labels must be several, each of two classes.")
    elif classifies:
        model.classes_, labels = _labels(extra["classes"]), _labels(extra["member_labels"])
        if len(labels) != len(model.classes_):
            raise ModelFileError("The file's members have another number of classes than the whole.")
    if not members or members[-1][0] != _FINAL:
        raise ModelFileError("The file's last member must be the final estimator.")
    final, rest = members[-1][1], iter(members[:-1])
    described = _layers(extra["layers"], len(members) - 1)
    layers = [_layer(one, rest, labels) for one in described]
    if next(rest, None) is not None:
        raise ModelFileError("The file has more members than its layers.")
    _check_final(final, model.classes_ if classifies else None)
    pairs = [
        [(name, clone(models[0])) for name, models in zip(layer.names, layer.models, strict=True)]
        for layer in layers
    ]
    model.estimators = pairs if extra["layered"] is True or len(layers) > 1 else pairs[0]
    model.final_estimator = clone(final)
    model._set_fitted(Stack(layers, passthrough is True), _widths(extra["widths"], layers[-1], final), final)
    if not hasattr(model, "n_features_in_") or model.n_features_in_ != extra["n_features_in"]:
        raise ModelFileError("The file's members have another number of columns than the whole.")
    if [*getattr(model, "feature_names_in_", ())] != (extra["feature_names"] or []):
        raise ModelFileError("The file's members have other columns than the whole.")
    return model


def _labels(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.ndim != 1 or len(value) < 2:
        raise ModelFileError("The file's classes must be at least two labels.")
    return value


def _layers(described: Any, most: int) -> list[list[tuple[str, str, int]]]:
    """(name, method, models) of every member, by layers; ``most``: the models that there are."""
    if (
        not isinstance(described, list)
        or not described
        or not all(isinstance(one, list) and one for one in described)
    ):
        raise ModelFileError("The file's layers must be lists of members.")
    for entry in (entry for layer in described for entry in layer):
        if not isinstance(entry, list) or len(entry) != 3 or not isinstance(entry[0], str):
            raise ModelFileError("A member of the file's layers must be a name, a method and a number.")
        if entry[1] not in METHODS or type(entry[2]) is not int or not 1 <= entry[2] <= most:
            raise ModelFileError(
                f"The file's member {entry[0]!r} has no known method, or not as many models as it says."
            )
    return described


def _layer(described: list[Any], members: Iterator[tuple[str, Any]], labels: Any) -> Layer:
    models: list[list[Any]] = []
    for name, method, count in described:
        taken = [next(members, (None, None)) for _ in range(count)]
        if any(found != name or not hasattr(model, method) for found, model in taken):
            raise ModelFileError(f"The file's models of member {name!r} are missing or cannot {method}.")
        models.append([model for _, model in taken])
    names, methods = [entry[0] for entry in described], [entry[1] for entry in described]
    return Layer(names, methods, models, labels)


def _check_final(final: Any, classes: Any) -> None:
    if classes is None:
        fits = is_regressor(final)
    else:
        several = isinstance(classes, list)
        own = getattr(final, "classes_", ())
        known, wanted = (own, classes) if several else ([own], [classes])
        fits = is_classifier(final) and len(known) == len(wanted)
        fits = fits and all(
            np.array_equal(labels, np.arange(len(found)))
            for labels, found in zip(known, wanted, strict=False)
        )
    if not fits:
        raise ModelFileError("The file's final estimator does not fit its task.")


def _widths(value: Any, layer: Layer, final: Any) -> list[int]:
    if not isinstance(value, list) or len(value) != len(layer.names):
        raise ModelFileError("The file must have a number of columns for every member of the last layer.")
    if not all(type(width) is int and width > 0 for width in value):
        raise ModelFileError("The file's numbers of columns must be positive.")
    if sum(value) > final.n_features_in_:
        raise ModelFileError("The file's members have more columns than the final estimator.")
    return value
