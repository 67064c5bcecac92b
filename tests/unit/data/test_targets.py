"""Labels and weights."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import DataConversionWarning

from weald.data import read_classes, read_regression_target, read_weights
from weald.runtime.errors import InputError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")


def series(cells):
    return [
        cells,
        tuple(cells),
        np.array(cells),
        np.array(cells, dtype=object),
        pandas.Series(cells, index=range(5, 5 + len(cells))),
        pandas.Series(cells, dtype="category"),
        polars.Series(cells),
        pyarrow.chunked_array([cells]),
        pyarrow.chunked_array([cells]).dictionary_encode(),
    ]


@pytest.mark.parametrize("y", series([3, 1, 2]))
def test_numbers_of_any_container_become_a_contiguous_float64_target(y):
    target = read_regression_target(y, 3)
    assert target.dtype == np.float64 and target.flags.c_contiguous
    assert target.tolist() == [3, 1, 2]


@pytest.mark.parametrize("y", series(["b", "a", "b"]))
def test_strings_of_any_container_become_sorted_classes(y):
    codes, classes = read_classes(y, 3)
    assert codes.dtype == np.int64
    assert codes.tolist() == [1, 0, 1]
    assert classes.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "y", [*series([7, 3, 7]), np.array([7.0, 3.0, 7.0]), np.array([7, 3, 7], dtype=">i2")]
)
def test_integral_numbers_of_any_container_become_classes(y):
    codes, classes = read_classes(y, 3)
    assert codes.tolist() == [1, 0, 1]
    assert classes.tolist() == [3, 7]
    assert classes.dtype.kind in "if"


@pytest.mark.parametrize("y", series([True, False, True]))
def test_booleans_are_classes_of_their_own_type(y):
    codes, classes = read_classes(y, 3)
    assert codes.tolist() == [1, 0, 1]
    assert classes.dtype == bool


def test_a_single_class_is_left_to_the_caller():
    codes, classes = read_classes([4, 4], 2)
    assert codes.tolist() == [0, 0] and classes.tolist() == [4]


@pytest.mark.parametrize("read", [read_regression_target, read_classes])
def test_column_vectors_are_taken_with_a_warning(read):
    for y in (
        np.array([[1], [0]]),
        pandas.DataFrame({"y": [1, 0]}),
        polars.DataFrame({"y": [1, 0]}),
        [[1], [0]],
    ):
        with pytest.warns(
            DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"
        ):
            result = read(y, 2)
        assert np.asarray(result[0] if isinstance(result, tuple) else result).tolist() == [1, 0]


@pytest.mark.parametrize("read", [read_regression_target, read_classes])
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "Model requires y to be passed, but the target y is None"),
        ([1, 0, 1], r"Found input variables with inconsistent numbers of samples: \[2, 3\]"),
        ([[1, 2], [3, 4]], r"y should be a 1d array, got an array of shape \(2, 2\) instead"),
        (5, r"y should be a 1d array, got an array of shape \(\) instead"),
        ([[1], [2, 3]], "differ in length"),
        ([1.0, np.nan], r"Input y contains NaN\."),
        ([1, None], r"Input y contains NaN\."),
        (pandas.Series([1, None], dtype="Int64"), r"Input y contains NaN\."),
        ([1.0, np.inf], r"Input y contains infinity or a value too large for dtype\('float64'\)"),
        ([1j, 2], "Complex data not supported"),
        (np.array([1j, 2], dtype=object), "Complex data not supported"),
        (scipy.sparse.csr_array([[1], [2]]), "sparse"),
        (np.array(["2020", "2021"], dtype="M8[Y]"), "datetime64"),
        ([{"a": 1}, {"a": 2}], "y"),
        (np.ma.masked_array([1, 2], mask=[True, False]), "masked"),
    ],
)
def test_a_target_that_cannot_be_used_is_refused_in_words(read, y, words):
    with pytest.raises(InputError, match=words):
        read(y, 2, owner="Model")


def test_classes_that_floats_cannot_tell_apart_are_refused():
    with pytest.raises(InputError, match="y holds labels that are the same as float64"):
        read_classes(np.array([2**70, 2**70 + 1], dtype=object), 2, owner="Model")
    with pytest.raises(InputError, match="too large for a number; use strings as labels"):
        read_classes(np.array([10**400, 1], dtype=object), 2, owner="Model")
    assert read_classes(np.array([2**70, 1], dtype=object), 2, owner="Model")[1].tolist() == [1.0, 2.0**70]


def test_a_regression_target_of_strings_is_refused_with_its_row():
    with pytest.raises(InputError, match="y must hold numbers, but row 1 is 'many'"):
        read_regression_target([1, "many"], 2)
    with pytest.raises(InputError, match="y must hold numbers"):
        read_regression_target(["1", "2"], 2)


def test_continuous_classes_are_refused_with_a_row():
    with pytest.raises(InputError, match=r"Unknown label type: continuous.*row 1 is 0\.3"):
        read_classes([1.0, 0.3], 2)


@pytest.mark.parametrize("y", [["a", 1], [True, 1], [True, "a"], [b"a", "a"]])
def test_labels_of_mixed_types_are_refused_in_a_sentence(y):
    for labels in (np.array(y, dtype=object), polars.Series(y, dtype=polars.Object)):
        with pytest.raises(
            InputError, match=r"Unknown label type: y holds .*all strings, all numbers or all booleans"
        ):
            read_classes(labels, 2)


def test_a_list_of_mixed_labels_is_not_turned_to_strings():
    with pytest.raises(InputError, match="Unknown label type: y holds int, str"):
        read_classes(["a", 1], 2)


@pytest.mark.parametrize("w", series([1, 0, 3]))
def test_weights_of_any_container_become_float64(w):
    weights = read_weights(w, 3)
    assert weights.dtype == np.float64
    assert weights.tolist() == [1, 0, 3]


def test_no_weights_and_one_weight_for_all():
    assert read_weights(None, 3) is None
    assert read_weights(2, 3).tolist() == [2, 2, 2]
    assert read_weights(np.float32(0.5), 2).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("w", "words"),
    [
        ([1, -0.5], r"not negative, but row 1 has -0\.5"),
        ([1, np.nan], "finite.*row 1 has nan"),
        ([np.inf, 1], "finite.*row 0 has inf"),
        ([1, None], "finite.*row 1 has nan"),
        ([1, 2, 3], "sample_weight has 3 values, but X has 2 rows"),
        ([[1], [2]], r"must be 1D array or scalar, but its shape is \(2, 1\)"),
        ([0, 0], "sample_weight is zero in every row"),
        (0, "sample_weight is zero in every row"),
        (-1.0, "not negative"),
        (["a", "b"], "sample_weight must hold numbers"),
        ([1j, 2], "sample_weight must hold numbers"),
    ],
)
def test_weights_that_cannot_be_used_are_refused_in_words(w, words):
    with pytest.raises(InputError, match=words):
        read_weights(w, 2)


def test_the_users_arrays_are_not_changed():
    y = np.array([2.0, 1.0])
    y.flags.writeable = False
    assert read_regression_target(y, 2).tolist() == [2, 1]
    assert read_weights(y, 2).tolist() == [2, 1]
