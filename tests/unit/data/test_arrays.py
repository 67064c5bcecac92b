"""Reading arrays, lists, mappings and sparse matrices."""

import math
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse

from weald.data import Dataset, read_table
from weald.data import dataset as dataset_module
from weald.runtime.errors import InputError


def floats(dataset):
    return np.concatenate([block for _, block in dataset.blocks()])


def categories(dataset):
    return [column.categories for column in dataset.schema.columns]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_native_float_array_is_given_whole_and_never_copied(dtype):
    backing = np.arange(60, dtype=dtype).reshape(6, 10)
    backing.flags.writeable = False
    for values in (backing, backing[::2], backing[:, ::-3], np.asfortranarray(backing)):
        ((first_row, block),) = read_table(values).blocks()
        assert first_row == 0
        assert np.shares_memory(block, values)
        assert block.strides == values.strides
        assert block.dtype == dtype


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u1", "i2", "u4", "i8", "u8", ">i4", "f2", ">f2", ">f4", ">f8", "g"]
)
def test_every_other_number_type_becomes_native_floats(dtype):
    values = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype)
    block = floats(read_table(values))
    assert block.dtype == (np.float32 if dtype == ">f4" else np.float64)
    assert block.dtype.isnative
    assert block.tolist() == [[0, 1], [1, 1], [1, 0]]


def test_missing_and_infinite_numbers_are_kept():
    values = np.array([[np.nan, np.inf], [-np.inf, 1.0]])
    np.testing.assert_array_equal(floats(read_table(values)), values)


def test_masked_cells_are_missing():
    values = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(floats(read_table(values)), [[1, np.nan], [3, 4]])


def test_memory_mapped_data_is_read_in_place(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    values = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(next(read_table(values).blocks())[1], values)


def test_blocks_cover_all_rows_in_order_and_stay_small(monkeypatch):
    monkeypatch.setattr(dataset_module, "_BLOCK_BYTES", 8 * 3 * 4)
    values = np.arange(33).reshape(11, 3)
    blocks = list(read_table(values).blocks())
    assert [first_row for first_row, _ in blocks] == [0, 4, 8]
    assert all(len(block) <= 4 for _, block in blocks)
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), values)


def test_take_gives_the_rows_asked_for_in_their_order():
    rows = np.array([3, 0, 3], dtype=np.int64)
    values = np.arange(8).reshape(4, 2)
    tables = [values, values.astype(float), values.astype(object), values.tolist()]
    tables += [scipy.sparse.csr_array(values), scipy.sparse.csc_matrix(values)]
    for table in tables:
        assert read_table(table).take(rows).tolist() == [[6, 7], [0, 1], [6, 7]]


def test_object_columns_are_numeric_unless_they_hold_strings():
    values = np.array([[1, "a", None, True], [2.5, None, None, False], [None, "b", None, 1]], dtype=object)
    dataset = read_table(values)
    assert [column.kind for column in dataset.schema.columns] == [
        "numeric",
        "categorical",
        "numeric",
        "numeric",
    ]
    nan = np.nan
    np.testing.assert_array_equal(floats(dataset), [[1, 0, nan, 1], [2.5, nan, nan, 0], [nan, 1, nan, 1]])


def test_mixed_strings_and_numbers_are_one_dictionary():
    dataset = read_table([["a"], [1], ["1"], [1.0], [None], [True], [2.5]])
    assert categories(dataset) == [(1, 2.5, "1", "a")]
    np.testing.assert_array_equal(floats(dataset)[:, 0], [3, 0, 2, 0, np.nan, 0, 1])


def test_decimals_and_numpy_scalars_in_objects_are_numbers():
    cells = np.array([[Decimal("0.1"), np.float32(2)], [Decimal("0.1"), np.int64(3)]], dtype=object)
    np.testing.assert_array_equal(floats(read_table(cells)), [[0.1, 2], [0.1, 3]])
    assert floats(read_table(cells, categorical=[0]))[:, 0].tolist() == [0, 0]


@pytest.mark.skipif(not hasattr(getattr(np, "dtypes", None), "StringDType"), reason="needs NumPy 2")
def test_variable_width_numpy_strings_are_categories():
    values = np.array([["x", "y"], ["x", "z"]], dtype=np.dtypes.StringDType())
    assert categories(read_table(values)) == [("x",), ("y", "z")]


def test_numpy_strings_are_categories_even_when_they_look_like_numbers():
    assert categories(read_table(np.array([["1"], ["2"], ["2"]]))) == [("2", "1")]


def test_lists_keep_numbers_beside_strings_as_numbers():
    dataset = read_table([[1, "red"], [2.5, "blue"], [None, "red"]])
    assert [column.kind for column in dataset.schema.columns] == ["numeric", "categorical"]
    np.testing.assert_array_equal(floats(dataset), [[1, 0], [2.5, 1], [np.nan, 0]])


def test_categories_are_ordered_by_frequency_then_value_whatever_the_order_of_the_rows():
    cells = np.array(["b", "a", "c", "c", "a", "d", "c"], dtype=object).reshape(-1, 1)
    for seed in range(5):
        shuffled = np.random.default_rng(seed).permutation(cells)
        assert categories(read_table(shuffled)) == [("c", "a", "b", "d")]


def test_marked_numeric_columns_get_their_values_as_categories():
    values = np.array([[5.0, 0.5], [7.0, 1.5], [5.0, np.nan]])
    dataset = read_table(values, categorical=[0, "x1"])
    assert categories(dataset) == [(5, 7), (0.5, 1.5)]
    assert isinstance(dataset.schema.columns[0].categories[0], int)
    np.testing.assert_array_equal(floats(dataset), [[0, 0], [1, 1], [0, np.nan]])
    assert floats(read_table(values.astype(np.float32), categorical=[0])).dtype == np.float32
    assert categories(read_table(np.array([[True], [False]]), categorical=[0])) == [(False, True)]
    assert categories(read_table(np.array([[2.0]], dtype=np.longdouble), categorical=[0])) == [(2,)]


def test_large_integer_categories_stay_apart():
    ids = np.array([[2**60], [2**60 + 1], [2**60]])
    assert floats(read_table(ids, categorical=[0]))[:, 0].tolist() == [0, 1, 0]


@pytest.mark.parametrize("categorical", [["nope"], [2], [-1], [1.5], [True], "all", None, 3])
def test_an_unknown_categorical_column_is_refused_by_name(categorical):
    with pytest.raises(InputError, match="categorical"):
        read_table(np.eye(2), categorical=categorical)


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dok", "lil", "dia", "bsr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
def test_every_sparse_form_gives_the_dense_blocks(form, dtype, monkeypatch):
    monkeypatch.setattr(dataset_module, "_BLOCK_BYTES", 8 * 4 * 7)
    rng = np.random.default_rng(0)
    dense = (rng.random((200, 4)) * (rng.random((200, 4)) < 0.3) * 3).astype(dtype)
    for make in (scipy.sparse.coo_array, scipy.sparse.coo_matrix):
        dataset = read_table(make(dense).asformat(form))
        blocks = list(dataset.blocks())
        assert [first_row for first_row, _ in blocks] == list(range(0, 200, 7))
        np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), dense)
        assert blocks[0][1].dtype == (np.float32 if dtype == np.float32 else np.float64)


def test_sparse_columns_can_be_categorical_with_zero_as_a_category():
    dense = np.array([[0.0, 5.0], [0.0, 0.0], [3.0, 5.0]])
    for form in ("csr", "csc"):
        dataset = read_table(scipy.sparse.coo_array(dense).asformat(form), categorical=[0, 1])
        assert categories(dataset) == [(0, 3), (5, 0)]
        assert floats(dataset).tolist() == [[0, 0], [0, 1], [1, 0]]


def test_a_mapping_of_names_to_arrays_is_a_named_table():
    dataset = read_table({"town": np.array(["Ulm", None], dtype=object), "rain": np.array([1.5, np.nan])})
    assert dataset.schema.named and dataset.schema.names == ("town", "rain")
    np.testing.assert_array_equal(floats(dataset), [[0, 1.5], [np.nan, np.nan]])
    again = read_table({"rain": [1], "town": ["Ulm"]}, schema=dataset.schema)
    assert floats(again).tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"a": [1, 2], "b": [1]}, "same length"),
        ({"a": [[1], [2]]}, "'a' must be 1-dimensional"),
        ({"a": np.array(["2020"], dtype="M8[D]")}, "Column 'a' is of type datetime64"),
        ({"a": np.array([1j])}, "Complex data not supported: column 'a'"),
        ({}, "Found array with 0 sample"),
        ([[1, 2], [3]], "same length"),
        (np.zeros(3), "Expected 2D array, got 1D array instead.*Reshape your data"),
        ([1, 2], "Expected 2D array, got 1D array instead"),
        (5, "Expected 2D array, got scalar array instead"),
        (None, "Expected 2D array, got scalar array instead"),
        (np.zeros((2, 2, 2)), "dim 3"),
        (
            np.zeros((0, 3)),
            r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\.",
        ),
        (
            np.zeros((12, 0)),
            r"Found array with 0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required",
        ),
        (scipy.sparse.csr_array((0, 3)), "0 sample"),
        (np.ones((2, 2)) * 1j, "Complex data not supported"),
        (scipy.sparse.csr_array(np.ones((2, 2)) * 1j), "Complex data not supported"),
        (np.array([[1j], [2]], dtype=object), "Complex data not supported: column 'x0'"),
        (np.array([[b"a"]]), "astype"),
        (np.array([["2020"]], dtype="M8[D]"), "datetime64"),
        (np.zeros(2, dtype=[("a", float), ("b", float)]), "structured"),
        (np.array([[10**400]], dtype=object), "Column 'x0'.*too large"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_in_words(table, words):
    with pytest.raises(InputError, match=words):
        list(read_table(table).blocks())


@pytest.mark.parametrize("cell", [{"foo": "bar"}, [1], b"bytes", object(), np.datetime64("2020")])
def test_a_strange_cell_is_refused_with_its_column_and_row(cell):
    values = np.full((4, 3), 0.5, dtype=object)
    values[2, 1] = cell
    with pytest.raises(TypeError, match=r"column 'x1', row 2, the argument must be a string or a number"):
        read_table(values)


def test_a_name_that_a_mapping_may_not_have_is_refused():
    with pytest.raises(TypeError, match="strings"):
        read_table({1: [1]})


def test_anything_that_numpy_can_read_is_read():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.eye(2, dtype=dtype)

    assert floats(read_table(Wrapped())).tolist() == [[1, 0], [0, 1]]


def test_a_single_row_is_read_in_few_steps():
    """In microseconds, then: steps of Python are counted, as the clock of a busy machine says little."""
    row = np.zeros((1, 20), dtype=np.float32)
    schema = read_table(row).schema
    seen = []
    sys.setprofile(lambda frame, event, value: seen.append(event))
    try:
        dataset = read_table(row, schema=schema)
    finally:
        sys.setprofile(None)
    assert isinstance(dataset, Dataset)
    assert 0 < sum(event in ("call", "c_call") for event in seen) < 60


def test_reading_arrays_loads_no_data_frame_library():
    code = (
        "import sys, numpy as np, weald.data as data\n"
        "list(data.read_table(np.array([['a', 1]], dtype=object)).blocks())\n"
        "assert not {'pandas', 'polars', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nan_is_never_a_category():
    for cells in ([[math.nan], ["a"]], [[None], ["a"]], [[float("nan")], [float("nan")], ["a"]]):
        assert categories(read_table(cells)) == [("a",)]
