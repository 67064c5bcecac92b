"""Finding the cuts of every numeric column, from all rows or from a sample of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.borders import BORDER_KINDS, Wanted, find_borders, new_segments
from weald.binning.choices import BinChoices
from weald.binning.mapper import PARALLEL_CELLS, BinMapper
from weald.binning.quantile import choose_rows, find_cuts, new_cut_scratch
from weald.binning.sparse import column_of_entries, find_cuts_of_entries, weighed_entries
from weald.data import Dataset
from weald.data.dataset import rows_per_block
from weald.runtime.arrays import Words
from weald.runtime.random import BIN_SAMPLE, stream_key

# The buffer of sampled columns takes a byte a cell of the data, half of what the bins will, or this if that
# is more. A data frame is converted anew for each filling, so its buffer may be larger.
_ARRAY_BUFFER, _FRAME_BUFFER = 4 * 2**20, 64 * 2**20
_CELLS_PER_PIECE = 2**19  # copied at a time from an array
_COLUMNS_PER_CALL = 256  # a call takes half a second at most; between calls an interrupt is answered
_CUTS_PER_CALL = 2**20  # room for them is made at once
_CACHE_LINE = 64
_DEFAULT = BinChoices()


def fit_bins(
    dataset: Dataset,
    weight: NDArray[np.float64] | None,
    choices: BinChoices = _DEFAULT,
    seed: int = 0,
    tasks: int = 1,
) -> BinMapper:
    """Find the cuts of every column.

    A column with at most ``max_bins`` distinct values has a bin for each, with cuts in the middle between
    neighbours. Otherwise a value that weighs as much as a mean bin has a bin of its own, and the others are
    grouped to bins of like weight. A row of weight 0 counts as if it were not there, and one of weight 2 as
    if it were there twice. Where ``choices`` ask for it, bins of too few rows are joined to their neighbours, and some
    cuts are there in any case; the other bins are then shared among the stretches between these by weight.

    That is the border type "quantiles". The others are CatBoost's: "median" puts a cut in front of the value at each of
    equally many shares of the weight; "uniform" has cuts at equal distances between the least and the greatest finite value, of
    those between the same two values the first; "uniform_and_quantiles" has half of each; and "greedy_log_sum" splits one
    stretch of values after the other near its middle, always the one that adds most to the sum of the logarithms of the weights.

    A category's bin is its place in the dictionary, most frequent first; those beyond the limit, or too rare, share the last.

    Of more than ``choices.sample_rows`` rows (of positive weight) that many are used: one at random from each of as
    many stretches of equal length. The result does not depend on ``tasks``.

    >>> import numpy as np
    >>> from weald.data import read_table
    >>> ages = np.repeat(np.arange(20.0, 80.0), 10).reshape(-1, 1)
    >>> fit_bins(read_table(ages), None, BinChoices(4)).cuts[0].tolist()
    [34.5, 49.5, 64.5]
    """
    columns = dataset.schema.columns
    categorical = dataset.schema.categorical_mask
    n_categories = np.array([len(column.categories) for column in columns], dtype=np.int64)
    limits = choices.limits(dataset.schema)
    forced = choices.forced_cuts(dataset.schema, limits)
    rows = _sample(dataset.n_rows, weight, seed, choices.sample_rows)
    weights = np.empty(0) if weight is None else _summable(weight[rows])
    cuts = [np.empty(0)] * len(columns)
    searched = np.where(categorical, 0, limits)
    searched[list(forced)] = 0
    category_bins = np.minimum(n_categories, limits)
    if dataset.is_sparse and len(rows):
        cuts = _find_in_entries(dataset, rows, weights, searched, choices, tasks)
        for column, own in forced.items():
            values = column_of_entries(dataset.entries, column, rows)
            cuts[column] = _find_between(values, weights, own, int(limits[column]), choices)
    elif len(rows) and (choices.counts_categories or not categorical.all()):
        for first, values in _column_buffers(dataset, rows):
            last = first + len(values)
            cuts[first:last] = _find(values, weights, searched[first:last], choices, tasks)
            for column in range(first, last):
                own_values = values[column - first]
                if column in forced:
                    own = forced[column]
                    cuts[column] = _find_between(own_values, weights, own, int(limits[column]), choices)
                elif categorical[column] and choices.counts_categories:
                    frequent = _count_frequent(own_values, weights, int(n_categories[column]), choices)
                    category_bins[column] = min(category_bins[column], frequent)
    n_values = np.array([len(column_cuts) + 1 for column_cuts in cuts], dtype=np.int64)
    n_bins = np.where(categorical, np.maximum(category_bins, 1), n_values)
    return BinMapper(tuple(cuts), n_bins, categorical, n_categories)


def _count_frequent(
    codes: NDArray[Any], weight: NDArray[np.float64], n_categories: int, choices: BinChoices
) -> int:
    """Bins of a column's categories when the rare ones share the last."""
    present = codes == codes
    own = np.ones(len(codes)) if len(weight) == 0 else weight
    totals = np.bincount(codes[present].astype(np.int64), own[present], n_categories)
    after = np.append(np.cumsum(totals[::-1])[::-1], 0.0)  # what a category and all rarer ones weigh
    frequent = int(np.argmax(after <= choices.rare_categories * after[0]))
    light = np.flatnonzero(totals < choices.least_weight)
    if len(light):
        frequent = min(frequent, int(light[0]))
    return min(frequent + 1, n_categories)


def _find_between(
    values: NDArray[Any],
    weight: NDArray[np.float64],
    forced: NDArray[np.float64],
    max_bins: int,
    choices: BinChoices,
) -> NDArray[np.float64]:
    """The forced cuts of a column and those that are found in the stretches between them."""
    present = values == values
    values, weight = values[present], weight[present] if len(weight) else weight
    stretch = np.searchsorted(forced, values)
    totals = np.bincount(stretch, weight if len(weight) else None, len(forced) + 1)
    reached = np.floor(np.cumsum(totals) * (max_bins - len(totals)) / max(float(totals.sum()), 1.0))
    shares = 1 + np.diff(reached, prepend=0.0).astype(np.int64)
    found = [forced]
    for part in np.flatnonzero(shares > 1):
        inside = stretch == part
        own_weight = weight[inside] if len(weight) else weight
        found += _find(values[inside].reshape(1, -1), own_weight, shares[part : part + 1], choices, 1)
    cuts: NDArray[np.float64] = np.sort(np.concatenate(found))
    return cuts


def _sample(
    n_rows: int, weight: NDArray[np.float64] | None, seed: int, sample_rows: int
) -> NDArray[np.int64]:
    """The rows that the cuts are found from, ascending."""
    # Positions among the rows that count, so that rows of weight 0 change nothing.
    counting = None
    if weight is not None and not (weight > 0.0).all():
        counting = np.flatnonzero(weight > 0.0)
    chosen = sampled_rows(n_rows if counting is None else len(counting), seed, sample_rows)
    return chosen if counting is None else counting[chosen]


def sampled_rows(n_rows: int, seed: int, sample_rows: int) -> NDArray[np.int64]:
    """Which of so many rows of positive weight cuts are found from, ascending: all, or ``sample_rows`` of them.

    >>> sampled_rows(1000, seed=0, sample_rows=3).tolist()
    [261, 583, 838]
    """
    if n_rows <= sample_rows:
        return np.arange(n_rows, dtype=np.int64)
    chosen = np.empty(sample_rows, np.int64)
    choose_rows(n_rows, np.uint64(stream_key(seed, BIN_SAMPLE)), chosen)
    return chosen


def _summable(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights to 53 bits behind the point of their sum, so that any of them add up exactly, in any order.

    The weight of the zeros that a sparse table does not store is then exactly what the others leave.
    """
    unit = np.ldexp(1.0, max(int(np.frexp(weight.sum())[1]) - 52, -1074))
    rounded: NDArray[np.float64] = np.rint(weight / unit) * unit
    return rounded


def _column_buffers(dataset: Dataset, rows: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[Any]]]:
    """(first column, values (columns, rows)), as many columns at a time as fit in one buffer."""
    first_block = next(iter(dataset.blocks()))[1]
    dtype, is_whole = first_block.dtype, len(first_block) == dataset.n_rows
    del first_block
    cells = dataset.n_rows * dataset.n_columns
    size = max(_ARRAY_BUFFER, cells) if is_whole else max(_FRAME_BUFFER, 2 * cells)
    room = size // (dtype.itemsize * len(rows))
    line = _CACHE_LINE // dtype.itemsize
    step = min(max(1, room - room % line if room > line else room), dataset.n_columns)
    buffer = np.empty((step, len(rows)), dtype)
    for first in range(0, dataset.n_columns, step):
        last = min(first + step, dataset.n_columns)
        values = buffer[: last - first]
        for place, piece in _pieces(dataset, rows, slice(first, last), is_whole):
            values[:, place : place + len(piece)] = piece.T
        yield first, values


def _pieces(
    dataset: Dataset, rows: NDArray[np.int64], columns: slice, is_whole: bool
) -> Iterator[tuple[int, NDArray[Any]]]:
    """(place in the sample, values) of the chosen rows, a part at a time."""
    if not is_whole and 4 * len(rows) < dataset.n_rows:
        step = rows_per_block(dataset.n_columns)
        for place in range(0, len(rows), step):
            yield place, dataset.take(rows[place : place + step])[:, columns]
        return
    step = max(1, _CELLS_PER_PIECE // (columns.stop - columns.start))
    for base, block in dataset.blocks():
        first, last = np.searchsorted(rows, (base, base + len(block)))
        for place in range(first, last, step):
            chosen = rows[place : min(place + step, last)] - base
            if chosen[-1] - chosen[0] + 1 == len(chosen):
                yield place, block[chosen[0] : chosen[-1] + 1, columns]
            else:
                yield place, block[chosen, columns]


def _find_in_entries(
    dataset: Dataset,
    rows: NDArray[np.int64],
    weight: NDArray[np.float64],
    limits: NDArray[np.int64],
    choices: BinChoices,
    tasks: int,
) -> list[NDArray[np.float64]]:
    """The cuts of every column of a sparse table."""
    if choices.border_type not in BORDER_KINDS:
        return find_cuts_of_entries(dataset.entries, rows, weight, limits, choices.least_weight, tasks)
    cuts: list[NDArray[np.float64]] = []
    for limit, (values, own_weight) in zip(
        limits[:, None], weighed_entries(dataset.entries, rows, weight), strict=True
    ):
        cuts += _find(values.reshape(1, -1), own_weight, limit, choices, 1) if len(values) else [np.empty(0)]
    return cuts


def _find(
    values: NDArray[Any],
    weight: NDArray[np.float64],
    limits: NDArray[np.int64],
    choices: BinChoices,
    tasks: int,
) -> list[NDArray[np.float64]]:
    """The cuts of every column of a buffer; ``limits``: the most bins of each, 0: no cuts."""
    most, least, kind = max(2, int(limits.max())), choices.least_weight, BORDER_KINDS.get(choices.border_type)
    bits: Words = values.view(np.uint32 if values.dtype.itemsize == 4 else np.uint64)
    if min(len(bits), _COLUMNS_PER_CALL) * bits.shape[1] < PARALLEL_CELLS:
        tasks = 1
    scratch = new_cut_scratch(tasks, bits.shape[1], len(weight), most, bits.dtype)
    found: list[NDArray[np.float64]] = []
    step = max(tasks, min(_COLUMNS_PER_CALL, _CUTS_PER_CALL // most))
    for first in range(0, len(bits), step):
        part, part_limits = bits[first : first + step], limits[first : first + step]
        cuts, counts = np.empty((len(part), most - 1)), np.empty(len(part), np.int64)
        if kind is not None:
            segments = new_segments(tasks, bits.shape[1], most)
            wanted, memory = Wanted(kind, part_limits, least), (scratch, segments, cuts, counts)
            find_borders(tasks, part, weight, wanted, *memory)
        else:
            find_cuts(tasks, part, weight, part_limits, least, scratch, cuts, counts)
        found += [row[:count].copy() for row, count in zip(cuts, counts.tolist(), strict=True)]
    return found
