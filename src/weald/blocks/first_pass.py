"""What has to be known of all rows before any can be binned: schema, labels, and the cuts of every column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinChoices, BinMapper, BinWishes, fit_bins
from weald.binning.cuts import sampled_rows
from weald.binning.parts import Part
from weald.blocks.label_files import KnownNumbers, LabelCoder, renumber, written_numbers
from weald.blocks.manifest import LABELS, WEIGHTS
from weald.blocks.sources import Source
from weald.data import Dataset, Schema, column_positions, read_labels, read_weights
from weald.data.parts import (
    Columns,
    Counts,
    columns_of,
    count_categories,
    join_columns,
    join_counts,
    join_schema,
    open_part,
    read_part,
)
from weald.data.tables import ArrayTable, Table
from weald.runtime.errors import InputError
from weald.runtime.row_memory import RowMemory

_GROUP_BYTES: Final = 32 * 2**20  # of sampled values whose cuts are found at a time


@dataclass(frozen=True)
class Batch:
    """A batch whose labels and weights are read; ``kept``: its rows that have a weight, None for all."""

    table: Table
    labels: NDArray[Any]
    weight: NDArray[np.float64] | None
    kept: NDArray[np.int64] | None

    @property
    def n_rows(self) -> int:
        """The number of rows that have a weight."""
        return len(self.labels)

    def dataset(self, schema: Schema, choices: BinChoices) -> Dataset:
        """The floats of these rows."""
        whole = read_part(self.table, schema, choices.missing)
        return whole if self.kept is None else whole.part(self.kept)


@dataclass(frozen=True)
class Scan:
    """What one pass over all rows has found."""

    schema: Schema
    n_rows: int
    has_weights: bool
    classes: tuple[Any, ...] | None
    label_type: str


def read_batches(source: Source, wishes: BinWishes, rows: int) -> Iterator[Batch]:
    """The batches of a source, labels and weights checked."""
    for part in source.batches(rows):
        yield _read(part, wishes)


def _read(part: Part, wishes: BinWishes) -> Batch:
    table = open_part(part.X, wishes.unstored)
    if part.y is None:
        raise InputError("The rows have no labels: target must name the column that has them, or hold them.")
    labels = read_labels(part.y, table.n_rows, owner="a store")
    if part.weight is None:
        return Batch(table, labels, None, None)
    weight = read_weights(part.weight, table.n_rows, may_be_zero=True)
    if weight is None or (weight > 0.0).all():
        return Batch(table, labels, np.ones(table.n_rows) if weight is None else weight, None)
    kept = np.flatnonzero(weight > 0.0)
    return Batch(table, labels[kept], weight[kept], kept)


def scan(source: Source, wishes: BinWishes, rows: int, folder: Path, coder: LabelCoder) -> Scan:
    """Find the schema of all rows, and write their labels and weights to files of the folder."""
    described: list[Columns] = []
    counted: list[Counts] = []
    n_rows, weighted = 0, None
    with ExitStack() as files:
        labels_file = files.enter_context(written_numbers(folder / LABELS))
        weights_file = files.enter_context(written_numbers(folder / WEIGHTS))
        for batch in read_batches(source, wishes, rows):
            columns = columns_of(batch.table, wishes.categorical)
            described.append(described[-1] if described and described[-1] == columns else columns)
            counted = [join_counts([*counted, count_categories(batch.table, columns)])]
            labels_file.write(coder.code(batch.labels).tobytes())
            if weighted not in (None, batch.weight is not None):
                raise InputError("Some batches have weights and others none; give all of them weights, or none.")
            weighted = batch.weight is not None
            if batch.weight is not None:
                weights_file.write(batch.weight.tobytes())
            n_rows += batch.n_rows
    if not described:
        raise InputError("The source has no rows: at least one is needed.")
    if n_rows == 0:
        raise InputError("The source has no rows with a positive weight: at least one is needed.")
    if not weighted:
        (folder / WEIGHTS).unlink()
    columns = join_columns(described)
    if any(one.kinds != columns.kinds for one in described):  # categories that some batches took for numbers
        counted = []
        for batch in read_batches(source, wishes, rows):
            counted = [join_counts([*counted, count_categories(batch.table, columns)])]
    classes, moved = coder.sorted_classes()
    if moved is not None:
        renumber(folder / LABELS, moved)
    return Scan(join_schema(columns, join_counts(counted)), n_rows, bool(weighted), classes, coder.label_type)


def find_cuts(
    source: Source,
    wishes: BinWishes,
    found: Scan,
    seed: int,
    rows: int,
    tasks: int,
    folder: Path,
    memory: RowMemory,
) -> BinMapper:
    """The cuts that the table in memory would have: from the same rows, by their number among all that have a weight."""
    choices = wishes.choices
    wanted = sampled_rows(found.n_rows, seed, choices.sample_rows)
    values = _sampled_values(source, wishes, found.schema, wanted, rows, memory)
    weight = KnownNumbers(folder / WEIGHTS).of_rows(wanted) if found.has_weights else None
    step = max(1, _GROUP_BYTES // max(1, values.itemsize * len(wanted)))
    mappers = []
    for first in range(0, len(values), step):
        part = values[first : first + step]
        schema = Schema(found.schema.columns[first : first + step], found.schema.named)
        own = _choices_of(choices, found.schema, first, len(part))
        mappers.append(fit_bins(Dataset(schema, ArrayTable(part.T)), weight, own, seed, tasks))
        memory.release(part)
    return BinMapper(
        tuple(cuts for mapper in mappers for cuts in mapper.cuts),
        np.concatenate([mapper.n_bins for mapper in mappers]),
        np.concatenate([mapper.categorical for mapper in mappers]),
        np.concatenate([mapper.n_categories for mapper in mappers]),
    )


def _sampled_values(
    source: Source,
    wishes: BinWishes,
    schema: Schema,
    wanted: NDArray[np.int64],
    rows: int,
    memory: RowMemory,
) -> NDArray[Any]:
    """The floats of some rows, (columns, rows), in the type that the whole table would have."""
    values: NDArray[Any] | None = None
    first = 0
    for batch in read_batches(source, wishes, rows):
        begin, end = np.searchsorted(wanted, [first, first + batch.n_rows])
        if end > begin:
            taken = batch.dataset(schema, wishes.choices).take(wanted[begin:end] - first)
            if values is None:
                values = memory.zeros((schema.n_columns, len(wanted)), taken.dtype)
            if np.result_type(values, taken) != values.dtype:
                values = values.astype(np.float64)
            values[:, begin:end] = taken.T
            memory.release(values)
        first += batch.n_rows
    assert values is not None
    return values


def _choices_of(choices: BinChoices, schema: Schema, first: int, count: int) -> BinChoices:
    """The choices of some neighbouring columns alone."""

    def within(pairs: Sequence[tuple[str | int, Any]], name: str) -> tuple[tuple[int, Any], ...]:
        places = column_positions([column for column, _ in pairs], schema.names, name)
        chosen = zip(places, pairs, strict=True)
        return tuple((place - first, pair[1]) for place, pair in chosen if first <= place < first + count)

    return replace(
        choices,
        by_column=within(choices.by_column, "bins.by_column"),
        forced=within(choices.forced, "bins.forced"),
    )
