"""``weald train``: a table in, a model file out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weald.cli.reading import read_table_file, with_reading
from weald.cli.shown import table_shown
from weald.cli.tables import (
    check_labels,
    check_weights,
    require_columns,
    split_names,
    take_column,
    whole_numbers,
)
from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from weald.data.reading import FileTable, ReadOptions
    from weald.training.boosting.rounds import Round

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


@with_reading
def train(
    data: Annotated[
        str,
        typer.Argument(
            help="Training table: .csv, .tsv, .txt, .jsonl or .parquet, also compressed, or - for stdin."
        ),
    ],
    target: Annotated[str, typer.Option(help="Column to predict.")],
    model: Annotated[Path, typer.Option(help="Model file to write.")],
    reading: ReadOptions,
    task: Annotated[Task, typer.Option(help="What to learn; auto looks at the target.")] = Task.auto,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter, such as max_leaves=63 or booster.rate_drop=0.1; may be repeated.",
        ),
    ] = None,
    valid: Annotated[str | None, typer.Option(help="Table to evaluate on while training.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    categorical: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Columns to treat as categories; text always is."),
    ] = None,
    drop: Annotated[str | None, typer.Option(metavar="A,B", help="Columns to leave out.")] = None,
    many_classes: Annotated[
        bool, typer.Option("--many-classes", help="Take a target with a class for every few rows.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    threads: Annotated[int | None, typer.Option(help="Number of threads.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Train boosted trees on a table and save the model."""
    from weald.data import targets
    from weald.runtime.progress import TrainingProgress, progress

    _check_output(model)
    roles, declared = _Roles(target, weight, split_names(drop)), split_names(categorical)
    reading = replace(reading, categorical=tuple(declared), dropped=frozenset(roles.dropped))
    table = read_table_file(data, reading, quiet)
    labels, weights = _take_roles(table, roles)
    chosen, reason = (task, "--task says so") if task is not Task.auto else _choose_task(labels)
    with targets.many_classes(many_classes):
        labels = _checked_labels(labels, chosen, roles.target, table)
    features = frozenset(declared) - {target}
    estimator = _estimator(chosen, settings or [], table, features, seed, threads)
    _say(quiet, table_shown(table, target, chosen.value, reason, features))
    evaluation = _evaluation(valid, reading, roles, chosen, table, labels, quiet)
    best = _BestRound()
    start = time.perf_counter()
    shown = progress(estimator.get_params()["n_estimators"], "training", enabled=not quiet)
    with targets.many_classes(many_classes), shown as bar:
        callbacks = [TrainingProgress(bar), *([best] if evaluation else [])]
        estimator.fit(table.columns, labels, sample_weight=weights, callbacks=callbacks, **evaluation)
    seconds = time.perf_counter() - start
    estimator.save(model)
    if evaluation:
        _say(quiet, best.sentence(estimator))
    _say(quiet, f"trained in {seconds:.1f} s; saved to {model} ({model.stat().st_size / 1024:,.0f} KB)")


class _BestRound:
    """A listener that keeps the first metric on the validation table."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.greater = False

    def __call__(self, state: Round) -> None:
        from weald.training.boosting.callbacks import watched_values

        values, self.greater = watched_values(state, None, None)
        self.values = list(values)

    def sentence(self, estimator: Any) -> str:
        """Which round was the best on the validation table, and whether the model ends there."""
        from weald.training.boosting.callbacks import best_round

        metric = next(iter(estimator.history_["valid"]), "")
        if not self.values:
            return "no round was trained"
        best = best_round(self.values, self.greater)
        found = f"best round on the validation table: {best + 1} of {len(self.values)} ({metric} {self.values[best]:.6g})"
        if estimator.early_stopping_rounds is not None:
            return f"{found}; the model ends there"
        if best + 1 == len(self.values):
            return f"{found}, the last; more rounds may be better still: --set n_estimators={2 * len(self.values)}"
        return (
            f"{found}; the model goes on to the last round ({metric} {self.values[-1]:.6g}): --set early_stopping_rounds=20 "
            "ends it at the best one"
        )


def _check_output(model: Path) -> None:
    """Find out before the training, not after it, that the model cannot be written."""
    from weald.runtime.atomic import check_writable

    if model.is_dir():
        raise InputError(f"--model is {str(model)!r}, which is a folder; give the name of a file")
    if not model.absolute().parent.is_dir():
        raise InputError(f"--model is {str(model)!r}, but the folder {str(model.parent)!r} does not exist")
    check_writable(model, "model")


def _take_roles(table: FileTable, roles: _Roles) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Target and weights of a table, which keeps the features."""
    require_columns(table, roles.dropped, "--drop")
    labels = take_column(table, roles.target, "--target")
    weights = take_column(table, roles.weight, "--weight") if roles.weight else None
    if weights is not None:
        check_weights(weights, str(roles.weight), table)
    if not table.columns:
        raise InputError(f"{table.file!r} has no columns left to learn from")
    return labels, weights


def _choose_task(labels: NDArray[Any]) -> tuple[Task, str]:
    """Classes or quantities, and why."""
    import numpy as np

    if labels.dtype.kind not in "iuf":
        return Task.classification, "the target is not a number"
    values = np.unique(labels[np.isfinite(labels)])
    if len(values) <= _MOST_CLASSES and (values == np.floor(values)).all():
        return Task.classification, f"the target has {len(values)} different whole numbers"
    return Task.regression, "the target is a number with many values"


def _checked_labels(labels: NDArray[Any], task: Task, target: str, table: FileTable) -> NDArray[Any]:
    """The labels as the task takes them; those that make no sense for it are refused."""
    from weald.data.targets import too_many_classes

    check_labels(labels, target, table)
    if task is Task.regression:
        if labels.dtype.kind == "O":
            raise InputError(
                f"--task is regression, but the target {target!r} of {table.file!r} holds text, such as {labels[0]!r}"
            )
        return labels
    n_classes = len(set(labels.tolist()))
    if too_many_classes(n_classes, len(labels)):
        raise InputError(
            f"the target {target!r} of {table.file!r} has {n_classes:,} different values in "
            f"{len(labels):,} rows, too many for classes: "
            "give another --target, join rare classes to one, or, where it is a number, --task regression and --numeric; "
            "--many-classes takes them nevertheless"
        )
    return whole_numbers(labels)


def _estimator(
    task: Task,
    settings: Sequence[str],
    table: FileTable,
    categorical: frozenset[str],
    seed: int | None,
    threads: int | None,
) -> Any:
    """The estimator with the parameters of the options; one that is given twice is refused."""
    from weald.estimators.boosted.boosted import BoostedTreesClassifier, BoostedTreesRegressor
    from weald.params.settings import parse_settings

    chosen: dict[str, Any] = {}
    text = {name for name, values in table.columns.items() if values.dtype.kind not in "iufb"}
    if text or categorical:
        chosen["categorical_features"] = [name for name in table.columns if name in text | categorical]
    if seed is not None:
        chosen["random_state"] = seed
    if threads is not None:
        chosen["n_jobs"] = threads
    kind: Any = BoostedTreesClassifier if task is Task.classification else BoostedTreesRegressor
    return kind(**parse_settings(kind, settings, chosen))


def _evaluation(
    valid: str | None,
    reading: ReadOptions,
    roles: _Roles,
    task: Task,
    training: FileTable,
    labels: NDArray[Any],
    quiet: bool,
) -> dict[str, Any]:
    """What ``fit`` is told about the validation table, which is read as the training table was."""
    if valid is None:
        return {}
    text = {name for name, values in training.columns.items() if values.dtype.kind == "O"}
    if labels.dtype.kind == "O":
        text.add(roles.target)
    # Weights and dropped columns need not be in the validation table.
    wanted = frozenset((*training.columns, *reading.dates, roles.target))
    numbers = frozenset(name for name, values in training.columns.items() if values.dtype.kind == "f")
    options = replace(reading, text=tuple(text), known_numbers=numbers - set(reading.categorical), wanted=wanted)
    table = read_table_file(valid, options, quiet)
    answers = take_column(table, roles.target, "--target")
    check_labels(answers, roles.target, table)
    if task is Task.classification:
        answers = whole_numbers(answers)
    return {"eval_set": [(table.columns, answers)], "eval_names": ["valid"]}


def _say(quiet: bool, line: str) -> None:
    if not quiet:
        typer.echo(line, err=True)
