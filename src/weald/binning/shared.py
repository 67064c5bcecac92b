"""A table that is binned once for many fits: the members of an ensemble, the folds of a cross-validation.

An estimator takes part that has ``_takes_binned_table = True`` and the parameters ``max_bins``, ``categorical_features`` and,
where it has them, ``split_finder`` and ``n_jobs``, and whose ``fit`` reads X by `read_training_table` and gets its bins by
`bins_of`, or by `ranks_of` where every value is its own bin.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.binning.cuts import fit_bins
from weald.binning.mapper import Bins
from weald.binning.ranks import Ranks, fit_ranks
from weald.binning.sparse import SparseBins, SparseCells
from weald.binning.sparse_ranks import SparseRanks
from weald.data import Dataset, Schema, read_table
from weald.data.read import Categorical, marked_positions
from weald.data.sparse import Unstored
from weald.runtime.errors import InputError
from weald.runtime.threads import parallel

#: A binned table of any kind: dense, sparse, or with a bin for every value.
AnyBins = Bins | SparseBins | Ranks | SparseRanks


class BinnedTable:
    """A table with its bins, which Weald's estimators take in place of ``X``; `bin_once` makes them.

    Cut points and category dictionaries are those of the whole table, also in the parts that `take` gives: a
    model of some of the rows then knows where the values of the other rows lie, but never their labels. Weights
    shape the bins only when `bin_once` was given them; a fit's ``sample_weight`` and ``class_weight`` do not move
    the cuts of a table that is binned already. With the same weights, and the same seed where a table has more
    than 200,000 rows, a fit on the binned table gives the same model, byte for byte, as a fit on the table.

    >>> import numpy as np
    >>> import weald
    >>> from weald.binning import bin_once
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = weald.BoostedTreesRegressor(n_estimators=5)
    >>> table = bin_once(X, [model])
    >>> half = table.take(np.arange(0, 100, 2))
    >>> half.shape, model.fit(half, X[::2, 0]).n_features_in_
    ((50, 1), 1)
    """

    def __init__(
        self,
        X: Any,
        dataset: Dataset,
        bins: AnyBins,
        max_bins: int | None,
        marked: frozenset[int],
        rows: NDArray[np.int64] | None = None,
        unstored: Unstored = "zero",
    ) -> None:
        #: the user's table, of which ``rows`` (None: all, in order) are here
        self.X = X
        self.rows = rows
        self.schema: Schema = dataset.schema
        self.bins = bins
        #: None where every value is its own bin
        self.max_bins = max_bins
        #: positions of columns that are categorical because ``categorical_features`` says so
        self.marked = marked
        #: what a sparse X does not store
        self.unstored = unstored
        self._dataset: Dataset | None = dataset

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.bins.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, self.schema.n_columns

    def take(self, rows: Any) -> BinnedTable:
        """Some of the rows, by number (in any order, also more than once) or as a mask, in the bins of all."""
        chosen = _row_numbers(rows, self.n_rows)
        before = chosen if self.rows is None else self.rows[chosen]
        bins = self.bins.take(chosen)
        return BinnedTable(self.X, self._opened(), bins, self.max_bins, self.marked, before, self.unstored)

    def blocks(self) -> Iterable[tuple[int, NDArray[Any]]]:
        """The rows' own floats, as `Dataset.blocks` gives them."""
        dataset = self._opened()
        return (dataset if self.rows is None else dataset.part(self.rows)).blocks()

    def serves(self, estimator: Any) -> bool:
        """Whether an estimator takes this table: one of Weald's that wants these bins and categories."""
        if not _takes_bins(estimator) or bins_wanted(estimator) != self.max_bins:
            return False
        if _unstored_of(estimator) != self.unstored and scipy.sparse.issparse(self.X):
            return False
        return marked_positions(estimator.categorical_features, self.schema.names) == self.marked

    def _opened(self) -> Dataset:
        if self._dataset is None:
            self._dataset = read_table(self.X, schema=self.schema, unstored=self.unstored)
        return self._dataset

    def __getstate__(self) -> dict[str, Any]:
        """Without the opened table, which is opened again where its floats are wanted."""
        return self.__dict__ | {"_dataset": None}


def bin_once(
    X: Any,
    estimators: Iterable[Any],
    *,
    weight: NDArray[np.float64] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> BinnedTable | None:
    """The table's bins for those of the estimators that are Weald's; None when none is, or they want different bins.

    Parameters
    ----------
    X : table of any kind that the estimators' ``fit`` takes
    estimators : the members; those that are not Weald's, and "drop", do not matter
    weight : the rows' weights, when the bins are to be of like weight instead of like numbers of rows
    seed : which rows the cuts of a table of more than 200,000 rows are found from
    n_jobs : threads, None: as many as the first of Weald's estimators has; never changes the bins

    >>> import numpy as np
    >>> import weald
    >>> bin_once(np.eye(3), [weald.BoostedTreesRegressor(), "drop"]).bins.columns.tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> bin_once(np.eye(3), [weald.BoostedTreesRegressor(max_bins=15), weald.BoostedTreesRegressor()]) is None
    True
    """
    ours = [estimator for estimator in estimators if _takes_bins(estimator)]
    if not ours or len({bins_wanted(estimator) for estimator in ours}) > 1:
        return None
    categorical, max_bins = ours[0].categorical_features, bins_wanted(ours[0])
    unstored = _unstored_of(ours[0])
    dataset = read_table(X, categorical=categorical, owner=type(ours[0]).__name__, unstored=unstored)
    with parallel(getattr(ours[0], "n_jobs", None) if n_jobs is None else n_jobs) as tasks:
        bins = _new_bins(dataset, weight, max_bins, seed, tasks)
    marked = frozenset(marked_positions(categorical, dataset.schema.names))
    table = BinnedTable(X, dataset, bins, max_bins, marked, unstored=unstored)
    return table if all(table.serves(estimator) for estimator in ours) else None


def read_training_table(
    X: Any, *, categorical: Categorical, max_bins: int | None, owner: str, unstored: Unstored = "zero"
) -> Dataset | BinnedTable:
    """What an estimator's ``fit`` makes of X: a table that is read, or one that was binned as the estimator wants."""
    if not isinstance(X, BinnedTable):
        return read_table(X, categorical=categorical, owner=owner, unstored=unstored)
    if max_bins != X.max_bins:
        raise InputError(f"X was binned with {_said(X.max_bins)}, but {owner} has {_said(max_bins)}.")
    if unstored != X.unstored and scipy.sparse.issparse(X.X):
        raise InputError(f"X was binned with unstored={X.unstored!r}, but {owner} has unstored={unstored!r}.")
    if marked_positions(categorical, X.schema.names) != X.marked:
        raise InputError(
            f"X was binned with other categorical columns than {owner} has in "
            f"categorical_features={categorical!r}."
        )
    return X


def bins_of(
    table: Dataset | BinnedTable, weight: NDArray[np.float64] | None, max_bins: int, seed: int, tasks: int
) -> Bins | SparseBins:
    """The bins that a table came with, or those that are found for it."""
    if isinstance(table, BinnedTable):
        assert not isinstance(table.bins, Ranks | SparseRanks)  # as the table serves the estimator
        return _writeable(table.bins)
    return fit_bins(table, weight, max_bins, seed, tasks=tasks).transform(table, tasks)


def ranks_of(
    table: Dataset | BinnedTable, weight: NDArray[np.float64] | None, tasks: int
) -> Ranks | SparseRanks:
    """The same where every value is its own bin."""
    if not isinstance(table, BinnedTable):
        return fit_ranks(table, weight, tasks).transform(table, tasks)
    ranks = table.bins
    assert isinstance(ranks, Ranks | SparseRanks)
    if isinstance(ranks, SparseRanks):
        return SparseRanks(**_writeable_cells(ranks), mapper=ranks.mapper, tasks=tasks)
    return ranks if ranks.codes.flags.writeable else Ranks(np.array(ranks.codes), ranks.mapper, tasks)


def bins_wanted(estimator: Any) -> int | None:
    """The most bins of a column that an estimator wants; None: every value is to be its own bin."""
    if getattr(estimator, "split_finder", "hist") != "hist":
        return None
    most: int = estimator.max_bins
    return most


def _said(max_bins: int | None) -> str:
    return "split_finder='exact' or 'approx'" if max_bins is None else f"max_bins={max_bins}"


def _new_bins(
    dataset: Dataset, weight: NDArray[np.float64] | None, max_bins: int | None, seed: int, tasks: int
) -> AnyBins:
    if max_bins is None:
        return ranks_of(dataset, weight, tasks)
    return bins_of(dataset, weight, max_bins, seed, tasks)


def _writeable(bins: Bins | SparseBins) -> Bins | SparseBins:
    """The bins, copied if they are read-only, as in joblib's workers: to Numba that is another type, to compile for."""
    if isinstance(bins, SparseBins):
        return SparseBins(**_writeable_cells(bins), mapper=bins.mapper)
    if bins.columns.flags.writeable and bins.rows.flags.writeable:
        return bins
    return Bins(np.array(bins.columns), np.array(bins.rows), bins.mapper)


def _writeable_cells(cells: SparseCells) -> dict[str, Any]:
    """The fields of a sparse table's cells, copied where they are read-only."""
    arrays = {name: getattr(cells, name) for name in ("starts", "rows", "bins", "default")}
    copied = {name: array if array.flags.writeable else np.array(array) for name, array in arrays.items()}
    return copied | {"n_rows": cells.n_rows}


def _unstored_of(estimator: Any) -> Unstored:
    unstored: Unstored = getattr(estimator, "unstored", "zero")
    return unstored


def _takes_bins(estimator: Any) -> bool:
    return getattr(estimator, "_takes_binned_table", False) is True


def _row_numbers(rows: Any, n_rows: int) -> NDArray[np.int64]:
    chosen = np.asarray(rows)
    if chosen.dtype == np.bool_ and chosen.shape == (n_rows,):
        chosen = np.flatnonzero(chosen)
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or not len(chosen):
        raise InputError(f"rows must be row numbers or a mask of {n_rows} rows, not {rows!r}.")
    if chosen.min() < 0 or chosen.max() >= n_rows:
        wrong = chosen[(chosen < 0) | (chosen >= n_rows)][0]
        raise InputError(f"rows has the row {wrong}, but the table has {n_rows} rows, from 0.")
    return chosen.astype(np.int64, copy=False)
