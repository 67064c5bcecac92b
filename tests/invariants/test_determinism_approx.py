"""Proposals keep the promise: the same bytes on any number of threads, also where a column has several blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from invariants.shared_work import shared_histograms
from weald import BoostedTreesClassifier
from weald.binning.proposals import BLOCK
from weald.estimators.shared.persistence import to_bytes

N_ROWS = BLOCK + 9_000


@pytest.mark.parametrize("proposals", ["global", "local"])
@pytest.mark.parametrize("growth", ["leafwise", "depthwise"])
def test_proposals_give_the_same_bytes_for_all_threads(proposals: str, growth: str) -> None:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N_ROWS, 8))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 3] = rng.integers(0, 9, N_ROWS)
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + (X[:, 3] == 3) + rng.standard_normal(N_ROWS) > 0.5
    files = []
    for threads in (1, 2, 3):
        model: Any = BoostedTreesClassifier(
            n_estimators=3,
            growth=growth,
            max_depth=4,
            max_leaves=10,
            subsample=0.8,
            colsample_bynode=0.8,
            split_finder=weald.Approximate(proposals=proposals, eps=0.02),
            categorical_features=[3],
            n_jobs=threads,
        )
        with shared_histograms():
            model.fit(X, y, sample_weight=1.0 + X[:, 3], eval_set=[(X[:6_000], y[:6_000])])
        files.append(to_bytes(model, model._model))
    assert files[0] == files[1] == files[2]
