"""scikit-learn's own checks, and the tools that people put estimators into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor

# Small and quick; min_samples_leaf below the checks' tiny data, so that trees really split.
SMALL: dict[str, Any] = {"n_estimators": 10}


@parametrize_with_checks(
    [
        BoostedTreesRegressor(**SMALL),
        BoostedTreesClassifier(**SMALL),
        BoostedTreesRegressor(**SMALL, growth="oblivious"),
        BoostedTreesClassifier(**SMALL, growth="depthwise", max_depth=4),
        BoostedTreesClassifier(booster="averaging", colsample_bytree=0.5, **SMALL),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


def test_grid_search_through_a_pipeline_finds_parameters() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), BoostedTreesClassifier(**SMALL))
    search = GridSearchCV(pipeline, {"boostedtreesclassifier__max_leaves": [2, 8]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.9
    assert set(search.cv_results_["param_boostedtreesclassifier__max_leaves"].data) == {2, 8}


def test_cross_validation_in_worker_processes_gives_the_scores_of_one_process() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = BoostedTreesRegressor(**SMALL, n_jobs=2)
    alone = cross_val_score(model, X, y, cv=2)
    assert np.array_equal(alone, cross_val_score(model, X, y, cv=2, n_jobs=2))


def test_clone_keeps_every_parameter() -> None:
    model = BoostedTreesRegressor(weald.losses.Huber(delta=2.0), max_leaves=None, max_depth=3, n_jobs=1)
    assert clone(model).get_params() == model.get_params()


def test_column_transformer_passes_frames_through() -> None:
    pandas = pytest.importorskip("pandas")
    data = weald.datasets.load("penguins")
    frame = pandas.DataFrame(data.data)
    numeric = [name for name in frame if frame[name].dtype.kind == "f"]
    others = [name for name in frame if name not in numeric]
    transformer = ColumnTransformer(
        [("scale", StandardScaler(), numeric), ("keep", "passthrough", others)]
    ).set_output(transform="pandas")
    model = make_pipeline(transformer, BoostedTreesClassifier(**SMALL)).fit(frame, data.target)
    assert model.score(frame, data.target) > 0.95
