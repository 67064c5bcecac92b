"""Zeros that are missing, and missing values that are zeros: in every container, in training, prediction and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import weald
from weald import BoostedTreesRegressor
from weald.data import read_table
from weald.data.missing import Missing

NAN = np.nan


def table(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, (300, 4)).astype(float)
    values[rng.random(values.shape) < 0.15] = NAN
    return values


def changed(values: Any, missing: Missing) -> Any:
    """What is to be read, spelled out."""
    if missing == "zero":
        return np.where(values == 0.0, NAN, values)
    return np.where(np.isnan(values), 0.0, values) if missing == "none" else values


@pytest.mark.parametrize("missing", ["nan", "zero", "none"])
@pytest.mark.parametrize("unstored", ["zero", "missing"])
@pytest.mark.parametrize("container", ["array", "float32", "frame", "dict", "csr", "csc"])
def test_every_container_is_read_the_same_way(container: str, missing: Missing, unstored: Any) -> None:
    values = table()
    pandas = pytest.importorskip("pandas")
    X = {
        "array": lambda: values,
        "float32": lambda: values.astype(np.float32),
        "frame": lambda: pandas.DataFrame(values),
        "dict": lambda: {f"x{k}": values[:, k] for k in range(4)},
        "csr": lambda: scipy.sparse.csr_array(values),
        "csc": lambda: scipy.sparse.csc_array(values),
    }[container]()
    expected = changed(values, missing)
    if container in ("csr", "csc") and unstored == "missing" and missing == "nan":
        expected = changed(values, "zero")
    kept = X.copy() if scipy.sparse.issparse(X) else None
    for schema in (None, read_table(X).schema):
        dataset = read_table(X, unstored=unstored, missing=missing, schema=schema)
        blocks = np.concatenate([block for _, block in dataset.blocks()])
        np.testing.assert_array_equal(blocks, expected)
        np.testing.assert_array_equal(dataset.take(np.array([7, 3])), expected[[7, 3]])
        np.testing.assert_array_equal(dataset.part(np.array([9, 2])).take(np.arange(2)), expected[[9, 2]])
        assert dataset.is_sparse == scipy.sparse.issparse(X)
    if kept is not None:
        np.testing.assert_array_equal(X.toarray(), kept.toarray())


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_categories_keep_their_zeros_and_stay_missing(kind: Any) -> None:
    values = table()
    for missing in ("zero", "none"):
        expected = changed(values, missing)
        expected[:, 2] = read_table(values, categorical=[2]).take(np.arange(300))[:, 2]
        dataset = read_table(kind(values), categorical=[2], missing=missing)
        np.testing.assert_array_equal(dataset.take(np.arange(300)), expected)


@pytest.mark.parametrize(
    ("bins", "missing"),
    [(weald.Bins(zero_as_missing=True), "zero"), (weald.Bins(use_missing=False), "none")],
    ids=repr,
)
@pytest.mark.parametrize("finder", ["hist", "exact"])
def test_training_prediction_and_files_agree(
    bins: weald.Bins, missing: Missing, finder: str, tmp_path: Path
) -> None:
    values, other = table(), table(1)
    y = np.nan_to_num(values[:, 0], nan=3.0) + np.random.default_rng(2).standard_normal(300)
    common: dict[str, Any] = {"n_estimators": 5, "split_finder": finder}
    plain = BoostedTreesRegressor(**common).fit(changed(values, missing), y)
    expected = plain.predict(changed(other, missing))
    for X, Z in ((values, other), (scipy.sparse.csr_array(values), scipy.sparse.csc_array(other))):
        model = BoostedTreesRegressor(bins=bins, **common).fit(X, y, eval_set=[(Z, y)])
        assert model.predict(Z).tobytes() == expected.tobytes()
        again = BoostedTreesRegressor(bins=bins, **common).fit(X, y, eval_set=[(changed(other, missing), y)])
        assert again.history_ == model.history_
    model.save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald")
    assert loaded.predict(other).tobytes() == expected.tobytes()
    if missing == "none":
        assert loaded.predict(np.full((1, 4), NAN)) == loaded.predict(np.zeros((1, 4)))
