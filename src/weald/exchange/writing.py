"""`export`: which module writes a format, and the files that it writes."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from weald.exchange.model import Model
from weald.runtime.atomic import check_writable, write_whole
from weald.runtime.errors import InputError

#: format -> the module below `weald.exchange.formats` that writes it: ``write(model, path, *, options) -> {path: bytes}``
WRITERS: Final[dict[str, str]] = {
    "json": "json",
    "python": "python",
    "c": "c",
    "javascript": "javascript",
    "sql": "sql",
    "onnx": "onnx",
    "pmml": "pmml",
    "coreml": "coreml",
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "catboost": "catboost",
    "treelite": "treelite",
}


def export(model: Model, path: str | os.PathLike[str], format: str, options: Mapping[str, Any]) -> None:
    """Write a model in a format; nothing is written where the format cannot say it."""
    if format not in WRITERS:
        raise InputError(f"format must be one of {', '.join(map(repr, WRITERS))}, not {format!r}.")
    write = import_module(f"weald.exchange.formats.{WRITERS[format]}").write
    known = {
        name for name, one in inspect.signature(write).parameters.items() if one.kind is one.KEYWORD_ONLY
    }
    unknown = sorted(set(options) - known)
    if unknown:
        takes = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
        raise InputError(f"format={format!r} has no option {unknown[0]!r}; {takes}.")
    check_writable(path, "model")
    for target, data in write(model, Path(path), **options).items():
        write_whole(target, data, "model")
