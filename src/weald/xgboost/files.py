"""A `Booster` as a model file: the native model's bytes, and beside them what XGBoost's interface adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weald.estimators import persistence
from weald.estimators.plain import plain, restored
from weald.forest.container import pack, unpack
from weald.params.xgboost import read_parameters
from weald.runtime.errors import InputError, ModelFileError
from weald.xgboost.engine import Engine

if TYPE_CHECKING:
    from weald.xgboost.booster import Booster

NAME = "xgboost.Booster"
_FORMAT = 2
_KEYS = {"estimator", "params", "custom", "feature_names", "feature_types", "attributes"}


def to_bytes(booster: Booster) -> bytes:
    """The bytes of the model file; equal for equal models."""
    params = {
        name: plain(value) for name, value in booster._params.items() if name not in ("nthread", "verbosity")
    }
    header = {
        "estimator": NAME,
        "params": params,
        "custom": booster._custom,
        "feature_names": booster.feature_names,
        "feature_types": booster.feature_types,
        "attributes": booster.attributes(),
    }
    model = booster._fitted()
    inner = persistence.to_bytes(Engine(unstored=model.unstored), model)
    return pack(_FORMAT, header, {}, {"model": np.frombuffer(inner, np.uint8)})


def from_bytes(booster: Booster, data: bytes) -> None:
    """Make a booster what a file's bytes say; everything is checked before anything is changed."""
    if data[:1] == b"{":
        raise ModelFileError(
            "This is a model of XGBoost's own; weald.xgboost reads only what its own save_model has written."
        )
    content = unpack(data)
    header = content.header
    if header.get("estimator") != NAME or set(header) != _KEYS:
        raise ModelFileError(
            "This file holds no model of weald.xgboost; weald.load reads Weald's other models."
        )
    inner = content.arrays({"model": np.dtype(np.uint8)})["model"]
    model = persistence.from_bytes(inner.tobytes())[2]
    if not isinstance(header["params"], dict):
        raise ModelFileError("The file's parameters are not those of a booster.")
    try:
        params = read_parameters({name: restored(value) for name, value in header["params"].items()})
    except InputError as error:
        raise ModelFileError(f"The file's parameters are not those of a booster: {error}") from None
    names, kinds = (_texts(header[name], name) for name in ("feature_names", "feature_types"))
    for texts in (names, kinds):
        if texts is not None and len(texts) != model.schema.n_columns:
            raise ModelFileError("The file's feature names and types must be one a column.")
    attributes = header["attributes"]
    if not isinstance(attributes, dict) or not all(isinstance(text, str) for text in attributes.values()):
        raise ModelFileError("The file's attributes must be texts.")
    booster._params, booster._model, booster._custom = params, model, bool(header["custom"])
    booster._names, booster._kinds, booster._attributes = names, kinds, attributes
    booster._making = booster._predictor = None


def _texts(values: Any, name: str) -> list[str] | None:
    if values is None or (isinstance(values, list) and all(isinstance(text, str) for text in values)):
        return values
    raise ModelFileError(f"The file's {name} must be texts.")
