"""Boosted models as if their fits had other parameters, for files that are compared or read again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any


def as_if(model: Any, **parameters: Any) -> Any:
    """The model, had its fit had these parameters; its trees stay as they are."""
    model.set_params(**parameters)
    model._model = replace(model._model, params=None)  # they are those of the estimator then
    return model


def bytes_as_if(model: Any, **parameters: Any) -> bytes:
    """The file of the model, had its fit had these parameters."""
    data: bytes = as_if(model, **parameters)._to_bytes()
    return data
