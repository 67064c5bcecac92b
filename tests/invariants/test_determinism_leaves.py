"""Steps of leaves and weighted samples give the same bytes on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from invariants.shared_work import shared_histograms
from weald import Bayesian, BoostedTreesClassifier, BoostedTreesRegressor, Leaves, MinimalVariance

N_ROWS = 70_000  # above the sizes from which kernels share their work
RNG = np.random.default_rng(3)
X = RNG.standard_normal((N_ROWS, 14))
Y = X[:, 0] + np.abs(X[:, 1]) + RNG.standard_normal(N_ROWS)


@pytest.mark.parametrize(
    "settings",
    [
        {"leaves": Leaves(iterations=3), "sampling": Bayesian(temperature=0.5)},
        {"leaves": Leaves(method="gradient", iterations=2), "sampling": "mvs", "subsample": 0.5},
        {"loss": "normal", "leaves": Leaves(iterations=2)},
        {"loss": "log_cosh", "sampling": MinimalVariance(reg=0.1), "subsample": 0.8},
    ],
    ids=["logistic, bayesian", "gradient, mvs", "normal", "log_cosh"],
)
def test_leaves_and_weights_give_the_same_bytes(settings: dict[str, Any]) -> None:
    maker: Any = BoostedTreesRegressor if "loss" in settings else BoostedTreesClassifier
    y = Y if "loss" in settings else Y > 0.5
    found = set()
    for threads in (1, 2, 3):
        model = maker(n_estimators=3, growth="oblivious", max_depth=3, n_jobs=threads, **settings)
        with shared_histograms():
            found.add(model.fit(X, y)._to_bytes())
    assert len(found) == 1


def test_a_training_that_goes_on_draws_what_one_would_have_drawn() -> None:
    for sampling in ({"sampling": "mvs", "subsample": 0.4}, {"sampling": Bayesian(frequency=3)}):
        settings: dict[str, Any] = {"n_jobs": 1, "max_leaves": 4, **sampling}
        whole = BoostedTreesRegressor(n_estimators=5, **settings).fit(X[:2_000], Y[:2_000])
        part = BoostedTreesRegressor(n_estimators=2, warm_start=True, **settings).fit(X[:2_000], Y[:2_000])
        part.set_params(n_estimators=5).fit(X[:2_000], Y[:2_000])
        assert np.array_equal(part.predict(X[:99]), whole.predict(X[:99]))
