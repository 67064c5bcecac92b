"""Forests on a cluster have the bytes that they have on one thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald

da = pytest.importorskip("dask.array", reason="needs the extra dask")

import weald.dask  # noqa: E402

X = np.random.default_rng(1).normal(size=(600, 4))
NUMBER = X[:, 0] + X[:, 1] ** 2
CLASSES = np.digitize(NUMBER, [0.0, 1.5])


@pytest.mark.parametrize("family", ["RandomForest", "ExtraTrees"])
@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
def test_a_forest_has_the_bytes_of_one_thread(client: Any, family: str, task: str) -> None:
    y = CLASSES if task == "Classifier" else NUMBER
    rows = da.from_array(X, chunks=(130, 4))
    model = getattr(weald.dask, family + task)(7, random_state=3).fit(rows, da.from_array(y, chunks=200))
    local = getattr(weald, family + task)(7, random_state=3, n_jobs=1).fit(X, y)
    assert model._to_bytes() == local._to_bytes()
    assert (model.predict(rows).compute() == local.predict(X)).all()
    if task == "Classifier":
        assert (model.predict_proba(rows).compute() == local.predict_proba(X)).all()
