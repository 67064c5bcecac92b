"""split_finder="exact" through the estimators: what is refused, refitted leaves, warm starts, tables of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.runtime.errors import NotSupportedError

RNG = np.random.default_rng(5)
X = RNG.standard_normal((600, 4))
Y = np.where(X[:, 0] > 0.1234, 1.0, -1.0) + 0.1 * X[:, 1]


def regressor(**more: Any) -> BoostedTreesRegressor:
    return BoostedTreesRegressor(**{"n_estimators": 5, "split_finder": "exact", "n_jobs": 1} | more)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [({"bins": 63}, r"bins\.max_bins=63"), ({"categories": "partition"}, r"categories=Partition\(\)")],
    ids=["bins", "categories"],
)
def test_what_has_no_meaning_with_exact_splits_is_refused(parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(NotSupportedError, match=f"{told}.*split_finder='hist'"):
        regressor(**parameters).fit(X, Y)


def test_the_first_split_lies_between_the_two_values_beside_the_step() -> None:
    model = regressor(min_samples_leaf=1).fit(X, Y)
    values = np.sort(X[:, 0])
    above = int(np.searchsorted(values, 0.1234))
    assert model.forest_.feature[0] == 0
    assert values[above - 1] <= model.forest_.threshold[0] < values[above]


@pytest.mark.parametrize("loss", ["absolute", "quantile", "poisson"])
def test_losses_of_every_kind_are_fitted(loss: str) -> None:
    target = np.abs(Y) + 0.5
    model = regressor(loss=loss, subsample=0.7).fit(X, target, eval_set=[(X, target)])
    curve = next(iter(model.history_["valid_0"].values()))
    assert curve[-1] < curve[0]


def test_a_warm_start_goes_on_to_the_model_of_one_fit() -> None:
    whole = regressor().fit(X, Y)
    parts = regressor(warm_start=True).set_params(n_estimators=2).fit(X, Y)
    parts.set_params(n_estimators=5).fit(X, Y)
    assert whole.predict(X).tobytes() == parts.predict(X).tobytes()


def test_frames_with_categories_and_missing_values_are_fitted() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(X[:, 1] > 0, "up", "down"))})
    frame.loc[::9, "a"] = np.nan
    labels = np.where((frame["b"] == "up") & ~(X[:, 0] > 0.5), "yes", "no")
    model = BoostedTreesClassifier(n_estimators=20, split_finder="exact", min_samples_leaf=1, n_jobs=1)
    assert model.fit(frame, labels).score(frame, labels) > 0.95


def with_holes(unstored: str, missing: bool) -> tuple[Any, Any]:
    """A sparse matrix, and the same table dense: positive, negative and mixed columns, one without zeros."""
    rng = np.random.default_rng(2)
    dense = np.where(rng.random((900, 6)) < 0.25, np.round(rng.standard_normal((900, 6)), 2), 0.0)
    dense[:, 0], dense[:, 1] = np.abs(dense[:, 0]), -np.abs(dense[:, 1])
    dense[:, 5] = np.where(rng.random(900) < 0.6, 5.0 + rng.standard_normal(900), -3.0)
    if missing:
        dense[rng.random(dense.shape) < 0.05] = np.nan
    rows, columns = np.nonzero((dense != 0) | np.isnan(dense))
    sparse = scipy.sparse.csc_array((dense[rows, columns], (rows, columns)), shape=dense.shape)
    return sparse, np.where(dense == 0, np.nan, dense) if unstored == "missing" else dense


@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
@pytest.mark.parametrize("unstored", ["zero", "missing"])
@pytest.mark.parametrize("missing", [False, True])
def test_what_is_not_stored_is_never_written_out_and_changes_nothing(
    growth: str, unstored: Any, missing: bool
) -> None:
    sparse, dense = with_holes(unstored, missing)
    filled = np.nan_to_num(dense)
    y = filled[:, 0] - 2 * filled[:, 1] + filled[:, 2] * (filled[:, 3] > 0) + 0.2 * filled[:, 5]
    weight = np.random.default_rng(3).integers(0, 3, len(y)).astype(float)
    for precision, subsample in (("packed_always", 0.7), ("wide", 1.0)):
        settings: dict[str, Any] = {
            "growth": growth,
            "max_depth": 4,
            "bins": weald.Bins(unstored=unstored),
            "split_finder": weald.Exact(precision=precision),
            "subsample": subsample,
        }
        models = [
            regressor(**settings).fit(X, y, sample_weight=weight, eval_set=[(X[::2], y[::2])])
            for X in (sparse, dense)
        ]
        assert models[0].history_ == models[1].history_
        for name in ("feature", "threshold", "left", "missing_left", "value", "gain", "cover", "count"):
            one, other = (getattr(model.forest_, name) for model in models)
            assert one.tobytes() == other.tobytes(), name


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_sparse_matrix_gives_the_model_of_the_dense_one(form: str) -> None:
    dense = np.where(RNG.random((500, 6)) < 0.2, RNG.standard_normal((500, 6)), 0.0)
    target = dense[:, 0] - dense[:, 1]
    sparse = scipy.sparse.csr_array(dense).asformat(form)
    expected = regressor(min_samples_leaf=1).fit(dense, target).predict(dense)
    assert regressor(min_samples_leaf=1).fit(sparse, target).predict(sparse).tobytes() == expected.tobytes()
