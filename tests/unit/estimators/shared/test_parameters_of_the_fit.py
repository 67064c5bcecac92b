"""A model's file holds the parameters of the fit, whatever is set afterwards."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald

X = np.random.default_rng(1).random((60, 3))
Y = X[:, 0] > 0.5
MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "boosted": (
        weald.BoostedTreesClassifier(n_estimators=3, n_jobs=1),
        {"n_estimators": 9, "learning_rate": 0.5, "bins": weald.Bins(use_missing=False)},
    ),
    "linear": (
        weald.BoostedTreesClassifier(booster="linear", n_estimators=3),
        {"n_estimators": 9, "booster": "plain"},
    ),
    "friedman": (weald.GradientBoostingClassifier(n_estimators=3), {"n_estimators": 9, "learning_rate": 0.5}),
    "forest": (weald.RandomForestClassifier(3, n_jobs=1), {"n_estimators": 9, "max_depth": 2}),
    "tree": (weald.DecisionTreeClassifier(), {"max_depth": 2}),
    "bagging": (weald.BaggingClassifier(n_estimators=3), {"n_estimators": 1}),
    "adaboost": (weald.AdaBoostClassifier(n_estimators=3), {"n_estimators": 1}),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_set_after_the_fit_is_not_in_the_file(name: str, tmp_path: Path) -> None:
    estimator, later = MODELS[name]
    model = estimator.fit(X, Y)
    path, changed = tmp_path / "as_fitted.weald", tmp_path / "changed.weald"
    before = {key: model.get_params(deep=False)[key] for key in later}
    model.save(path)
    model.set_params(**later).save(changed)
    assert changed.read_bytes() == path.read_bytes()
    loaded = weald.load(changed)
    assert {key: loaded.get_params(deep=False)[key] for key in later} == before
    assert (loaded.predict(X) == model.predict(X)).all()
    again = pickle.loads(pickle.dumps(model))
    assert {key: again.get_params(deep=False)[key] for key in later} == later
    again.save(changed)
    assert changed.read_bytes() == path.read_bytes()


def test_the_learning_rate_is_that_of_the_fit(tmp_path: Path) -> None:
    for kind in (weald.BoostedTreesClassifier, weald.GradientBoostingClassifier):
        model = kind(n_estimators=3, learning_rate=0.2).fit(X, Y).set_params(learning_rate=0.7)
        model.save(tmp_path / "model.weald")
        loaded = weald.load(tmp_path / "model.weald").set_params(learning_rate=0.9)
        assert model.learning_rate_ == loaded.learning_rate_ == 0.2


def test_what_a_finished_model_is_asked_by_is_that_of_today(tmp_path: Path) -> None:
    model = weald.BoostedTreesClassifier(n_estimators=3).fit(X, Y).set_params(importance_type="split")
    model.save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald")
    assert (loaded.feature_importances_ == model.feature_importances_).all()
