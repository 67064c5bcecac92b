"""What ``weald train`` took the table for, shown before it trains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from weald.data.reading import FileTable

_COLUMNS_SHOWN = 40
_NAME_SHOWN = 30


def table_shown(table: FileTable, target: str, task: str, reason: str, categorical: frozenset[str]) -> str:
    """The file's format, the task, and the columns to learn from with their kinds, values and missing cells, line by line."""
    n_rows = len(next(iter(table.columns.values())))
    head = [
        f"{table.file}: {n_rows:,} rows; {table.found}",
        f"target {target}: {task}, since {reason}",
        f"{len(table.columns)} columns to learn from:",
    ]
    rows = [
        (name, *_described(values, name in categorical))
        for name, values in list(table.columns.items())[:_COLUMNS_SHOWN]
    ]
    return "\n".join([*head, *_aligned(rows), *_rest(table, categorical)])


def _aligned(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    width = min(_NAME_SHOWN, max(len(name) for name, _, _ in rows))
    for name, kind, values in rows:
        yield f"  {name:<{width}}  {kind:<10}  {values}"


def _rest(table: FileTable, categorical: frozenset[str]) -> Iterator[str]:
    rest = list(table.columns.items())[_COLUMNS_SHOWN:]
    kinds = Counter(_described(values, name in categorical)[0] for name, values in rest)
    if rest:
        yield f"  … and {len(rest):,} more: " + ", ".join(
            f"{count:,} {kind}" for kind, count in kinds.items()
        )


def _described(values: NDArray[Any], declared: bool) -> tuple[str, str]:
    """(kind, values) of a column in words."""
    import numpy as np

    if values.dtype.kind == "O" or declared:
        counts = Counter(value for value in values.tolist() if value is not None and value == value)
        top = ", ".join(str(value) for value, _ in counts.most_common(3))
        return "categories", f"{len(counts):,} different: {top}{_missing(len(values) - counts.total())}"
    numbers = values.astype(np.float64)
    present = numbers[~np.isnan(numbers)]
    if len(present) == 0:
        return "numbers", "no value in any row"
    return "numbers", f"{present.min():g} to {present.max():g}{_missing(len(values) - len(present))}"


def _missing(count: int) -> str:
    return f"; {count:,} missing" if count else ""
