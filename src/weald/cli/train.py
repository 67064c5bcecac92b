"""``weald train``: a table in, a model file out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weald.cli.tables import require_columns, split_names, take_column, whole_numbers
from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from weald.data.files import NamedColumns

# A target of whole numbers with no more different values than this is taken for classes.
_MOST_CLASSES = 10


class Task(str, Enum):
    """What is learned."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


@dataclass(frozen=True)
class _Roles:
    """The columns that are not features."""

    target: str
    weight: str | None
    dropped: Sequence[str]


def train(
    data: Annotated[Path, typer.Argument(help="Training table: .csv, .tsv, .csv.gz or .parquet.")],
    target: Annotated[str, typer.Option(help="Column to predict.")],
    model: Annotated[Path, typer.Option(help="Model file to write.")],
    task: Annotated[Task, typer.Option(help="What to learn; auto looks at the target.")] = Task.auto,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter, such as max_leaves=63 or booster.rate_drop=0.1; may be repeated.",
        ),
    ] = None,
    valid: Annotated[Path | None, typer.Option(help="Table to evaluate on while training.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    categorical: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Columns of numbers to treat as categories; text always is."),
    ] = None,
    drop: Annotated[str | None, typer.Option(metavar="A,B", help="Columns to leave out.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    threads: Annotated[int | None, typer.Option(help="Number of threads.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Train boosted trees on a table and save the model."""
    from weald.data.files import read_file
    from weald.runtime.progress import TrainingProgress, progress

    _check_output(model)
    roles = _Roles(target, weight, split_names(drop))
    columns, labels, weights = _take_roles(read_file(data), roles, data)
    chosen, reason = (task, "--task says so") if task is not Task.auto else _choose_task(labels)
    if chosen is Task.classification:
        labels = whole_numbers(labels)
    _say(quiet, f"{chosen.value}, since {reason}; {len(labels):,} rows, {len(columns)} columns")

    estimator = _estimator(chosen, settings or [], columns, split_names(categorical), seed, threads, data)
    evaluation = _evaluation(valid, roles, chosen)
    start = time.perf_counter()
    with progress(estimator.get_params()["n_estimators"], "training", enabled=not quiet) as bar:
        estimator.fit(columns, labels, sample_weight=weights, callbacks=[TrainingProgress(bar)], **evaluation)
    seconds = time.perf_counter() - start
    estimator.save(model)
    _say(quiet, f"trained in {seconds:.1f} s; saved to {model} ({model.stat().st_size / 1024:,.0f} KB)")


def _check_output(model: Path) -> None:
    """Find out before the training, not after it, that the model cannot be written."""
    if model.is_dir():
        raise InputError(f"--model is {str(model)!r}, which is a folder; give the name of a file")
    if not model.absolute().parent.is_dir():
        raise InputError(f"--model is {str(model)!r}, but the folder {str(model.parent)!r} does not exist")


def _take_roles(
    columns: NamedColumns, roles: _Roles, file: Path
) -> tuple[NamedColumns, NDArray[Any], NDArray[Any] | None]:
    """Features, target and weights of a table."""
    labels = take_column(columns, roles.target, "--target", file)
    weights = take_column(columns, roles.weight, "--weight", file) if roles.weight else None
    for name in roles.dropped:
        take_column(columns, name, "--drop", file)
    if not columns:
        raise InputError(f"{str(file)!r} has no columns left to learn from")
    return columns, labels, weights


def _choose_task(labels: NDArray[Any]) -> tuple[Task, str]:
    """Classes or quantities, and why."""
    import numpy as np

    if labels.dtype.kind not in "iuf":
        return Task.classification, "the target is not a number"
    values = np.unique(labels[np.isfinite(labels)])
    if len(values) <= _MOST_CLASSES and (values == np.floor(values)).all():
        return Task.classification, f"the target has {len(values)} different whole numbers"
    return Task.regression, "the target is a number with many values"


def _estimator(
    task: Task,
    settings: Sequence[str],
    columns: NamedColumns,
    categorical: Sequence[str],
    seed: int | None,
    threads: int | None,
    file: Path,
) -> Any:
    """The estimator with the parameters of the options; one that is given twice is refused."""
    from weald.estimators.boosted.boosted import BoostedTreesClassifier, BoostedTreesRegressor
    from weald.params.settings import parse_settings

    chosen: dict[str, Any] = {}
    if categorical:
        require_columns(columns, categorical, "--categorical", file)
        text = [name for name, values in columns.items() if values.dtype.kind not in "iufb"]
        chosen["categorical_features"] = [name for name in columns if name in {*text, *categorical}]
    if seed is not None:
        chosen["random_state"] = seed
    if threads is not None:
        chosen["n_jobs"] = threads
    kind: Any = BoostedTreesClassifier if task is Task.classification else BoostedTreesRegressor
    return kind(**parse_settings(kind, settings, chosen))


def _evaluation(valid: Path | None, roles: _Roles, task: Task) -> dict[str, Any]:
    """What ``fit`` is told about the validation table."""
    from weald.data.files import read_file

    if valid is None:
        return {}
    columns = read_file(valid)
    # Weights and dropped columns need not be in the validation table.
    unused = {roles.weight, *roles.dropped}
    labels = take_column(columns, roles.target, "--target", valid)
    columns = {name: values for name, values in columns.items() if name not in unused}
    if task is Task.classification:
        labels = whole_numbers(labels)
    return {"eval_set": [(columns, labels)], "eval_names": ["valid"]}


def _say(quiet: bool, line: str) -> None:
    if not quiet:
        typer.echo(line)
