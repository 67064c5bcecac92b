"""Binned once: the same models as from the table, parts in the bins of the whole, and clear refusals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.binning import bin_once, bins_of, cuts
from weald.binning import shared as shared_module
from weald.estimators.shared.persistence import to_bytes
from weald.runtime.errors import InputError

X, Y = load_breast_cancer(return_X_y=True)
WEIGHT = np.random.default_rng(0).integers(0, 4, len(Y)).astype(float)


def file_bytes(model: Any) -> bytes:
    return to_bytes(model, model._model)


def regression_tables() -> list[Any]:
    pandas = pytest.importorskip("pandas")
    values = load_diabetes().data
    penguins = weald.datasets.load("penguins").data
    return [values, values.astype(np.float32), scipy.sparse.csr_array(values), pandas.DataFrame(penguins)]


@pytest.mark.parametrize("number", range(4))
def test_a_binned_table_gives_the_bytes_of_the_table(number: int) -> None:
    table = regression_tables()[number]
    y = np.random.default_rng(1).normal(size=table.shape[0])
    model = BoostedTreesRegressor(n_estimators=5, bins=63)
    binned = bin_once(table, [Ridge(), model, "drop"])
    assert binned is not None and binned.shape == table.shape
    expected = file_bytes(model.fit(table, y))
    assert file_bytes(model.fit(binned, y)) == expected
    assert file_bytes(model.fit(pickle.loads(pickle.dumps(binned)), y)) == expected
    everything = binned.take(np.arange(table.shape[0]))
    assert file_bytes(model.fit(everything, y)) == expected


def test_bins_that_were_given_the_weights_give_the_bytes_of_a_weighted_fit() -> None:
    model = BoostedTreesClassifier(n_estimators=5, bins=31)
    expected = file_bytes(model.fit(X, Y, sample_weight=WEIGHT))
    weighted, plain = (bin_once(X, [model], weight=weight) for weight in (WEIGHT, None))
    assert file_bytes(model.fit(weighted, Y, sample_weight=WEIGHT)) == expected
    assert file_bytes(model.fit(plain, Y, sample_weight=WEIGHT)) != expected


def test_a_part_has_the_cuts_and_dictionaries_of_the_whole() -> None:
    data = weald.datasets.load("penguins")
    table = bin_once(data.data, [BoostedTreesClassifier()])
    assert table is not None
    rows = np.random.default_rng(2).integers(0, table.n_rows, 50)
    part = table.take(rows)
    assert part.bins.mapper is table.bins.mapper and part.schema is table.schema
    np.testing.assert_array_equal(part.bins.columns, table.bins.columns[:, rows])
    np.testing.assert_array_equal(part.bins.rows, part.bins.columns.T.reshape(-1))
    np.testing.assert_array_equal(part.take([3, 1]).bins.columns, table.bins.columns[:, rows[[3, 1]]])
    whole = np.concatenate([block for _, block in table.blocks()])
    np.testing.assert_array_equal(np.concatenate([block for _, block in part.blocks()]), whole[rows])
    mask = np.zeros(table.n_rows, np.bool_)
    mask[5] = True
    np.testing.assert_array_equal(table.take(mask).bins.columns, table.bins.columns[:, [5]])


def test_a_model_of_a_part_is_the_one_of_these_rows_in_the_bins_of_all() -> None:
    few_values = np.round(X[:, :4])  # every value has its bin, and both halves have them all
    few_values = np.concatenate([few_values, few_values])
    y = np.concatenate([Y, Y])
    model = BoostedTreesClassifier(n_estimators=5)
    table = bin_once(few_values, [model])
    assert table is not None
    part = file_bytes(model.fit(table.take(np.arange(len(Y))), Y))
    assert part == file_bytes(model.fit(few_values[: len(Y)], Y))
    assert part != file_bytes(model.fit(few_values, y))


def test_a_warm_start_on_a_part_goes_on_from_the_rows_own_floats() -> None:
    table = bin_once(X, [BoostedTreesClassifier()])
    assert table is not None
    part = table.take(np.arange(0, len(X), 2))
    at_once = BoostedTreesClassifier(n_estimators=6).fit(part, Y[::2])
    in_steps = BoostedTreesClassifier(n_estimators=3, warm_start=True).fit(part, Y[::2])
    in_steps.set_params(n_estimators=6).fit(part, Y[::2])
    np.testing.assert_array_equal(in_steps.predict_proba(X), at_once.predict_proba(X))


def test_members_that_want_different_bins_share_none() -> None:
    default = BoostedTreesRegressor()
    assert bin_once(X, [Ridge(), "drop"]) is None
    assert bin_once(X, [default, BoostedTreesRegressor(bins=63)]) is None
    assert bin_once(X, [default, BoostedTreesRegressor(categorical_features=[0])]) is None
    shared = bin_once(X, [BoostedTreesRegressor(categorical_features=[]), default])
    assert shared is not None and shared.serves(default) and not shared.serves(Ridge())


def test_single_trees_share_bins_though_they_have_no_number_of_threads() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    tree = weald.DecisionTreeClassifier(max_depth=2)
    assert bin_once(X, [tree]) is not None
    assert weald.AdaBoostClassifier(tree, n_estimators=3).fit(X, y).score(X, y) > 0.9
    forest = weald.RandomForestClassifier(3)
    assert weald.VotingClassifier([("tree", tree), ("forest", forest)]).fit(X, y).score(X, y) > 0.9


def test_cuts_are_found_once_for_many_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*arguments: Any, **more: Any) -> Any:
        calls.append(arguments)
        return cuts.fit_bins(*arguments, **more)

    monkeypatch.setattr(shared_module, "fit_bins", counted)
    model = BoostedTreesClassifier(n_estimators=2)
    table = bin_once(X, [model])
    assert table is not None
    for first in range(3):
        model.fit(table.take(np.arange(first, len(X), 3)), Y[first::3])
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BoostedTreesClassifier(bins=15), "X was binned with max_bins=255"),
        (BoostedTreesClassifier(categorical_features=[1]), r"categorical_features=\[1\]"),
    ],
)
def test_a_model_that_wants_other_bins_refuses_the_table(model: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(bin_once(X, [BoostedTreesClassifier()]), Y)


def test_bins_that_a_worker_maps_read_only_are_copied() -> None:
    table = bin_once(X, [BoostedTreesClassifier()])
    assert table is not None and bins_of(table, None, 255, 0, 1) is table.bins
    expected = table.bins.columns.copy()
    table.bins.columns.flags.writeable = False
    bins = bins_of(table, None, 255, 0, 1)
    assert type(bins.columns) is np.ndarray and bins.columns.flags.writeable and bins.rows.flags.writeable
    np.testing.assert_array_equal(bins.columns, expected)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 569], "has the row 569, but the table has 569 rows"),
        ([-1], "has the row -1"),
        ([0.5], "must be row numbers or a mask"),
        (np.zeros(3, np.bool_), "must be row numbers or a mask of 569 rows"),
        ([], "must be row numbers"),
    ],
)
def test_rows_that_are_not_there_are_refused(rows: Any, message: str) -> None:
    table = bin_once(X, [BoostedTreesClassifier()])
    assert table is not None
    with pytest.raises(InputError, match=message):
        table.take(rows)
