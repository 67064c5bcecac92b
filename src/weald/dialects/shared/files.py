"""The booster of another system's interface as a model file: the native model's bytes, and beside them what it adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weald.binning.parameters import Bins
from weald.estimators.boosted.boosted import BoostedTreesRegressor
from weald.estimators.shared import persistence
from weald.estimators.shared.persistence import FittedModel
from weald.estimators.shared.plain import plain, restored
from weald.forest.container import pack, unpack
from weald.runtime.errors import InputError, ModelFileError

_FORMAT = 2


def pack_model(name: str, params: Mapping[str, Any], more: Mapping[str, Any], model: FittedModel) -> bytes:
    """The bytes of the model file; equal for equal models. ``more``: what the interface adds, as JSON data."""
    header = {
        "estimator": name,
        "params": {key: plain(value) for key, value in params.items()},
        **more,
    }
    inner = persistence.to_bytes(_as_read(model), model)
    return pack(_FORMAT, header, {}, {"model": np.frombuffer(inner, np.uint8)})


def _as_read(model: FittedModel) -> BoostedTreesRegressor:
    """An estimator with the parameters that say how a table is read, from which a file's reader knows it."""
    reading = Bins(
        unstored=model.unstored,
        use_missing=model.missing != "none",
        zero_as_missing=model.missing == "zero",
    )
    return BoostedTreesRegressor(bins=reading)


def unpack_model(
    name: str, data: bytes, keys: set[str], read: Callable[[dict[str, Any]], dict[str, Any]]
) -> tuple[dict[str, Any], Mapping[str, Any], FittedModel]:
    """The parameters, the header and the model of a file's bytes.

    ``keys``: the header's entries that the interface adds; ``read``: checks parameters.
    """
    content = unpack(data)
    header = content.header
    module = f"weald.{name.partition('.')[0]}"
    if header.get("estimator") != name or set(header) != {"estimator", "params", *keys}:
        raise ModelFileError(f"This file holds no model of {module}; weald.load reads Weald's other models.")
    inner = content.arrays({"model": np.dtype(np.uint8)})["model"]
    model = persistence.from_bytes(inner.tobytes())[2]
    if not isinstance(header["params"], dict):
        raise ModelFileError("The file's parameters are not those of a booster.")
    try:
        params = read({key: restored(value) for key, value in header["params"].items()})
    except InputError as error:
        raise ModelFileError(f"The file's parameters are not those of a booster: {error}") from None
    return params, header, model


def texts_a_column(header: Mapping[str, Any], key: str, model: FittedModel) -> list[str] | None:
    """Names of the columns, or None, from a file's header."""
    values = header[key]
    if values is None:
        return None
    if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
        raise ModelFileError(f"The file's {key} must be texts.")
    if len(values) != model.schema.n_columns:
        raise ModelFileError("The file's feature names and types must be one a column.")
    return values
