"""What the commands share: taking a file's columns apart, and printing rows of names and values."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from weald.data.files import NamedColumns


def split_names(text: str | None) -> list[str]:
    """The names in a comma-separated option.

    >>> split_names("age, town")
    ['age', 'town']
    """
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def take_column(columns: NamedColumns, name: str, option: str, file: Path) -> NDArray[Any]:
    """Remove a column from the table and return it; ``option`` is named when there is no such column."""
    require_columns(columns, [name], option, file)
    return columns.pop(name)


def require_columns(columns: NamedColumns, names: Sequence[str], option: str, file: Path) -> None:
    """Refuse a name that is no column of the file, with the nearest one that is."""
    for name in names:
        if name in columns:
            continue
        close = get_close_matches(name, columns, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"its columns are {', '.join(columns)}"
        raise InputError(f"{option} is {name!r}, but {str(file)!r} has no such column; {hint}")


def model_columns(model: Any, columns: NamedColumns, file: Path) -> NamedColumns:
    """The columns that the model was trained on; others are left out."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return columns
    missing = [str(name) for name in names if name not in columns]
    if missing:
        raise InputError(f"{str(file)!r} lacks the column {missing[0]!r} that the model was trained on")
    return {str(name): columns[str(name)] for name in names}


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
