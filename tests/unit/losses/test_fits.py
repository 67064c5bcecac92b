"""Fits with the losses that have no test elsewhere: each beats the constant that it starts from, and survives its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

import weald
from weald.losses import METRICS
from weald.runtime.errors import InputError

rng = np.random.default_rng(5)
X = rng.standard_normal((600, 4))
SIGNAL = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(600)
TARGETS: dict[str, Any] = {
    "pseudo_huber": SIGNAL,
    "fair": SIGNAL,
    "log_cosh": 5.0 * SIGNAL,
    "normal": SIGNAL,
    "mape": 20.0 + 3.0 * SIGNAL,
    "squared_log": np.exp(SIGNAL),
    "cross_entropy": 1.0 / (1.0 + np.exp(-SIGNAL)),
}


@pytest.mark.parametrize("loss", TARGETS)
def test_a_regression_beats_the_constant_and_keeps_its_predictions_in_a_file(
    loss: str, tmp_path: Path
) -> None:
    y = TARGETS[loss]
    model = weald.BoostedTreesRegressor(loss, n_estimators=30, n_jobs=1).fit(X, y, eval_set=[(X, y)])
    (curve,) = model.history_["valid_0"].values()
    assert curve[-1] < 0.9 * curve[0]
    model.save(tmp_path / "model.weald")
    assert np.array_equal(weald.load(tmp_path / "model.weald").predict(X), model.predict(X))


def test_a_hinge_classifier_separates_and_gives_probabilities_of_zero_and_one(tmp_path: Path) -> None:
    y = np.where(SIGNAL > 0, "up", "down")
    model = weald.BoostedTreesClassifier("hinge", n_estimators=30, n_jobs=1).fit(X, y)
    assert model.score(X, y) > 0.9
    assert set(np.unique(model.predict_proba(X))) == {0.0, 1.0}
    model.save(tmp_path / "model.weald")
    assert np.array_equal(weald.load(tmp_path / "model.weald").predict(X), model.predict(X))
    with pytest.raises(InputError, match="loss='hinge' is for two classes, but y has 3"):
        weald.BoostedTreesClassifier("hinge").fit(X, np.arange(600) % 3)


def test_one_vs_rest_classes_have_probabilities_that_add_up_to_one(tmp_path: Path) -> None:
    y = np.array(["low", "middle", "high"])[np.digitize(SIGNAL, [-0.5, 0.5])]
    model = weald.BoostedTreesClassifier("one_vs_rest", n_estimators=30, n_jobs=1)
    model.fit(X, y, eval_set=[(X, y)])
    assert model.score(X, y) > 0.9
    probabilities = model.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    assert model.history_["valid_0"]["logloss"][-1] == pytest.approx(log_loss(y, probabilities))
    single = weald.BoostedTreesClassifier(n_estimators=30, n_jobs=1, random_state=0).fit(X, y == "high")
    # A class's trees are those of a fit of that class against the rest, but for the draws that round gradients.
    assert np.allclose(model.decision_function(X)[:, 0], single.decision_function(X), atol=0.02)
    model.save(tmp_path / "model.weald")
    assert np.array_equal(weald.load(tmp_path / "model.weald").predict_proba(X), probabilities)
    with pytest.raises(InputError, match="loss='one_vs_rest' is for three classes or more, but y has 2"):
        weald.BoostedTreesClassifier("one_vs_rest").fit(X, y == "low")


def test_several_quantiles_are_predicted_side_by_side(tmp_path: Path) -> None:
    alphas = [0.1, 0.5, 0.9]
    model = weald.BoostedTreesRegressor(weald.losses.Quantile(alpha=alphas), n_estimators=30, n_jobs=1)
    predicted = model.fit(X, SIGNAL, eval_set=[(X, SIGNAL)]).predict(X)
    assert predicted.shape == (600, 3)
    for column, alpha in enumerate(alphas):
        single = weald.BoostedTreesRegressor(weald.losses.Quantile(alpha=alpha), n_estimators=30, n_jobs=1)
        lost = METRICS["pinball"].function(SIGNAL, predicted[:, column], None, alpha)
        alone = METRICS["pinball"].function(SIGNAL, single.fit(X, SIGNAL).predict(X), None, alpha)
        assert lost == pytest.approx(alone, rel=0.1)
    model.save(tmp_path / "model.weald")
    assert np.array_equal(weald.load(tmp_path / "model.weald").predict(X), predicted)


def test_the_options_of_a_loss_are_checked_and_those_of_another_are_unknown() -> None:
    for loss, message in (
        (weald.losses.Huber(delta=0.0), r"loss\.delta must be a number above 0, not 0\.0"),
        (weald.losses.PseudoHuber(delta=-1.0), r"loss\.delta must be a number above 0, not -1\.0"),
        (weald.losses.Fair(scale=0.0), r"loss\.scale must be a number above 0, not 0\.0"),
        (weald.losses.Tweedie(power=2.0), r"loss\.power must lie below 2, not 2\.0; for 2 use loss='gamma'"),
        (weald.losses.Quantile(alpha=1.0), r"loss\.alpha must be between 0 and 1, both excluded, not 1\.0"),
        (weald.losses.Quantile(alpha=[0.1, 10**400]), r"loss\.alpha must be between 0 and 1"),
        (weald.losses.Quantile(alpha=[]), r"loss\.alpha must name at least one quantile"),
    ):
        with pytest.raises(InputError, match=message):
            weald.BoostedTreesRegressor(loss).fit(X, SIGNAL)
    with pytest.raises(TypeError, match="delta"):
        weald.losses.Quantile(delta=1.0)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="loss=Huber\\(\\) is for regression; use BoostedTreesRegressor"):
        weald.BoostedTreesClassifier(weald.losses.Huber()).fit(X, SIGNAL > 0)
