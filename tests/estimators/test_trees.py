"""scikit-learn's own checks of decision trees, random forests and extra trees, and the tools that people put them into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

# Drawing rows by number is not repeating them by weight: the checks that compare the two are for bootstrap=False.
DRAWN = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


@parametrize_with_checks(
    [
        DecisionTreeClassifier(),
        DecisionTreeRegressor(),
        DecisionTreeRegressor(criterion="absolute_error", max_leaf_nodes=6),
        RandomForestClassifier(5, bootstrap=False),
        RandomForestRegressor(5, bootstrap=False, max_features=0.6),
        ExtraTreesClassifier(5),
        ExtraTreesRegressor(5),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


@parametrize_with_checks(
    [
        RandomForestClassifier(5),
        RandomForestRegressor(5),
        RandomForestClassifier(
            5, criterion="entropy", class_weight="balanced_subsample", features_per="tree"
        ),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of_where_rows_are_drawn(estimator: Any, check: Any) -> None:
    if check.func.__name__ in DRAWN:
        pytest.skip("a row of weight 2 is drawn otherwise than two rows")
    check(estimator)


def test_grid_search_through_a_pipeline_finds_parameters() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(10))
    search = GridSearchCV(pipeline, {"randomforestclassifier__max_depth": [1, 8]}, cv=2).fit(X, y)
    assert search.best_params_ == {"randomforestclassifier__max_depth": 8}
    assert search.best_score_ > 0.9


def test_cross_validation_in_worker_processes_gives_the_scores_of_one_process() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(10, n_jobs=2)
    alone = cross_val_score(model, X, y, cv=2)
    assert np.array_equal(alone, cross_val_score(model, X, y, cv=2, n_jobs=2))


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestRegressor, ExtraTreesClassifier])
def test_clone_keeps_every_parameter(kind: Any) -> None:
    model = kind(max_depth=3, max_features=0.5, min_samples_leaf=0.1, max_bins=17, categorical_features=[1])
    assert clone(model).get_params() == model.get_params()
