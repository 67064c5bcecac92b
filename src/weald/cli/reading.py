"""The options that say how a table is written, the same for every command that reads one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weald.cli.tables import split_names
from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from weald.data.reading import FileTable, ReadOptions

_SPOKEN = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " ", "comma": ",", "semicolon": ";", "none": ""}
_PANEL = "How the table is written (found out where it is not said)"
_Names = list[str] | None


def _option(help_text: str, *names: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help_text, metavar=metavar, rich_help_panel=_PANEL)


_OPTIONS: dict[str, Any] = {
    "separator": Annotated[str | None, _option("Sign between cells: , ; | tab or blank.")],
    "decimal": Annotated[str | None, _option("Decimal sign, . or ,")],
    "thousands": Annotated[str | None, _option("Sign between thousands: , . ' or blank.")],
    "quote": Annotated[str | None, _option("Quotation mark, or none.")],
    "encoding": Annotated[str | None, _option("Such as utf-8, utf-16 or latin-1.")],
    "header": Annotated[
        bool | None, _option("Whether the first line names the columns.", "--header/--no-header")
    ],
    "na_values": Annotated[
        _Names, _option("Cells that mean missing, such as ? or -; may be repeated.", metavar="A,B")
    ],
    "numeric": Annotated[
        _Names,
        _option(
            "Columns of numbers: signs like $ and % are cut off, other cells are missing.", metavar="A,B"
        ),
    ],
    "dates": Annotated[
        _Names,
        _option("Columns of dates, from whose parts to learn (year, month, weekday, …).", metavar="A,B"),
    ],
    "date_format": Annotated[str | None, _option("How dates are written, such as %d/%m/%Y.")],
}


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of reading, which it is given as one argument, ``reading``."""
    command.__annotations__.pop("reading")  # its module is loaded when the command runs
    signature = inspect.signature(command, eval_str=True)
    kept = [parameter for name, parameter in signature.parameters.items() if name != "reading"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _OPTIONS.items()
    ]

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        given = {name: arguments.pop(name) for name in _OPTIONS}
        command(**arguments, reading=_read_options(given))

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in kept] + added
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del run.__wrapped__  # typer would look there for the options
    return run


def read_table_file(file: str, options: ReadOptions, quiet: bool = False) -> FileTable:
    """Read a file, and say on stderr what is not as it is written there."""
    from weald.data.files import open_file

    table = open_file(file, options)
    if not quiet:
        for note in table.notes:
            typer.echo(f"note: {note}", err=True)
    return table


def for_model(options: ReadOptions, model: Any) -> ReadOptions:
    """The options to read a table that is matched to a model: its columns, as the kinds that they had in training."""
    schema = schema_of(model)
    if schema is None or not schema.named:
        return options
    text = [
        column.name for column in schema.columns if any(isinstance(value, str) for value in column.categories)
    ]
    numeric = [name for name in options.numeric if name in schema.names]
    return replace(
        options,
        text=tuple(text),
        known_numbers=frozenset(column.name for column in schema.columns if column.kind == "numeric"),
        numeric=tuple(numeric),
        dates=tuple(dict.fromkeys((*options.dates, *schema.dates))),
        wanted=frozenset((*schema.names, *schema.dates)),
    )


def schema_of(model: Any) -> Any:
    """The columns that a model was trained on; those of its first member for a model of models."""
    own = getattr(getattr(model, "_model", None), "schema", None) or getattr(model, "_schema", None)
    if own is not None:
        return own
    members = getattr(model, "estimators_", None)
    return schema_of(members[0]) if isinstance(members, list) and members else None


def _read_options(given: dict[str, Any]) -> ReadOptions:
    from weald.data.reading import ReadOptions

    signs: dict[str, Any] = {
        name: _sign(name, given[name]) for name in ("separator", "decimal", "thousands", "quote")
    }
    names: dict[str, Any] = {name: tuple(_names(given[name])) for name in ("na_values", "numeric", "dates")}
    kept: dict[str, Any] = {name: given[name] for name in ("encoding", "header", "date_format")}
    return ReadOptions(**signs, **names, **kept)


def _names(given: _Names) -> list[str]:
    return [name for text in given or () for name in split_names(text)]


def _sign(name: str, given: str | None) -> str | None:
    if given is None:
        return None
    sign = _SPOKEN.get(given, given)
    allowed = {"decimal": ".,", "thousands": ",.' ", "quote": "\"'"}.get(name)
    empty = sign == "" and name in ("thousands", "quote")
    if not empty and (len(sign) != 1 or (allowed is not None and sign not in allowed) or sign in "\r\n"):
        right = "one sign, such as ; or tab" if allowed is None else "one of " + " ".join(allowed.strip())
        raise InputError(f"--{name} is {given!r}; use {right}")
    return sign
