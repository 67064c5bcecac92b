"""Training and prediction on sparse matrices: the models and scores of the dense table, never its floats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import reference_sparse
import weald
from weald.binning import SparseBins, bin_once
from weald.data.sparse import SparseTable
from weald.runtime.errors import InputError
from weald.training.boosting.callbacks import Checkpoint

N_ROWS, N_COLUMNS = 1_500, 40


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    matrix = scipy.sparse.random(
        N_ROWS, N_COLUMNS, 0.08, format="csr", random_state=rng, data_rvs=rng.standard_normal
    )
    matrix.data = np.round(matrix.data, 1)  # with zeros that are stored
    matrix.data[::17] = np.nan
    dense = np.nan_to_num(matrix.toarray())
    return matrix, dense[:, 0] + 2 * dense[:, 1] - dense[:, 2] + 0.1 * rng.standard_normal(N_ROWS)


@pytest.fixture(autouse=True)
def no_dense_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody may ask for rows with all columns."""

    def refuse(*arguments: Any) -> Any:
        raise AssertionError("a sparse table was made dense")

    for name in ("blocks", "take"):
        monkeypatch.setattr(SparseTable, name, refuse)


CHOICES: dict[str, dict[str, Any]] = {
    "leafwise": {},
    "depthwise": {"growth": "depthwise", "max_depth": 5, "max_leaves": None, "min_samples_leaf": 1},
    "oblivious": {"growth": "oblivious", "max_depth": 4},
    "wide": {"split_finder": weald.Histogram(precision="wide")},
    "sampled": {"subsample": 0.5, "colsample_bytree": 0.6, "colsample_bylevel": 0.8, "colsample_bynode": 0.8},
    # A column has some 120 stored cells: about half of the columns have too few for a leaf.
    "large leaves": {"min_samples_leaf": 102, "colsample_bytree": 0.6},
    "large leaves, oblivious": {"min_samples_leaf": 102, "growth": "oblivious", "max_depth": 3},
    "few bins": {"bins": weald.Bins(max_bins=5), "reg_alpha": 0.1, "max_delta_step": 0.5},
}


@pytest.mark.parametrize("unstored", ["zero", "missing"])
@pytest.mark.parametrize("choice", CHOICES)
def test_the_model_is_that_of_the_dense_table_byte_for_byte(table: Any, choice: str, unstored: Any) -> None:
    matrix, y = table
    dense = reference_sparse.cells(matrix, unstored)
    weight = np.random.default_rng(0).random(N_ROWS) * (np.arange(N_ROWS) % 7 > 0)

    def fit(X: Any, other: Any, n_jobs: int) -> Any:
        settings = {"n_estimators": 8, "bins": weald.Bins(), "n_jobs": n_jobs} | CHOICES[choice]
        model = clone(weald.BoostedTreesRegressor(**settings)).set_params(bins__unstored=unstored)
        return model.fit(X, y, sample_weight=weight, eval_set=[(other, y[:300], weight[:300])])

    expected = fit(dense, dense[:300], 1)
    for form, n_jobs in (("csr", 1), ("csc", 2)):
        given = matrix.asformat(form)
        found = fit(given, given[:300], n_jobs)
        assert found._to_bytes() == expected._to_bytes()
        np.testing.assert_array_equal(found.predict(given), expected.predict(dense))
        np.testing.assert_array_equal(found.apply(given), expected.apply(dense))
    mixed = fit(matrix, dense[:300], 1)  # trained on one kind, evaluated on the other
    assert mixed._to_bytes() == expected._to_bytes()


def test_classes_and_classical_ensembles_take_sparse_tables(table: Any) -> None:
    matrix, y = table
    labels = np.digitize(y, [-0.3, 0.3])
    dense = reference_sparse.cells(matrix, "zero")
    for model in (
        weald.BoostedTreesClassifier(n_estimators=3),
        weald.RandomForestClassifier(5, random_state=1),
        weald.GradientBoostingClassifier(n_estimators=2, random_state=0),
    ):
        expected = model.fit(dense, labels).predict_proba(dense)
        np.testing.assert_array_equal(model.fit(matrix, labels).predict_proba(matrix), expected)
    stages = model.staged_predict_proba(matrix)
    np.testing.assert_array_equal(list(stages)[-1], expected)


def test_a_saved_model_remembers_what_is_not_stored(table: Any, tmp_path: Path) -> None:
    matrix, y = table
    model = weald.BoostedTreesRegressor(n_estimators=5, bins=weald.Bins(unstored="missing")).fit(matrix, y)
    expected = model.predict(matrix)
    model.save(tmp_path / "model")
    assert np.array_equal(weald.load(tmp_path / "model").predict(matrix), expected)
    model.set_params(bins__unstored="zero")  # the next fit's
    assert np.array_equal(model.predict(matrix), expected)
    as_zeros = weald.BoostedTreesRegressor(n_estimators=5).fit(matrix, y)
    assert not np.array_equal(as_zeros.predict(matrix), expected)


def test_warm_starts_and_checkpoints_go_on_to_the_same_bytes(table: Any, tmp_path: Path) -> None:
    matrix, y = table

    def make(n: int, **more: Any) -> Any:
        return weald.BoostedTreesRegressor(
            n_estimators=n, bins=weald.Bins(unstored="missing"), n_jobs=1, **more
        )

    whole = make(6).fit(matrix, y)._to_bytes()
    warm = make(3, warm_start=True).fit(matrix, y)
    assert warm.set_params(n_estimators=6).fit(matrix, y)._to_bytes() == whole
    path = tmp_path / "checkpoint"
    make(3).fit(matrix, y, callbacks=[Checkpoint(path, every=3)])
    assert make(6).fit(matrix, y, resume_from=path)._to_bytes() == whole


def test_a_table_binned_once_stays_sparse(table: Any) -> None:
    matrix, y = table
    model = weald.BoostedTreesRegressor(n_estimators=4, bins=weald.Bins(unstored="missing"), n_jobs=1)
    shared = bin_once(matrix, [model])
    assert shared is not None
    assert isinstance(shared.bins, SparseBins)
    assert model.fit(shared, y)._to_bytes() == model.fit(matrix, y)._to_bytes()
    half = shared.take(np.arange(0, N_ROWS, 2))
    warm = weald.BoostedTreesRegressor(
        n_estimators=2, bins=weald.Bins(unstored="missing"), n_jobs=1, warm_start=True
    )
    warm.fit(half, y[::2]).set_params(n_estimators=4).fit(half, y[::2])
    assert warm._to_bytes() == model.fit(half, y[::2])._to_bytes()
    assert bin_once(matrix, [model, weald.BoostedTreesRegressor()]) is None
    with pytest.raises(InputError, match="unstored='missing'"):
        weald.BoostedTreesRegressor().fit(shared, y)
    forest = weald.RandomForestRegressor(3, random_state=0)
    zeros = bin_once(matrix, [forest, weald.BoostedTreesRegressor()])
    assert zeros is not None
    expected = forest.fit(matrix, y).predict(matrix)
    np.testing.assert_array_equal(forest.fit(zeros, y).predict(matrix), expected)


def test_a_table_without_signal_gives_a_constant(table: Any) -> None:
    y = np.arange(50.0)
    empty = scipy.sparse.csr_array((50, 1_000))
    model = weald.BoostedTreesRegressor(n_estimators=2).fit(empty, y)
    assert np.array_equal(model.predict(empty), np.full(50, y.mean()))


def test_memory_follows_the_stored_cells(table: Any) -> None:
    """A table of 30,000 columns whose cells would take 5 GB."""
    rng = np.random.default_rng(0)
    n_rows, n_columns = 20_000, 30_000
    rows, columns = np.arange(n_rows), rng.integers(0, n_columns, n_rows)
    columns[::2] = rng.integers(0, 3, n_rows // 2)
    matrix = scipy.sparse.csr_array((np.ones(n_rows, np.float32), (rows, columns)), shape=(n_rows, n_columns))
    y = (columns == 1).astype(float)
    model = weald.BoostedTreesRegressor(n_estimators=2, learning_rate=1.0).fit(matrix, y)
    assert np.allclose(model.predict(matrix), y, atol=1e-6)


def test_categories_in_a_sparse_matrix_are_refused_where_it_would_be_large_when_dense() -> None:
    large = scipy.sparse.csr_array((50_000, 30_000))
    for model in (
        weald.BoostedTreesRegressor(categorical_features=[3]),
        weald.RandomForestRegressor(categorical_features=[3]),
    ):
        with pytest.raises(
            InputError,
            match=r"50,000 rows and 30,000 columns, .* 2.8 GiB of bins; leave categories as numbers",
        ):
            model.fit(large, np.zeros(50_000))
