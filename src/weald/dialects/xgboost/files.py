"""A `Booster` as a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weald.dialects.shared.files import FileFormat, texts_a_column
from weald.params.xgboost import read_parameters
from weald.runtime.errors import ModelFileError

if TYPE_CHECKING:
    from weald.dialects.xgboost.booster import Booster

_KEYS = frozenset({"custom", "feature_names", "feature_types", "attributes"})
_FORMAT = FileFormat("XGBoost", "Booster", b"{", _KEYS, ("nthread", "verbosity"), read_parameters)


def to_bytes(booster: Booster) -> bytes:
    """The bytes of the model file; equal for equal models."""
    more = {
        "custom": booster._custom,
        "feature_names": booster.feature_names,
        "feature_types": booster.feature_types,
        "attributes": booster.attributes(),
    }
    return _FORMAT.pack(booster._params, more, booster._fitted())


def from_bytes(booster: Booster, data: bytes) -> None:
    """Make a booster what a file's bytes say; everything is checked before anything is changed."""
    params, header, model = _FORMAT.unpack(data)
    names, kinds = (texts_a_column(header, key, model) for key in ("feature_names", "feature_types"))
    attributes = header["attributes"]
    if not isinstance(attributes, dict) or not all(isinstance(text, str) for text in attributes.values()):
        raise ModelFileError("The file's attributes must be texts.")
    booster._params, booster._custom = params, bool(header["custom"])
    booster._names, booster._kinds, booster._attributes = names, kinds, attributes
    booster._set_model(model)
