"""A `Dataset` from a file, as LightGBM reads it: CSV, TSV and libsvm with files beside them, or what `save_binary` wrote."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.dialects.lightgbm.basic import log_warning
from weald.dialects.shared.binaries import read_rows, write_rows
from weald.dialects.shared.tables import Float64s, is_frame, without_columns
from weald.dialects.shared.texts import lines_of, read_libsvm, read_numbers
from weald.params.lightgbm import LIGHTGBM_PARAMETERS, value_of
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

_KIND = "weald.lightgbm.Dataset"
_FIELDS = ("label", "weight", "init_score")
_OF_FILES = ("header", "label_column", "weight_column", "ignore_column")
_THEIRS = b"______LightGBM_Binary"


@dataclass(frozen=True)
class FromFile:
    """A table from a file, and what it says of rows and columns."""

    table: Any
    fields: dict[str, NDArray[Any]]
    names: list[str] | None = None
    #: where the file has its column of labels
    label_place: int = 0
    #: of a binary file, the columns declared to hold categories and the parameters
    categorical: list[int] | None = None
    params: dict[str, Any] = field(default_factory=dict)

    def instead_of(self, *given: Any) -> list[Any]:
        """Labels, weights and first scores: the given ones, or the file's."""
        return [
            self.fields.get(name) if value is None else value
            for name, value in zip(_FIELDS, given, strict=True)
        ]


@dataclass(frozen=True)
class _Text:
    """A text file's lines, its separator (None: libsvm), and the names of its columns, or none."""

    name: str
    lines: Iterator[tuple[int, str]]
    separator: str | None
    names: list[str]
    first: str

    def place(self, what: str, given: Any, label: int | None = None) -> int:
        """The column that a parameter names; numbers do not count a column of labels at ``label``."""
        text = str(given).strip()
        if text.startswith("name:"):
            column = text.removeprefix("name:")
            if column not in self.names:
                known = f"it has {', '.join(self.names)}" if self.names else "names need header=True"
                raise InputError(
                    f"{what} names the column {column!r}, which {self.name!r} does not have; {known}."
                )
            place = self.names.index(column)
            if place == label:
                raise InputError(
                    f"{what} names the column {column!r} of {self.name!r}, which holds the labels."
                )
            return place
        width = len(self.first.split(self.separator))
        if text.isdecimal():
            place = int(text) + (label is not None and int(text) >= label)
            if place < width:
                return place
        raise InputError(f"{what}={given!r} is none of the {width} columns of {self.name!r}.")


def read_path(path: str | os.PathLike[str], params: Mapping[str, Any], width: int | None) -> FromFile:
    """The content of a file; ``width``: how many columns the reference has, which rows of libsvm may not reach."""
    name = os.fspath(path)
    if _is_container(name):
        return _binary(name)
    told = {one: value_of(params, one) for one in _OF_FILES}
    text = _opened(name, told["header"])
    if text.separator is None:
        return _of_libsvm(text, told, width)
    label = text.place("label_column", told["label_column"] or 0)
    weight = (
        None if told["weight_column"] == "" else text.place("weight_column", told["weight_column"], label)
    )
    cells = read_numbers(name, text.lines, text.separator)
    dead = {text.place("ignore_column", one, label) for one in _listed(told["ignore_column"])}
    fields = {"label": cells[:, label]} | ({} if weight is None else {"weight": cells[:, weight]})
    dead |= set() if weight is None else {weight}
    table = without_columns(np.delete(cells, label, axis=1), [place - (place > label) for place in dead])
    names = [one for place, one in enumerate(text.names) if place != label] or None
    return FromFile(table, _beside(name) | fields, names, label)


def rows_to_predict(
    path: str | os.PathLike[str], header: bool, label: int, names: list[str], wanted: bool
) -> Any:
    """The rows of a text file, with a column of labels at ``label`` or without one; ``wanted``: with columns of these names."""
    name, columns = os.fspath(path), len(names)
    if _is_container(name):
        raise InputError(f"{name!r} is a file of save_binary; predict takes a table, or a file of text.")
    text = _opened(name, header)
    if text.separator is None:
        return _of_libsvm(text, {}, columns).table
    cells = read_numbers(name, text.lines, text.separator)
    own = text.names
    if cells.shape[1] == columns + 1:
        cells, own = np.delete(cells, label, axis=1), [one for at, one in enumerate(own) if at != label]
    elif cells.shape[1] != columns:
        raise InputError(
            f"{name!r} has {cells.shape[1]} columns, but the model was trained with {columns}, beside which labels may be."
        )
    if wanted and names != ["_".join(one.split()) for one in own]:
        raise InputError(f"{name!r} has the columns {own}, but the model was trained with {names}.")
    return cells


def _is_container(name: str) -> bool:
    """Whether a file is one of Weald's own, and none of text; what else cannot be read is refused."""
    if Path(name).is_dir():
        raise NotSupportedError(
            f"data is the folder {name!r}; a BlockStore holds bins, not values: train on it with weald.BoostedTreesRegressor "
            "or weald.BoostedTreesClassifier."
        )
    if not Path(name).is_file():
        raise InputError(f"data is the path {name!r}, but there is no such file.")
    with open(name, "rb") as stream:
        head = stream.read(len(_THEIRS))
    if head.startswith(_THEIRS):
        raise NotSupportedError(
            f"{name!r} is a binary file of LightGBM's; make one of the table by save_binary."
        )
    return head[8:9] == b"{" and b"\0" in head[:8]


def _opened(name: str, header: bool) -> _Text:
    """A file's lines behind its header; two of them show the format, as in LightGBM."""
    for kind, reason in (("query", "ranking"), ("position", "ranking")):
        if Path(f"{name}.{kind}").exists():
            raise NotSupportedError(
                f"{name + '.' + kind!r} is of {reason}, which is not supported; move it away."
            )
    lines = lines_of(name)
    top = next(lines, (0, ""))[1] if header else ""
    shown = list(islice(lines, 2))
    if not shown:
        raise InputError(f"the file {name!r} has no rows.")
    first = shown[0][1]
    separator: str | None = None
    if not any(":" in line for _, line in shown):
        separator = next((mark for mark in "\t," if all(mark in line for _, line in shown)), None)
        if separator is None:
            raise InputError(
                f"line {shown[0][0]} of {name!r} is neither CSV, TSV nor libsvm: it has no comma, tab or colon."
            )
    names = [one.strip().strip('"') for one in top.split(separator)] if header and separator else []
    if header and separator and len(names) != len(first.split(separator)):
        raise InputError(
            f"line {shown[0][0]} of {name!r} has {len(first.split(separator))} cells, but its header has {len(names)} names."
        )
    return _Text(name, chain(shown, lines), separator, names, first)


def _of_libsvm(text: _Text, told: Mapping[str, Any], width: int | None) -> FromFile:
    """Rows of libsvm, their columns counted from 0; only rows to predict may have no labels."""
    given = next((name for name in _OF_FILES[1:] if told.get(name, "") not in ("", 0, "0")), None)
    if given is not None:
        raise NotSupportedError(
            f"{given} is of CSV and TSV, but {text.name!r} is of the libsvm format; leave it out."
        )
    labelled = ":" not in text.first.split()[0]
    if told and not labelled:
        raise InputError(f"the rows of {text.name!r} must begin with labels, as libsvm's do.")
    found = read_libsvm(text.name, text.lines, labelled)
    if found.places.min(initial=0) < 0:
        raise InputError(f"{text.name!r} has a column below the first one, which is 0.")
    if width is not None and found.width > width:
        raise InputError(
            f"{text.name!r} has a column {found.width - 1}, but the training has {width} columns."
        )
    cells = (found.values, found.places, found.ends)
    table = scipy.sparse.csr_matrix(cells, shape=(len(found.ends) - 1, width or found.width))
    return FromFile(table, _beside(text.name) | {"label": found.labels} if told else {})


def _beside(name: str) -> dict[str, NDArray[Any]]:
    """Weights and first scores from the files beside a file."""
    found: dict[str, NDArray[Any]] = {}
    for what, end in (("weight", "weight"), ("init_score", "init")):
        side = f"{name}.{end}"
        if Path(side).exists():
            cells = read_numbers(side, lines_of(side), None)
            found[what] = cells[:, 0] if cells.shape[1] == 1 else cells
    return found


def with_file(known: dict[str, Any], file: FromFile | None, own: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a training with the place of a file's labels; what a file was read by cannot be changed any more."""
    told = {**own, **known}
    for name in _OF_FILES:
        if name not in told or not LIGHTGBM_PARAMETERS.asks(name, told[name]):
            continue
        if file is None:
            log_warning(f"{name}={told[name]!r} changes nothing: it is of files, but the data is a table.")
        elif str(told[name]) != str(value_of(own, name)):
            raise InputError(
                f"{name}={told[name]!r} comes too late, as the file is read; give it to Dataset as params."
            )
    kept = {name: value for name, value in known.items() if name not in _OF_FILES}
    return kept if file is None or not file.label_place else {**kept, "label_column": str(file.label_place)}


def write_binary(
    path: str | os.PathLike[str],
    table: Any,
    fields: dict[str, Float64s],
    names: list[str],
    categorical: list[int] | None,
    params: Mapping[str, Any],
) -> None:
    """Write a table of numbers to a file that `read_path` reads."""
    if is_frame(table):
        import narwhals as nw

        table = nw.from_native(table, eager_only=True).to_numpy().astype(np.float64)
    dense = not scipy.sparse.issparse(table)
    kept = {name: value for name, value in params.items() if name not in _OF_FILES}
    more = {"names": names, "categorical": categorical, "params": kept, "dense": dense}
    write_rows(path, _KIND, scipy.sparse.csr_matrix(table), fields, _FIELDS, more)


def _binary(name: str) -> FromFile:
    try:
        table, fields, header = read_rows(name, _KIND, _FIELDS)
    except ModelFileError as error:
        raise InputError(f"data is the path {name!r}, which save_binary has not written ({error}).") from None
    cells = table.toarray() if header["dense"] else table
    return FromFile(cells, fields, header["names"], 0, header["categorical"], header["params"])


def _listed(told: Any) -> Sequence[Any]:
    """The columns of ignore_column: 0,2 or name:a,b."""
    if not isinstance(told, str):
        return told if isinstance(told, list | tuple) else [told]
    begin = "name:" if told.startswith("name:") else ""
    return [begin + one.strip() for one in told.removeprefix("name:").split(",") if one.strip()]
