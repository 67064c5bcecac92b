"""A `DMatrix` from a file: text in the formats of libsvm and CSV, read into memory, and what `save_binary` has written."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.forest.container import pack, unpack
from weald.forest.disk import save
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

_FORMAT = 2
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
    labels: list[float] = []
    weights: list[float] = []
    columns: list[int] = []
    values: list[float] = []
    ends = [0]
    for number, line in enumerate(Path(name).read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            label, _, weight = words[0].partition(":")
            labels.append(float(label))
            weights += [float(weight)] if weight else []
            for word in words[1:]:
                column, _, value = word.partition(":")
                if column == "qid":
                    raise NotSupportedError("qid is of ranking, which is not supported; leave it out.")
                columns.append(int(column))
                values.append(float(value) if value else 1.0)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"line {number} of {name!r} is not of the libsvm format: {line!r}.") from None
        ends.append(len(columns))
    places = np.array(columns, np.int64)
    if mode > 0 or (mode < 0 and len(places) and places.min() > 0):  # which counts from 1
        places = places - 1
    if len(places) and places.min() < 0:
        raise InputError(f"{name!r} has a column below the first one.")
    shape = (len(labels), int(places.max(initial=-1)) + 1)
    table = scipy.sparse.csr_matrix((np.array(values, np.float32), places, ends), shape=shape)
    fields = {"label": np.array(labels, np.float32)}
    if weights and len(weights) != len(labels):
        raise InputError(f"some rows of {name!r} have a weight and others have none.")
    return FromFile(table, fields | ({"weight": np.array(weights)} if weights else {}))


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
    table = content.table
    header = {
        "kind": _KIND,
        "shape": list(table.shape),
        "names": content.names,
        "kinds": content.kinds,
        "outputs": json.dumps({name: list(values.shape) for name, values in content.fields.items()}),
    }
    arrays = {
        "data": table.data.astype(np.float64),
        "indices": table.indices.astype(np.int64),
        "indptr": table.indptr.astype(np.int64),
        **{name: np.asarray(content.fields.get(name, ()), np.float64).reshape(-1) for name in _FIELDS},
    }
    save(path, pack(_FORMAT, header, {}, arrays))


def _binary(name: str, text: str) -> FromFile:
    try:
        content = unpack(Path(name).read_bytes())
        header = content.header
        if header.get("kind") != _KIND:
            raise ModelFileError("it holds something else.")
        numbers = dict.fromkeys(("data", *_FIELDS), np.dtype(np.float64))
        arrays = content.arrays({**numbers, **dict.fromkeys(("indices", "indptr"), np.dtype(np.int64))})
    except ModelFileError as error:
        raise InputError(
            f"data is the path {text!r}, which save_binary has not written ({error}); text needs ?format=libsvm or ?format=csv."
        ) from None
    rows, columns = header["shape"]
    table = scipy.sparse.csr_matrix(
        (arrays["data"], arrays["indices"], arrays["indptr"]), shape=(rows, columns), copy=True
    )
    shapes = json.loads(header["outputs"])
    return FromFile(
        table,
        {field: arrays[field].reshape(shape) for field, shape in shapes.items()},
        header["names"],
        header["kinds"],
    )
