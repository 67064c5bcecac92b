"""A `Booster` as a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weald.dialects.shared.files import FileFormat, texts_a_column
from weald.dialects.xgboost.theirs import become_theirs
from weald.estimators.shared.persistence import FittedModel
from weald.params.xgboost import read_parameters
from weald.runtime.errors import ModelFileError

if TYPE_CHECKING:
    from weald.dialects.xgboost.booster import Booster

_KEYS = frozenset({"feature_names", "feature_types", "attributes"})
_PLAIN = (str, int, float)  # what JSON has for the values of categories
# Files had the one before, which said whether a function of the user's decided gradients, and have the other now.
_SOME = frozenset({"custom", "categories"})
_FORMAT = FileFormat("XGBoost", "Booster", _KEYS, ("nthread", "device", "verbosity"), read_parameters, _SOME)


def to_bytes(booster: Booster) -> bytes:
    """The bytes of the model file; equal for equal models."""
    more: dict[str, Any] = {
        "feature_names": booster.feature_names,
        "feature_types": booster.feature_types,
        "attributes": booster.attributes(),
    }
    if booster._categories is not None:
        more["categories"] = [_plain(values) for values in booster._categories]
    return _FORMAT.pack(booster._params, more, booster._fitted())


def from_bytes(booster: Booster, data: bytes) -> None:
    """Make a booster what a file's bytes say; everything is checked before anything is changed."""
    if data[:1] == b"{":
        become_theirs(booster, data)
        return
    params, header, model = _FORMAT.unpack(data)
    names, kinds = (texts_a_column(header, key, model) for key in ("feature_names", "feature_types"))
    attributes = header["attributes"]
    if not isinstance(attributes, dict) or not all(isinstance(text, str) for text in attributes.values()):
        raise ModelFileError("The file's attributes must be texts.")
    booster._params, booster._categories = params, _categories(header.get("categories"), model)
    booster._names, booster._kinds, booster._attributes = names, kinds, attributes
    booster._set_model(model)


def _plain(values: list[Any] | None) -> list[Any] | None:
    """Categories as JSON data; dates and the like have no codes in a file."""
    return values if values is not None and all(isinstance(value, _PLAIN) for value in values) else None


def _categories(stored: Any, model: FittedModel) -> list[list[Any] | None] | None:
    """The categories of the columns in the order of their codes; older files have none."""
    if stored is None:
        return None
    columns = stored if isinstance(stored, list) else []
    fit = all(values is None or (isinstance(values, list) and _plain(values) is values) for values in columns)
    if len(columns) != model.schema.n_columns or not fit:
        raise ModelFileError("The file's categories must be one list a column.")
    return columns
