"""Whether what is compared between numbers of threads was shared among them at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from weald.binning import BundledBins
from weald.tree.histograms import histogram, sparse
from weald.tree.splits.split import PARALLEL_FEATURES
from weald.tree.tree import TreeGrower


@contextmanager
def shared_histograms() -> Iterator[None]:
    """Fail unless every tree that is grown inside, on a table that is not sparse, shares its first histogram among tasks.

    Counted are the rows that the fit keeps and draws for a tree and the columns that are counted for it, not those of the table.
    """
    with grown_trees() as trees:
        yield
    for grower, columns, n_rows in trees:
        if grower._data.sparse:
            continue
        bundled = isinstance(grower.bins, BundledBins)
        cells = n_rows * (len(grower.bins.columns) if bundled else int(grower._divides[columns].sum()))
        least = histogram.PARALLEL_CELLS
        assert cells >= least, f"a tree counts {cells} cells, and histograms are shared from {least} on"


@contextmanager
def shared_searches() -> Iterator[None]:
    """Fail unless every tree that is grown inside is one of a sparse table and shares the search for splits among tasks."""
    with grown_trees() as trees:
        yield
    assert trees
    for grower, columns, _ in trees:
        assert grower._data.sparse
        assert int(grower._divides[columns].sum()) >= PARALLEL_FEATURES
        assert grower._data.n_cells >= sparse.PARALLEL_CELLS


@contextmanager
def grown_trees() -> Iterator[list[tuple[TreeGrower, Any, int]]]:
    """The grower, the columns and the number of rows of every tree that is grown inside from histograms."""
    trees: list[tuple[TreeGrower, Any, int]] = []
    grow = TreeGrower._grow_nodes

    def recorded(self: TreeGrower, columns: Any, gradients: Any, rules: Any, key: Any, n_rows: int) -> int:
        trees.append((self, columns, n_rows))
        return grow(self, columns, gradients, rules, key, n_rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TreeGrower, "_grow_nodes", recorded)
        yield trees
