"""The linear booster gives the same file, byte for byte, on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from weald import BoostedTreesClassifier, BoostedTreesRegressor, Linear
from weald.estimators.shared.persistence import to_bytes
from weald.linear.columns import PARALLEL_CELLS, PARALLEL_ROWS

N_ROWS = 90_000
THREADS = (1, 2, 3)


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N_ROWS, 6))
    X[rng.random(X.shape) < 0.3] = 0.0
    X[rng.random(X.shape) < 0.05] = np.nan
    weight = rng.integers(0, 4, N_ROWS).astype(float)
    kept = weight > 0.0
    assert kept.sum() >= PARALLEL_ROWS and np.count_nonzero(X[kept]) >= PARALLEL_CELLS
    y = np.nan_to_num(X) @ np.array([1.0, -2.0, 0.5, 0.0, 0.1, 3.0]) + rng.standard_normal(N_ROWS)
    return X, y, weight


def same_for_all_threads(kind: Any, X: Any, y: Any, parameters: dict[str, Any], **fit: Any) -> None:
    made = []
    for threads in THREADS:
        given = {"booster": "linear", "n_estimators": 3, "random_state": 5, "n_jobs": threads, **parameters}
        model = kind(**given).fit(X, y, **fit)
        made.append((to_bytes(model, model._model), model.predict(X).tobytes()))
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("selector", ["cyclic", "shuffle", "random", "greedy", "thrifty"])
def test_selectors_give_the_same_bytes(table: Any, selector: str, is_sparse: bool) -> None:
    X, y, weight = table
    given = scipy.sparse.csr_matrix(X) if is_sparse else X
    top_k = 3 if selector in ("greedy", "thrifty") else 0
    parameters = {"booster": Linear(selector=selector, top_k=top_k), "reg_alpha": 0.01, "reg_lambda": 0.1}
    same_for_all_threads(
        BoostedTreesRegressor, given, y, parameters, sample_weight=weight, eval_set=[(given[:5000], y[:5000])]
    )


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification_gives_the_same_bytes(table: Any, n_classes: int, is_sparse: bool) -> None:
    X, y, _ = table
    labels = np.digitize(y, [0.0] if n_classes == 2 else [-1.0, 1.0])
    same_for_all_threads(BoostedTreesClassifier, scipy.sparse.csc_matrix(X) if is_sparse else X, labels, {})


def test_a_loss_with_a_limited_step_gives_the_same_bytes(table: Any) -> None:
    X, y, _ = table
    same_for_all_threads(BoostedTreesRegressor, X.astype(np.float32), np.abs(y), {"loss": "poisson"})
