"""A later table against the schema of the training table."""

import warnings

import numpy as np
import pytest

from weald.data import read_table
from weald.runtime.errors import InputError

pandas = pytest.importorskip("pandas")


def floats(dataset):
    return np.concatenate([block for _, block in dataset.blocks()])


@pytest.fixture
def named():
    return read_table(pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "t": ["x", "y"]})).schema


@pytest.fixture
def unnamed():
    return read_table(np.array([[1.0, 2.0], [3.0, 4.0]])).schema


def test_columns_are_matched_by_name_in_any_order_without_a_warning(named):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        later = read_table(pandas.DataFrame({"t": ["y"], "b": [4], "a": [2]}), schema=named)
    assert later.schema is named
    assert floats(later).tolist() == [[2, 4, 1]]


def test_permuted_numeric_frames_are_put_in_order():
    training = read_table(pandas.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]}))
    later = read_table(pandas.DataFrame({"c": [3.0], "a": [1.0], "b": [2.0]}), schema=training.schema)
    assert floats(later).tolist() == [[1, 2, 3]]
    assert later.take(np.array([0])).tolist() == [[1, 2, 3]]


def test_missing_and_unseen_names_are_listed_as_scikit_learn_does(named):
    with pytest.raises(InputError) as caught:
        read_table(pandas.DataFrame({"a": [1], "zebra": [1], "yak": [1]}), schema=named)
    assert str(caught.value) == (
        "The feature names should match those that were passed during fit.\n"
        "Feature names unseen at fit time:\n- yak\n- zebra\n"
        "Feature names seen at fit time, yet now missing:\n- b\n- t\n"
    )


def test_a_long_list_of_names_is_cut_and_counted(named):
    frame = pandas.DataFrame({f"n{j}": [1] for j in range(8)})
    with pytest.raises(InputError, match=r"- n0\n- n1\n- n2\n- n3\n- n4\n- \.\.\. \(8 in all\)\n"):
        read_table(frame, schema=named)


def test_tables_without_names_are_matched_by_position_with_a_warning(named):
    with pytest.warns(
        UserWarning, match="X does not have valid feature names, but Model was fitted with feature"
    ):
        later = read_table([[1.0, 2.0, "y"]], schema=named, owner="Model")
    assert floats(later).tolist() == [[1, 2, 1]]


def test_the_fast_way_of_arrays_warns_too():
    schema = read_table(pandas.DataFrame({"a": [1.0]})).schema
    with pytest.warns(
        UserWarning, match="X does not have valid feature names, but Model was fitted with feature"
    ):
        read_table(np.array([[1.0]]), schema=schema, owner="Model")


def test_names_that_training_did_not_have_are_warned_about(unnamed):
    with pytest.warns(UserWarning, match="X has feature names, but Model was fitted without feature names"):
        read_table(pandas.DataFrame({"p": [1.0], "q": [2.0]}), schema=unnamed, owner="Model")


def test_arrays_against_arrays_give_no_warning(unnamed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(np.eye(2), schema=unnamed)
        read_table(np.eye(2, dtype=int), schema=unnamed)


@pytest.mark.parametrize("dtype", [float, int, object])
def test_another_number_of_columns_is_refused(unnamed, dtype):
    with pytest.raises(InputError, match="X has 3 features, but Model is expecting 2 features as input"):
        read_table(np.ones((1, 3), dtype=dtype), schema=unnamed, owner="Model")


def test_shapes_are_checked_with_a_schema_too(unnamed):
    with pytest.raises(InputError, match="Expected 2D array, got 1D array instead"):
        read_table(np.ones(2), schema=unnamed)
    with pytest.raises(InputError, match="0 sample"):
        read_table(np.ones((0, 2)), schema=unnamed)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, object])
def test_no_rows_are_read_where_they_are_allowed(unnamed, dtype):
    frame = pandas.DataFrame({"a": [], "b": []}, dtype=dtype)
    for table in (np.ones((0, 2), dtype=dtype), {"a": [], "b": []}, frame):
        dataset = read_table(table, schema=unnamed, by_position=True, least_rows=0)
        assert dataset.n_rows == 0
        assert sum(len(block) for _, block in dataset.blocks()) == 0
    with pytest.raises(InputError, match=r"0 feature\(s\)"):
        read_table(np.ones((0, 0)), schema=unnamed, least_rows=0)


def test_strings_in_a_numeric_column_are_refused_by_name(named):
    for frame in (
        pandas.DataFrame({"a": [1.0], "b": ["oops"], "t": ["x"]}),
        pandas.DataFrame({"a": [1.0], "b": pandas.Categorical(["oops"]), "t": ["x"]}),
        pandas.DataFrame({"a": [1.0], "b": pandas.Series(["oops"], dtype=object), "t": ["x"]}),
    ):
        with pytest.raises(InputError, match="Column 'b' was numeric in training, but now holds strings"):
            read_table(frame, schema=named)


def test_a_numeric_column_may_be_all_missing_in_any_type(named):
    for missing in (pandas.Series([None], dtype=object), pandas.Series([None], dtype="string"),
                    pandas.Categorical([None])):  # fmt: skip
        later = read_table(pandas.DataFrame({"a": [1.0], "b": missing, "t": ["x"]}), schema=named)
        np.testing.assert_array_equal(floats(later), [[1, np.nan, 0]])


def test_unknown_categories_are_missing(named):
    later = read_table(pandas.DataFrame({"a": [1, 1], "b": [1, 1], "t": ["new", None]}), schema=named)
    assert np.isnan(floats(later)[:, 2]).all()


def test_categories_match_by_value_and_strings_never_match_numbers():
    schema = read_table(np.array([[1], [2], [2]]), categorical=[0]).schema
    assert schema.columns[0].categories == (2, 1)
    for later in (
        np.array([[1], [2]]),
        np.array([[1.0], [2.0]]),
        [[True], [2]],
        np.array([[1], [2]], dtype=object),
    ):
        assert floats(read_table(later, schema=schema)).tolist() == [[1], [0]]
    assert np.isnan(floats(read_table([["1"], ["2"]], schema=schema))).all()
    texts = read_table([["1"], ["2"]]).schema
    assert np.isnan(floats(read_table([[1], [2]], schema=texts))).all()
