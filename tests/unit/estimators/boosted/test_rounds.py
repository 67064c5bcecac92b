"""Predictions of the first rounds, and of every round; lines of every n-th round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from weald.runtime.errors import InputError, NotSupportedError

rng = np.random.default_rng(0)
X = rng.random((150, 4))
TARGETS = {
    "two": np.where(X[:, 0] > 0.5, "y", "n"),
    "three": np.digitize(X[:, 0], [0.3, 0.7]),
    "number": X[:, 0],
}
ROUNDS = 5


def fitted(target: str, booster: Any, **settings: Any) -> Any:
    kind = weald.BoostedTreesRegressor if target == "number" else weald.BoostedTreesClassifier
    return kind(n_estimators=ROUNDS, booster=booster, n_jobs=1, **settings).fit(X, TARGETS[target])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("booster", ["plain", weald.Plain(parallel_trees=3), "dart", "averaging", "ordered"])
def test_every_stage_is_the_model_of_so_many_rounds(target: str, booster: Any) -> None:
    # Averaged trees would all be the same on the same rows.
    model = fitted(target, booster, subsample=0.7 if booster == "averaging" else 1.0)
    stages = list(model.staged_predict(X))
    assert len(stages) == ROUNDS and (stages[-1] == model.predict(X)).all()
    for rounds in range(1, ROUNDS + 1):
        assert (model.predict(X, n_rounds=rounds) == stages[rounds - 1]).all()
    assert model.apply(X, n_rounds=2).shape[1] * ROUNDS == model.apply(X).shape[1] * 2
    if target == "number":
        np.testing.assert_allclose(model.shap_values(X, n_rounds=2).sum(axis=-1), stages[1])
        return
    probabilities, decisions = list(model.staged_predict_proba(X)), list(model.staged_decision_function(X))
    assert (probabilities[-1] == model.predict_proba(X)).all() and (
        decisions[-1] == model.decision_function(X)
    ).all()
    assert (model.predict_proba(X, n_rounds=2) == probabilities[1]).all()
    assert (model.decision_function(X, n_rounds=2) == decisions[1]).all()
    assert (model.predict_log_proba(X, n_rounds=2) == np.log(probabilities[1])).all()
    np.testing.assert_allclose(model.shap_values(X, n_rounds=2).sum(axis=-1), decisions[1])


def test_the_first_rounds_are_the_bytes_of_a_shorter_fit() -> None:
    model = fitted("number", "plain")
    shorter = weald.BoostedTreesRegressor(n_estimators=3, n_jobs=1).fit(X, TARGETS["number"])
    assert model.predict(X, n_rounds=3).tobytes() == shorter.predict(X).tobytes()


def test_stages_read_statistics_of_categories() -> None:
    table = {"colour": np.array(["r", "g", "b"])[rng.integers(3, size=150)], "x": X[:, 0]}
    model = weald.BoostedTreesRegressor(n_estimators=3, categories="ordered", n_jobs=1).fit(table, X[:, 0])
    assert list(model.staged_predict(table))[-1].tobytes() == model.predict(table).tobytes()


@pytest.mark.parametrize("rounds", [0, ROUNDS + 1, -1, 2.0, True, "3"])
def test_rounds_that_the_model_does_not_have_are_refused(rounds: Any) -> None:
    with pytest.raises(
        InputError, match=rf"n_rounds must be a whole number from 1 to the model's {ROUNDS} rounds, not"
    ):
        fitted("number", "plain").predict(X, n_rounds=rounds)


def test_a_linear_model_has_no_earlier_rounds() -> None:
    model = fitted("number", "linear")
    with pytest.raises(NotSupportedError, match="n_rounds cuts trees off, and booster='linear' has weights"):
        model.predict(X, n_rounds=2)
    with pytest.raises(NotSupportedError, match="no predictions of earlier rounds"):
        model.staged_predict(X)


def test_friedmans_boosting_has_the_same_methods() -> None:
    model = weald.GradientBoostingClassifier(n_estimators=3).fit(X, TARGETS["three"])
    assert (model.predict_proba(X, n_rounds=2) == list(model.staged_predict_proba(X))[1]).all()
    assert model.apply(X, n_rounds=2).shape == (150, 2, 3)


def test_verbose_above_one_prints_every_nth_round(capsys: pytest.CaptureFixture[str]) -> None:
    model = weald.BoostedTreesRegressor(n_estimators=5, verbose=2, n_jobs=1)
    model.fit(X, TARGETS["number"], eval_set=[(X, TARGETS["number"])])
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("round")] == ["2/5", "4/5", "5/5"]
    assert f"valid_0 rmse {model.history_['valid_0']['rmse'][1]:.5g}" in lines[0]
