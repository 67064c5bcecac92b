"""A table in blocks from parts of one: files, batches, or what each member of a team has of it.

Schema, cuts and classes are those of all rows, wherever they are, and the same as those of the parts put together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.choices import BinChoices
from weald.binning.cuts import fit_bins, sampled_rows
from weald.binning.extremes import extremes_of, join_extremes
from weald.binning.mapper import BinMapper
from weald.binning.sharded import MemoryBlock, ShardedBins
from weald.binning.sharded_table import ShardedTable
from weald.binning.shared import BinWishes
from weald.data import Dataset, Schema, read_labels, read_weights
from weald.data.parts import (
    columns_of,
    count_categories,
    join_columns,
    join_counts,
    join_schema,
    open_part,
    read_part,
)
from weald.data.tables import ArrayTable, Table
from weald.encoding.model import category_codes
from weald.runtime.agreement import gather_or_refuse
from weald.runtime.errors import InputError
from weald.runtime.team import ALONE, RowShare, Team

#: What rows weigh where cuts are found: classes may have weights of their own.
Weigh = Callable[[ShardedTable], "NDArray[np.float64] | None"]

_EXACT = 2**53  # whole numbers beyond it are not all float64s


@dataclass(frozen=True)
class Part:
    """Some neighbouring rows of a table as the user has them; there may be none."""

    X: Any
    y: Any
    weight: Any = None


@dataclass(frozen=True)
class _Opened:
    """A part whose labels and weights are read; rows of weight 0 are left out of these."""

    table: Table
    labels: NDArray[Any]
    weight: NDArray[np.float64] | None
    kept: NDArray[np.int64] | None  # which rows have a weight; None: all

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    def dataset(self, schema: Schema, choices: BinChoices) -> Dataset:
        """The rows that have a weight."""
        whole = read_part(self.table, schema, choices.missing)
        return whole if self.kept is None else whole.part(self.kept)


def sharded_table_of(
    parts: Sequence[Part],
    wishes: BinWishes,
    owner: str,
    seed: int = 0,
    tasks: int = 1,
    team: Team = ALONE,
    like: ShardedTable | None = None,
    weigh: Weigh | None = None,
) -> ShardedTable:
    """The rows of some parts as a table in blocks; every member of ``team`` gives its own, in the members' order.

    A member may have no parts. ``seed``: which rows of a table of more than 200,000 the cuts are found from. ``like``: a table
    whose schema, cuts and classes these rows are to have, as evaluation sets have those of the training; rows of weight 0 stay.
    ``weigh``: what rows weigh where cuts are found, from a table without columns that has their labels; None: their weights.

    >>> import numpy as np
    >>> import weald
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = weald.BoostedTreesRegressor(n_estimators=3)
    >>> table = sharded_table_of([Part(X[:30], X[:30, 0]), Part(X[30:], X[30:, 0])], model._bin_wishes(), "this model")
    >>> table.n_rows, [block.n_rows for block in table.bins.blocks]
    (100, [30, 70])
    >>> bool((model.fit(table).predict(X) == model.fit(X, X[:, 0]).predict(X)).all())
    True
    """
    opened = _all_opened(team, parts, wishes, owner, like is not None)
    if like is not None:
        return _table_like(like, team, opened, tasks)
    schema, mapper = _bins_of(team, opened, wishes, seed, tasks, weigh)
    blocks, codes = _blocks_of(opened, schema, mapper, wishes, tasks)
    labels, classes, label_type = _labels_of(team, [part.labels for part in opened], like)
    bins, weight = ShardedBins(mapper, blocks, team), _weight_of(team, opened)
    return ShardedTable(schema, bins, wishes, labels, classes, label_type, weight, codes)


def table_without_rows(
    parts: Sequence[Part],
    wishes: BinWishes,
    owner: str,
    seed: int = 0,
    tasks: int = 1,
    team: Team = ALONE,
    weigh: Weigh | None = None,
) -> ShardedTable:
    """What the rows of all members' parts have in common: schema, cuts and classes, and not one row.

    `training_rows` makes a table of any part of them, without asking the other members.
    """
    opened = _all_opened(team, parts, wishes, owner, False)
    schema, mapper = _bins_of(team, opened, wishes, seed, tasks, weigh)
    _, classes, label_type = _labels_of(team, [part.labels for part in opened], None)
    return ShardedTable(schema, ShardedBins(mapper, []), wishes, np.empty(0), classes, label_type)


def training_rows(parts: Sequence[Part], whole: ShardedTable, owner: str, tasks: int = 1) -> ShardedTable:
    """Some of the rows that `table_without_rows` was made of; those of weight 0 are left out.

    >>> import numpy as np
    >>> import weald
    >>> X, wishes = np.arange(100.0).reshape(-1, 1), weald.BoostedTreesRegressor()._bin_wishes()
    >>> parts = [Part(X[:30], X[:30, 0]), Part(X[30:], X[30:, 0])]
    >>> whole = table_without_rows(parts, wishes, "this model")
    >>> training_rows(parts[:1], whole, "this model").bins.blocks[0].read()[0, :4].tolist()
    [0, 1, 2, 3]
    """
    opened = _all_opened(ALONE, parts, whole.wishes, owner, False)
    return _table_like(whole, ALONE, opened, tasks)


def _all_opened(
    team: Team, parts: Sequence[Part], wishes: BinWishes, owner: str, keeps_all: bool
) -> list[_Opened]:
    opened: list[_Opened] = []
    gather_or_refuse(team, lambda: opened.extend(_open(part, wishes, owner, keeps_all) for part in parts))
    return opened


def _table_like(like: ShardedTable, team: Team, opened: Sequence[_Opened], tasks: int) -> ShardedTable:
    """Rows with the schema, the cuts and the classes of another table."""
    mapper, wishes = like.bins.mapper, like.wishes
    _check_columns(team, [part.table for part in opened], like.schema, wishes)
    blocks, codes = _blocks_of(opened, like.schema, mapper, wishes, tasks)
    labels, classes, label_type = _labels_of(team, [part.labels for part in opened], like)
    bins, weight = ShardedBins(mapper, blocks, team), _weight_of(team, opened)
    return ShardedTable(like.schema, bins, wishes, labels, classes, label_type, weight, codes)


def _blocks_of(
    opened: Sequence[_Opened], schema: Schema, mapper: BinMapper, wishes: BinWishes, tasks: int
) -> tuple[list[MemoryBlock], list[MemoryBlock] | None]:
    """The bins, and the codes of categories where some have no bin of their own."""
    has_rare = bool((mapper.n_categories > mapper.n_bins).any())
    blocks, codes = [], []
    for part in opened:
        if not part.n_rows:
            continue
        dataset = part.dataset(schema, wishes.choices)
        every = category_codes(dataset) if has_rare else None
        for first, bins in mapper.parts(dataset, tasks):
            blocks.append(MemoryBlock(bins))
            if every is not None:
                codes.append(MemoryBlock(np.ascontiguousarray(every[:, first : first + bins.shape[1]])))
    return blocks, codes if has_rare else None


def _bins_of(
    team: Team, opened: Sequence[_Opened], wishes: BinWishes, seed: int, tasks: int, weigh: Weigh | None
) -> tuple[Schema, BinMapper]:
    """Schema and cuts of all members' rows."""
    schema = _schema_of(team, [part.table for part in opened], wishes)
    datasets = [part.dataset(schema, wishes.choices) for part in opened if part.n_rows]
    weight = _weight_of(team, opened)
    if weigh is not None:
        labels, classes, label_type = _labels_of(team, [part.labels for part in opened], None)
        no_columns = MemoryBlock(np.empty((0, len(labels)), np.uint8))
        none = np.empty(0, np.int64)
        bins = ShardedBins(BinMapper((), none, none.astype(np.bool_), none), [no_columns], team)
        weight = weigh(ShardedTable(schema, bins, wishes, labels, classes, label_type, weight))
    mapper = _cuts_of(team, schema, datasets, weight, wishes.choices, seed, tasks)
    if wishes.choices.border_type == "uniform_and_quantiles":  # of trees with random thresholds
        own = team.gather([extremes_of(dataset) for dataset in datasets])
        mapper = replace(mapper, extremes=join_extremes([one for member in own for one in member]))
    return schema, mapper


def _open(part: Part, wishes: BinWishes, owner: str, keeps_all: bool) -> _Opened:
    table = open_part(part.X, wishes.unstored)
    labels = read_labels(part.y, table.n_rows, owner=owner)
    weight = None
    if part.weight is not None:
        weight = read_weights(part.weight, table.n_rows, may_be_zero=True)
    if weight is None or keeps_all or (weight > 0.0).all():
        return _Opened(table, labels, weight, None)
    kept = np.flatnonzero(weight > 0.0)
    return _Opened(table, labels[kept], weight[kept], kept)


def _schema_of(team: Team, tables: Sequence[Table], wishes: BinWishes) -> Schema:
    found = gather_or_refuse(team, lambda: [columns_of(table, wishes.categorical) for table in tables])
    described = [one for member in found for one in member]
    if not described:
        raise InputError("X has no parts: at least one row is needed.")
    columns = join_columns(described)
    counts = gather_or_refuse(
        team, lambda: join_counts([count_categories(table, columns) for table in tables])
    )
    return join_schema(columns, join_counts(counts), warns=team.rank == 0)


def _check_columns(team: Team, tables: Sequence[Table], schema: Schema, wishes: BinWishes) -> None:
    def check() -> None:
        for table in tables:
            names = columns_of(table, wishes.categorical).names
            if names != schema.names:
                raise InputError(
                    f"A part of the evaluation set has the columns {list(names)}, but X has {list(schema.names)}; "
                    "all must have the same, in one order."
                )

    gather_or_refuse(team, check)


def _weight_of(team: Team, opened: Sequence[_Opened]) -> NDArray[np.float64] | None:
    """The rows' weights; ones where other members' rows have some, and these none."""
    has_some = [part.weight is not None for part in opened]
    if not int(team.add(np.array([any(has_some)], np.int64))[0]):
        return None
    own = [np.ones(part.n_rows) if part.weight is None else part.weight for part in opened]
    return np.concatenate([np.empty(0), *own])


def _cuts_of(
    team: Team,
    schema: Schema,
    datasets: Sequence[Dataset],
    weight: NDArray[np.float64] | None,
    choices: BinChoices,
    seed: int,
    tasks: int,
) -> BinMapper:
    """The cuts of the whole table, from the rows that they are found from wherever these are."""
    n_rows = sum(dataset.n_rows for dataset in datasets)
    counts = team.gather(n_rows)
    if sum(counts) == 0:
        raise InputError("X has no rows with a positive weight: at least one is needed.")
    share = RowShare(sum(counts[: team.rank]), sum(counts), team)
    rows = sampled_rows(share.n_total, seed, choices.sample_rows)
    begin, end = np.searchsorted(rows, [share.first, share.first + n_rows])
    here = rows[begin:end] - share.first
    found = team.gather((_values_of(datasets, here), None if weight is None else weight[here]))
    values = np.concatenate([own for own, _ in found if own is not None])
    weights = None if weight is None else np.concatenate([own for _, own in found])
    sample = Dataset(schema, ArrayTable(values))
    return fit_bins(sample, weights, choices, seed, tasks)


def _values_of(datasets: Sequence[Dataset], rows: NDArray[np.int64]) -> NDArray[Any] | None:
    """The floats of some rows, ascending, of data sets one behind the other; None for no rows."""
    found, first = [], 0
    for dataset in datasets:
        begin, end = np.searchsorted(rows, [first, first + dataset.n_rows])
        if end > begin:
            found.append(dataset.take(rows[begin:end] - first))
        first += dataset.n_rows
    return np.concatenate(found) if found else None


def _labels_of(
    team: Team, parts: Sequence[NDArray[Any]], like: ShardedTable | None
) -> tuple[NDArray[np.float64], NDArray[Any] | None, str]:
    """Labels as `ShardedTable` has them: numbers, or places among the classes of all rows; with the classes and the type."""
    parts = [part for part in parts if len(part)]

    def describe() -> tuple[bool, list[Any], str]:
        is_named = any(part.dtype.kind in "OUST" for part in parts)
        if any((part.dtype.kind in "OUST") != is_named for part in parts):
            raise InputError(
                "y holds strings in some parts and numbers in others; it must be one or the other."
            )
        for part in parts:
            if part.dtype.kind in "iu" and np.abs(part.astype(np.float64)).max() > _EXACT:
                raise InputError(
                    "y holds integers beyond 2**53, of which not all are different as floats; use smaller ones."
                )
        distinct = sorted(set().union(*(part.tolist() for part in parts))) if is_named else []
        return is_named, distinct, str(np.result_type(*parts)) if parts else ""

    found = [one for one in gather_or_refuse(team, describe) if one[2]]
    if len({is_named for is_named, _, _ in found}) > 1:
        raise InputError("y holds strings in some parts and numbers in others; it must be one or the other.")
    types = [np.dtype(name) for _, _, name in found]
    if not found or not found[0][0]:
        if like is not None:
            label_type = like.label_type
        else:
            label_type = str(np.result_type(*types)) if types else "float64"
        return np.concatenate([np.empty(0), *parts]).astype(np.float64), None, label_type
    names = sorted(set().union(*(distinct for _, distinct, _ in found)))
    classes = np.array(names, dtype=np.result_type(*types)) if like is None else like.classes
    if classes is None:
        raise InputError(f"The labels of an evaluation set have the class {names[0]!r}, but y holds numbers.")
    place = {name: number for number, name in enumerate(classes.tolist())}
    unknown = [name for name in names if name not in place]
    if unknown:
        raise InputError(
            f"The labels of an evaluation set have the class {unknown[0]!r}, which y does not have."
        )
    codes = [float(place[name]) for part in parts for name in part.tolist()]
    return np.array(codes), classes, "float64"
