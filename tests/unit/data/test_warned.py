"""Columns that were probably meant otherwise: a warning in Python, and integers that floats cannot hold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import weald
import weald.catboost
import weald.lightgbm
import weald.xgboost
from weald.data import read_table
from weald.data.targets import many_classes, read_classes, read_several_classes
from weald.runtime.errors import DataWarning, InputError

CELLS = [str(number) for number in range(20)]


def containers(cells: list[Any]) -> list[Any]:
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    return [
        {"a": np.array(cells, dtype=object)},
        pandas.DataFrame({"a": np.array(cells, dtype=object)}),
        pandas.DataFrame({"a": cells}, dtype="string"),
        polars.DataFrame({"a": cells}),
        pyarrow.table({"a": cells}),
    ]


@pytest.mark.parametrize("cells", [CELLS, [*CELLS, "-"], ["12%", "13%"], ["1,5", "2,5"], ["0x1F", "0x2F"]])
def test_numbers_stored_as_text_are_warned_of_in_every_container(cells: list[str]) -> None:
    for table in containers(cells):
        with pytest.warns(DataWarning, match="Column 'a' is text, but") as caught:
            assert read_table(table).schema.columns[0].kind == "categorical"
        assert caught[0].filename == __file__


def test_dates_stored_as_text_are_warned_of() -> None:
    for table in containers(["2024-01-31", "2024-02-01"]):
        with pytest.warns(DataWarning, match="holds dates"):
            read_table(table)


def test_words_categories_and_declared_columns_are_not_warned_of() -> None:
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        for table in containers(["red", "blue", None, "7"]):
            read_table(table)
        for table in containers(CELLS):
            read_table(table, categorical=["a"])
        read_table(pandas.DataFrame({"a": CELLS}).astype("category"))


def test_numbers_where_the_training_had_text_are_warned_of() -> None:
    schema = read_table({"a": ["x", "y"]}).schema
    with pytest.warns(DataWarning, match="held text in training"):
        read_table({"a": [1.0, 2.0]}, schema=schema)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        read_table({"a": [np.nan, np.nan]}, schema=schema)


def test_whole_numbers_that_become_the_same_float_are_refused_by_column() -> None:
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    ids = [2**53, 2**53 + 1, 5]
    columns = {"n": [1, 2, 3], "id": ids}
    tables = [
        pandas.DataFrame(columns),
        pandas.DataFrame({"n": ["x", "y", "z"], "id": ids}),
        pandas.DataFrame({"n": [1, 2, 3], "id": pandas.array([*ids[:2], None], dtype="Int64")}),
        polars.DataFrame(columns),
        pyarrow.table(columns),
        {"n": [1, 2, 3], "id": ids},
        {"n": [1, 2, 3], "id": np.array([*ids[:2], None], dtype=object)},
    ]
    for table in tables:
        with pytest.raises(InputError, match=f"'id' holds {2**53} and {2**53 + 1}"):
            read_table(table)
    for matrix in (np.array([[1, 2**53], [2, 2**53 + 1]]), csr_array([[1, 2**53], [2, 2**53 + 1]])):
        with pytest.raises(InputError, match="'x1' holds"):
            read_table(matrix)


def test_long_whole_numbers_that_stay_apart_are_read() -> None:
    read_table(np.array([[2**60], [2**61]]))
    read_table({"id": [2**60, 2**61]})


def test_labels_that_tell_rows_apart_are_no_classes() -> None:
    names = [f"c{number}" for number in range(150)]
    with pytest.raises(InputError, match="150 classes in 200 rows"):
        read_several_classes(names + names[:50], 200, None)
    assert len(read_several_classes(names * 2, 300, None)[1]) == 150
    assert len(read_several_classes(names[:100], 100, None)[1]) == 100
    assert len(read_classes(names, 150)[1]) == 150
    with many_classes():
        assert len(read_several_classes(names + names[:50], 200, None)[1]) == 150
        with many_classes(False), pytest.raises(InputError, match="many_classes"):
            read_several_classes(names + names[:50], 200, None)


@pytest.mark.parametrize(
    "make",
    [
        lambda: weald.BoostedTreesClassifier(n_estimators=1),
        lambda: weald.DecisionTreeClassifier(),
        lambda: weald.RandomForestClassifier(n_estimators=1),
        lambda: weald.ExtraTreesClassifier(n_estimators=1),
        lambda: weald.GradientBoostingClassifier(n_estimators=1),
        lambda: weald.BaggingClassifier(n_estimators=1),
        lambda: weald.AdaBoostClassifier(n_estimators=1),
        lambda: weald.VotingClassifier([("tree", weald.DecisionTreeClassifier())]),
        lambda: weald.StackingClassifier([("tree", weald.DecisionTreeClassifier())]),
        lambda: weald.lightgbm.LGBMClassifier(n_estimators=1, verbosity=-1),
        lambda: weald.xgboost.XGBClassifier(n_estimators=1),
        lambda: weald.catboost.CatBoostClassifier(iterations=1, verbose=False),
    ],
)
def test_every_classifier_refuses_labels_that_tell_rows_apart(make: Any) -> None:
    model = make()
    with pytest.raises(InputError, match=r"y has 150 classes in 150 rows.*weald.many_classes"):
        model.fit(np.arange(150.0).reshape(-1, 1), np.arange(150))


def test_the_number_of_classes_of_an_objective_is_held_to_the_same_rule() -> None:
    X, y = np.arange(150.0).reshape(-1, 1), np.arange(150)
    params = {"objective": "multiclass", "num_class": 150, "verbosity": -1, "num_threads": 1}
    with pytest.raises(InputError, match="the objective has 150 classes in 150 rows"):
        weald.lightgbm.train(params, weald.lightgbm.Dataset(X, y), 1)
    with weald.many_classes():
        assert weald.lightgbm.train(params, weald.lightgbm.Dataset(X, y), 1).num_trees() == 150
        tree = weald.DecisionTreeClassifier().fit(X, y)
    assert len(tree.classes_) == 150
