"""Blending: the hold-out trains the final estimator, and only the final estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from weald import (
    BlendingClassifier,
    BlendingRegressor,
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    InputError,
)

X, Y = load_iris(return_X_y=True)
BAYES = ("bayes", GaussianNB())


def test_members_learn_from_the_rest_and_the_final_estimator_from_the_hold_out() -> None:
    model = BlendingClassifier([BAYES], holdout=0.3, passthrough=True).fit(X, Y)
    held_out = model.holdout_rows_
    rest = np.setdiff1d(np.arange(150), held_out)
    assert np.bincount(Y[held_out]).tolist() == [15, 15, 15]
    member = GaussianNB().fit(X[rest], Y[rest])
    np.testing.assert_array_equal(model.estimators_[0].theta_, member.theta_)
    np.testing.assert_array_equal(model.holdout_predictions_, member.predict_proba(X[held_out]))
    final = LogisticRegression().fit(np.hstack([model.holdout_predictions_, X[held_out]]), Y[held_out])
    np.testing.assert_array_equal(model.final_estimator_.coef_, final.coef_)
    np.testing.assert_array_equal(
        model.predict_proba(X), final.predict_proba(np.hstack([member.predict_proba(X), X]))
    )


def test_refit_fits_members_to_all_rows_but_not_the_final_estimator() -> None:
    members = [("trees", BoostedTreesClassifier(n_estimators=3)), BAYES]
    once, again = (BlendingClassifier(members, refit=refit).fit(X, Y) for refit in (False, True))
    np.testing.assert_array_equal(once.holdout_predictions_, again.holdout_predictions_)
    np.testing.assert_array_equal(once.final_estimator_.coef_, again.final_estimator_.coef_)
    np.testing.assert_array_equal(again.estimators_[1].theta_, GaussianNB().fit(X, Y).theta_)
    trees = BoostedTreesClassifier(n_estimators=3).fit(X, Y)
    np.testing.assert_array_equal(again.estimators_[0].predict_proba(X), trees.predict_proba(X))


def test_a_hold_out_of_its_own_is_used_whole() -> None:
    data, values = load_diabetes(return_X_y=True)
    members = [("trees", BoostedTreesRegressor(n_estimators=3)), ("ridge", Ridge())]
    holdout, weight = (data[300:], values[300:]), np.linspace(1, 2, 142)
    model = BlendingRegressor(members).fit(data[:300], values[:300], holdout_set=(*holdout, weight))
    ridge = Ridge().fit(data[:300], values[:300])
    np.testing.assert_array_equal(model.holdout_predictions_[:, 1], ridge.predict(data[300:]))
    final = RidgeCV().fit(model.holdout_predictions_, values[300:], sample_weight=weight)
    np.testing.assert_array_equal(model.predict(data), final.predict(model.transform(data)))
    assert not hasattr(model, "holdout_rows_")
    labels = np.array(["a", "b", "c"])[Y]
    classifier = BlendingClassifier([BAYES]).fit(X[::2], labels[::2], holdout_set=(X[1::2], labels[1::2]))
    assert classifier.score(X, labels) > 0.9


def test_the_seed_decides_what_is_held_out() -> None:
    rows = [
        BlendingRegressor([("ridge", Ridge())], random_state=seed).fit(X, Y).holdout_rows_
        for seed in (None, 0, 7)
    ]
    np.testing.assert_array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])


def test_groups_are_held_out_whole() -> None:
    groups = np.tile(np.arange(10), 15)
    for kind in (BlendingClassifier, BlendingRegressor):
        member = BAYES if kind is BlendingClassifier else ("ridge", Ridge())
        model = kind([member]).fit(X, Y, groups=groups)
        assert len(model.holdout_rows_) == 30
        assert len(np.unique(groups[model.holdout_rows_])) == 2


def test_a_member_that_remembers_cannot_fool_the_final_estimator() -> None:
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(600, 3)), rng.integers(0, 2, 600)
    model = BlendingClassifier([("memory", KNeighborsClassifier(1))], holdout=0.5).fit(noise, labels)
    said = (model.holdout_predictions_[:, 0] > 0.5).astype(int)
    assert abs(accuracy_score(labels[model.holdout_rows_], said) - 0.5) < 0.08


def test_weights_are_cut_with_the_rows() -> None:
    weight = np.random.default_rng(0).uniform(0.5, 2, 150)
    model = BlendingClassifier([BAYES]).fit(X, Y, sample_weight=weight)
    held_out = model.holdout_rows_
    rest = np.setdiff1d(np.arange(150), held_out)
    member = GaussianNB().fit(X[rest], Y[rest], sample_weight=weight[rest])
    np.testing.assert_array_equal(model.estimators_[0].theta_, member.theta_)
    final = LogisticRegression().fit(model.holdout_predictions_, Y[held_out], sample_weight=weight[held_out])
    np.testing.assert_array_equal(model.final_estimator_.coef_, final.coef_)


def test_grid_search_and_jobs() -> None:
    data, labels = load_breast_cancer(return_X_y=True)
    model = BlendingClassifier(
        [("trees", BoostedTreesClassifier(n_estimators=3)), BAYES], LogisticRegression(), refit=True
    )
    search = GridSearchCV(model, {"final_estimator__C": [1e-6, 1.0]}, cv=2).fit(data, labels)
    assert search.best_params_ == {"final_estimator__C": 1.0}
    alone, two = (model.set_params(n_jobs=n).fit(data, labels).predict_proba(data) for n in (1, 2))
    np.testing.assert_array_equal(alone, two)


@pytest.mark.parametrize(
    ("choices", "fit", "message"),
    [
        ({"holdout": 1.0}, {}, "holdout must be below 1"),
        ({"holdout": 0.0}, {}, "holdout must be a number above 0"),
        ({"estimators": [[BAYES]]}, {}, "only stacking has layers"),
        ({}, {"holdout_set": X}, "holdout_set must be a pair"),
        ({}, {"holdout_set": (X, Y), "groups": Y}, "holdout_set gives the hold-out"),
        ({"refit": True}, {"holdout_set": (X, Y)}, "refit=True needs all rows in one table"),
        ({}, {"holdout_set": (X, Y + 1)}, "holdout_set has the class 3"),
        ({}, {"holdout_set": (X[:90], Y[:90])}, "no row of the class"),
        ({"holdout": 0.3}, {"groups": Y}, "no row of the class"),
    ],
)
def test_bad_arguments_get_one_sentence(choices: dict[str, Any], fit: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BlendingClassifier(**{"estimators": [BAYES], **choices}).fit(X, Y, **fit)


@pytest.mark.parametrize(
    ("rows", "labels", "holdout", "said"),
    [
        (range(60), [*([0] * 59), 1], 0.2, "row 59 of y is the only one of its class"),
        (range(0, 150, 15), Y[::15], 0.1, "holds 1 of 10 rows out, but there are 3 classes"),
        (range(0, 150, 15), Y[::15], 0.99, "holds all 10 samples out"),
    ],
)
def test_a_share_that_leaves_somebody_without_a_class_is_refused(
    rows: range, labels: Any, holdout: float, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        BlendingClassifier([BAYES], holdout=holdout).fit(X[list(rows)], np.asarray(labels))


def test_the_default_final_estimator_refuses_missing_values_that_passthrough_brings() -> None:
    table = X.copy()
    table[::9, 0] = np.nan
    members = [("trees", BoostedTreesClassifier(n_estimators=2))]
    with pytest.raises(InputError, match=r"X as passthrough gives it .* set final_estimator"):
        BlendingClassifier(members, passthrough=True).fit(table, Y)
    final = BoostedTreesClassifier(n_estimators=2)
    assert BlendingClassifier(members, final, passthrough=True).fit(table, Y).predict(table).shape == (150,)


def test_a_hold_out_without_weight_is_refused() -> None:
    rows = np.arange(150)
    held_out = BlendingRegressor([("trees", BoostedTreesRegressor(n_estimators=1))]).fit(X, Y).holdout_rows_
    weight = np.where(np.isin(rows, held_out), 0.0, 1.0)
    with pytest.raises(InputError, match="zero in all rows that are held out"):
        BlendingRegressor([("trees", BoostedTreesRegressor(n_estimators=1))]).fit(X, Y, sample_weight=weight)


def test_a_dict_of_columns_is_refused_in_a_sentence() -> None:
    table = {f"x{place}": column for place, column in enumerate(X.T)}
    with pytest.raises(InputError, match="X is a dict of columns"):
        BlendingClassifier([("trees", BoostedTreesClassifier(n_estimators=2))]).fit(table, Y)
