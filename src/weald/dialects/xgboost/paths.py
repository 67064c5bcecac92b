"""A `DMatrix` from a file: text in the formats of libsvm and CSV, read into memory, and what `save_binary` has written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.dialects.shared.binaries import read_rows, write_rows
from weald.dialects.shared.texts import lines_of, read_libsvm
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

_KIND = "weald.xgboost.DMatrix"
_OPTIONS = ("format", "indexing_mode", "label_column", "weight_column", "delimiter")
_FIELDS = ("label", "weight", "base_margin")


@dataclass(frozen=True)
class FromFile:
    """A table from a file, and what it says of rows and columns; ``fields``: label, weight and base_margin."""

    table: Any
    fields: dict[str, NDArray[Any]]
    names: list[str] | None = None
    kinds: list[str] | None = None


def read_path(given: str | os.PathLike[str]) -> FromFile:
    """The content of a file: ``name?format=libsvm``, ``name?format=csv&label_column=0``, or the name of a binary file."""
    text = os.fspath(given)
    name, _, query = text.removeprefix("file://").partition("?")
    name = name.partition("#")[0]
    if not Path(name).is_file():
        raise FileNotFoundError(f"data is the path {text!r}, but there is no such file.")
    options = dict(parse_qsl(query))
    unknown = sorted(options.keys() - set(_OPTIONS))
    if unknown:
        raise InputError(f"the path {text!r} has the option {unknown[0]!r}; there are {', '.join(_OPTIONS)}.")
    form = options.pop("format", None)
    if form == "libsvm":
        return _libsvm(name, options)
    if form == "csv":
        return _csv(name, options)
    if form is not None:
        raise NotSupportedError(f"the path {text!r} has format={form!r}, which must be libsvm or csv.")
    return _binary(name, text)


def _libsvm(name: str, options: dict[str, str]) -> FromFile:
    mode = int(options.get("indexing_mode", "0"))
    found = read_libsvm(name, lines_of(name))
    places, labels, weights = found.places, found.labels, found.weights
    if mode > 0 or (mode < 0 and len(places) and places.min() > 0):  # which counts from 1
        places = places - 1
    if len(places) and places.min() < 0:
        raise InputError(f"{name!r} has a column below the first one.")
    shape = (len(labels), int(places.max(initial=-1)) + 1)
    table = scipy.sparse.csr_matrix((found.values.astype(np.float32), places, found.ends), shape=shape)
    fields: dict[str, NDArray[Any]] = {"label": labels.astype(np.float32)}
    if len(weights) and len(weights) != len(labels):
        raise InputError(f"some rows of {name!r} have a weight and others have none.")
    return FromFile(table, fields | ({"weight": weights} if len(weights) else {}))


def _csv(name: str, options: dict[str, str]) -> FromFile:
    try:
        cells = np.genfromtxt(name, delimiter=options.get("delimiter", ","), dtype=np.float32, ndmin=2)
    except ValueError as error:
        raise InputError(f"{name!r} is not a table of numbers: {error}") from None
    taken, fields = [], {}
    for field in ("label", "weight"):
        if f"{field}_column" in options:
            place = int(options[f"{field}_column"])
            if not 0 <= place < cells.shape[1]:
                raise InputError(
                    f"{field}_column={place} is none of the {cells.shape[1]} columns of {name!r}."
                )
            fields[field] = cells[:, place]
            taken.append(place)
    return FromFile(np.delete(cells, taken, axis=1), fields)


def write_binary(path: str | os.PathLike[str], content: FromFile) -> None:
    """Write a table of numbers to a file that `read_path` reads; cells without a value are not stored."""
    more = {"names": content.names, "kinds": content.kinds}
    write_rows(path, _KIND, content.table, content.fields, _FIELDS, more)


def _binary(name: str, text: str) -> FromFile:
    try:
        table, fields, header = read_rows(name, _KIND, _FIELDS)
    except ModelFileError as error:
        raise InputError(
            f"data is the path {text!r}, which save_binary has not written ({error}); text needs ?format=libsvm or ?format=csv."
        ) from None
    return FromFile(table, fields, header["names"], header["kinds"])
