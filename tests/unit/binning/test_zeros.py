"""Dense tables of mostly zeros: their other cells are found, whatever the layout, and nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
from numpy.typing import NDArray

import reference_bundled as reference
import weald
from model_bytes import bytes_as_if
from weald.binning import BundledBins, DenseBins, bin_once, zeros
from weald.binning.zeros import without_zeros
from weald.data import read_table


@pytest.fixture(autouse=True)
def _small_tables_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zeros, "LEAST_CELLS", 0)


def mostly_zeros(dtype: Any = np.float64) -> NDArray[Any]:
    """Exclusive columns with negative zeros and missing values, one without a value, and rows without any."""
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 30, (500, 1)) == np.arange(28)) * np.round(rng.standard_normal((500, 1)), 1)
    X[rng.random(X.shape) < 0.02] = -0.0
    X[7, 3], X[8, 4] = np.nan, np.inf
    X[:, 9] = 0.0
    return X.astype(dtype)


@pytest.mark.parametrize("tasks", [1, 2, 3])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_cells_are_those_of_the_naive_twin(dtype: Any, order: Any, tasks: int) -> None:
    X = np.array(mostly_zeros(dtype), order=order)
    X.flags.writeable = False
    found = without_zeros(read_table(X), tasks)
    assert found.is_sparse
    starts, rows, values = reference.cells_other_than_zero(X)
    assert found.entries.starts.tolist() == starts
    assert found.entries.rows.tolist() == rows
    assert found.entries.values.dtype == dtype
    assert np.array_equal(found.entries.values, np.array(values, dtype), equal_nan=True)


def test_other_tables_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    X = mostly_zeros()
    monkeypatch.setattr(zeros, "LOOKED_AT", 10)
    misleading = np.ones_like(X)
    misleading[np.linspace(0, 499, 10).astype(np.int64)] = 0.0
    for table in (np.ones_like(X), X[::2, ::2], misleading):
        dataset = read_table(table)
        assert without_zeros(dataset, 1) is dataset
    coded = read_table(X, categorical=[0]).at_once()
    assert coded.whole is not None and without_zeros(coded, 1) is coded


@pytest.mark.parametrize("weighted", [False, True])
def test_the_bins_and_the_model_are_those_of_the_dense_table(weighted: bool) -> None:
    X = mostly_zeros()
    y = np.nan_to_num(X, posinf=1.0).sum(axis=1) + np.arange(500) / 500
    weight = np.arange(500) % 5.0 if weighted else None
    files = []
    for bundling in ("none", "count"):
        model = weald.BoostedTreesRegressor(
            n_estimators=5, min_samples_leaf=2, bins=weald.Bins(bundling=bundling), n_jobs=1
        )
        kind = DenseBins if bundling == "none" else BundledBins
        assert isinstance(bin_once(X, [model]).bins, kind)
        model.fit(X, y, sample_weight=weight, eval_set=[(X[:90], y[:90])])
        files.append(bytes_as_if(model, bins__bundling="count"))
    assert files[0] == files[1]


def test_a_frame_is_converted_once_and_gives_the_bins_of_the_array() -> None:
    X = mostly_zeros()
    frame = pandas.DataFrame(X).astype({3: np.float32})
    letters = pandas.DataFrame(
        {"number": X[:, 3], "letter": pandas.Categorical(np.array(list("abc"))[np.arange(500) % 3])}
    )
    for table in (frame, letters):
        dataset = read_table(table)
        whole = dataset.at_once()
        assert dataset.whole is None and whole.whole is not None
        [(_, block)] = dataset.blocks()
        assert np.array_equal(whole.whole, block, equal_nan=True)
    first, second = (bin_once(table, [weald.BoostedTreesRegressor()]).bins for table in (frame, X))
    assert isinstance(first, BundledBins) and isinstance(second, BundledBins)
    assert np.array_equal(first.columns, second.columns)
