"""Cuts: what separates neighbouring bins, for all kinds of columns, weights and samples."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import reference_binning as reference
from weald.binning import BinChoices, BinMapper, fit_bins
from weald.binning import cuts as cuts_module
from weald.binning.quantile import cut_between
from weald.data import read_table

NUMBERS64 = st.floats(allow_nan=False, width=64)
NUMBERS32 = st.floats(allow_nan=False, width=32)
FEW = st.sampled_from([-math.inf, -2.5, -0.0, 0.0, 1.0, 1.5, 7.0, math.inf])


def fit(column: NDArray[Any], weight: NDArray[np.float64] | None = None, **options: Any) -> BinMapper:
    return fit_bins(read_table(column.reshape(-1, 1)), weight, BinChoices(**options))


def assert_same(first: BinMapper, second: BinMapper) -> None:
    assert first.n_bins.tolist() == second.n_bins.tolist()
    for cuts, other in zip(first.cuts, second.cuts, strict=True):
        assert cuts.tolist() == other.tolist()


@st.composite
def columns(draw: st.DrawFn) -> NDArray[Any]:
    """A column of either float type: few or many distinct values, infinities, missing values."""
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    numbers = draw(st.sampled_from([NUMBERS32, FEW, st.integers(-20, 20)]))
    if dtype is np.float64:
        numbers = draw(st.sampled_from([numbers, NUMBERS64]))
    values = draw(st.lists(st.one_of(numbers, numbers, numbers, st.just(math.nan)), min_size=1, max_size=60))
    return np.array(values, dtype=dtype)


@given(
    columns(), st.integers(2, 12), st.randoms(use_true_random=False), st.sampled_from([None, "int", "float"])
)
@settings(max_examples=300, deadline=None)
def test_cuts_equal_the_naive_twin(
    column: NDArray[Any], max_bins: int, random: Any, weighted: str | None
) -> None:
    weight = None
    if weighted is not None:
        weight = np.array([random.choice([0, 1, 2, 5]) for _ in column], dtype=np.float64)
        weight *= 1.0 if weighted == "int" else random.random()
    mapper = fit(column, weight, max_bins=max_bins)
    assert mapper.cuts[0].tolist() == reference.find_cuts(column, weight, max_bins)
    assert mapper.n_bins[0] == len(mapper.cuts[0]) + 1 <= max_bins
    assert (np.diff(mapper.cuts[0]) > 0).all()
    assert not np.isnan(mapper.cuts[0]).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [700, 9_000])
@pytest.mark.parametrize("shape", ["normal", "integers", "spikes", "signed zeros"])
def test_cuts_of_larger_columns_equal_the_naive_twin(dtype: Any, rows: int, shape: str) -> None:
    generator = np.random.default_rng(5)
    column = generator.normal(size=rows)
    if shape == "integers":
        column = np.round(column * 100)
    elif shape == "spikes":
        column = np.where(generator.random(rows) < 0.7, np.round(column), column)
    elif shape == "signed zeros":
        column = np.where(generator.random(rows) < 0.5, generator.choice([0.0, -0.0], rows), column)
    column = column.astype(dtype)
    weight = generator.random(rows)
    for weights in (None, weight):
        assert fit(column, weights, max_bins=40).cuts[0].tolist() == reference.find_cuts(column, weights, 40)


@given(st.one_of(st.tuples(NUMBERS64, NUMBERS64), st.tuples(NUMBERS32, NUMBERS32)))
@settings(max_examples=500, deadline=None)
def test_a_cut_separates_its_neighbours(pair: tuple[float, float]) -> None:
    low, high = sorted(pair)
    if low == high:
        return
    cut = cut_between(low, high)
    assert low <= cut < high
    assert cut == reference.cut_between(low, high)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-math.inf, math.inf),
        (1.0, math.inf),
        (1e300, math.inf),
        (0.1, math.inf),
        (-math.inf, 1.0),
        (-math.inf, -1e300),
        (-math.inf, 0.0),
        (-1.7e308, 1.7e308),
        (1.6e308, 1.7e308),
        (5e-324, 1e-323),
        (0.0, 5e-324),
        (1.0, math.nextafter(1.0, 2.0)),
        (3.4e38, 1e39),
    ],
)
def test_a_cut_at_the_ends_of_the_number_line_is_finite_and_separates(low: float, high: float) -> None:
    cut = cut_between(low, high)
    assert math.isfinite(cut)
    assert low <= cut < high
    assert cut == reference.cut_between(low, high)


def test_a_cut_is_a_float32_where_one_separates() -> None:
    assert cut_between(0.1, 0.3) == float(np.float32(0.2))
    assert cut_between(1_700_000_001.0, 1_700_000_002.0) == 1_700_000_001.5


def test_few_distinct_values_have_a_bin_each() -> None:
    column = np.tile(np.array([3.0, -1.0, 8.0, 2.5, math.inf, -math.inf]), 50)
    mapper = fit(column, max_bins=6)
    assert mapper.n_bins.tolist() == [6]
    bins = mapper.transform(read_table(column.reshape(-1, 1)), 1).columns[0, :6]
    assert bins.tolist() == [3, 1, 4, 2, 5, 0]


def test_timestamps_beyond_the_resolution_of_float32_are_separated() -> None:
    column = 1_700_000_000.0 + np.arange(200.0)
    mapper = fit(column)
    assert mapper.n_bins.tolist() == [200]
    assert mapper.transform(read_table(column.reshape(-1, 1)), 1).columns[0].tolist() == list(range(200))


@given(
    st.lists(st.tuples(st.integers(-30, 30), st.integers(0, 4)), min_size=1, max_size=60), st.integers(2, 12)
)
@settings(max_examples=200, deadline=None)
def test_integer_weights_count_as_repeated_rows_and_zero_as_none(
    cells: list[tuple[int, int]], max_bins: int
) -> None:
    column = np.array([value for value, _ in cells], dtype=np.float64)
    weight = np.array([amount for _, amount in cells], dtype=np.float64)
    if not weight.any():
        weight[0] = 1.0
    repeated = np.repeat(column, weight.astype(int))
    assert_same(fit(column, weight, max_bins=max_bins), fit(repeated, max_bins=max_bins))


def test_rows_of_weight_zero_change_nothing_in_a_sample() -> None:
    generator = np.random.default_rng(3)
    table = generator.normal(size=(3_000, 4))
    weight = generator.choice([0.0, 1.0, 2.5], 3_000)
    counts = weight > 0.0
    whole = fit_bins(read_table(table), weight, BinChoices(16, sample_rows=500))
    assert_same(whole, fit_bins(read_table(table[counts]), weight[counts], BinChoices(16, sample_rows=500)))


def test_scaling_all_weights_changes_nothing() -> None:
    generator = np.random.default_rng(4)
    column, weight = generator.normal(size=2_000), generator.random(2_000)
    assert_same(fit(column, weight, max_bins=30), fit(column, weight * 2.0**-20, max_bins=30))


@pytest.mark.parametrize("max_bins", [2, 3, 16, 255])
def test_bins_of_distinct_values_are_all_used_and_of_like_weight(max_bins: int) -> None:
    column = np.random.default_rng(6).normal(size=20_000)
    mapper = fit(column, max_bins=max_bins)
    sizes = np.bincount(np.searchsorted(mapper.cuts[0], column))
    assert len(sizes) == max_bins
    assert sizes.min() >= 0.9 * len(column) / max_bins - 1
    assert sizes.max() <= 1.1 * len(column) / max_bins + 1


@pytest.mark.parametrize("few", [3, 300])
def test_a_heavy_value_has_a_bin_of_its_own(few: int) -> None:
    """Even when the values on one of its sides weigh less than half a bin."""
    generator = np.random.default_rng(7)
    column = np.concatenate([np.zeros(9_000), generator.random(1_000) + 0.1, -generator.random(few) - 0.1])
    mapper = fit(column, max_bins=32)
    sizes = np.bincount(np.searchsorted(mapper.cuts[0], column))
    assert sizes.max() == 9_000
    assert len(sizes) == 32


def test_many_heavy_values_leave_no_bin_too_many() -> None:
    generator = np.random.default_rng(8)
    heavy = np.repeat(np.arange(100.0), 50)
    column = np.concatenate([heavy, generator.choice(100, 300) + generator.random(300)])
    for max_bins in range(2, 256):
        mapper = fit(column, max_bins=max_bins)
        assert mapper.n_bins[0] <= max_bins
        assert mapper.n_bins[0] >= min(max_bins, 100) * 0.5


@pytest.mark.parametrize(
    "column",
    [[5.0], [5.0] * 30, [math.nan] * 30, [math.nan, 2.0], [math.inf] * 3, [-math.inf], [0.0, -0.0]],
    ids=["one row", "constant", "all missing", "one value", "all inf", "-inf", "two zeros"],
)
def test_a_column_with_nothing_to_separate_has_one_bin(column: list[float]) -> None:
    for dtype in (np.float32, np.float64):
        values = np.array(column, dtype=dtype)
        for weight in (None, np.ones(len(column)), np.zeros(len(column))):
            mapper = fit(values, weight)
            assert mapper.n_bins.tolist() == [1]
            assert mapper.cuts[0].tolist() == []
        bins = mapper.transform(read_table(values.reshape(-1, 1)), 1).columns[0]
        assert bins.tolist() == np.isnan(values).astype(int).tolist()


def test_a_sample_is_spread_over_all_rows_and_depends_on_the_seed_only() -> None:
    table = np.arange(10_000.0).reshape(-1, 1)
    first = fit_bins(read_table(table), None, BinChoices(255, sample_rows=1_000), seed=1)
    assert_same(first, fit_bins(read_table(table), None, BinChoices(255, sample_rows=1_000), seed=1, tasks=2))
    other = fit_bins(read_table(table), None, BinChoices(255, sample_rows=1_000), seed=2)
    assert first.cuts[0].tolist() != other.cuts[0].tolist()
    sizes = np.bincount(np.searchsorted(first.cuts[0], table[:, 0]))
    assert sizes.min() > 20
    assert sizes.max() < 60


@pytest.mark.parametrize("tasks", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_cuts_do_not_depend_on_the_number_of_tasks(tasks: int, weighted: bool) -> None:
    generator = np.random.default_rng(9)
    table = generator.normal(size=(4_000, 11)).astype(np.float32)
    weight = generator.random(4_000) if weighted else None
    dataset = read_table(table)
    assert_same(
        fit_bins(dataset, weight, BinChoices(20), tasks=tasks),
        fit_bins(dataset, weight, BinChoices(20), tasks=1),
    )


def test_cuts_are_the_same_from_any_container_and_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    generator = np.random.default_rng(10)
    table = np.round(generator.normal(size=(70_000, 5)), 2)
    weight = generator.choice([0.0, 1.0], 70_000)
    frame = pandas.DataFrame(table)
    containers = [
        np.asfortranarray(table),
        np.repeat(table, 2, axis=1)[:, ::2],
        frame,
        sparse.csc_array(table),
    ]
    for weights in (None, weight):
        for sample_rows in (1_000, 200_000):
            expected = fit_bins(read_table(table), weights, BinChoices(50, sample_rows=sample_rows))
            for container in containers:
                assert_same(
                    fit_bins(read_table(container), weights, BinChoices(50, sample_rows=sample_rows)),
                    expected,
                )
    expected = fit_bins(read_table(table), weight, BinChoices(50))
    monkeypatch.setattr(cuts_module, "_ARRAY_BUFFER", 1)
    monkeypatch.setattr(cuts_module, "_CELLS_PER_PIECE", 1_000)
    monkeypatch.setattr(cuts_module, "_COLUMNS_PER_CALL", 2)
    assert_same(fit_bins(read_table(table), weight, BinChoices(50)), expected)


def test_categorical_columns_have_a_bin_per_category_up_to_the_limit() -> None:
    table = [["a", 1.0, str(i % 7)] for i in range(40)] + [["b", 2.0, "0"]]
    mapper = fit_bins(read_table(table), None, BinChoices(5))
    assert mapper.categorical.tolist() == [True, False, True]
    assert mapper.n_categories.tolist() == [2, 0, 7]
    assert mapper.n_bins.tolist() == [2, 2, 5]
    assert [len(cuts) for cuts in mapper.cuts] == [0, 1, 0]


def test_the_peak_of_memory_stays_below_that_of_the_bins() -> None:
    table = np.random.default_rng(11).normal(size=(200_000, 28)).astype(np.float32)
    dataset = read_table(table)
    fit_bins(read_table(table[:100]), None)
    tracemalloc.start()
    try:
        fit_bins(dataset, None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 2 * table.size


def test_the_number_of_bins_is_near_that_of_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    generator = np.random.default_rng(12)
    normal = generator.normal(size=10_000)
    table = np.column_stack([normal, np.round(normal, 1), np.maximum(normal, 0.0), np.exp(3.0 * normal)])
    mapper = fit_bins(read_table(table), None)
    theirs = lightgbm.Dataset(table, params={"verbose": -1, "min_data_in_bin": 1}).construct()
    for feature in range(4):
        assert abs(int(mapper.n_bins[feature]) - theirs.feature_num_bin(feature)) <= 3
