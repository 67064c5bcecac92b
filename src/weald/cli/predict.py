"""``weald predict``: a table and a model in, predictions out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weald.cli.tables import model_columns
from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from weald.data.files import NamedColumns


def predict(
    data: Annotated[Path, typer.Argument(help="Table to predict: .csv, .tsv, .csv.gz or .parquet.")],
    model: Annotated[Path, typer.Option(help="Model file that `weald train` wrote.")],
    out: Annotated[str, typer.Option(help="File to write (.csv, .csv.gz or .parquet), or - for stdout.")],
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of each class.")] = False,
) -> None:
    """Predict the rows of a table, in their order."""
    from weald.data.files import read_file, write_csv, write_file
    from weald.estimators.shared.registry import load

    estimator = load(model)
    if proba and not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"--proba needs a classifier with probabilities, but {str(model)!r} holds a "
            f"{type(estimator).__name__} without; leave --proba out"
        )
    predictions = _predictions(estimator, model_columns(estimator, read_file(data), data), proba)
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
