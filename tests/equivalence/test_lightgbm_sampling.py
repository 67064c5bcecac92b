"""GOSS, shares of classes and unbalanced classes against LightGBM's."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

import weald
from weald import BoostedTreesClassifier, datasets

lightgbm = pytest.importorskip("lightgbm")

ROUNDS: dict[str, Any] = {"n_estimators": 40, "learning_rate": 0.1}
OURS: dict[str, Any] = {"n_jobs": 1, "reg_lambda": 0.0, "split_finder": weald.Histogram(precision="wide")}
SEEDS = range(4)


@cache
def adult(n_rows: int = 6_000) -> tuple[Any, Any]:
    table = datasets.load("adult")
    columns = [values for values in table.data.values() if values.dtype != object]
    order = np.random.default_rng(0).permutation(table.n_rows)[:n_rows]
    X = np.stack(columns, axis=1).astype(np.float64)[order]
    return X, (table.target[order] == ">50K").astype(np.int64)


def losses(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Log losses on rows held out, seed by seed."""
    X, y = adult()
    found: tuple[list[float], list[float]] = ([], [])
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = order[:4_000], order[4_000:]
        models = (
            BoostedTreesClassifier(**ROUNDS, **OURS, **ours, random_state=seed),
            lightgbm.LGBMClassifier(**ROUNDS, **theirs, n_jobs=1, verbosity=-1, random_state=seed),
        )
        for model, values in zip(models, found, strict=True):
            model.fit(X[train], y[train])
            values.append(log_loss(y[test], model.predict_proba(X[test])[:, 1]))
    return np.array(found[0]), np.array(found[1])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (
            {"sampling": weald.Goss(top_rate=0.15, other_rate=0.15)},
            {"data_sample_strategy": "goss", "top_rate": 0.15, "other_rate": 0.15},
        ),
        (
            {"sampling": weald.ByClass(negative=0.4, frequency=3)},
            {"neg_bagging_fraction": 0.4, "subsample_freq": 3},
        ),
        ({"class_weight": "minority"}, {"is_unbalance": True}),
    ],
    ids=["goss", "shares of classes", "unbalanced"],
)
def test_quality_is_lightgbms(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    mine, peers = losses(ours, theirs)
    difference = mine - peers
    assert abs(difference.mean()) < 0.02 * peers.mean(), (mine, peers)
