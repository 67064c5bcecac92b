"""AdaBoost as an estimator: scikit-learn's checks, what people put it into, and what it refuses."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import weald
from weald import AdaBoostClassifier, AdaBoostRegressor
from weald.estimators.shared.composite import composite_bytes
from weald.estimators.shared.registry import estimator_of
from weald.forest.container import unpack
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

# Drawing rows by number is not repeating them by weight, so the one check that compares the two is for "weights". Nor does
# it hold for SAMME.R, whatever the member (scikit-learn's tree fails alike): the log-probability of a pure leaf is -36,
# weights fall by 1e-16 in a round, and after two rounds rounding decides.
DRAWN = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def check_name(check: Any) -> str:
    name: str = check.func.__name__
    return name


@parametrize_with_checks(
    [
        AdaBoostClassifier(n_estimators=5),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3),
        AdaBoostRegressor(n_estimators=5, reweight="weights"),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


@parametrize_with_checks(
    [
        AdaBoostClassifier(n_estimators=5, reweight="resample"),
        AdaBoostClassifier(n_estimators=5, algorithm="SAMME.R"),
        AdaBoostRegressor(n_estimators=5),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of_where_rows_are_drawn(estimator: Any, check: Any) -> None:
    if check_name(check) in DRAWN:
        pytest.skip("rows are drawn by number, or rounding decides after two rounds of SAMME.R")
    check(estimator)


@pytest.mark.parametrize("algorithm", ["SAMME", "SAMME.R"])
@pytest.mark.parametrize("reweight", ["weights", "resample"])
@pytest.mark.parametrize("member", [DecisionTreeClassifier(max_depth=1), None])
def test_boosting_beats_its_member(member: Any, algorithm: str, reweight: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(member, n_estimators=10, algorithm=algorithm, reweight=reweight).fit(X, y)
    scores = list(model.staged_score(X, y))
    assert len(scores) == len(model.estimators_) == len(model)
    assert scores[-1] == model.score(X, y) >= scores[0]
    assert scores[-1] > 0.85


def test_all_stages_end_at_the_model() -> None:
    X, y = load_iris(return_X_y=True)
    for member in (None, DecisionTreeClassifier(max_depth=1)):
        for algorithm in ("SAMME", "SAMME.R"):
            model = AdaBoostClassifier(member, n_estimators=6, algorithm=algorithm).fit(X, y)
            for staged, whole in (
                (model.staged_predict, model.predict),
                (model.staged_predict_proba, model.predict_proba),
                (model.staged_decision_function, model.decision_function),
            ):
                stages = list(staged(X))
                assert len(stages) == 6
                np.testing.assert_array_equal(stages[-1], whole(X))
            assert (model.predict_proba(X).argmax(axis=1) == model.decision_function(X).argmax(axis=1)).all()
            np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    X, y = load_diabetes(return_X_y=True)
    regressor = AdaBoostRegressor(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(list(regressor.staged_predict(X))[-1], regressor.predict(X))
    assert list(regressor.staged_score(X, y))[-1] == regressor.score(X, y)


def test_two_classes_have_one_decision_value_whose_sign_is_the_prediction() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=5).fit(X, np.where(y, "good", "bad"))
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    assert (model.predict(X) == np.where(decision > 0, "good", "bad")).all()
    votes = sum(
        weight * np.where(member.predict(X) == "good", 1, -1)
        for weight, member in zip(model.estimator_weights_, model, strict=True)
    )
    np.testing.assert_allclose(decision, 2 * votes / model.estimator_weights_.sum(), atol=1e-12)


def test_our_trees_on_bins_are_those_of_the_estimator() -> None:
    """A member, fitted again by itself with the weights of its round, is the same tree."""
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(weald.DecisionTreeClassifier(max_depth=2), n_estimators=3).fit(X, y)
    D = np.ones(len(y))
    for number, member in enumerate(model):
        again = clone(member).fit(X, y, sample_weight=D)
        np.testing.assert_allclose(again.predict_proba(X), member.predict_proba(X), rtol=1e-12)
        wrong = member.predict(X) != y
        np.testing.assert_allclose(D[wrong].sum() / len(y), model.estimator_errors_[number], rtol=1e-12)
        D = D * np.where(wrong, np.exp(model.estimator_weights_[number]), 1.0)
        D *= len(y) / D.sum()


def test_members_without_sample_weight_need_resampling() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotSupportedError, match=r"KNeighborsClassifier.*use reweight='resample'"):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, y)
    model = AdaBoostClassifier(KNeighborsClassifier(30), reweight="resample", n_estimators=5).fit(X, y)
    assert model.score(X, y) > 0.9


def test_members_without_probabilities_cannot_be_boosted_by_probabilities() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotSupportedError, match=r"SAMME\.R.*LinearSVC does not have; use 'SAMME'"):
        AdaBoostClassifier(LinearSVC(), algorithm="SAMME.R").fit(X, y)
    assert AdaBoostClassifier(SVC(), n_estimators=3).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"algorithm": "SAMME.X"}, "algorithm must be one of 'SAMME', 'SAMME.R', not 'SAMME.X'."),
        ({"reweight": "both"}, "reweight must be one of 'weights', 'resample', not 'both'."),
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0, not 0.0."),
        ({"estimator": "stump"}, "estimator must be an estimator with fit and predict, not 'stump'."),
        ({"estimator": GaussianNB}, "estimator must be an estimator with fit and predict"),
        ({"random_state": "x"}, "random_state must be None, a whole number"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], sentence: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError) as caught:
        AdaBoostClassifier(**parameters).fit(X, y)
    assert str(caught.value).startswith(sentence)


def test_a_regressor_among_classifiers_is_named() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="estimator must be a classifier, but Ridge predicted"):
        AdaBoostClassifier(Ridge()).fit(X, y)


def test_an_unfitted_model_says_so() -> None:
    for name in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(AdaBoostClassifier(), name)([[1.0]])
    with pytest.raises(NotFittedError):
        next(AdaBoostClassifier().staged_predict([[1.0]]))


@pytest.mark.parametrize("member", [None, DecisionTreeClassifier(max_depth=1)])
def test_threads_never_change_the_model(member: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    decisions = [
        AdaBoostClassifier(member, n_estimators=5, reweight="resample", n_jobs=jobs, random_state=3)
        .fit(X, y)
        .decision_function(X)
        for jobs in (None, 1, 2, 3)
    ]
    for decision in decisions[1:]:
        np.testing.assert_array_equal(decision, decisions[0])


def test_seeds_draw_other_rows() -> None:
    X, y = load_diabetes(return_X_y=True)
    one, same, other = (AdaBoostRegressor(n_estimators=3, random_state=seed).fit(X, y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.predict(X), same.predict(X))
    assert (one.predict(X) != other.predict(X)).any()


def test_frames_with_categories_and_missing_values_need_no_preparation() -> None:
    pandas = pytest.importorskip("pandas")
    data = weald.datasets.load("penguins")
    frame = pandas.DataFrame(data.data)
    model = AdaBoostClassifier(weald.DecisionTreeClassifier(max_depth=3), n_estimators=10)
    model.fit(frame, data.target)
    assert model.score(frame, data.target) > 0.97
    assert model.feature_names_in_.tolist() == list(frame)
    shuffled = frame[list(frame)[::-1]]
    assert (model.predict(shuffled) == model.predict(frame)).all()
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)


def test_other_weald_estimators_are_boosted_on_one_set_of_bins() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    member = weald.BoostedTreesClassifier(n_estimators=3, max_leaves=3, min_child_weight=0.0, reg_lambda=0.0)
    for reweight in ("weights", "resample"):
        model = AdaBoostClassifier(member, n_estimators=4, reweight=reweight).fit(X, y)
        assert model.score(X, y) > 0.9


def test_importances_need_members_that_have_them() -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, y)
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match="GaussianNB has no feature_importances_"):
        model.feature_importances_  # noqa: B018


def test_grid_search_reaches_the_members_parameters_through_a_pipeline() -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=3))
    search = GridSearchCV(pipeline, {"adaboostclassifier__estimator__max_depth": [1, 3]}, cv=3).fit(X, y)
    assert search.best_params_ == {"adaboostclassifier__estimator__max_depth": 3} or search.best_score_ > 0.9


def test_weights_are_routed_to_a_pipeline_that_asks_for_them() -> None:
    X, y = load_iris(return_X_y=True)
    with sklearn.config_context(enable_metadata_routing=True):
        logistic = LogisticRegression().set_fit_request(sample_weight=True)
        member = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), logistic)
        model = AdaBoostClassifier(member, n_estimators=3).fit(X, y)
        assert model.score(X, y) > 0.85
        outer = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        model.set_fit_request(sample_weight=True)
        outer.fit(X, y, sample_weight=np.ones(len(y)))


def test_pickles_and_files_predict_the_same(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    for member in (None, weald.BoostedTreesClassifier(n_estimators=2, min_child_weight=0.0)):
        model = AdaBoostClassifier(member, n_estimators=4, random_state=1).fit(X, y)
        model.save(tmp_path / "model.weald")
        for again in (pickle.loads(pickle.dumps(model)), weald.load(tmp_path / "model.weald")):
            np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
            np.testing.assert_array_equal(again.estimator_errors_, model.estimator_errors_)
            assert (again.predict(X) == model.predict(X)).all()
            assert again.get_params()["n_estimators"] == 4
    X, y = load_diabetes(return_X_y=True)
    regressor = AdaBoostRegressor(n_estimators=3).fit(X, y)
    regressor.save(tmp_path / "model.weald")
    np.testing.assert_array_equal(weald.load(tmp_path / "model.weald").predict(X), regressor.predict(X))


def test_a_foreign_member_is_named_when_the_model_is_saved(tmp_path: Path) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = AdaBoostRegressor(DecisionTreeRegressor(), n_estimators=2).fit(X, y)
    with pytest.raises(
        NotSupportedError, match="DecisionTreeRegressor, which is not an estimator of Weald's"
    ):
        model.save(tmp_path / "model.weald")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("weights", np.ones(3), "The file's 'weights' must be 2 numbers."),
        ("errors", np.array([0.1, np.nan]), "The file's 'errors' must be finite."),
        ("classes", np.array(["a"]), "The file must have at least two classes."),
        ("schema", {"named": False, "columns": [{"name": "x", "kind": "numeric"}]}, "A member has 4 columns"),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(name: str, value: Any, sentence: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    members, extra = model._composite_parts()
    with pytest.raises(ModelFileError, match=sentence):
        estimator_of(unpack(composite_bytes(model, members, {**extra, name: value})))
    with pytest.raises(ModelFileError, match="must have members that predict"):
        estimator_of(unpack(composite_bytes(model, [], extra)))
    with pytest.raises(ModelFileError, match="has 3 members, but n_estimators is 2"):
        estimator_of(unpack(composite_bytes(model, [*members, members[0]], extra)))
