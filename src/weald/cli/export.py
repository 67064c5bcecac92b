"""``weald export``: a model in, a file for another program out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weald.runtime.errors import InputError


def export(
    model: Annotated[Path, typer.Argument(help="Model file that `weald train` wrote.")],
    out: Annotated[Path, typer.Option(help="File to write.")],
    format: Annotated[
        str,
        typer.Option(
            help="json, python, c, javascript, sql, onnx, pmml, coreml, treelite, lightgbm, xgboost or catboost."
        ),
    ],
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="An option of the format, such as name=score or dialect=duckdb; may be repeated."
        ),
    ] = None,
) -> None:
    """Write a model for another program; the page on exchange says what each format can carry."""
    from weald.estimators.shared.registry import load

    load(model).export(out, format, **dict(_option(text) for text in options or ()))


def _option(text: str) -> tuple[str, str | int]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"--set {text!r} must be an option and its value, such as name=score")
    return name, int(value) if value.isdecimal() else value
