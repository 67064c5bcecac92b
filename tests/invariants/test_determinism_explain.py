"""Shapley values and virtual ensembles have the same bytes for any number of threads, and for any cut into blocks."""

from __future__ import annotations

import numpy as np
import pytest

from weald import BoostedTreesRegressor
from weald.explain.shap import shap_values
from weald.explain.virtual import virtual_ensembles


@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
def test_explanations_have_the_same_bytes(growth: str) -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((6_000, 5))  # so that predictions are shared, too
    leaves = None if growth == "oblivious" else 31
    model = BoostedTreesRegressor(n_estimators=6, growth=growth, max_leaves=leaves, n_jobs=1)
    forest = model.fit(X, X[:, 0] * X[:, 1] + X[:, 2]).forest_
    blocks = [[(0, X)], [(0, X[:100]), (100, np.asfortranarray(X[100:]))]]
    for function, options in ((shap_values, {}), (virtual_ensembles, {"count": 3})):
        first = function(forest, blocks[0], len(X), **options).tobytes()
        for some in blocks:
            for tasks in (1, 2, 3):
                assert function(forest, some, len(X), tasks=tasks, **options).tobytes() == first
