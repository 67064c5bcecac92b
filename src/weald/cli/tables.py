"""What the commands share: taking a file's columns apart, and printing rows of names and values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from weald.data.reading import FileTable, NamedColumns


def split_names(text: str | None) -> list[str]:
    """The names in a comma-separated option.

    >>> split_names("age, town")
    ['age', 'town']
    """
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def take_column(table: FileTable, name: str, option: str) -> NDArray[Any]:
    """Remove a column from the table and return it; ``option`` is named when there is no such column."""
    require_columns(table, [name], option)
    if name not in table.columns:
        raise InputError(f"{option} is {name!r}, which other options leave out or read as dates")
    return table.columns.pop(name)


def require_columns(table: FileTable, names: Iterable[str], option: str) -> None:
    """Refuse a name that is no column of the file, with the nearest one that is."""
    from weald.data.files import unknown_column

    for name in names:
        if name not in table.names:
            raise InputError(unknown_column(option, name, table))


def check_labels(labels: NDArray[Any], target: str, table: FileTable) -> None:
    """Refuse rows whose target is missing or infinite, by the place of the first."""
    import numpy as np

    if labels.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(labels))
    else:
        wrong = np.flatnonzero([value is None for value in labels.tolist()])
    if len(wrong):
        more = f", and so have {len(wrong) - 1:,} others" if len(wrong) > 1 else ""
        what = "no value" if labels.dtype.kind != "f" or np.isnan(labels[wrong[0]]) else "an infinite value"
        raise InputError(
            f"{table.place(wrong[0])} of {table.file!r} has {what} in the target {target!r}{more}: leave such rows out"
        )


def check_weights(weights: NDArray[Any], name: str, table: FileTable) -> None:
    """Refuse weights that are no numbers, missing, infinite or negative, by the place of the first."""
    import numpy as np

    if weights.dtype.kind not in "biuf":
        raise InputError(f"--weight is {name!r}, but that column of {table.file!r} holds text; weights are numbers")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise InputError(
            f"{table.place(wrong[0])} of {table.file!r} has the weight {weights[wrong[0]]}; weights must "
            "be finite and not negative"
        )


def model_columns(model: Any, table: FileTable, dates: Sequence[str]) -> NamedColumns:
    """The columns that the model was trained on; others are left out."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return table.columns
    missing = [str(name) for name in names if name not in table.columns]
    if missing:
        source = next((date for date in dates if missing[0].startswith(f"{date}.")), missing[0])
        raise InputError(f"{table.file!r} lacks the column {source!r} that the model was trained on")
    return {str(name): table.columns[str(name)] for name in names}


def whole_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Floats that are all whole become int64, so that class 1 is called 1 and not 1.0; others stay."""
    import numpy as np

    if values.dtype.kind != "f" or not np.isfinite(values).all():
        return values
    if (values != np.floor(values)).any() or (np.abs(values) >= 2**53).any():
        return values
    return values.astype(np.int64)


def print_rows(title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Rows of (name, value) on stdout: a table on a terminal, aligned plain lines elsewhere."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        width = max(len(name) for name, _ in rows)
        for name, value in rows:
            print(f"{name:<{width}}  {value}")
        return
    table = Table(title=title, show_header=False)
    for row in rows:
        table.add_row(*row)
    console.print(table)
