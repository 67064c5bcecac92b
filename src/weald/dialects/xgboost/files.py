"""A `Booster` as a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weald.dialects.shared.files import pack_model, texts_a_column, unpack_model
from weald.params.xgboost import read_parameters
from weald.runtime.errors import ModelFileError

if TYPE_CHECKING:
    from weald.dialects.xgboost.booster import Booster

NAME = "xgboost.Booster"
_KEYS = {"custom", "feature_names", "feature_types", "attributes"}


def to_bytes(booster: Booster) -> bytes:
    """The bytes of the model file; equal for equal models."""
    params = {name: value for name, value in booster._params.items() if name not in ("nthread", "verbosity")}
    more = {
        "custom": booster._custom,
        "feature_names": booster.feature_names,
        "feature_types": booster.feature_types,
        "attributes": booster.attributes(),
    }
    return pack_model(NAME, params, more, booster._fitted())


def from_bytes(booster: Booster, data: bytes) -> None:
    """Make a booster what a file's bytes say; everything is checked before anything is changed."""
    if data[:1] == b"{":
        raise ModelFileError(
            "This is a model of XGBoost's own; weald.xgboost reads only what its own save_model has written."
        )
    params, header, model = unpack_model(NAME, data, _KEYS, read_parameters)
    names, kinds = (texts_a_column(header, key, model) for key in ("feature_names", "feature_types"))
    attributes = header["attributes"]
    if not isinstance(attributes, dict) or not all(isinstance(text, str) for text in attributes.values()):
        raise ModelFileError("The file's attributes must be texts.")
    booster._params, booster._custom = params, bool(header["custom"])
    booster._names, booster._kinds, booster._attributes = names, kinds, attributes
    booster._set_model(model)
