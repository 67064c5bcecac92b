"""Stacking: nothing leaks from a row to its own prediction, folds and layers are as asked, bins are shared."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RepeatedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import LinearSVC

from weald import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    InputError,
    StackingClassifier,
    StackingRegressor,
)
from weald.binning import cuts
from weald.binning import shared as shared_module

X, Y = load_iris(return_X_y=True)
SHUFFLED = np.random.default_rng(0).permutation(len(Y))
BAYES, NEIGHBOURS = ("bayes", GaussianNB()), ("neighbours", KNeighborsClassifier(1))


class Recorder(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers the rows that it was fitted to (by their first column) and says 1 for those, 0 for others."""

    def fit(self, X: Any, y: Any) -> Recorder:
        self.seen_ = set(X[:, 0].tolist())
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        seen = np.array([value in self.seen_ for value in X[:, 0].tolist()], dtype=float)
        return np.column_stack([1 - seen, seen])

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def numbered(n: int) -> NDArray[np.float64]:
    return np.arange(float(n)).reshape(-1, 1)


def test_a_member_that_remembers_cannot_fool_the_final_estimator() -> None:
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    honest = StackingClassifier([NEIGHBOURS], cv=5).fit(noise, labels)
    out_of_fold = (honest.oof_predictions_[:, 0] > 0.5).astype(int)
    assert abs(accuracy_score(labels, out_of_fold) - 0.5) < 0.08
    assert abs(honest.final_estimator_.coef_[0, 0]) < 0.5
    naive = StackingClassifier([NEIGHBOURS], cv="in_sample_overfits").fit(noise, labels)
    assert naive.score(noise, labels) == 1.0
    assert naive.final_estimator_.coef_[0, 0] > 3
    assert not hasattr(naive, "oof_predictions_")


def test_no_row_is_predicted_by_a_model_that_has_seen_it() -> None:
    labels = np.tile([0, 1], 30)
    for cv in (None, 3, KFold(4, shuffle=True, random_state=0)):
        model = StackingClassifier([[("one", Recorder())], [("two", Recorder())]], cv=cv)
        model.fit(numbered(60), labels)
        assert not model.oof_predictions_[0].any()
        assert model.transform(numbered(60)).shape == (60, 1)


def test_groups_stay_in_one_fold() -> None:
    groups = np.tile(np.arange(12), 5)
    table = groups[:, None].astype(float)  # the recorder knows a group by its number
    labels = np.arange(60) // 12 % 2
    for cv in (4, GroupKFold(3)):
        model = StackingClassifier([("one", Recorder())], cv=cv).fit(table, labels, groups=groups)
        assert not model.oof_predictions_.any()
    without = StackingClassifier([("one", Recorder())], cv=4).fit(table, labels)
    assert without.oof_predictions_.all()
    regressor = StackingRegressor([("ridge", Ridge())], cv=GroupKFold(3))
    assert regressor.fit(table, labels, groups=groups).oof_predictions_.shape == (60, 1)


def test_layers_are_fitted_to_the_out_of_fold_outputs_below() -> None:
    first, second = [BAYES, NEIGHBOURS], [("above", LogisticRegression()), ("centroid", LinearSVC(random_state=0))]
    model = StackingClassifier([first, second], cv=3, passthrough=True).fit(X, Y)
    below = StackingClassifier(first, cv=3).fit(X, Y).oof_predictions_
    np.testing.assert_array_equal(model.oof_predictions_[0], below)
    upper = StackingClassifier(second, cv=3, passthrough=False).fit(np.hstack([below, X]), Y)
    np.testing.assert_array_equal(model.oof_predictions_[1], upper.oof_predictions_)
    assert [len(layer) for layer in model.estimators_] == [2, 2]
    assert model.stack_method_ == [["predict_proba"] * 2, ["predict_proba", "decision_function"]]
    assert list(model.named_estimators_) == ["bayes", "neighbours", "above", "centroid"]
    assert model.transform(X).shape == (150, 6 + 4) and model.score(X, Y) > 0.9
    assert model.get_feature_names_out()[-5:].tolist() == [
        "stackingclassifier_centroid2", "x0", "x1", "x2", "x3"
    ]  # fmt: skip


def test_without_refit_the_models_of_the_folds_answer_together() -> None:
    kept = StackingClassifier([BAYES], cv=3, refit=False).fit(X, Y)
    again = StackingClassifier([BAYES], cv=3).fit(X, Y)
    np.testing.assert_array_equal(kept.oof_predictions_, again.oof_predictions_)
    assert len(kept.estimators_[0]) == 3
    mean = np.mean([model.predict_proba(X) for model in kept.estimators_[0]], axis=0)
    np.testing.assert_array_equal(kept.transform(X), mean)
    np.testing.assert_array_equal(again.transform(X), again.estimators_[0].predict_proba(X))
    voted = StackingClassifier([BAYES], cv=3, refit=False, stack_method="predict").fit(X, Y).transform(X)
    votes = np.array([model.predict(X) for model in kept.estimators_[0]])
    expected = [np.bincount(column).argmax() for column in votes.T]
    np.testing.assert_array_equal(voted[:, 0], expected)


def test_a_class_that_a_fold_lacks_gets_no_probability() -> None:
    folds = [(np.arange(50, 150), np.arange(50)), (np.arange(50), np.arange(50, 150))]
    folds[1] = (np.r_[0:50, 50:60], np.arange(50, 150))
    model = StackingClassifier([BAYES], cv=folds).fit(X, Y)
    assert not model.oof_predictions_[:50, 0].any() and not model.oof_predictions_[50:, 2].any()
    with pytest.raises(InputError, match="'svm' was fitted to rows of 2 of the 3 classes"):
        StackingClassifier([("svm", LinearSVC())], cv=folds).fit(X, Y)


def test_cuts_are_found_once_for_all_folds_and_members(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*arguments: Any, **more: Any) -> Any:
        calls.append(arguments)
        return cuts.fit_bins(*arguments, **more)

    monkeypatch.setattr(shared_module, "fit_bins", counted)
    members = [(f"m{n}", BoostedTreesClassifier(n_estimators=n)) for n in (1, 2)]
    StackingClassifier([*members, BAYES], cv=3).fit(X, Y)
    assert len(calls) == 1
    other = ("coarse", BoostedTreesClassifier(n_estimators=1, bins=15))
    StackingClassifier([*members, other], cv=3).fit(X, Y)
    assert len(calls) == 1 + 3 * 4  # members that want different bins make their own


def test_weights_reach_members_bins_and_the_final_estimator() -> None:
    weight = np.random.default_rng(1).integers(1, 5, len(Y)).astype(float)
    members = [("trees", BoostedTreesClassifier(n_estimators=3, bins=8)), BAYES]
    model = StackingClassifier(members, cv=3).fit(X, Y, sample_weight=weight)
    alone = clone(members[0][1]).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(model.transform(X)[:, :3], alone.predict_proba(X))
    final = LogisticRegression().fit(model.oof_predictions_, Y, sample_weight=weight)
    np.testing.assert_array_equal(model.final_estimator_.coef_, final.coef_)
    nested = StackingClassifier([("stack", StackingClassifier([BAYES], cv=2))], cv=2)
    assert nested.fit(X, Y, sample_weight=weight).score(X, Y) > 0.9
    with pytest.raises(InputError, match="'neighbours' is a KNeighborsClassifier, whose fit takes none"):
        StackingClassifier([NEIGHBOURS], cv=3).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("refit", [True, False])
def test_the_number_of_jobs_does_not_change_the_model(refit: bool) -> None:
    diabetes, values = load_diabetes(return_X_y=True)
    members = [("trees", BoostedTreesRegressor(n_estimators=3)), ("ridge", Ridge())]
    alone, two = (
        StackingRegressor(members, cv=3, refit=refit, n_jobs=n).fit(diabetes, values) for n in (1, 2)
    )
    np.testing.assert_array_equal(alone.predict(diabetes), two.predict(diabetes))
    np.testing.assert_array_equal(alone.oof_predictions_, two.oof_predictions_)


def test_grid_search_reaches_the_final_estimator_and_the_members() -> None:
    layers = [[BAYES, NEIGHBOURS], [("above", LogisticRegression())]]
    model = StackingClassifier(layers, LogisticRegression(), cv=2)
    grid = {"final_estimator__C": [1e-4, 1.0], "above__C": [2.0], "bayes": [GaussianNB(), "drop"]}
    search = GridSearchCV(model, grid, cv=2).fit(X[SHUFFLED], Y[SHUFFLED])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and search.best_score_ > 0.9
    assert search.best_estimator_.named_estimators_.above.C == 2.0


def test_members_are_replaced_and_dropped_by_name() -> None:
    model = StackingClassifier([BAYES, NEIGHBOURS], cv=2)
    assert model.get_params()["neighbours__n_neighbors"] == 1
    before = model.estimators
    model.set_params(bayes="drop", neighbours__n_neighbors=3)
    assert before == [BAYES, NEIGHBOURS] and model.named_estimators.bayes == "drop"
    model.fit(X, Y)
    assert [member.n_neighbors for member in model.estimators_] == [3]
    assert model.named_estimators_.bayes == "drop" and model.transform(X).shape == (150, 3)
    assert clone(model).get_params()["neighbours__n_neighbors"] == 3


def test_names_of_a_frame_are_kept_and_set_output_gives_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frame = load_iris(as_frame=True).data
    members = [("trees", BoostedTreesClassifier(n_estimators=2)), BAYES]
    model = StackingClassifier(members, cv=2, passthrough=True).set_output(transform="pandas").fit(frame, Y)
    assert model.feature_names_in_.tolist() == list(frame)
    out = model.transform(frame)
    assert isinstance(out, pandas.DataFrame) and list(out)[-4:] == list(frame)
    assert model.predict(frame).shape == (150,)
    with pytest.raises(InputError, match="input_features is not equal to feature_names_in_"):
        model.get_feature_names_out(["a"] * 4)


def test_a_table_of_strings_goes_through_members_of_ours_and_the_final_estimator() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"colour": ["red", "blue", "green"] * 40, "size": np.arange(120.0)})
    labels = np.where(frame["colour"] == "red", "yes", "no")
    members = [("trees", BoostedTreesClassifier(n_estimators=5))]
    final = BoostedTreesClassifier(n_estimators=5)
    model = StackingClassifier(members, final, cv=3, passthrough=True).fit(frame, labels)
    assert model.score(frame, labels) == 1.0
    assert model.final_estimator_.n_features_in_ == 3


def test_a_pickled_stack_predicts_the_same() -> None:
    model = StackingClassifier([BAYES, ("trees", BoostedTreesClassifier(n_estimators=2))], cv=2).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_fitted_members_may_know_labels_that_are_strings() -> None:
    labels = np.array(["a", "b", "c"])[Y]
    member = GaussianNB().fit(X[::2], labels[::2])
    model = StackingClassifier([("bayes", member)], cv="prefit", stack_method="predict")
    model.fit(X[1::2], labels[1::2])
    np.testing.assert_array_equal(
        model.transform(X)[:, 0], np.searchsorted(model.classes_, member.predict(X))
    )
    assert model.score(X, labels) > 0.9
    with pytest.raises(NotFittedError):
        StackingClassifier([BAYES], cv="prefit").fit(X, Y)


@pytest.mark.parametrize(
    ("choices", "fit", "message"),
    [
        ({"estimators": []}, {}, "must be a list of"),
        ({"estimators": [("a", GaussianNB()), ("a", GaussianNB())]}, {}, "'a' is there twice"),
        ({"estimators": [("cv", GaussianNB())]}, {}, "nor be the name of a parameter"),
        ({"estimators": [("a__b", GaussianNB())]}, {}, "must not have '__'"),
        ({"estimators": [("a", "drop")]}, {}, "a member that is not dropped"),
        ({"estimators": [("a", GaussianNB)]}, {}, "member 'a' must be an estimator or 'drop'"),
        ({"final_estimator": Ridge()}, {}, "final_estimator must be a classifier"),
        ({"cv": "insample"}, {}, "'prefit' or 'in_sample_overfits', not 'insample'"),
        ({"cv": RepeatedKFold(n_splits=3, n_repeats=2)}, {}, "row 0 is in 2"),
        ({"cv": "prefit", "refit": False}, {}, "cv='prefit' has no folds"),
        ({"cv": "in_sample_overfits"}, {"groups": Y}, "groups are for folds"),
        ({"stack_method": "transform"}, {}, "stack_method must be one of"),
        ({"estimators": [("a", LinearSVC())], "stack_method": "predict_proba"}, {}, "has no predict_proba"),
        ({"refit": 1}, {}, "refit must be True or False"),
        ({}, {"groups": [1, 2]}, "groups must be one label a row, 150 in all"),
        ({}, {"monitor": print}, "metadata routing"),
        (
            {},
            {"sample_weight": np.r_[np.ones(50), np.zeros(100)]},
            "sample_weight is positive in rows of one class",
        ),
    ],
)
def test_bad_arguments_get_one_sentence(choices: dict[str, Any], fit: dict[str, Any], message: str) -> None:
    model = StackingClassifier(**{"estimators": [BAYES], **choices})
    with pytest.raises(InputError, match=message):
        model.fit(X, Y, **fit)
    assert not hasattr(model, "final_estimator_")


def test_a_fit_that_fails_leaves_nothing_of_an_earlier_one() -> None:
    model = StackingClassifier([BAYES], cv=2).fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan), Y)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X)


def test_a_member_without_classes_of_its_own_is_asked_for_labels() -> None:
    data, labels = load_breast_cancer(return_X_y=True)
    model = StackingClassifier([("centroid", NearestCentroid())], cv=2, stack_method="predict").fit(
        data, labels
    )
    assert set(np.unique(model.oof_predictions_)) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("cv", "rows", "said"),
    [
        (None, [0, 50, 100], "cv is 5 folds, but X has 3 samples"),
        (1, range(150), "cv must be at least 2 folds, not 1"),
        (4, [0, 1, 2, 50, 51, 52], "no class has more than 3 rows"),
        (KFold(7), [0, 1, 50, 51], "cannot cut these rows into folds"),
    ],
)
def test_folds_that_rows_cannot_be_cut_into_are_refused(cv: Any, rows: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        StackingClassifier([BAYES], cv=cv).fit(X[list(rows)], Y[list(rows)])


def test_a_dict_of_columns_is_refused_in_a_sentence() -> None:
    table = {f"x{place}": column for place, column in enumerate(X.T)}
    with pytest.raises(InputError, match="X is a dict of columns"):
        StackingClassifier([("trees", BoostedTreesClassifier(n_estimators=2))]).fit(table, Y)
