"""``weald evaluate``: how good a model is on a table whose answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weald.cli.tables import model_columns, print_rows, take_column
from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from weald.data.files import NamedColumns


def evaluate(
    data: Annotated[Path, typer.Argument(help="Table with the target: .csv, .tsv, .csv.gz or .parquet.")],
    model: Annotated[Path, typer.Option(help="Model file that `weald train` wrote.")],
    target: Annotated[str, typer.Option(help="Column with the right answers.")],
    weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
) -> None:
    """Print the metrics of a model on a table."""
    from weald.data.files import read_file
    from weald.estimators.shared.registry import load

    estimator = load(model)
    columns = read_file(data)
    labels = take_column(columns, target, "--target", data)
    weights = take_column(columns, weight, "--weight", data) if weight else None
    features = model_columns(estimator, columns, data)
    measure = _classification if hasattr(estimator, "classes_") else _regression
    metrics = measure(estimator, features, labels, weights, target)
    rows = [("rows", f"{len(labels):,}"), *((name, f"{value:.6g}") for name, value in metrics)]
    print_rows(f"{model.name} on {data.name}", rows)


def _classification(
    estimator: Any, features: NamedColumns, labels: NDArray[Any], weights: NDArray[Any] | None, target: str
) -> list[tuple[str, float]]:
    import numpy as np
    from sklearn import metrics

    codes = _class_codes(labels, estimator.classes_, target)
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


def _class_codes(labels: NDArray[Any], classes: NDArray[Any], target: str) -> NDArray[Any]:
    """Positions of the labels among the model's classes."""
    import numpy as np

    positions = {label: code for code, label in enumerate(classes.tolist())}
    try:
        return np.array([positions[label] for label in labels.tolist()], dtype=np.int64)
    except KeyError as error:
        known = ", ".join(map(repr, list(positions)[:10]))
        raise InputError(
            f"the column {target!r} holds {error.args[0]!r}, which is none of the model's classes ({known})"
        ) from None


def _regression(
    estimator: Any, features: NamedColumns, labels: NDArray[Any], weights: NDArray[Any] | None, target: str
) -> list[tuple[str, float]]:
    from sklearn import metrics

    from weald.data.targets import read_regression_target

    answers = read_regression_target(labels, len(labels))
    predictions = estimator.predict(features)
    return [
        ("RMSE", metrics.mean_squared_error(answers, predictions, sample_weight=weights) ** 0.5),
        ("MAE", metrics.mean_absolute_error(answers, predictions, sample_weight=weights)),
        ("R²", metrics.r2_score(answers, predictions, sample_weight=weights)),
    ]
