"""Choices of bins: small bins, forced cuts, limits a column, many and rare categories, and two bytes a cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import reference_binning as reference
import weald
from weald import BoostedTreesRegressor
from weald.binning import BinChoices, DenseBins, SparseBins, bin_once, dense_bins, fit_bins, wishes_of
from weald.data import read_table
from weald.runtime.errors import InputError


def column(n_rows: int, n_values: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    rng = np.random.default_rng(seed)
    values = (rng.random(n_rows) ** 3 * n_values).astype(np.int64) / 4.0 - 3.0
    values[rng.random(n_rows) < 0.1] = np.nan
    return values.astype(dtype)


@given(
    st.lists(
        st.sampled_from([-7.0, -0.0, 0.0, 0.5, 1.0, 2.5, 40.0, np.inf, np.nan]), min_size=1, max_size=60
    ),
    st.integers(2, 9),
    st.integers(2, 12),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_small_bins_are_joined_as_in_the_naive_twin(
    values: Any, max_bins: int, least: int, weighted: bool
) -> None:
    numbers = np.array(values)
    weight = np.arange(len(values)) % 4.0 if weighted else None
    mapper = fit_bins(read_table(numbers.reshape(-1, 1)), weight, BinChoices(max_bins, min_samples_bin=least))
    assert mapper.cuts[0].tolist() == reference.find_cuts(numbers, weight, max_bins, least)


@pytest.mark.parametrize("max_bins", [12, 255])
def test_no_bin_has_fewer_rows_than_it_must(max_bins: int) -> None:
    numbers = column(4_000, 300)
    dataset = read_table(numbers.reshape(-1, 1))
    mapper = fit_bins(dataset, None, BinChoices(max_bins, min_samples_bin=50))
    counts = np.bincount(mapper.transform(dataset, 1).columns[0], minlength=mapper.n_bins[0] + 1)
    assert counts[: mapper.n_bins[0]].min() >= 50 and len(mapper.cuts[0]) > 5
    assert fit_bins(dataset, None, BinChoices(max_bins, min_samples_bin=10_000)).n_bins.tolist() == [1]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("least", [1, 30])
def test_forced_cuts_are_there_and_the_others_fill_up(sparse: bool, weighted: bool, least: int) -> None:
    numbers = np.nan_to_num(column(2_000, 200))
    weight = np.random.default_rng(1).integers(0, 4, 2_000) * 0.25 if weighted else None
    table: Any = np.column_stack([numbers, np.arange(2_000.0), numbers])
    forced = [-50.0, -2.9, 1.0, 11.111]
    choices = BinChoices(16, min_samples_bin=least, forced=(("x0", tuple(forced)), (1, ())))
    mapper = fit_bins(read_table(scipy.sparse.csc_array(table) if sparse else table), weight, choices)
    counting = slice(None) if weight is None else weight > 0
    least_weight = float(least) if least > 1 else 0.0
    amounts = None if weight is None else weight[counting]
    expected = reference.cuts_with_forced(numbers[counting], amounts, forced, 16, least_weight)
    assert mapper.cuts[0].tolist() == expected and set(forced) < set(expected)
    assert mapper.n_bins[0] <= 16
    plain = BinChoices(16, min_samples_bin=least)
    assert mapper.cuts[1].tolist() == fit_bins(read_table(table), weight, plain).cuts[1].tolist()


def test_single_columns_have_limits_of_their_own() -> None:
    table = np.column_stack([column(3_000, 900, seed) for seed in range(4)])
    for kind in (np.asarray, scipy.sparse.csr_array):
        mapper = fit_bins(read_table(kind(table)), None, BinChoices(20, by_column=((3, 7), ("x1", 300))))
        for position, most in enumerate((20, 300, 20, 7)):
            assert mapper.cuts[position].tolist() == reference.find_cuts(table[:, position], None, most)


@pytest.mark.parametrize(
    ("rare", "least", "limit"), [(0.0, 1, 9), (0.2, 1, 255), (0.0, 12, 255), (0.05, 4, 255)]
)
def test_rare_categories_share_the_last_bin(rare: float, least: int, limit: int) -> None:
    codes = np.random.default_rng(2).geometric(0.15, 500).astype(float)
    dataset = read_table(codes.reshape(-1, 1), categorical=[0])
    mapper = fit_bins(
        dataset, None, BinChoices(max_categories=limit, rare_categories=rare, min_samples_bin=least)
    )
    own = dataset.take(np.arange(500))[:, 0]
    n_categories = len(dataset.schema.columns[0].categories)
    wanted = reference.category_bins(own, n_categories, limit, rare, least if least > 1 else 0)
    assert mapper.n_bins.tolist() == [wanted] and wanted < n_categories
    assert mapper.transform(dataset, 1).columns[0].tolist() == np.minimum(own, wanted - 1).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tasks", [1, 2])
def test_cells_of_two_bytes_hold_the_bins_of_the_naive_twin(dtype: Any, tasks: int) -> None:
    wide = column(40_000, 30_000, 3, dtype)
    table = np.column_stack([wide, column(40_000, 9, 4, dtype)])
    dataset = read_table(table)
    mapper = fit_bins(dataset, None, BinChoices(2_000), tasks=tasks)
    assert mapper.n_bins[0] > 1_500 and mapper.dtype == np.uint16
    bins = mapper.transform(dataset, tasks)
    assert isinstance(bins, DenseBins) and bins.columns.dtype == bins.rows.dtype == np.uint16
    assert np.array_equal(bins.rows.reshape(-1, 2), bins.columns.T)
    for position in range(2):
        cuts = mapper.cuts[position].tolist()
        for row in range(0, 40_000, 997):
            expected = reference.bin_of(table[row, position], cuts, int(mapper.n_bins[position]))
            assert bins.columns[position, row] == expected


def test_a_sparse_table_has_wide_bins_too() -> None:
    rng = np.random.default_rng(5)
    sparse = scipy.sparse.random(9_000, 4, 0.09, "csr", random_state=rng)
    table, dense = read_table(sparse), read_table(sparse.toarray())
    mapper = fit_bins(table, None, BinChoices(600))
    bins = mapper.transform(table, 1)
    assert isinstance(bins, SparseBins) and bins.bins.dtype == np.uint16
    assert np.array_equal(dense_bins(bins).columns, mapper.transform(dense, 1).columns)


def test_a_binned_table_serves_only_who_wants_these_bins() -> None:
    table = np.random.default_rng(6).standard_normal((400, 2))
    model = BoostedTreesRegressor(bins=weald.Bins(min_samples=3, forced={"x0": [0.0]}))
    binned = bin_once(
        table, [model, BoostedTreesRegressor(bins=weald.Bins(min_samples=3, forced={"x0": [0]}))]
    )
    wishes = wishes_of(model)
    assert binned is not None and wishes is not None and binned.choices == wishes.choices
    for changed, told in (
        ({"bins__min_samples": 4}, "min_samples=3, but BoostedTreesRegressor has min_samples=4"),
        ({"bins__forced": None}, "forced={'x0': (0.0,)}, but BoostedTreesRegressor has bins.forced={}"),
        (
            {"bins__use_missing": False},
            "zero_as_missing=False, but BoostedTreesRegressor has use_missing=False",
        ),
        ({"bins": "auto", "split_finder": "exact"}, "split_finder='exact'"),
    ):
        other = clone(model).set_params(**changed)
        assert binned.serves(model) and not binned.serves(other)
        with pytest.raises(InputError) as error:
            other.fit(binned, table[:, 0])
        assert told in str(error.value)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"by_column": 3}, "bins.by_column must be a list or a dict"),
        ({"by_column": {"b": 1}}, "bins.by_column of the column 'b' must be a whole number"),
        ({"by_column": [3, 4, 5]}, "bins.by_column has 3 numbers, but X has 2 columns"),
        ({"by_column": {"c": 9}}, "bins.by_column names the column 'c', which X does not have"),
        ({"by_column": {"a": 9, 0: 8}}, "bins.by_column has the column 'a' twice"),
        ({"forced": [1.0]}, "bins.forced must be a dict"),
        ({"forced": {"a": 1.0}}, "bins.forced of the column 'a' must be a list of cuts, not 1.0"),
        ({"forced": {"a": [np.inf]}}, "bins.forced of the column 'a' must hold finite numbers, not inf"),
        ({"forced": {"b": [1.0]}}, "bins.forced names the column 'b', which is categorical"),
        ({"forced": {"a": [1, 2, 3]}, "max_bins": 3}, "bins.forced has 3 cuts of the column 'a'"),
        ({"use_missing": False, "zero_as_missing": True}, "bins.zero_as_missing=True makes zeros missing"),
        ({"max_bins": 70_000}, "bins.max_bins must be a whole number of at least 2 and at most 65535"),
    ],
)
def test_errors_name_the_field_and_the_column(parameters: dict[str, Any], told: str) -> None:
    table = {"a": np.arange(30.0), "b": np.array(list("uvwxyz") * 5, dtype=object)}
    with pytest.raises(ValueError) as error:
        BoostedTreesRegressor(n_estimators=1, bins=weald.Bins(**parameters)).fit(table, np.arange(30.0))
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"bins": 70_000}, "bins must be a whole number of at least 2 and at most 65535"),
        (
            {"split_finder": "exact", "bins": weald.Bins(rare_categories=0.1)},
            "bins.rare_categories=0.1 has no meaning with split_finder=Exact()",
        ),
        (
            {"split_finder": "approx", "bins": weald.Bins(max_categories=9)},
            "bins.max_categories=9 has no meaning with split_finder=Approximate()",
        ),
        ({"split_finder": "approx", "bins": 300}, "bins.max_bins=300 is more than the 255 bins"),
        (
            {"booster": "linear", "bins": weald.Bins(zero_as_missing=True)},
            "bins=Bins(zero_as_missing=True) belongs to trees",
        ),
    ],
)
def test_errors_name_what_bins_do_not_go_with(parameters: dict[str, Any], told: str) -> None:
    table = {"a": np.arange(30.0), "b": np.array(list("uvwxyz") * 5, dtype=object)}
    with pytest.raises(ValueError) as error:
        BoostedTreesRegressor(n_estimators=1, **parameters).fit(table, np.arange(30.0))
    assert told in str(error.value)
