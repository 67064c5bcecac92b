"""The log-cosh loss's exact leaves, and what the normal loss predicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import reference_losses as reference
import weald
from weald.losses import make_loss
from weald.runtime.errors import NotSupportedError

rng = np.random.default_rng(2)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_leaf_of_log_cosh_is_the_least_loss_in_any_order_of_its_rows(weighted: bool) -> None:
    y = np.concatenate([rng.standard_normal(150), 1e4 * rng.standard_normal(50), [3.0]])
    weight = rng.uniform(0.1, 3.0, 201) if weighted else None
    offsets = np.array([0, 120, 200, 201, 201])
    found, shuffled = np.full(4, 7.0), np.full(4, 7.0)
    loss, score = make_loss("log_cosh"), rng.standard_normal(201)
    loss.refit_leaves(score, y, weight, np.arange(201), offsets, found)
    other = np.concatenate([rng.permutation(np.arange(*offsets[k : k + 2])) for k in range(3)])
    loss.refit_leaves(score, y, weight, other, offsets, shuffled)
    used = np.ones(201) if weight is None else weight
    for leaf in range(3):
        rows = slice(*offsets[leaf : leaf + 2])
        want = reference.least_log_cosh((y - score)[rows], used[rows])
        assert found[leaf] == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert found[3] == 7.0
    assert found.tobytes() == shuffled.tobytes()


def test_the_normal_loss_predicts_the_mean_and_the_deviation_of_every_row(tmp_path: Path) -> None:
    X = rng.uniform(size=(2_000, 2))
    deviation = np.where(X[:, 1] > 0.5, 2.0, 0.5)
    y = 3.0 * X[:, 0] + deviation * rng.standard_normal(2_000)
    model = weald.BoostedTreesRegressor("normal", n_estimators=50, max_leaves=3, n_jobs=1).fit(X, y)
    assert model.predict(X).shape == (2_000,)
    spread = model.predict_deviation(X)
    assert spread[X[:, 1] > 0.5].mean() == pytest.approx(2.0, abs=0.2)
    assert spread[X[:, 1] <= 0.5].mean() == pytest.approx(0.5, abs=0.1)
    model.save(tmp_path / "model.weald")
    assert np.array_equal(weald.load(tmp_path / "model.weald").predict_deviation(X), spread)


def test_only_the_normal_loss_has_a_deviation_and_a_likelihood() -> None:
    X = rng.uniform(size=(60, 2))
    model = weald.BoostedTreesRegressor(n_estimators=2, n_jobs=1).fit(X, X[:, 0])
    with pytest.raises(NotSupportedError, match="loss='normal'"):
        model.predict_deviation(X)
    with pytest.raises(NotSupportedError, match="normal_nloglik"):
        model.set_params(eval_metric="normal_nloglik").fit(X, X[:, 0])
    constant = weald.BoostedTreesRegressor("normal", n_estimators=2, n_jobs=1).fit(X, np.full(60, 2.0))
    assert np.allclose(constant.predict(X), 2.0) and np.isfinite(constant.predict_deviation(X)).all()
