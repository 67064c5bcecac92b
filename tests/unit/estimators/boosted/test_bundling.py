"""Bundled columns: the models are those without bundles, byte for byte, unless conflicts are allowed."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.base import clone

import weald
from model_bytes import bytes_as_if
from weald.binning import BundledBins, Bundling, DenseBins, SparseBins, bin_once, dense_bins
from weald.data.sparse import SparseTable
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.flat import from_flat

N_ROWS = 3_000


def one_hot(codes: Any, n_codes: int) -> Any:
    """The columns of a coded one, and none for the code -1."""
    return (codes[:, None] == np.arange(n_codes)).astype(float)


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any]:
    """Two one-hot columns, three numbers of which a row has at most one, some of them missing, and a plain column."""
    rng = np.random.default_rng(5)
    first, second, kind = rng.integers(0, 12, N_ROWS), rng.integers(-1, 9, N_ROWS), rng.integers(0, 3, N_ROWS)
    numbers = one_hot(kind, 3) * np.round(rng.standard_normal((N_ROWS, 1)), 1)
    numbers[(numbers != 0.0) & (rng.random(numbers.shape) < 0.1)] = np.nan
    plain = rng.standard_normal((N_ROWS, 1)) * (rng.random((N_ROWS, 1)) < 0.8)
    X = np.hstack([one_hot(first, 12), numbers, one_hot(second, 9), plain])
    signal = np.sin(first) + (second == 3) + np.nan_to_num(numbers).sum(axis=1) + plain[:, 0]
    return X, signal + 0.2 * rng.standard_normal(N_ROWS)


# by the names that `from_flat` knows
CHOICES: dict[str, dict[str, Any]] = {
    "leafwise": {},
    "depthwise": {"growth": "depthwise", "max_depth": 5, "max_leaves": None, "min_samples_leaf": 1},
    "oblivious": {"growth": "oblivious", "max_depth": 4},
    "wide": {"precision": "wide"},
    "packed": {"precision": "packed_always"},
    "dart": {"booster": "dart", "rate_drop": 0.3},
    "sampled": {"subsample": 0.5, "colsample_bytree": 0.6, "colsample_bylevel": 0.8, "colsample_bynode": 0.8},
    "clipped": {"max_bins": 5, "reg_alpha": 0.1, "max_delta_step": 0.5},
    "constrained": {
        "monotone_constraints": {0: 1, 12: -1, 24: 1},
        "interaction_constraints": [list(range(12)), list(range(12, 25))],
    },
    "smoothed": {"path_smooth": 3.0},
    "drawn": {"extra_trees": True},
    "forced": {"forced_splits": {"feature": 3, "threshold": 0.5, "left": {"feature": 12, "threshold": 0.0}}},
    "gradient-based sampling": {"sampling": "goss", "learning_rate": 0.5},
    "many bins": {"max_bins": 400},
    "zeros as missing": {"zero_as_missing": True},
    "missing as zeros": {"use_missing": False},
    "by degree": {"bundling": "degree"},
}


@pytest.mark.parametrize("choice", CHOICES)
def test_without_conflicts_the_model_is_that_without_bundles(table: Any, choice: str) -> None:
    X, y = table
    weight = np.random.default_rng(0).random(N_ROWS) * (np.arange(N_ROWS) % 7 > 0)
    sparse = scipy.sparse.csr_array(X)

    def fit(given: Any, **more: Any) -> Any:
        settings = {"n_estimators": 6, "n_jobs": 1, "random_state": 3} | CHOICES[choice] | more
        model = weald.BoostedTreesRegressor(**from_flat(settings))
        return model.fit(given, y, sample_weight=weight, eval_set=[(X[:300], y[:300], weight[:300])])

    expected = bytes_as_if(fit(X, bundling="none"), bins__bundling="count")
    for given, n_jobs in ((X, 1), (sparse, 1), (sparse.tocsc(), 2)):
        assert isinstance(bin_once(given, [weald.BoostedTreesRegressor(bins=5)]).bins, BundledBins)
        assert bytes_as_if(fit(given, n_jobs=n_jobs), bins__bundling="count") == expected


@pytest.mark.parametrize("unstored", ["zero", "missing"])
def test_what_is_not_stored_may_be_missing(table: Any, unstored: Any) -> None:
    X, y = table
    sparse = scipy.sparse.csr_array(X)
    files = []
    for bundling in ("none", "count"):
        model = weald.BoostedTreesRegressor(
            n_estimators=4, bins=weald.Bins(unstored=unstored, bundling=bundling)
        )
        model.fit(sparse, y, eval_set=[(sparse[:300], y[:300])])
        files.append(bytes_as_if(model, bins__bundling="count"))
    assert files[0] == files[1]


def test_missing_values_may_be_the_default_of_dense_columns() -> None:
    rng = np.random.default_rng(6)
    kind = rng.integers(0, 6, N_ROWS)
    X = np.where(one_hot(kind, 6) > 0, rng.standard_normal((N_ROWS, 1)), np.nan)
    bins = bin_once(X, [weald.BoostedTreesRegressor()]).bins
    assert isinstance(bins, BundledBins) and bins.columns.shape[0] < 6
    assert np.array_equal(dense_bins(bins).columns, bin_once(X, [weald.DecisionTreeRegressor()]).bins.columns)


@pytest.mark.parametrize("categories", ["onehot", "partition"])
def test_categories_stand_beside_bundles(table: Any, categories: str) -> None:
    X, y = table
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.insert(3, "letter", pandas.Categorical(np.array(list("abcdefgh"))[np.arange(N_ROWS) * 7 % 8]))
    files, y = [], y + (frame["letter"] == "c")
    for bundling in ("none", "count"):
        model = weald.BoostedTreesRegressor(
            n_estimators=4, categories=categories, bins=weald.Bins(bundling=bundling)
        )
        if bundling == "count":
            assert isinstance(bin_once(frame, [model]).bins, BundledBins)
        model.fit(frame, y)
        assert model.feature_names_in_[3] == "letter" and model.feature_importances_[3] > 0.0
        files.append(bytes_as_if(model, bins__bundling="count"))
    assert files[0] == files[1]


def test_bundles_of_more_than_255_bins_are_of_two_bytes() -> None:
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 700, N_ROWS)
    X = scipy.sparse.csr_array(one_hot(codes, 700).astype(np.float32))
    y = (codes % 5 == 0) + 0.1 * rng.standard_normal(N_ROWS)
    model = weald.BoostedTreesRegressor(n_estimators=3, min_samples_leaf=2, subsample=0.9)
    bins = bin_once(X, [model]).bins
    assert isinstance(bins, BundledBins)
    assert (bins.columns.shape[0], bins.columns.dtype, bins.layout.n_codes.tolist()) == (
        1,
        np.uint16,
        [len(np.unique(codes)) + 1],
    )
    expected = clone(model).set_params(bins__bundling="none").fit(X, y)
    assert np.array_equal(model.fit(X, y).predict(X), expected.predict(X))


def test_conflicts_make_fewer_bundles_and_their_rows_keep_the_later_value() -> None:
    rng = np.random.default_rng(8)
    X = (rng.random((N_ROWS, 200)) < 0.01).astype(np.float32)
    y = X[:, -20:].sum(axis=1) + 0.1 * rng.standard_normal(N_ROWS)
    sparse = scipy.sparse.csr_array(X)
    exact = bin_once(sparse, [weald.BoostedTreesRegressor()]).bins
    assert not isinstance(exact, BundledBins)  # too many would be needed
    model = weald.BoostedTreesRegressor(n_estimators=5, bins=weald.Bins(max_conflict_rate=0.1))
    bins = bin_once(sparse, [model]).bins
    assert isinstance(bins, BundledBins)
    assert np.array_equal(bin_once(X, [model]).bins.columns, bins.columns)
    decoded = dense_bins(bins).columns.T
    lost = decoded != (X > 0)
    assert 0 < lost.sum() <= 0.1 * N_ROWS * bins.columns.shape[0]
    for row, column in np.argwhere(lost):
        together = bins.layout.stored == bins.layout.stored[column]
        assert X[row, together & (np.arange(200) > column)].any()
    assert model.fit(sparse, y).score(sparse, y) > 0.5 * weald.BoostedTreesRegressor(n_estimators=5).fit(
        sparse, y
    ).score(sparse, y)


def test_a_table_binned_once_gives_the_model_of_the_table(table: Any) -> None:
    X, y = table
    sparse = scipy.sparse.csr_array(X)
    model = weald.BoostedTreesRegressor(n_estimators=4)
    for given in (X, sparse):
        shared = bin_once(given, [model])
        assert isinstance(shared.bins, BundledBins)
        assert model.fit(given, y)._to_bytes() == model.fit(shared, y)._to_bytes()
        half = shared.take(np.arange(0, N_ROWS, 2))
        assert isinstance(half.bins, BundledBins)
        plain = bin_once(given, [weald.BoostedTreesRegressor(bins=weald.Bins(bundling="none"))]).take(
            np.arange(0, N_ROWS, 2)
        )
        assert model.fit(half, y[::2])._to_bytes() == model.fit(plain, y[::2])._to_bytes()
        # Other estimators read the same bins.
        forest = weald.RandomForestRegressor(3, random_state=0)
        assert np.array_equal(forest.fit(shared, y).predict(X), forest.fit(given, y).predict(X))


def test_a_table_with_conflicts_is_for_the_same_conflicts_only(table: Any) -> None:
    X, y = table
    loose = weald.BoostedTreesRegressor(n_estimators=2, bins=weald.Bins(max_conflict_rate=0.1))
    shared = bin_once(X, [loose])
    assert shared.bundling == Bundling("count", 0.1)
    assert shared.serves(loose) and not shared.serves(weald.BoostedTreesRegressor())
    with pytest.raises(InputError, match=r"rate=0\.1, but BoostedTreesRegressor has max_conflict_rate=0\.0"):
        weald.BoostedTreesRegressor().fit(shared, y)
    assert bin_once(X, [loose, weald.BoostedTreesRegressor()]) is None


def test_a_warm_start_goes_on(table: Any) -> None:
    X, y = table
    sparse = scipy.sparse.csr_array(X)
    at_once = weald.BoostedTreesRegressor(n_estimators=5, warm_start=True).fit(sparse, y)
    model = weald.BoostedTreesRegressor(n_estimators=2, warm_start=True).fit(sparse, y)
    assert model.set_params(n_estimators=5).fit(sparse, y)._to_bytes() == at_once._to_bytes()


def test_tables_that_would_gain_nothing_are_left_alone() -> None:
    rng = np.random.default_rng(9)
    model = weald.BoostedTreesRegressor()
    ordinary = rng.standard_normal((500, 12))
    ordinary[:, :2] = one_hot(rng.integers(0, 2, 500), 2)
    assert isinstance(bin_once(ordinary, [model]).bins, DenseBins)
    assert isinstance(bin_once(ordinary[:, :1], [model]).bins, DenseBins)
    lengths = rng.geometric(0.03, 400)[:, None]
    words = scipy.sparse.csr_array((rng.random((400, 3_000)) < lengths / 3_000).astype(float))
    assert isinstance(bin_once(words, [model]).bins, SparseBins)
    # The first rows look exclusive, all of them are not.
    misleading = np.zeros((20_000, 8))
    misleading[::20, 0] = 1.0
    misleading[1:19_000, 1:] = 1.0 + rng.random((18_999, 7))
    assert isinstance(bin_once(misleading, [model]).bins, DenseBins)
    nothing = scipy.sparse.csr_array((50, 100))
    assert np.unique(model.fit(nothing, np.arange(50.0)).predict(nothing)).size == 1


def test_bundling_never_writes_a_sparse_table_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> Any:
        raise AssertionError("a sparse table was made dense")

    for name in ("blocks", "take"):
        monkeypatch.setattr(SparseTable, name, refuse)
    n_rows, n_columns = 20_000, 4_000
    rng = np.random.default_rng(10)
    ones, columns = np.ones(n_rows, np.float32), rng.integers(0, n_columns, n_rows)
    X = scipy.sparse.csr_array((ones, columns, np.arange(n_rows + 1)), shape=(n_rows, n_columns))
    model = weald.BoostedTreesRegressor()
    tracemalloc.start()
    bins = bin_once(X, [model]).bins
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(bins, BundledBins) and bins.columns.shape[0] == 1
    assert peak < n_rows * n_columns / 4


@pytest.mark.parametrize("finder", [weald.Exact, weald.Approximate])
def test_what_has_no_meaning_is_refused(table: Any, finder: Any) -> None:
    X, y = table
    for changed in ({"bundling": "none"}, {"bundling": "degree"}, {"max_conflict_rate": 0.1}):
        with pytest.raises(NotSupportedError, match=f"no meaning with split_finder={finder.__name__}\\(\\)"):
            weald.BoostedTreesRegressor(split_finder=finder(), bins=weald.Bins(**changed)).fit(X, y)
    with pytest.raises(NotSupportedError, match="no meaning with bundling='none'"):
        weald.BoostedTreesRegressor(bins=weald.Bins(bundling="none", max_conflict_rate=0.1)).fit(X, y)
    with pytest.raises(InputError, match=r"bins\.bundling must be one of"):
        weald.BoostedTreesRegressor(bins=weald.Bins(bundling="rows")).fit(X, y)
