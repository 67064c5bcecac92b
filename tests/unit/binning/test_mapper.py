"""The mapper: every value in the bin that the definition says, whatever its type, layout and company."""

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
from weald.binning import BinChoices, BinMapper, DenseBins, fit_bins
from weald.binning import mapper as mapper_module
from weald.data import read_table

NUMBERS64 = st.floats(width=64)
NUMBERS32 = st.floats(width=32)


def numeric_mapper(*cuts: NDArray[np.float64]) -> BinMapper:
    d = len(cuts)
    n_bins = np.array([len(feature) + 1 for feature in cuts], dtype=np.int64)
    return BinMapper(tuple(cuts), n_bins, np.zeros(d, dtype=np.bool_), np.zeros(d, dtype=np.int64))


def expected_bins(mapper: BinMapper, table: NDArray[Any]) -> NDArray[np.uint8]:
    return np.array(
        [
            [reference.bin_of(value, mapper.cuts[f].tolist(), int(mapper.n_bins[f])) for value in column]
            for f, column in enumerate(table.T.tolist())
        ],
        dtype=np.uint8,
    )


def assert_bins(bins: DenseBins, columns: NDArray[np.uint8]) -> None:
    assert bins.columns.dtype == bins.rows.dtype == np.uint8
    assert bins.columns.flags.c_contiguous
    np.testing.assert_array_equal(bins.columns, columns)
    np.testing.assert_array_equal(bins.rows, columns.T.reshape(-1))


@st.composite
def cuts_and_values(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Cuts of any kind, and values that lie on them, beside them and anywhere."""
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    numbers = draw(st.sampled_from([NUMBERS32, NUMBERS64, st.floats(-4, 4, width=32)]))
    cuts = np.array(
        sorted(draw(st.sets(numbers.filter(lambda x: -math.inf <= x < math.inf), max_size=40))),
        dtype=np.float64,
    )
    cuts = np.unique(cuts)
    with np.errstate(over="ignore"):
        on = cuts.astype(dtype)
        beside = np.concatenate([np.nextafter(on, dtype(-np.inf)), np.nextafter(on, dtype(np.inf))])
    own = draw(st.lists(NUMBERS32 if dtype is np.float32 else NUMBERS64, max_size=20))
    special = [math.nan, math.inf, -math.inf, 0.0, -0.0]
    return cuts, np.concatenate([on, beside, np.array(own + special, dtype=dtype)])


@given(cuts_and_values())
@settings(max_examples=300, deadline=None)
def test_bins_equal_the_definition_for_any_cuts_and_values(
    drawn: tuple[NDArray[np.float64], NDArray[Any]],
) -> None:
    cuts, values = drawn
    mapper = numeric_mapper(cuts)
    table = values.reshape(-1, 1)
    assert_bins(mapper.transform(read_table(table), 1), expected_bins(mapper, table))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", ["normal", "lognormal", "very heavy tails", "two clusters", "far from zero"]
)
def test_bins_of_every_shape_of_column_equal_the_definition(dtype: Any, shape: str) -> None:
    """The shapes make grids of all step numbers, and none."""
    generator = np.random.default_rng(1)
    table = generator.normal(size=(3_000, 3))
    if shape == "lognormal":
        table = np.exp(table)
    elif shape == "very heavy tails":
        table = np.sinh(20.0 * table)
    elif shape == "two clusters":
        table = table * 1e-3 + generator.choice([0.0, 1e6], table.shape)
    elif shape == "far from zero":
        table = table + 1e9
    table = table.astype(dtype)
    table[::17] = np.nan
    dataset = read_table(table)
    for max_bins in (2, 5, 9, 33, 255):
        mapper = fit_bins(dataset, None, BinChoices(max_bins))
        bins = mapper.transform(dataset, 1)
        for feature in range(3):
            column = table[:, feature].astype(np.float64)
            expected = np.searchsorted(mapper.cuts[feature], column, side="left")
            expected[np.isnan(column)] = mapper.n_bins[feature]
            np.testing.assert_array_equal(bins.columns[feature], expected)
        np.testing.assert_array_equal(bins.rows, bins.columns.T.reshape(-1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["rows", "columns", "strided", "reversed", "read-only", "sliced columns"])
def test_bins_do_not_depend_on_the_layout_of_the_table(dtype: Any, layout: str) -> None:
    table = np.random.default_rng(2).normal(size=(2_500, 19)).astype(dtype)
    mapper = fit_bins(read_table(table), None, BinChoices(40))
    expected = mapper.transform(read_table(table), 1)
    given_table = {
        "rows": table,
        "columns": np.asfortranarray(table),
        "strided": np.repeat(np.repeat(table, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": np.ascontiguousarray(table[::-1, ::-1])[::-1, ::-1],
        "read-only": table.copy(),
        "sliced columns": np.asfortranarray(np.vstack([table, table]))[:2_500],
    }[layout]
    given_table.flags.writeable = layout != "read-only"
    assert_bins(mapper.transform(read_table(given_table), 1), expected.columns)


@pytest.mark.parametrize("tasks", [2, 3, 7])
def test_bins_do_not_depend_on_the_number_of_tasks(tasks: int) -> None:
    table = np.random.default_rng(3).normal(size=(5_001, 19)).astype(np.float32)
    dataset = read_table(table)
    mapper = fit_bins(dataset, None)
    assert_bins(mapper.transform(dataset, tasks), mapper.transform(dataset, 1).columns)


def test_bins_do_not_depend_on_how_the_work_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(4).normal(size=(5_001, 19))
    strided = np.repeat(table, 2, axis=1)[:, ::2]
    mapper = fit_bins(read_table(table), None)
    expected = mapper.transform(read_table(table), 1)
    monkeypatch.setattr(mapper_module, "_FEATURES_PER_TABLE", 5)
    monkeypatch.setattr(mapper_module, "_CELLS_PER_CALL", 19 * 2_100)
    monkeypatch.setattr(mapper_module, "_CELLS_PER_COPY", 19 * 300)
    for tasks in (1, 2):
        assert_bins(mapper.transform(read_table(table), tasks), expected.columns)
        assert_bins(mapper.transform(read_table(strided), tasks), expected.columns)


def test_a_table_in_blocks_is_binned_as_a_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    table = np.random.default_rng(5).normal(size=(70_001, 5))
    mapper = fit_bins(read_table(table), None)
    expected = mapper.transform(read_table(table), 1)
    assert_bins(mapper.transform(read_table(pandas.DataFrame(table)), 1), expected.columns)
    monkeypatch.setattr(mapper_module, "_FEATURES_PER_TABLE", 2)
    assert_bins(mapper.transform(read_table(pandas.DataFrame(table)), 1), expected.columns)


def test_float32_rows_fall_where_their_float64_copies_do() -> None:
    """Cuts that are no float32 must not be rounded up for float32 data."""
    generator = np.random.default_rng(6)
    wide = 1e8 + generator.normal(size=(2_000, 2))
    mapper = fit_bins(read_table(wide), None)
    narrow = np.concatenate([wide, 1e8 + 30.0 * generator.normal(size=(500, 2))]).astype(np.float32)
    expected = mapper.transform(read_table(narrow.astype(np.float64)), 1)
    assert_bins(mapper.transform(read_table(narrow), 1), expected.columns)


def test_a_threshold_tells_the_bins_up_to_it_from_the_others() -> None:
    column = np.array([-math.inf, -3.0, 0.5, 0.75, 2.0, 9.0, math.inf, math.nan])
    dataset = read_table(column.reshape(-1, 1))
    mapper = fit_bins(dataset, None, BinChoices(5))
    bins = mapper.transform(dataset, 1).columns[0]
    for bin in range(int(mapper.n_bins[0])):
        goes_left = column <= mapper.threshold(0, bin)
        assert goes_left.tolist() == [
            b <= bin and not math.isnan(x) for b, x in zip(bins, column, strict=True)
        ]
    assert mapper.threshold(0, int(mapper.n_bins[0]) - 1) == math.inf


@pytest.mark.parametrize("max_bins", [2, 4, 6, 7, 255])
def test_categories_share_the_bin_that_lists_their_codes(max_bins: int) -> None:
    names = [name for i, name in enumerate("abcdefg") for _ in range(20 - i)]
    training = read_table([[name, 0.5] for name in names])
    mapper = fit_bins(training, None, BinChoices(max_bins))
    fresh = read_table([[name, 0.5] for name in [*"abcdefg", "unknown", None]], schema=training.schema)
    bins = mapper.transform(fresh, 1).columns[0].tolist()
    own = 7 if max_bins >= 7 else max_bins - 1
    assert bins[:7] == [min(code, own) for code in range(7)]
    assert bins[7:] == [int(mapper.n_bins[0])] * 2
    every = np.arange(int(mapper.n_bins[0]))
    codes, counts = mapper.category_codes(np.zeros(len(every), np.int64), every)
    assert codes.dtype == np.int32
    assert codes.tolist() == list(range(7))
    assert [bins[code] for code in codes] == np.repeat(every, counts).tolist()


def test_many_categories_fill_the_byte_and_no_more() -> None:
    table = [[f"c{i:04}"] for i in range(600)]
    training = read_table(table)
    mapper = fit_bins(training, None, BinChoices(255))
    bins = mapper.transform(read_table([*table, [None]], schema=training.schema), 1).columns[0]
    assert bins.tolist() == [min(code, 254) for code in range(600)] + [255]
    codes, counts = mapper.category_codes(np.array([0, 0]), np.array([7, 254]))
    assert codes.tolist() == [7, *range(254, 600)]
    assert counts.tolist() == [1, 346]


def test_values_that_training_did_not_see_fall_in_the_outer_bins() -> None:
    training = np.linspace(0.0, 1.0, 400).reshape(-1, 1)
    mapper = fit_bins(read_table(training), None)
    fresh = np.array([[-5.0], [7.0], [math.inf], [-math.inf], [math.nan]])
    bins = mapper.transform(read_table(fresh), 1).columns[0]
    assert bins.tolist() == [0, 254, 254, 0, 255]


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_binning_needs_two_bytes_a_cell_and_little_more(layout: str) -> None:
    table = np.random.default_rng(7).normal(size=(200_000, 28)).astype(np.float32)
    table = np.repeat(table, 2, axis=1)[:, ::2] if layout == "strided" else np.asarray(table, order=layout)
    dataset = read_table(table)
    mapper = fit_bins(dataset, None)
    mapper.transform(dataset, 1)  # what is compiled is not counted
    tracemalloc.start()
    try:
        mapper.transform(dataset, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 2 * table.size + (6_000_000 if layout == "strided" else 500_000)
