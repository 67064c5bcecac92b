"""``weald predict``: a table and a model in, predictions out."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weald.cli.reading import for_model, read_table_file, with_reading
from weald.cli.tables import model_columns
from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from weald.data.reading import NamedColumns, ReadOptions


@with_reading
def predict(
    data: Annotated[
        str,
        typer.Argument(
            help="Table to predict: .csv, .tsv, .txt, .jsonl or .parquet, also compressed, or - for stdin."
        ),
    ],
    model: Annotated[Path, typer.Option(help="Model file that `weald train` wrote.")],
    out: Annotated[str, typer.Option(help="File to write (.csv, .csv.gz or .parquet), or - for stdout.")],
    reading: ReadOptions,
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of each class.")] = False,
) -> None:
    """Predict the rows of a table, in their order."""
    from weald.data.files import check_written, write_csv, write_file
    from weald.estimators.shared.registry import load
    from weald.runtime.atomic import check_writable

    if out != "-":
        check_written(Path(out))
        check_writable(out, "table")
    estimator = load(model)
    if proba and not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"--proba needs a classifier with probabilities, but {str(model)!r} holds a "
            f"{type(estimator).__name__} without; leave --proba out"
        )
    options = replace(for_model(reading, estimator), may_be_empty=True)
    table = read_table_file(data, options)
    predictions = _predictions(estimator, model_columns(estimator, table, options.dates), proba)
    if out == "-":
        write_csv(sys.stdout, predictions)
    else:
        write_file(out, predictions)


def _predictions(estimator: Any, columns: NamedColumns, proba: bool) -> NamedColumns:
    """The columns to write: the prediction, and on request one column per class."""
    if not proba:
        return {"prediction": estimator.predict(columns)}
    probabilities = estimator.predict_proba(columns)
    classes = estimator.classes_
    return {
        "prediction": classes[probabilities.argmax(axis=1)],
        **{f"probability_{label}": probabilities[:, code] for code, label in enumerate(classes)},
    }
