"""scikit-learn's own checks of stacking and blending, and the tools that people put them into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_diabetes, load_iris, make_multilabel_classification
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import weald
from weald import (
    BlendingClassifier,
    BlendingRegressor,
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    RandomForestClassifier,
    StackingClassifier,
    StackingRegressor,
)
from weald.runtime.errors import InputError

CLASSIFIERS = [("bayes", GaussianNB()), ("logistic", LogisticRegression())]
REGRESSORS = [("linear", LinearRegression()), ("trees", BoostedTreesRegressor(n_estimators=3))]
TREES = [("trees", BoostedTreesClassifier(n_estimators=3)), ("less", BoostedTreesClassifier(n_estimators=2))]


@parametrize_with_checks(
    [
        StackingClassifier(CLASSIFIERS, cv=3),
        StackingRegressor(REGRESSORS, cv=3),
        StackingClassifier([TREES, CLASSIFIERS], cv=2, refit=False, passthrough=True),
        BlendingClassifier(CLASSIFIERS, holdout=0.4),
        BlendingRegressor(REGRESSORS, refit=True),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture
def routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("kind", [StackingClassifier, BlendingClassifier])
def test_metadata_goes_to_those_who_ask_for_it(kind: Any, routing: None) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.linspace(1, 2, len(y))
    asking = LogisticRegression(max_iter=500).set_fit_request(sample_weight=True)
    members = [("asks", asking), ("declines", GaussianNB().set_fit_request(sample_weight=False))]
    model = kind(members, asking, refit=True).fit(X, y, sample_weight=weight)
    alone = LogisticRegression(max_iter=500).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.named_estimators_.asks.coef_, alone.coef_)
    np.testing.assert_array_equal(model.named_estimators_.declines.theta_, GaussianNB().fit(X, y).theta_)
    kind(members, refit=True).fit(X, y, sample_weight=weight)  # the default final estimator takes weights
    with pytest.raises(UnsetMetadataPassedError):
        kind([("silent", GaussianNB())], asking).fit(X, y, sample_weight=weight)


class Plain(LogisticRegression):  # type: ignore[misc]
    """Remembers the weights that it was fitted with."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Plain:
        self.weight_ = sample_weight
        super().fit(X, y, sample_weight)
        return self


def test_a_final_estimator_that_requests_nothing_gets_what_fit_is_given(routing: None) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.linspace(1, 2, len(y))
    members = [("bayes", GaussianNB().set_fit_request(sample_weight=True))]
    for final, expected in ((Plain(), weight), (Plain().set_fit_request(sample_weight=False), None)):
        model = StackingClassifier(members, final, cv=2).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(model.final_estimator_.weight_, expected)


def test_groups_reach_a_stack_inside_a_search(routing: None) -> None:
    X, y = load_iris(return_X_y=True)
    groups = np.tile(np.arange(10), 15)
    model = StackingClassifier([("bayes", GaussianNB())], LogisticRegression(), cv=GroupKFold(3))
    with pytest.raises(UnsetMetadataPassedError):
        GridSearchCV(model, {"final_estimator__C": [1.0]}, cv=GroupKFold(2)).fit(X, y, groups=groups)
    model.set_fit_request(groups=True)
    search = GridSearchCV(model, {"final_estimator__C": [1.0]}, cv=GroupKFold(2)).fit(X, y, groups=groups)
    assert search.best_score_ > 0.9


def test_predict_passes_arguments_to_the_final_estimator() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = StackingRegressor([("linear", LinearRegression())], BayesianRidge(), cv=2).fit(X, y)
    mean, spread = model.predict(X, return_std=True)
    assert mean.shape == spread.shape == y.shape


MULTILABEL = make_multilabel_classification(n_samples=120, n_classes=3, random_state=0)
SEVERAL = [
    ("forest", RandomForestClassifier(5)),  # a list of probabilities
    ("nets", MLPClassifier((4,), max_iter=5, random_state=0)),  # an array of them
    ("ridge", RidgeClassifier()),  # a decision function
]


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("options", [{}, {"stack_method": "predict"}, {"refit": False, "passthrough": True}])
def test_several_labels_a_row_are_stacked_label_by_label(options: dict[str, Any]) -> None:
    X, y = MULTILABEL
    model = StackingClassifier(SEVERAL, KNeighborsClassifier(), cv=3, **options).fit(X, y)
    assert model.oof_predictions_.shape == (len(y), 9)
    assert model.transform(X).shape == (len(y), 9 + X.shape[1] * model.passthrough)
    assert [classes.tolist() for classes in model.classes_] == [[0, 1]] * 3
    assert model.predict(X).shape == y.shape
    assert (model.predict(X) == y).mean() > 0.75
    if not options:
        inner = model.named_estimators_.forest.predict_proba(X)
        np.testing.assert_array_equal(
            model.transform(X)[:, :3], np.column_stack([one[:, 1] for one in inner])
        )


def test_several_labels_are_named_as_they_were_given_also_from_a_file(tmp_path: Path) -> None:
    X, y = MULTILABEL
    words = np.where(y == 1, "yes", "no")
    options: dict[str, Any] = {"final_estimator": RandomForestClassifier(5)}
    for model in (
        StackingClassifier(SEVERAL[:1], cv=3, **options).fit(X, words),
        BlendingClassifier(SEVERAL[:1], **options).fit(X, words),
        BlendingClassifier(SEVERAL[:1], **options).fit(X[:80], words[:80], holdout_set=(X[80:], words[80:])),
    ):
        assert set(model.predict(X).ravel()) == {"yes", "no"}
        model.save(tmp_path / "labels.weald")
        loaded = weald.load(tmp_path / "labels.weald")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert len(loaded.predict_proba(X)) == 3


def test_a_fold_without_a_label_gives_it_the_probability_zero() -> None:
    X, y = MULTILABEL
    y = y.copy()
    y[:, 2] = np.arange(len(y)) < 2  # in the first fold's test rows alone
    model = StackingClassifier(SEVERAL[:1], KNeighborsClassifier(), cv=KFold(3)).fit(X, y)
    assert not model.oof_predictions_[:40, 2].any()


def test_labels_that_cannot_be_stacked_are_refused() -> None:
    X, y = MULTILABEL
    with pytest.raises(
        InputError, match="which the default final estimator cannot learn; give a final_estimator"
    ):
        StackingClassifier(SEVERAL[:1]).fit(X, y)
    with pytest.raises(InputError, match="column 1 has 3 classes; fit a model for each column"):
        StackingClassifier(SEVERAL[:1], KNeighborsClassifier()).fit(
            X, np.column_stack([y[:, 0], y.sum(axis=1) % 3])
        )
    with pytest.raises(InputError, match="holdout_set has 2 columns of labels, but y has 3"):
        BlendingClassifier(SEVERAL[:1], KNeighborsClassifier()).fit(X, y, holdout_set=(X, y[:, :2]))


def test_the_reason_for_a_missing_method_is_told() -> None:
    with pytest.raises(AttributeError, match="no attribute 'decision_function'") as told:
        StackingClassifier(CLASSIFIERS, GaussianNB()).decision_function([[1.0]])
    assert "GaussianNB" in str(told.value.__cause__)


def test_a_linear_model_that_cannot_be_solved_is_refused() -> None:
    X, y = np.arange(40.0)[:, None] * 1e160, np.arange(40.0)
    members = [("trees", BoostedTreesRegressor(n_estimators=2)), ("more", BoostedTreesRegressor(n_estimators=3))]
    with pytest.raises(InputError, match=r"the default final estimator cannot be fitted: .* set final_estimator"):
        StackingRegressor(members, passthrough=True).fit(X, y)
    StackingRegressor(members).fit(X, y)
