"""Whether bundling pays for a table, and the bundled table where it does.

Bundles cost a stored cell for every row and bundle, whatever it holds; a sparse table costs its kept cells, each several
times as much. So bundles pay where they are few: not many more than the cells that a row keeps, and well below the number of
columns. What cannot pay is found out early: from the fullest row, from the number of bundles made so far and, of a dense
table, from some of its rows. The bundles themselves are always found from all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.bundled import BundledBins, make_layout, merge_columns
from weald.binning.bundling import Bundles, Order, fewest_bundles, find_bundles
from weald.binning.mapper import BinMapper, DenseBins, settled, stays_sparse
from weald.binning.sparse import SparseBins, SparseCells, bins_of_entries
from weald.data import Dataset
from weald.runtime.arrays import BinCodes, Bools, Int64s, Uint32s
from weald.runtime.jit import kernel
from weald.runtime.tasks import shared_kernel

# A kept cell of a sparse table costs as much as so many stored cells of bundles: 1.7 to 3.2 ns against 0.5 to 0.8.
KEPT_COST = 3.0
# Stored columns, of all columns, above which a dense table is better left alone.
WORTH = 0.75
# Rows of a dense table that are looked at first, and the zeros (or missing values) among them that make a column a candidate.
LOOKED_AT = 1_000
SHARE_OF_DEFAULT = 0.2
# BinCodes of a bundle beside 0: those of a byte, and of two.
FEW_CODES, MANY_CODES = 255, 65_535


@dataclass(frozen=True)
class Bundling:
    """How bundles are found: in which order, and the share of the rows that may be conflicts in each."""

    order: Order = "count"
    max_conflict_rate: float = 0.0

    def budget(self, n_rows: int) -> int:
        """The conflicts that a bundle of so many rows may have."""
        return int(self.max_conflict_rate * n_rows)


def bundle_or_bin(
    mapper: BinMapper, dataset: Dataset, bundling: Bundling, tasks: int
) -> DenseBins | SparseBins | BundledBins:
    """The bins of a training table: bundled where that pays, otherwise as the mapper has them."""
    if dataset.is_sparse:
        cells = bins_of_entries(mapper, dataset.entries, tasks)
        return _bundle_cells(mapper, cells, bundling, tasks) or settled(cells)
    bundled = _bundle_dense(mapper, dataset, bundling, tasks)
    return mapper.transform(dataset, tasks) if bundled is None else bundled


def _bundle_cells(mapper: BinMapper, cells: SparseBins, bundling: Bundling, tasks: int) -> BundledBins | None:
    """A sparse table in bundles, if that pays."""
    limit = WORTH * cells.n_columns
    if stays_sparse(cells):
        limit = min(limit, KEPT_COST * len(cells.rows) / cells.n_rows)
    found = _find(mapper, cells, np.arange(cells.n_columns), bundling, int(limit))
    if found is None:
        return None
    bundles, sizes = found
    layout = make_layout(bundles.of_column, sizes, cells.default, mapper.n_bins)
    nothing = np.empty((0, cells.n_rows), mapper.dtype)
    return merge_columns(
        mapper, layout, cells, np.arange(cells.n_columns), np.empty(0, np.int64), nothing, tasks
    )


def _find(
    mapper: BinMapper, cells: SparseCells, features: Int64s, bundling: Bundling, limit: int
) -> tuple[Bundles, Int64s] | None:
    """At most ``limit`` bundles of columns whose kept cells are given, and the codes that each column needs."""
    budget = bundling.budget(cells.n_rows)
    if fewest_bundles(cells.rows, cells.n_rows, budget) > limit:
        return None
    n_bins = mapper.n_bins[features]
    sizes = n_bins - 1
    has_missing = np.empty(len(features), np.bool_)
    find_bin(cells.starts, cells.bins, n_bins, has_missing)
    sizes += has_missing | (cells.default == n_bins)
    table = cells.starts, cells.rows, cells.n_rows, sizes, budget, bundling.order
    many = _fewer_bundles(*table, MANY_CODES, limit)
    if many is None or np.bincount(many.of_column, sizes).max() <= FEW_CODES:
        return None if many is None else (many, sizes)
    # BinCodes of two bytes are worth it where they at least halve the number of stored columns.
    few = _fewer_bundles(*table, FEW_CODES, min(limit, 2 * many.n_bundles - 1))
    return (many if few is None else few), sizes


def _fewer_bundles(
    starts: Int64s,
    rows: Uint32s,
    n_rows: int,
    sizes: Int64s,
    budget: int,
    order: Order,
    most_cells: int,
    limit: int,
) -> Bundles | None:
    """`find_bundles`, without conflicts where that takes no more of them.

    The greedy way may spend its budget on columns that would have had a bundle without conflicts.
    """
    found = find_bundles(starts, rows, n_rows, sizes, budget, order, most_cells, limit)
    if budget == 0:
        return found
    limit = limit if found is None else found.n_bundles
    return find_bundles(starts, rows, n_rows, sizes, 0, order, most_cells, limit) or found


@kernel
def find_bin(starts: Int64s, bins: BinCodes, wanted: Int64s, found: Bools) -> None:
    """Whether a column has a cell in the bin that is ``wanted`` of it, bool (columns,)."""
    for column in range(len(wanted)):
        found[column] = False
        for i in range(np.uint64(starts[column]), np.uint64(starts[column + 1])):
            found[column] |= np.int64(bins[i]) == wanted[column]


def _bundle_dense(mapper: BinMapper, dataset: Dataset, bundling: Bundling, tasks: int) -> BundledBins | None:
    """A dense table in bundles, if that pays; a part of the rows in all columns at a time, never all."""
    limit = int(WORTH * dataset.n_columns)
    features, default = _candidates(mapper, dataset, bundling, limit)
    others = np.setdiff1d(np.arange(dataset.n_columns), features)
    if len(others) >= limit or not len(features):
        return None
    cells, other_columns = _collect(mapper, dataset, features, default[features], others, tasks)
    found = _find(mapper, cells, features, bundling, limit - len(others))
    if found is None:
        return None
    bundles, sizes = found
    bundle = np.empty(dataset.n_columns, np.int64)
    bundle[features] = bundles.of_column
    bundle[others] = bundles.n_bundles + np.arange(len(others))
    all_sizes = mapper.n_bins + 1
    all_sizes[features] = sizes
    layout = make_layout(bundle, all_sizes, default, mapper.n_bins)
    return merge_columns(mapper, layout, cells, features, others, other_columns, tasks)


def _candidates(
    mapper: BinMapper, dataset: Dataset, bundling: Bundling, limit: int
) -> tuple[Int64s, NDArray[Any]]:
    """Columns that share a bundle by a few of the rows, none if the bundles would be too many; and default bins of all."""
    nobody = np.empty(0, np.int64)
    cuts, starts = mapper.flat_cuts
    below = np.concatenate(([0], np.cumsum(cuts < 0.0)))
    default = below[starts[1:]] - below[starts[:-1]]
    if dataset.n_columns < 2 or mapper.categorical.sum() >= limit:
        return nobody, default.astype(mapper.dtype)
    n_looked_at = min(LOOKED_AT, dataset.n_rows)
    block = dataset.take(np.linspace(0, dataset.n_rows - 1, n_looked_at).astype(np.int64))
    at_default = block == 0.0
    is_missing = np.isnan(block)
    mostly_missing = is_missing.sum(axis=0) > at_default.sum(axis=0)
    at_default[:, mostly_missing] = is_missing[:, mostly_missing]
    default = np.where(mostly_missing, mapper.n_bins, default).astype(mapper.dtype)
    often = (at_default.sum(axis=0) >= SHARE_OF_DEFAULT * n_looked_at) & ~mapper.categorical
    features = np.flatnonzero(often)
    n_others = dataset.n_columns - len(features)
    if n_others + 1 > limit:
        return nobody, default
    places, rows = np.nonzero(~at_default[:, features].T)
    ends = np.searchsorted(places, np.arange(len(features) + 1))
    sizes = mapper.n_bins[features]
    found = _fewer_bundles(
        ends, rows.astype(np.uint32), n_looked_at, sizes, bundling.budget(n_looked_at), bundling.order, MANY_CODES,
        limit - n_others,
    )  # fmt: skip
    if found is None:
        return nobody, default
    return features[np.bincount(found.of_column)[found.of_column] > 1], default


def _collect(
    mapper: BinMapper,
    dataset: Dataset,
    features: Int64s,
    default: NDArray[Any],
    others: Int64s,
    tasks: int,
) -> tuple[SparseCells, NDArray[Any]]:
    """The cells of ``features`` outside of their default bins, and the bins of ``others``, (columns, rows)."""
    rows: list[list[Uint32s]] = [[] for _ in features]
    bins: list[list[NDArray[Any]]] = [[] for _ in features]
    other_columns = np.empty((len(others), dataset.n_rows), mapper.dtype)
    for first, part in mapper.parts(dataset, tasks):
        size = part.shape[1]
        other_columns[:, first : first + size] = part[others]
        kept_rows, kept_bins = (
            np.empty((len(features), size), np.uint32),
            np.empty((len(features), size), mapper.dtype),
        )
        counts = np.empty(len(features), np.int64)
        collect_kept(tasks, part, first, features, default, kept_rows, kept_bins, counts)
        for j, count in enumerate(counts.tolist()):
            rows[j].append(kept_rows[j, :count].copy())
            bins[j].append(kept_bins[j, :count].copy())
    starts = np.concatenate(([0], np.cumsum([sum(map(len, own)) for own in rows])))
    all_rows = np.concatenate([piece for own in rows for piece in own])
    all_bins = np.concatenate([piece for own in bins for piece in own])
    return SparseCells(starts, all_rows, all_bins, default, dataset.n_rows), other_columns


@shared_kernel
def collect_kept(
    task: int,
    tasks: int,
    columns: BinCodes,
    first: int,
    features: Int64s,
    default: BinCodes,
    rows: Uint32s,
    bins: BinCodes,
    counts: Int64s,
) -> None:
    """Rows, from ``first`` on, and bins of the cells of chosen columns that are not in the default bin, and their number."""
    for j in range(task, len(features), tasks):
        column, own_rows, own_bins = columns[features[j]], rows[j], bins[j]
        kept = np.uint64(0)
        for i in range(np.uint64(len(column))):
            own_rows[kept] = np.uint32(first) + np.uint32(i)
            own_bins[kept] = column[i]
            kept += np.uint64(column[i] != default[j])
        counts[j] = kept
