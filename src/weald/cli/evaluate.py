"""``weald evaluate``: how good a model is on a table whose answers are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weald.cli.reading import for_model, read_table_file, with_reading
from weald.cli.tables import check_labels, check_weights, model_columns, print_rows, take_column
from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from weald.data.reading import FileTable, NamedColumns, ReadOptions


@with_reading
def evaluate(
    data: Annotated[
        str,
        typer.Argument(
            help="Table with the target: .csv, .tsv, .txt, .jsonl or .parquet, also compressed, or - for stdin."
        ),
    ],
    model: Annotated[Path, typer.Option(help="Model file that `weald train` wrote.")],
    target: Annotated[str, typer.Option(help="Column with the right answers.")],
    reading: ReadOptions,
    weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
) -> None:
    """Print the metrics of a model on a table."""
    from weald.estimators.shared.registry import load

    estimator = load(model)
    if target in getattr(estimator, "feature_names_in_", ()):
        raise InputError(
            f"--target is {target!r}, a column that {str(model)!r} learned from; give the column that it predicts"
        )
    options = _with_answers(for_model(reading, estimator), estimator, [target, *([weight] if weight else [])])
    table = read_table_file(data, options)
    labels = take_column(table, target, "--target")
    check_labels(labels, target, table)
    weights = take_column(table, weight, "--weight") if weight else None
    if weight and weights is not None:
        check_weights(weights, weight, table)
    features = model_columns(estimator, table, options.dates)
    if hasattr(estimator, "classes_"):
        codes = _class_codes(labels, estimator.classes_, target, table)
        metrics = _classification(estimator, features, codes, weights)
    else:
        metrics = _regression(estimator, features, labels, weights, target)
    rows = [("rows", f"{len(labels):,}"), *((name, f"{value:.6g}") for name, value in metrics)]
    print_rows(f"{model.name} on {table.file}", rows)


def _with_answers(options: ReadOptions, estimator: Any, names: Sequence[str]) -> ReadOptions:
    """The options with the target and the weights among the columns; classes that are text are read as text."""
    classes = getattr(estimator, "classes_", None)
    text = (*options.text, names[0]) if classes is not None and classes.dtype.kind in "OU" else options.text
    wanted = None if options.wanted is None else options.wanted | frozenset(names)
    return replace(options, text=text, wanted=wanted)


def _classification(
    estimator: Any, features: NamedColumns, codes: NDArray[Any], weights: NDArray[Any] | None
) -> list[tuple[str, float]]:
    import numpy as np
    from sklearn import metrics

    if not hasattr(estimator, "predict_proba"):
        right = estimator.predict(features) == estimator.classes_[codes]
        rows = [("accuracy", np.average(right, weights=weights))]
        if hasattr(estimator, "refused"):
            rows.append(("refused", np.average(estimator.refused(features), weights=weights)))
        return rows
    n_classes = len(estimator.classes_)
    probabilities = estimator.predict_proba(features)
    answers = probabilities.argmax(axis=1)
    rows = [
        ("accuracy", metrics.accuracy_score(codes, answers, sample_weight=weights)),
        ("log loss", metrics.log_loss(codes, probabilities, sample_weight=weights, labels=range(n_classes))),
    ]
    if n_classes > 2:
        rows.append(
            ("balanced accuracy", metrics.balanced_accuracy_score(codes, answers, sample_weight=weights))
        )
    elif len(set(codes.tolist())) == 2:  # the area under the curve has no meaning for a single class
        rows.append(("ROC AUC", metrics.roc_auc_score(codes, probabilities[:, 1], sample_weight=weights)))
    return rows


def _class_codes(labels: NDArray[Any], classes: NDArray[Any], target: str, table: FileTable) -> NDArray[Any]:
    """Positions of the labels among the model's classes."""
    import numpy as np

    positions: dict[Any, int] = {label: code for code, label in enumerate(classes.tolist())}
    if classes.dtype.kind == "b" and labels.dtype.kind == "O":  # as a text file has them
        positions = {str(label): code for label, code in positions.items()}
        labels = np.array([str(label).capitalize() for label in labels.tolist()], dtype=object)
    codes = np.array([positions.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        row = int(unknown[0])
        known = ", ".join(map(repr, list(positions)[:10]))
        raise InputError(
            f"the column {target!r} holds {labels.tolist()[row]!r} in {table.place(row)}, which is none "
            f"of the model's classes ({known})"
        )
    return codes


def _regression(
    estimator: Any, features: NamedColumns, labels: NDArray[Any], weights: NDArray[Any] | None, target: str
) -> list[tuple[str, float]]:
    from sklearn import metrics

    from weald.data.targets import read_regression_target

    if labels.dtype.kind == "O":
        raise InputError(f"the model predicts numbers, but the column {target!r} holds text, such as {labels[0]!r}")
    answers = read_regression_target(labels, len(labels))
    predictions = estimator.predict(features)
    return [
        ("RMSE", metrics.mean_squared_error(answers, predictions, sample_weight=weights) ** 0.5),
        ("MAE", metrics.mean_absolute_error(answers, predictions, sample_weight=weights)),
        ("R²", metrics.r2_score(answers, predictions, sample_weight=weights)),
    ]
