"""A `Booster` as a model file, and as text."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weald.dialects.lightgbm.columns import facts_from_json
from weald.dialects.lightgbm.theirs import FIRST_LINE, become_theirs
from weald.dialects.shared.files import FileFormat, texts_a_column
from weald.estimators.shared.persistence import FittedModel
from weald.exchange.foreign.load import text_of
from weald.params.lightgbm import LIGHTGBM_PARAMETERS, read_parameters, value_of
from weald.runtime.errors import ModelFileError

if TYPE_CHECKING:
    from weald.dialects.lightgbm.booster import Booster

_FIRST_LINE = "weald.lightgbm\n"
_KEYS = frozenset({"custom", "feature_names", "learning_rates", "columns"})
_UNSAVED = ("num_threads", "device_type", "gpu_device_id", "gpu_device_id_list", "num_gpu", "verbosity")
_FORMAT = FileFormat("LightGBM", "Booster", _KEYS, _UNSAVED, read_parameters)


def to_bytes(booster: Booster, model: FittedModel, rates: Sequence[float]) -> bytes:
    """The bytes of the model file; equal for equal models. ``rates``: the learning rate of every round."""
    more = {
        "custom": booster._custom,
        "feature_names": booster._names,
        "learning_rates": list(rates),
        "columns": None if booster._facts is None else booster._facts.to_json(),
    }
    return _FORMAT.pack(booster._params, more, model)


def from_bytes(booster: Booster, data: bytes) -> None:
    """Make a booster what a file's bytes say; everything is checked before anything is changed."""
    if data.startswith(FIRST_LINE.encode()):
        become_theirs(booster, text_of(data))
        return
    params, header, model = _FORMAT.unpack(data)
    names = texts_a_column(header, "feature_names", model)
    rates, columns = header["learning_rates"], header["columns"]
    if not isinstance(rates, list) or not all(isinstance(rate, int | float) for rate in rates):
        raise ModelFileError("The file's learning rates must be numbers.")
    facts = None if columns is None else facts_from_json(columns, model.schema.n_columns)
    booster.params = {
        name: value_of(params, name)
        for name, entry in LIGHTGBM_PARAMETERS.items()
        if entry.standing in ("same", "different") and entry.group != "estimators"
    }
    booster._params, booster._custom, booster._names = params, bool(header["custom"]), names or []
    booster._rates, booster._facts = rates, facts
    booster._set_model(model)


def to_text(data: bytes) -> str:
    """A model file's bytes as text."""
    return _FIRST_LINE + base64.b64encode(data).decode() + "\n"


def from_text(text: str) -> bytes:
    """The bytes of `to_text`."""
    if text.startswith(FIRST_LINE):
        return text.encode()
    try:
        first, _, rest = text.partition("\n")
        if first + "\n" != _FIRST_LINE:
            raise ValueError
        return base64.b64decode(rest.strip(), validate=True)
    except (ValueError, binascii.Error):
        raise ModelFileError("This text is none of model_to_string of weald.lightgbm.") from None
