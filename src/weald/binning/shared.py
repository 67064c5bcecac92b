"""A table that is binned once for many fits: the members of an ensemble, the folds of a cross-validation.

An estimator takes part whose ``_bin_wishes()`` says which bins it wants, and whose ``fit`` reads X by `read_training_table` and
gets its bins by `bins_of`, or by `ranks_of` where every value is its own bin.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.binning.bundled import BundledBins, Layout
from weald.binning.bundles import Bundling, bundle_or_bin
from weald.binning.choices import BinChoices, describe_difference
from weald.binning.cuts import fit_bins
from weald.binning.mapper import DenseBins
from weald.binning.ranks import Ranks, fit_ranks
from weald.binning.sparse import SparseBins, SparseCells
from weald.binning.sparse_ranks import SparseRanks
from weald.binning.zeros import without_zeros
from weald.data import Dataset, Schema, read_table
from weald.data.containers import is_sparse
from weald.data.read import Categorical, has_columns, marked_positions
from weald.data.sparse import Unstored
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.threads import hire

LAYOUTS = 2  # bins are held by row and by column, a byte each
MOST_DENSE_BYTES = 2**31  # that a sparse matrix may take when columns of categories make it dense

#: A binned table in memory, of any kind: dense, sparse, in bundles, or with a bin for every value.
AnyBins = DenseBins | SparseBins | BundledBins | Ranks | SparseRanks


class BinWishes(NamedTuple):
    """What an estimator wants of a binned table."""

    choices: BinChoices
    categorical: Categorical = "auto"
    bundling: Bundling | None = None  # None: columns are not bundled
    unstored: Unstored = "zero"  # what a sparse table does not store


def wishes_of(estimator: Any) -> BinWishes | None:
    """The bins that an estimator wants; None: it is not one of Weald's, or takes no bins."""
    ask = getattr(estimator, "_bin_wishes", None)
    wishes: BinWishes | None = None if ask is None or isinstance(estimator, type) else ask()
    return wishes


class BinnedTable:
    """A table with its bins, which Weald's estimators take in place of ``X``; `bin_once` makes them.

    Cut points and category dictionaries are those of the whole table, also in the parts that `take` gives: a
    model of some of the rows then knows where the values of the other rows lie, but never their labels. Weights
    shape the bins only when `bin_once` was given them; a fit's ``sample_weight`` and ``class_weight`` do not move
    the cuts of a table that is binned already. With the same weights, and the same seed where a table has more
    than 200,000 rows, a fit on the binned table gives the same model, byte for byte, as a fit on the table. Only a table that was
    bundled with conflicts belongs to the ``bundling`` and ``max_conflict_rate`` that it was made with.

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
        choices: BinChoices,
        marked: frozenset[int],
        rows: NDArray[np.int64] | None = None,
        unstored: Unstored = "zero",
        bundling: Bundling | None = None,
    ) -> None:
        #: the user's table, of which ``rows`` (None: all, in order) are here
        self.X = X
        self.rows = rows
        self.schema: Schema = dataset.schema
        self.bins = bins
        self.choices = choices
        #: positions of columns that are categorical because ``categorical_features`` says so
        self.marked = marked
        #: what a sparse X does not store
        self.unstored = unstored
        #: how columns were bundled, where that pays; None: not at all
        self.bundling = bundling
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
        return BinnedTable(
            self.X, self._opened(), bins, self.choices, self.marked, before, self.unstored, self.bundling
        )

    @property
    def dataset(self) -> Dataset:
        """The rows' own floats."""
        dataset = self._opened()
        return dataset if self.rows is None else dataset.part(self.rows)

    def blocks(self) -> Iterable[tuple[int, NDArray[Any]]]:
        """The same in blocks, as `Dataset.blocks` gives them."""
        return self.dataset.blocks()

    def serves(self, estimator: Any) -> bool:
        """Whether an estimator takes this table: one of Weald's that wants these bins and categories."""
        wishes = wishes_of(estimator)
        if wishes is None or wishes.choices != self.choices:
            return False
        if wishes.unstored != self.unstored and is_sparse(self.X):
            return False
        if _with_conflicts(wishes.bundling) != _with_conflicts(self.bundling):
            return False
        return marked_positions(wishes.categorical, self.schema.names) == self.marked

    def _opened(self) -> Dataset:
        if self._dataset is None:
            self._dataset = read_table(
                self.X, schema=self.schema, unstored=self.unstored, missing=self.choices.missing
            )
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
    earlier: Schema | None = None,
) -> BinnedTable | None:
    """The table's bins for those of the estimators that are Weald's; None when none is, or they want different bins.

    Parameters
    ----------
    X : table of any kind that the estimators' ``fit`` takes
    estimators : the members; those that are not Weald's, and "drop", do not matter
    weight : the rows' weights, when the bins are to be of like weight instead of like numbers of rows
    seed : which rows the cuts of a table of more than 200,000 rows are found from
    n_jobs : threads, None: as many as the first of Weald's estimators has; never changes the bins
    earlier : the schema of a fit that the estimators go on from, by which a table with its columns is read

    >>> import numpy as np
    >>> import weald
    >>> X = np.array([[5.0, 1.0], [4.0, 2.0], [5.0, 3.0]])
    >>> bin_once(X, [weald.BoostedTreesRegressor(), "drop"]).bins.columns.tolist()
    [[1, 0, 1], [0, 1, 2]]
    >>> bin_once(X, [weald.BoostedTreesRegressor(bins=15), weald.BoostedTreesRegressor()]) is None
    True
    """
    ours = [(one, wishes) for one in estimators if (wishes := wishes_of(one)) is not None]
    if not ours or len({wishes.choices for _, wishes in ours}) > 1:
        return None
    first, wishes = ours[0]
    choices, dataset = wishes.choices, _read(X, wishes, type(first).__name__, earlier)
    wanted = {own.bundling for _, own in ours}
    bundling = wanted.pop() if len(wanted) == 1 else None
    tasks = hire(getattr(first, "n_jobs", None) if n_jobs is None else n_jobs)
    bins: AnyBins
    if choices.max_bins is None:
        bins = ranks_of(dataset, weight, tasks)
    else:
        bins = bins_of(dataset, weight, choices, seed, tasks, bundling)
    marked = frozenset(marked_positions(wishes.categorical, dataset.schema.names))
    table = BinnedTable(X, dataset, bins, choices, marked, unstored=wishes.unstored, bundling=bundling)
    return table if all(table.serves(one) for one, _ in ours) else None


def read_training_table(
    X: Any, wishes: BinWishes, owner: str, earlier: Schema | None = None
) -> Dataset | BinnedTable:
    """What an estimator's ``fit`` makes of X: a table that is read, or one that was binned as the estimator wants.

    ``earlier``: the schema of a fit that this one goes on from. A table with its columns is read by it, as in prediction: other
    rows have other categories, or the same ones more or less often.
    """
    choices, categorical, bundling, unstored = wishes
    if not isinstance(X, BinnedTable):
        return _read(X, wishes, owner, earlier)
    if choices != X.choices:
        own, wanted = describe_difference(X.choices, choices)
        raise InputError(f"X was binned with {own}, but {owner} has {wanted}.")
    if unstored != X.unstored and is_sparse(X.X):
        raise InputError(f"X was binned with unstored={X.unstored!r}, but {owner} has unstored={unstored!r}.")
    if marked_positions(categorical, X.schema.names) != X.marked:
        raise InputError(
            f"X was binned with other categorical columns than {owner} has in "
            f"categorical_features={categorical!r}."
        )
    made, asked = _with_conflicts(X.bundling), _with_conflicts(bundling)
    if made != asked:
        raise InputError(f"X was binned with {_said_of(made)}, but {owner} has {_said_of(asked)}.")
    return X


def _read(X: Any, wishes: BinWishes, owner: str, earlier: Schema | None) -> Dataset:
    choices, categorical, _, unstored = wishes
    known = earlier if earlier is not None and has_columns(X, earlier, categorical) else None
    if is_sparse(X) and not isinstance(categorical, str) and len(list(categorical)):
        _check_room(X)
    return read_table(
        X, categorical=categorical, schema=known, owner=owner, unstored=unstored, missing=choices.missing
    )


def _check_room(matrix: Any) -> None:
    """Refuse a sparse matrix with columns of categories, which make it dense, where that would be large."""
    n_rows, n_columns = matrix.shape
    size = LAYOUTS * n_rows * n_columns
    if size > MOST_DENSE_BYTES:
        raise NotSupportedError(
            f"X is a sparse matrix of {n_rows:,} rows and {n_columns:,} columns, and a column of categories makes all its cells "
            f"stored, {size / 2**30:.1f} GiB of bins; leave categories as numbers, or as one-hot columns."
        )


def bins_of(
    table: Dataset | BinnedTable,
    weight: NDArray[np.float64] | None,
    choices: BinChoices,
    seed: int,
    tasks: int,
    bundling: Bundling | None = None,
) -> DenseBins | SparseBins | BundledBins:
    """The bins that a table came with, or those that are found for it; ``bundling``: None for no bundles."""
    if isinstance(table, BinnedTable):
        assert not isinstance(table.bins, Ranks | SparseRanks)  # as the table serves the estimator
        return _writeable(table.bins)
    table = table.at_once()
    if bundling is not None:
        table = without_zeros(table, tasks)
    mapper = fit_bins(table, weight, choices, seed, tasks)
    if bundling is None:
        return mapper.transform(table, tasks)
    return bundle_or_bin(mapper, table, bundling, tasks)


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


def _with_conflicts(bundling: Bundling | None) -> Bundling | None:
    """A bundling that may lose something; all others give the same models."""
    return bundling if bundling is not None and bundling.max_conflict_rate > 0.0 else None


def _said_of(bundling: Bundling | None) -> str:
    if bundling is None:
        return "max_conflict_rate=0.0"
    return f"bundling={bundling.order!r} and max_conflict_rate={bundling.max_conflict_rate}"


def _writeable(bins: DenseBins | SparseBins | BundledBins) -> DenseBins | SparseBins | BundledBins:
    """The bins, copied if they are read-only, as in joblib's workers: to Numba that is another type, to compile for."""
    if isinstance(bins, SparseBins):
        return SparseBins(**_writeable_cells(bins), mapper=bins.mapper)
    if bins.columns.flags.writeable and bins.rows.flags.writeable:
        return bins
    if isinstance(bins, BundledBins):
        parts: list[Any] = [np.array(values) for values in bins.layout]
        layout = Layout(*parts)
        return BundledBins(np.array(bins.columns), np.array(bins.rows), layout, bins.mapper)
    return DenseBins(np.array(bins.columns), np.array(bins.rows), bins.mapper)


def _writeable_cells(cells: SparseCells) -> dict[str, Any]:
    """The fields of a sparse table's cells, copied where they are read-only."""
    arrays = {name: getattr(cells, name) for name in ("starts", "rows", "bins", "default")}
    copied = {name: array if array.flags.writeable else np.array(array) for name, array in arrays.items()}
    return copied | {"n_rows": cells.n_rows}


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
