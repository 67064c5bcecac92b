"""One-hot columns in bundles, as LightGBM bundles them: its first tree, and its error after fifty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import log_loss
from sklearn.preprocessing import OneHotEncoder

import weald
from equivalence.test_peers import LEAFWISE, ROUNDS, lightgbm_model, load, one_thread
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.binning import BundledBins, bin_once

__all__ = ["one_thread"]


def encoded(name: str) -> tuple[Any, Any]:
    """The categories of a table, each a column of its own, and the target; at most 8,000 rows in a random order."""
    table = load(name)
    order = np.random.default_rng(0).permutation(table.n_rows)[:8_000]
    columns = [values[order].astype(str) for values in table.data.values() if values.dtype == object]
    X = OneHotEncoder(min_frequency=5).fit_transform(np.stack(columns, axis=1)).astype(np.float32)
    return scipy.sparse.csr_matrix(X), table.target[order]


@pytest.mark.parametrize("limits", [{}, {"max_depth": 4}, {"min_samples_leaf": 100}])
def test_the_first_tree_on_bundled_columns_is_lightgbms(limits: dict[str, Any]) -> None:
    X, y = encoded("diamonds")
    y = np.log(y.astype(np.float64))
    assert isinstance(bin_once(X, [BoostedTreesRegressor()]).bins, BundledBins)
    theirs = {"min_child_samples" if name == "min_samples_leaf" else name: of for name, of in limits.items()}
    first: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0}
    peer = lightgbm_model("Regressor", enable_bundle=True, **first, **theirs).fit(X, y)
    ours = BoostedTreesRegressor(**{**LEAFWISE, **first, **limits}).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.predict(X), rel=1e-6)


def test_models_on_bundled_columns_are_as_good_as_lightgbms() -> None:
    X, y = encoded("adult")
    cut = X.shape[0] * 7 // 10
    shared: dict[str, Any] = {"n_estimators": ROUNDS, "learning_rate": 0.1}
    peer = lightgbm_model("Classifier", **shared).fit(X[:cut], y[:cut])
    ours = BoostedTreesClassifier(**LEAFWISE, **shared).fit(X[:cut], y[:cut])
    expected = log_loss(y[cut:], peer.predict_proba(X[cut:]))
    assert log_loss(y[cut:], ours.predict_proba(X[cut:])) == pytest.approx(expected, rel=0.01)
    # A few conflicts cost little.
    loose = BoostedTreesClassifier(bins=weald.Bins(max_conflict_rate=0.01), **LEAFWISE, **shared).fit(
        X[:cut], y[:cut]
    )
    assert log_loss(y[cut:], loose.predict_proba(X[cut:])) == pytest.approx(expected, rel=0.02)
