"""Reading data frames: every library gives what NumPy gives."""

import datetime
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weald.data import columns as columns_module
from weald.data import read_table
from weald.runtime.errors import InputError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")


def floats(dataset):
    return np.concatenate([block for _, block in dataset.blocks()])


def containers(columns):
    """The same columns (lists with None for missing) in every data frame library."""
    frame = pandas.DataFrame({name: pandas.Series(cells, dtype=object) for name, cells in columns.items()})
    typed = polars.DataFrame({name: polars.Series(cells, strict=False) for name, cells in columns.items()})
    arrow = pyarrow.table({name: pyarrow.array(cells) for name, cells in columns.items()})
    texts = [name for name, cells in columns.items() if any(isinstance(cell, str) for cell in cells)]
    encoded = arrow
    for name in texts:
        position = encoded.column_names.index(name)
        encoded = encoded.set_column(position, name, encoded[name].dictionary_encode())
    return {
        "pandas objects": frame,
        "pandas inferred": frame.infer_objects(),
        "pandas nullable": frame.convert_dtypes(),
        "pandas categories": frame.astype(dict.fromkeys(texts, "category")),
        "polars": typed,
        "polars categories": typed.with_columns(polars.col(name).cast(polars.Categorical) for name in texts),
        "arrow": arrow,
        "arrow dictionary": encoded,
    }


def cells_of(columns):
    cells = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for position, values in enumerate(columns.values()):
        cells[:, position] = values
    return cells


COLUMNS = {
    "price": [1.5, None, -2.0, 1e300],
    "count": [3, 1, None, 3],
    "sold": [True, None, False, True],
    "town": ["Ulm", "Linz", None, "Ulm"],
}


@pytest.mark.parametrize("container", containers(COLUMNS))
def test_every_container_gives_the_blocks_of_numpy(container):
    expected = read_table(cells_of(COLUMNS))
    dataset = read_table(containers(COLUMNS)[container])
    assert dataset.schema.named
    assert dataset.schema.names == tuple(COLUMNS)
    assert [c.kind for c in dataset.schema.columns] == [c.kind for c in expected.schema.columns]
    assert [c.categories for c in dataset.schema.columns] == [c.categories for c in expected.schema.columns]
    np.testing.assert_array_equal(floats(dataset), floats(expected))
    rows = np.array([3, 1, 1], dtype=np.int64)
    np.testing.assert_array_equal(dataset.take(rows), expected.take(rows))


NUMBERS = st.one_of(st.none(), st.floats(allow_nan=False, width=32), st.integers(-(2**53), 2**53))
TEXTS = st.one_of(
    st.none(), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3)
)


@settings(max_examples=30, deadline=None)
@given(st.data(), st.integers(1, 6))
def test_generated_tables_read_the_same_from_every_container(data, n_rows):
    floats_only = st.one_of(st.none(), st.floats(allow_nan=False))
    columns = {
        "f": [1.5, *data.draw(st.lists(floats_only, min_size=n_rows, max_size=n_rows))],
        "i": [1, *data.draw(st.lists(st.integers(-(2**53), 2**53), min_size=n_rows, max_size=n_rows))],
        "t": ["a", *data.draw(st.lists(TEXTS, min_size=n_rows, max_size=n_rows))],
    }
    expected = read_table(cells_of(columns))
    for name, table in containers(columns).items():
        dataset = read_table(table)
        assert dataset.schema.columns[2].categories == expected.schema.columns[2].categories, name
        np.testing.assert_array_equal(floats(dataset), floats(expected), err_msg=name)


@settings(max_examples=25, deadline=None)
@given(st.permutations(list(COLUMNS)), st.sampled_from(sorted(containers(COLUMNS))))
def test_permuted_columns_give_the_same_blocks(order, container):
    table = containers(COLUMNS)[container]
    training = read_table(table)
    permuted = table.select(order) if hasattr(table, "select") else table[order]
    np.testing.assert_array_equal(floats(read_table(permuted, schema=training.schema)), floats(training))


@pytest.mark.parametrize("container", containers(COLUMNS))
def test_long_columns_are_coded_like_short_ones(container, monkeypatch):
    monkeypatch.setattr(columns_module, "ROWS_PER_BLOCK", 400)
    rng = np.random.default_rng(0)
    cells = [None if i % 7 == 0 else f"c{rng.integers(90)}" for i in range(1500)]
    columns = {"t": cells, "n": list(range(1500))}
    table = containers(columns)[container]
    training = read_table(table)
    expected = read_table(cells_of(columns))
    np.testing.assert_array_equal(floats(training), floats(expected))
    unknown = {"t": ["c1", "never seen", None] * 400, "n": [0] * 1200}
    for later in containers(unknown).values():
        code = training.schema.columns[0].codes["c1"]
        np.testing.assert_array_equal(
            floats(read_table(later, schema=training.schema))[:, 0], [code, np.nan, np.nan] * 400
        )
    nothing = {"t": [None] * 1200, "n": [0] * 1200}
    later = polars.DataFrame(nothing, schema={"t": polars.String, "n": polars.Int64})
    assert np.isnan(floats(read_table(later, schema=training.schema))[:, 0]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("library", ["pandas", "polars", "arrow", "pandas[pyarrow]"])
def test_frames_of_one_float_type_keep_it(dtype, library):
    values = np.array([[1.5, np.nan], [np.inf, 2.5], [0.0, -1.0]], dtype=dtype)
    frame = pandas.DataFrame(values, columns=["a", "b"])
    if library == "polars":
        frame = polars.DataFrame(values, schema=["a", "b"])
    elif library == "arrow":
        frame = pyarrow.table({"a": values[:, 0], "b": pyarrow.array(values[:, 1], from_pandas=True)})
    elif library == "pandas[pyarrow]":
        frame = frame.astype({name: f"{np.dtype(dtype).name}[pyarrow]" for name in frame})
    dataset = read_table(frame)
    assert floats(dataset).dtype == dtype
    np.testing.assert_array_equal(floats(dataset), values)
    np.testing.assert_array_equal(dataset.take(np.array([2, 0])), values[[2, 0]])


def test_pandas_numbers_of_different_types_become_float64():
    frame = pandas.DataFrame(
        {"a": np.array([1, 2], np.int8), "b": [True, False], "c": np.float32([0.5, np.nan])}
    )
    block = floats(read_table(frame))
    assert block.dtype == np.float64
    np.testing.assert_array_equal(block, [[1, 1, 0.5], [2, 0, np.nan]])


def test_a_pandas_index_does_not_matter():
    frame = pandas.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 3]}, index=[7, 7, 0])
    assert floats(read_table(frame)).tolist() == [[0, 1], [1, 2], [0, 3]]


def test_a_late_string_in_a_pandas_object_column_makes_it_categorical():
    frame = pandas.DataFrame({"a": pandas.Series([1] * 300 + ["x"], dtype=object)})
    assert read_table(frame).schema.columns[0].categories == (1, "x")
    frame = pandas.DataFrame({"a": pandas.Series(["x"] * 300 + [1], dtype=object)})
    assert read_table(frame).schema.columns[0].categories == ("x", 1)


@pytest.mark.parametrize("values", [[3, 1, 3], [0.5, 1.5, 0.5], [True, False, True], ["b", "a", "b"]])
def test_pandas_categories_keep_their_values_and_unused_ones_are_left_out(values):
    series = pandas.Series([*values, None]).astype(pandas.CategoricalDtype([values[1], values[0]]))
    extended = series.cat.add_categories([99] if not isinstance(values[0], str) else ["unused"])
    dataset = read_table(pandas.DataFrame({"a": extended}))
    assert dataset.schema.columns[0].categories == (values[0], values[1])
    np.testing.assert_array_equal(floats(dataset)[:, 0], [0, 1, 0, np.nan])


def test_integers_in_an_arrow_dictionary_stay_integers_and_nulls_missing():
    table = pyarrow.table({"a": pyarrow.array([5, None, 7, 5]).dictionary_encode()})
    dataset = read_table(table)
    assert dataset.schema.columns[0].categories == (5, 7)
    np.testing.assert_array_equal(floats(dataset)[:, 0], [0, np.nan, 1, 0])


@pytest.mark.parametrize("times", [1, 400])
def test_arrow_chunks_with_dictionaries_of_their_own_are_one_column(times):
    chunks = [pyarrow.array(cells * times).dictionary_encode() for cells in (["a", "b"], ["b", None, "c"])]
    dataset = read_table(pyarrow.table({"t": pyarrow.chunked_array(chunks)}))
    assert dataset.schema.columns[0].categories == ("b", "a", "c")
    np.testing.assert_array_equal(floats(dataset)[:, 0], [1, 0] * times + [0, np.nan, 2] * times)


@pytest.mark.parametrize("times", [1, 400])
def test_polars_enums_and_categories_with_a_past_are_read_by_value(times):
    enum = polars.Series(["a", "b", "a"] * times, dtype=polars.Enum(["unused", "b", "a"]))
    past = polars.Series(["z", "a", "b", None] * times, dtype=polars.Categorical)
    more = polars.Series(["b"] * times, dtype=polars.Categorical)
    frame = polars.DataFrame({"e": enum, "c": polars.concat([past.filter(past != "z"), more])})
    dataset = read_table(frame)
    assert [column.categories for column in dataset.schema.columns] == [("a", "b"), ("b", "a")]
    np.testing.assert_array_equal(floats(dataset)[:, 0], [0, 1, 0] * times)
    np.testing.assert_array_equal(floats(dataset)[:, 1], [1, 0] * times + [0] * times)


def test_marked_frame_columns_get_their_values_as_categories():
    for table in (
        polars.DataFrame({"a": [5, None, 7, 5], "b": [True, None, False, True], "c": [0.5, 1, 1, None]}),
        pandas.DataFrame(
            {
                "a": pandas.array([5, None, 7, 5], dtype="Int64"),
                "b": pandas.array([True, None, False, True], dtype="boolean"),
                "c": [0.5, 1, 1, None],
            }
        ),
    ):
        dataset = read_table(table, categorical=["a", "b", 2])
        assert [c.categories for c in dataset.schema.columns] == [(5, 7), (True, False), (1, 0.5)]
        nan = np.nan
        np.testing.assert_array_equal(floats(dataset), [[0, 0, 1], [nan, nan, 0], [1, 1, 0], [0, 0, nan]])


def test_columns_without_any_value_are_read():
    frame = polars.DataFrame({"null": [None, None], "text": polars.Series([None, None], dtype=polars.String)})
    for table in (frame, frame.to_arrow()):
        dataset = read_table(table)
        assert [column.kind for column in dataset.schema.columns] == ["numeric", "categorical"]
        assert np.isnan(floats(dataset)).all()


def test_exotic_numbers_become_floats():
    frame = polars.DataFrame(
        {
            "d": polars.Series(["1.5", None]).cast(polars.Decimal(10, 2)),
            "i": polars.Series([1, 2], dtype=polars.Int128),
        }
    )
    np.testing.assert_array_equal(floats(read_table(frame)), [[1.5, 1], [np.nan, 2]])
    sparse = pandas.DataFrame({"s": pandas.arrays.SparseArray([0.0, 2.0])})
    assert floats(read_table(sparse)).tolist() == [[0], [2]]


@pytest.mark.parametrize(
    "cells",
    [
        [datetime.datetime(2020, 1, 1)],
        [datetime.date(2020, 1, 1)],
        [datetime.timedelta(1)],
        [datetime.time(1)],
        [[1, 2]],
        [{"a": 1}],
        [b"bytes"],
    ],
)
def test_types_that_are_neither_numbers_nor_categories_are_refused_by_column(cells):
    frame = polars.DataFrame({"ok": [1], "when": cells})
    for table in (frame, frame.to_arrow()):
        with pytest.raises(InputError, match=r"Column 'when' is of type .* convert it to numbers"):
            read_table(table)


def test_pandas_dates_intervals_and_complex_numbers_are_refused_by_column():
    with pytest.raises(InputError, match=r"Column 'when' is of type datetime64.* convert it to numbers"):
        read_table(pandas.DataFrame({"when": pandas.to_datetime(["2020"])}))
    with pytest.raises(InputError, match=r"Column 'bin' has categories of type Interval.*astype\(str\)"):
        read_table(pandas.DataFrame({"bin": pandas.cut([1, 2], 2)}))
    with pytest.raises(InputError, match="Complex data not supported: column 'z'"):
        read_table(pandas.DataFrame({"z": [1j]}))
    with pytest.raises(InputError, match="Column 'z' has categories of type complex"):
        read_table(pandas.DataFrame({"z": pandas.Categorical(np.array([1j, 2], dtype=object))}))
    with pytest.raises(TypeError, match=r"column 'o', row 1, the argument must be a string or a number"):
        read_table(pandas.DataFrame({"o": [1, {"a": 1}]}))


def test_column_names_must_differ():
    frame = pandas.DataFrame(np.eye(2), columns=["a", "a"])
    for table in (
        frame,
        pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], names=["a", "a"]),
    ):
        with pytest.raises(InputError, match=r"'a' occurs 2 times"):
            read_table(table)


def test_names_that_are_not_strings_are_not_user_names():
    dataset = read_table(pandas.DataFrame(np.eye(2)))
    assert not dataset.schema.named
    assert dataset.schema.names == ("0", "1")
    assert floats(read_table(pandas.DataFrame({0: ["a", "b"] * 400}))).tolist() == [[0.0], [1.0]] * 400
    with pytest.raises(
        TypeError, match="Feature names are only supported if all input features have string names"
    ):
        read_table(pandas.DataFrame([[1, 2]], columns=["a", 1]))


def test_series_lazy_and_empty_frames_are_refused_in_words():
    for series in (pandas.Series([1, 2]), polars.Series([1, 2]), pyarrow.chunked_array([[1]])):
        with pytest.raises(InputError, match="Expected 2D array, got 1D array instead"):
            read_table(series)
    with pytest.raises(InputError, match=r"X\.collect\(\)"):
        read_table(polars.LazyFrame({"a": [1]}))
    with pytest.raises(InputError, match=r"0 sample\(s\) \(shape=\(0, 1\)\)"):
        read_table(polars.DataFrame({"a": []}))
    with pytest.raises(InputError, match=r"0 feature\(s\) \(shape=\(3, 0\)\)"):
        read_table(pandas.DataFrame(index=range(3)))


def test_reading_needs_no_more_memory_than_a_block():
    frame = pandas.DataFrame({f"c{j}": np.arange(300_000) % (7 + j) for j in range(6)})
    frame["t"] = pandas.Series(["a", "b", "c"] * 100_000, dtype="category")
    tracemalloc.start()
    dataset = read_table(frame)
    for _, _block in dataset.blocks():
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    block_bytes = 65_536 * 7 * 8
    assert peak < 3 * block_bytes
