"""Labels of a table in blocks: classes are those of all rows, wherever they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded_table import ShardedTable
from weald.data import read_classes
from weald.data.targets import check_number_of_classes
from weald.losses import Loss
from weald.runtime.errors import InputError
from weald.runtime.row_memory import RowMemory
from weald.runtime.team import labels_of_team

Floats = NDArray[np.float64]


def check_brings_labels(y: Any, sample_weight: Any) -> None:
    """Refuse labels and weights beside a table that brings its own."""
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is not None:
            raise InputError(f"{name} comes with a table in blocks; leave it out.")


def numbers_of_blocks(table: ShardedTable, owner: str) -> Floats:
    """Labels of a regression."""
    if table.classes is not None:
        raise InputError(f"y must hold numbers for {owner}, but it has the class {table.classes[0]!r}.")
    return table.labels


def classes_of_blocks(table: ShardedTable, owner: str) -> tuple[Floats, NDArray[Any]]:
    """The place of every label among the classes, and the classes."""
    if table.classes is not None:
        return table.labels, table.classes
    found = np.unique(np.concatenate(table.bins.team.gather(_distinct(table))))
    typed = found.astype(table.label_type)
    _, classes = read_classes(typed, len(typed), owner=owner)
    check_number_of_classes(len(classes), table.bins.n_total)
    if len(classes) < 2:
        raise InputError(
            f"y has only one class, {classes.tolist()[0]!r}; a classifier needs at least two classes."
        )
    return by_pieces(table, lambda here: np.searchsorted(found, table.labels[here])), classes


def labels_of_all(table: ShardedTable) -> tuple[NDArray[Any], int, Floats | None]:
    """The labels of the whole team's rows as the user has them, how many they are, and their weights."""
    codes, weight = labels_of_team(table.bins.team, table.labels, table.weight)
    classes = table.classes
    labels: NDArray[Any] = codes.astype(table.label_type) if classes is None else classes[codes.astype(np.int64)]
    return labels, len(labels), weight


def check_labels(loss: Loss, table: ShardedTable, y: Floats) -> None:
    """`Loss.check_target` of the labels of all rows, some at a time where the table is to stay out of memory."""
    memory = table.bins.memory
    step = memory.piece_rows
    if step is None or len(y) <= step:
        loss.check_target(y)
        return
    pieces = [slice(first, first + step) for first in range(0, len(y), step)]
    largest = np.array([_released(memory, y[here], np.max) for here in pieces]).max()  # as some losses ask for one above 0
    try:
        for here in pieces:
            _released(memory, y[here], lambda piece: loss.check_target(np.append(piece, largest)))
    except InputError:
        loss.check_target(y)  # which knows the number of the row
        raise


def counts_of_classes(table: ShardedTable, codes: Floats, n_classes: int) -> NDArray[np.float64]:
    """How many rows each class has, wherever they are."""
    counts, memory = np.zeros(n_classes, np.int64), table.bins.memory
    step = memory.piece_rows or max(1, table.n_rows)
    for first in range(0, table.n_rows, step):
        here = codes[first : first + step]
        counts += np.bincount(here.astype(np.int64), minlength=n_classes)
        memory.release(here)
    return table.bins.team.add(counts).astype(np.float64)


def _released(memory: RowMemory, piece: Floats, use: Callable[[Floats], Any]) -> Any:
    found = use(piece)
    memory.release(piece)
    return found


def weights_by_class(table: ShardedTable, codes: Floats, factors: Floats) -> Floats | None:
    """The rows' weights times those of their classes."""
    weight = table.weight
    if (factors == 1.0).all():
        return weight

    def of_piece(here: slice) -> NDArray[Any]:
        own: NDArray[Any] = factors[codes[here].astype(np.int64)]
        return own if weight is None else own * weight[here]

    return by_pieces(table, of_piece)


def by_pieces(table: ShardedTable, make: Callable[[slice], NDArray[Any]]) -> Floats:
    """A number a row, some rows at a time, in the table's memory."""
    memory = table.bins.memory
    values: Floats = memory.zeros((table.n_rows,), np.float64)
    step = memory.piece_rows or max(1, table.n_rows)
    for first in range(0, table.n_rows, step):
        here = slice(first, first + step)
        values[here] = make(here)
        memory.release(values[here], table.labels[here])
    return values


def _distinct(table: ShardedTable) -> Floats:
    memory, found = table.bins.memory, [np.empty(0)]
    step = memory.piece_rows or max(1, table.n_rows)
    for first in range(0, table.n_rows, step):
        here = table.labels[first : first + step]
        found.append(np.unique(here))
        memory.release(here)
    return np.unique(np.concatenate(found))
