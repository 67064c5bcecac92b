"""The score of splits and its noise: what they do to a model, and what they cannot be together with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor, NotSupportedError
from weald.estimators.shared.persistence import to_bytes

RNG = np.random.default_rng(2)
X = RNG.integers(0, 20, (400, 4)).astype(float)
Y = np.sin(X[:, 0]) + 0.2 * X[:, 1] + RNG.standard_normal(400)
SMALL: dict[str, Any] = {"n_estimators": 3, "max_depth": 3, "min_samples_leaf": 5, "n_jobs": 1}


def trees(model: Any) -> bytes:
    """All of a model but the parameters that it was made with."""
    plain: Any = type(model)()
    return to_bytes(plain, replace(model._model, params=None))


@pytest.mark.parametrize(
    ("growth", "sampling"), [("leafwise", "uniform"), ("oblivious", "bayesian"), ("oblivious", "mvs")]
)
def test_counts_are_the_hessians_of_the_squared_loss_in_every_sample(growth: str, sampling: str) -> None:
    options, weight = {**SMALL, "growth": growth, "sampling": sampling}, RNG.integers(1, 4, 400).astype(float)
    if sampling != "bayesian":
        options["subsample"] = 0.7
    for newton, plain in (("newton_l2", "l2"), ("newton_cosine", "cosine")):
        predictions = [
            BoostedTreesRegressor(splits=weald.Splits(score=score), **options)
            .fit(X, Y, sample_weight=weight)
            .predict(X)
            for score in (newton, plain)
        ]
        assert predictions[0].tolist() == predictions[1].tolist()


@pytest.mark.parametrize("score", ["l2", "cosine"])
def test_leaf_values_are_newtons_whatever_chose_the_splits(score: str) -> None:
    y, weight = Y > 2.0, 1.0 + RNG.random(400)  # no two leaves have the same value
    options: dict[str, Any] = {**SMALL, "n_estimators": 1, "learning_rate": 1.0, "reg_lambda": 2.0}
    model = BoostedTreesClassifier(splits=weald.Splits(score=score), base_score=0.5, **options).fit(
        X, y, sample_weight=weight
    )
    scores = model.decision_function(X)
    for value in np.unique(scores):
        own = scores == value
        gradient, hessian = (weight[own] * (0.5 - y[own])).sum(), 0.25 * weight[own].sum()
        assert value == pytest.approx(-gradient / (hessian + 2.0), rel=1e-6)
    assert model.forest_.cover[0] == pytest.approx(0.25 * weight.sum(), rel=1e-6)


def test_rows_count_by_hessian_only_in_newtons_scores() -> None:
    y = (Y > 2.0).astype(int)
    models = {
        score: BoostedTreesClassifier(
            growth="oblivious", splits=weald.Splits(score=score), base_score=0.9, **SMALL
        ).fit(X, y)
        for score in ("newton_l2", "l2", "newton_cosine", "cosine")
    }
    assert len({trees(model) for model in models.values()}) == 4


@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
def test_sparse_tables_and_bundles_have_the_dense_trees(growth: str) -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 12, 600)
    onehot = np.eye(12)[codes] * rng.integers(1, 3, 600)[:, None]
    y = np.sin(codes) + rng.standard_normal(600)
    options: dict[str, Any] = {**SMALL, "growth": growth, "splits": weald.Splits(score="cosine", noise=0.5)}
    dense, bundled = (
        BoostedTreesRegressor(bins=weald.Bins(bundling=bundling), **options).fit(onehot, y)
        for bundling in ("none", "count")
    )
    stored = BoostedTreesRegressor(**options).fit(sparse.csr_array(onehot), y)
    assert dense.predict(onehot).tolist() == bundled.predict(onehot).tolist()
    assert dense.predict(onehot).tolist() == stored.predict(onehot).tolist()


@pytest.mark.parametrize("growth", ["leafwise", "depthwise"])
def test_exact_splits_are_those_of_a_bin_a_value(growth: str) -> None:
    options: dict[str, Any] = {**SMALL, "growth": growth, "splits": weald.Splits(score="cosine", noise=0.5)}
    models = [
        BoostedTreesRegressor(**options, split_finder=finder).fit(X, Y).predict(X)
        for finder in (weald.Histogram(precision="wide"), weald.Exact(precision="wide"))
    ]
    assert models[0].tolist() == models[1].tolist()


def test_noise_changes_trees_by_the_seed_and_fades_with_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {**SMALL, "learning_rate": 0.7, "growth": "oblivious"}
    quiet = BoostedTreesRegressor(**options).fit(X, Y)
    noisy = BoostedTreesRegressor(splits=weald.Splits(noise=60.0), **options).fit(X, Y)
    other = BoostedTreesRegressor(splits=weald.Splits(noise=60.0), random_state=1, **options).fit(X, Y)
    assert len({trees(model) for model in (quiet, noisy, other)}) == 3
    asked = []

    def faded(*length: float) -> float:
        asked.append(length)
        return 0.0

    monkeypatch.setattr("weald.training.boosting.trees.fading", faded)
    late = BoostedTreesRegressor(splits=weald.Splits(noise=60.0), **options).fit(X, Y)
    assert asked == [(400, number, 0.7) for number in range(3)]
    assert trees(late) == trees(quiet)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"splits": weald.Splits("cosine"), "gamma": 1.0}, r"gamma=1\.0.*splits\.score='l2'"),
        (
            {"splits": weald.Splits("newton_cosine"), "leaves": weald.Leaves(path_smooth=1.0)},
            r"leaves\.path_smooth=1\.0.*splits\.score='newton_l2'",
        ),
        (
            {"splits": weald.Splits("l2"), "monotone_constraints": [1, 0, 0, 0]},
            r"monotone_constraints.*splits\.score is 'l2'",
        ),
        ({"splits": weald.Splits("l2"), "sampling": "goss"}, r"Goss\(\).*newton_l2"),
        (
            {"splits": weald.Splits("cosine"), "growth": "oblivious", "split_finder": "exact"},
            "oblivious.*exact.*split_finder='hist'",
        ),
        (
            {"splits": weald.Splits(noise=1.0), "booster": "averaging", "subsample": 0.5},
            r"splits\.noise=1\.0.*averaging",
        ),
    ],
)
def test_what_has_no_meaning_together_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(NotSupportedError, match=words):
        BoostedTreesRegressor(**options).fit(X, Y)
