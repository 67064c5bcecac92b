"""A model as one C99 file and its header, which are C++ too: tables, and loops over blocks of rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.exchange.formats.c_steps import code_of
from weald.exchange.formats.c_tables import array, strings
from weald.exchange.formats.c_text import DOOR, HEAD, HEADER, RUNTIME
from weald.exchange.model import Label, Model, joined
from weald.runtime.errors import InputError, NotSupportedError

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
# Numbers of a block of rows on the stack, and rows of a block.
_ON_STACK: Final = 2**13
_MOST_ROWS, _ABREAST = 64, 8
_MOST_SLOTS: Final = 2**16
_RULES: Final = {"argmax": 0, "above": 1, "majority": 2}
_CELLS: Final = {
    "nan": "rows[i * {columns} + j]",
    "zero": "numeric[j] && rows[i * {columns} + j] == 0.0 ? NAN : rows[i * {columns} + j]",
    "none": "numeric[j] && rows[i * {columns} + j] != rows[i * {columns} + j] ? 0.0 : rows[i * {columns} + j]",
}


def write(model: Model, path: Path, *, name: str | None = None) -> dict[Path, bytes]:
    """The source, and the header beside it; `name` begins the functions' names."""
    prefix = name_of(path, name)
    header = path.with_suffix(".h")
    if header == path:
        raise InputError(
            f"path is {str(path)!r}, the name of a header; end it with .c, the header is written beside it."
        )
    source, declared = text_of(model, prefix, header.name)
    return {path: source.encode("ascii"), header: declared.encode("ascii")}


def name_of(path: Path, name: str | None) -> str:
    """What names begin with: a name that was given, or the file's."""
    chosen = re.sub(r"[^A-Za-z0-9_]", "_", path.stem) if name is None else name
    if not isinstance(chosen, str) or not _IDENTIFIER.fullmatch(chosen):
        raise InputError(
            f"name must be letters, digits and _, and not begin with a digit, but is {chosen!r}."
        )
    return chosen


def text_of(model: Model, name: str, header: str) -> tuple[str, str]:
    """Source and header."""
    slots = model.n_slots
    if slots > _MOST_SLOTS:
        raise NotSupportedError(
            f"format='c' keeps the numbers of a row on the stack, at most {_MOST_SLOTS:,}, but this model has {slots:,}; "
            "export it as 'json' or 'onnx'."
        )
    rows = max(_ABREAST, min(_MOST_ROWS, _ON_STACK // slots // _ABREAST * _ABREAST))
    columns = model.schema.n_columns
    names = {"name": name, "upper": name.upper(), "columns": columns}
    tables, calls = [], []
    for number, (step, first) in enumerate(zip(model.steps, model.starts(), strict=True)):
        own, call = code_of(step, number, first)
        tables += own
        calls.append(call)
    source = [
        HEAD.format(header=_escaped(header), rows=rows, slots=slots),
        *_facts(model),
        *tables,
        RUNTIME,
        "static void evaluate(size_t n_rows, Block s) {",
        "    size_t i;",
        *calls,
        "    (void)i, (void)n_rows, (void)s, (void)find_leaves, (void)place_of, (void)weald_sigmoid;",
        "}",
        "",
        DOOR.format(**names, cell=_CELLS[model.missing].format(columns=columns)),
    ]
    outputs = model.answer.outputs
    values = len(joined([output.values for output in outputs]))
    declared = HEADER.format(**names, values=values, scores=len(model.answer.scores), labels=len(outputs))
    return "\n".join(source), declared


def _escaped(header: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.+ -]", "_", header)


def _facts(model: Model) -> list[str]:
    """What the functions tell of the model: names, categories, classes, slots."""
    columns, outputs = model.schema.columns, model.answer.outputs
    return [
        array("uint32_t", "value_slots", joined([output.values for output in outputs])),
        array("uint32_t", "score_slots", model.answer.scores),
        array("uint32_t", "decided_slots", joined([output.decided for output in outputs])),
        array("uint32_t", "label_starts", _starts([output.decided for output in outputs])),
        array("int", "label_rules", [_RULES[output.rule] for output in outputs]),
        strings("columns", model.schema.names),
        strings("categories", [text_of_label(one) for column in columns for one in column.categories]),
        array("uint32_t", "category_starts", _starts([column.categories for column in columns])),
        strings("classes", [text_of_label(one) for output in outputs for one in output.classes or ()]),
        array("uint32_t", "class_starts", _starts([output.classes or () for output in outputs])),
        *([array("int", "numeric", ~model.schema.categorical_mask)] if model.missing != "nan" else []),
        "",
    ]


def _starts(parts: Iterable[Sequence[Any]]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


def text_of_label(label: Label) -> str:
    """A category or a class as text: numbers in their shortest form."""
    return label if isinstance(label, str) else repr(label)
