"""The losses of LightGBM's family, averaged trees and refitted leaves give the same bytes on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from invariants.shared_work import shared_histograms
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.estimators.shared.persistence import to_bytes

N_ROWS = 70_000  # above the sizes from which kernels share their work
rng = np.random.default_rng(4)
X = rng.standard_normal((N_ROWS, 12))
Y = 4.0 * X[:, 0] + np.abs(X[:, 1]) + rng.standard_normal(N_ROWS)
WEIGHT = rng.integers(0, 20, N_ROWS).clip(max=2).astype(float)  # few zeros: such rows are left out


@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "fair"},
        {"loss": "mape"},
        {"loss": "one_vs_rest"},
        {"booster": "averaging", "subsample": 0.6, "loss": "absolute"},
        {"booster": "averaging", "subsample": 0.6, "loss": "softmax"},
    ],
    ids=str,
)
def test_a_fit_and_its_refit_give_the_same_bytes(parameters: dict[str, Any]) -> None:
    kind: Any = BoostedTreesRegressor
    y: Any = Y
    if parameters["loss"] in ("one_vs_rest", "softmax"):
        kind, y = BoostedTreesClassifier, np.digitize(Y, [0.0, 2.0])
    fitted, refitted = set(), set()
    for threads in (1, 2, 3):
        model = kind(n_estimators=2, max_leaves=8, n_jobs=threads, **parameters)
        with shared_histograms():
            model.fit(X, y, sample_weight=WEIGHT, eval_set=[(X[:9000], y[:9000])])
        fitted.add(to_bytes(model, model._model))
        later = model.refit(X[::-1], y, sample_weight=WEIGHT)
        refitted.add(to_bytes(later, later._model))
    assert len(fitted) == len(refitted) == 1
    assert fitted != refitted
