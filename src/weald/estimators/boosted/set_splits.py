"""Which categorical columns a finished model's trees split into two sets, and which by one category against the rest.

A fit decides by the number of bins that a column has. A model does not keep that number, but the parameters bound it. Where
rare categories share a bin, the splits themselves are asked, and if they leave it open, the rows at hand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.binning import fit_bins
from weald.binning.parameters import Approximate
from weald.binning.ranks import MOST_CATEGORIES
from weald.data import Dataset
from weald.forest.forest import Forest
from weald.training.boosting.parameters import ResolvedBoosting


def splits_into_sets(
    parts: ResolvedBoosting,
    most_single: int,
    forest: Forest,
    dataset: Dataset,
    weight: NDArray[np.float64] | None,
) -> NDArray[np.bool_]:
    """Whether the fit split a column into sets of categories, (columns,); ``most_single``: categories that are split singly."""
    schema = dataset.schema
    sizes = np.array([len(column.categories) for column in schema.columns])
    most = np.minimum(sizes, _most_bins(parts, dataset))
    into_sets: NDArray[np.bool_] = schema.categorical_mask & (most > most_single)
    choices = parts.bins.choices(parts.split_finder)
    if not choices.counts_categories:
        return into_sets
    open_columns = []
    for column in np.flatnonzero(into_sets):
        size, found = int(sizes[column]), _sets_of(forest, int(column))
        if any(_could_be_single(found, size, n_bins) for n_bins in range(1, most_single + 1)):
            into_sets[column] = _could_be_sets(found, size, int(most[column]))
            open_columns += [column] if into_sets[column] else []
    if open_columns:
        n_bins = fit_bins(dataset, weight, choices).n_bins
        into_sets[open_columns] = n_bins[open_columns] > most_single
    return into_sets


def _most_bins(parts: ResolvedBoosting, dataset: Dataset) -> NDArray[np.int64] | int:
    """The most bins that the fit made of a column's categories."""
    if parts.split_finder.uses_bins:
        return parts.bins.choices().limits(dataset.schema)
    approximates = isinstance(parts.split_finder, Approximate)
    return min(MOST_CATEGORIES, parts.bins.max_bins) if approximates else MOST_CATEGORIES


def _sets_of(forest: Forest, column: int) -> set[tuple[int, ...]]:
    """The codes on the left of every split of a column."""
    numbers = np.unique(forest.category_set[(forest.feature == column) & (forest.category_set >= 0)])
    starts, codes = forest.set_offsets, forest.set_codes
    return {tuple(codes[starts[number] : starts[number + 1]].tolist()) for number in numbers}


def _could_be_single(found: set[tuple[int, ...]], size: int, n_bins: int) -> bool:
    """Whether all sets are single bins, of so many, the last of which has all categories that are left."""
    last = tuple(range(n_bins - 1, size))
    return all(codes == last or (len(codes) <= 1 and codes < (n_bins - 1,)) for codes in found)


def _could_be_sets(found: set[tuple[int, ...]], size: int, most: int) -> bool:
    """Whether all categories have a bin of their own: of those in a bin of several no set names one."""
    named = size if most == size else most - 1
    return all(codes[-1] < named for codes in found if codes)
