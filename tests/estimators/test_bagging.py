"""Bagging as an estimator: scikit-learn's checks, what members are given, and what is refused."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn import ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import weald
from weald import BaggingClassifier, BaggingRegressor
from weald.estimators.shared.composite import composite_bytes
from weald.estimators.shared.registry import estimator_of
from weald.forest.container import unpack
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError
from weald.tree.cart import cart

# Drawing rows by number is not repeating them by weight, so the one check that compares the two is for bootstrap=False.
DRAWN = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


@parametrize_with_checks(
    [
        BaggingClassifier(n_estimators=3, bootstrap=False),
        BaggingRegressor(n_estimators=5, bootstrap=False, max_features=0.8),
        BaggingRegressor(DecisionTreeRegressor(), n_estimators=3, bootstrap=False),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


@parametrize_with_checks(
    [
        BaggingClassifier(n_estimators=5),
        BaggingRegressor(n_estimators=5),
        BaggingClassifier(n_estimators=7, voting="hard", bootstrap_features=True),
        BaggingClassifier(DecisionTreeClassifier(), n_estimators=5),
        BaggingRegressor(Ridge(), n_estimators=5),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of_where_rows_are_drawn(estimator: Any, check: Any) -> None:
    if check.func.__name__ in DRAWN:
        pytest.skip("a row of weight 2 is drawn otherwise than two rows")
    check(estimator)


class Recorder(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers what it was given; predicts the first class."""

    def fit(self, X: Any, y: Any) -> Recorder:
        self.X_, self.y_, self.classes_ = np.asarray(X), np.asarray(y), np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


class WeightRecorder(Recorder):
    """Takes weights."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> WeightRecorder:
        self.weight_ = sample_weight
        super().fit(X, y)
        return self


X_SMALL = np.arange(120.0).reshape(40, 3)
Y_SMALL = np.repeat([0, 1], 20)


@pytest.mark.parametrize(
    ("max_samples", "n_draws"), [(None, 40), (0.5, 20), (7, 7), (60, 60), (1e-9, 1), (1.5, 60)]
)
def test_members_get_as_many_rows_as_asked_for(max_samples: Any, n_draws: int) -> None:
    model = BaggingClassifier(Recorder(), 4, max_samples=max_samples).fit(X_SMALL, Y_SMALL)
    for member, rows in zip(model, model.estimators_samples_, strict=True):
        assert len(member.X_) == len(rows) == n_draws
        np.testing.assert_array_equal(member.X_, X_SMALL[rows])
        np.testing.assert_array_equal(member.y_, Y_SMALL[rows])
    assert len({tuple(rows.tolist()) for rows in model.estimators_samples_}) > 1


def test_without_replacement_no_row_comes_twice() -> None:
    model = BaggingClassifier(Recorder(), 5, max_samples=30, bootstrap=False).fit(X_SMALL, Y_SMALL)
    assert [len(np.unique(rows)) for rows in model.estimators_samples_] == [30] * 5


def test_a_bootstrap_leaves_out_one_row_in_e() -> None:
    X = np.zeros((4000, 1))
    model = BaggingClassifier(Recorder(), 10).fit(X, np.arange(4000) % 2)
    share = np.mean([len(np.unique(rows)) / 4000 for rows in model.estimators_samples_])
    assert abs(share - (1 - np.exp(-1))) < 0.005


def test_without_replacement_members_that_take_weights_get_counts_times_weights() -> None:
    weight = np.random.default_rng(0).random(40)
    options: dict[str, Any] = {"max_samples": 25, "bootstrap": False}
    model = BaggingClassifier(WeightRecorder(), 3, **options).fit(X_SMALL, Y_SMALL, weight)
    plain = BaggingClassifier(WeightRecorder(), 3, **options).fit(X_SMALL, Y_SMALL)
    for member, unweighted, rows in zip(model, plain, model.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=40)
        np.testing.assert_array_equal(unweighted.weight_, counts)
        np.testing.assert_array_equal(member.weight_, counts * weight)
        np.testing.assert_array_equal(member.X_, X_SMALL)


@pytest.mark.parametrize("member", [Recorder(), WeightRecorder()])
def test_rows_are_drawn_by_their_weights(member: Any) -> None:
    weight = np.zeros(40)
    weight[[3, 30]] = [1.0, 9.0]
    model = BaggingClassifier(member, 5).fit(X_SMALL, Y_SMALL, weight)
    rows = np.concatenate(model.estimators_samples_)
    assert set(rows.tolist()) == {3, 30}
    assert len(rows) == 200
    assert 0.8 < (rows == 30).mean() < 0.97
    for one, drawn in zip(model, model.estimators_samples_, strict=True):
        if isinstance(one, WeightRecorder):
            np.testing.assert_array_equal(one.weight_, np.bincount(drawn, minlength=40))
        else:
            np.testing.assert_array_equal(one.X_, X_SMALL[drawn])
    with pytest.raises(NotSupportedError, match=r"bootstrap=False and a Recorder.*use bootstrap=True"):
        BaggingClassifier(Recorder(), bootstrap=False).fit(X_SMALL, Y_SMALL, weight)


def test_a_share_is_of_the_sum_of_the_weights() -> None:
    model = BaggingClassifier(Recorder(), 2, max_samples=0.5).fit(X_SMALL, Y_SMALL, np.full(40, 2.5))
    assert [len(rows) for rows in model.estimators_samples_] == [50, 50]
    with pytest.warns(
        UserWarning, match="a share of the weights, whose sum is 1, so that a member is given 1 of"
    ):
        BaggingClassifier(WeightRecorder(), 2, max_samples=1.0).fit(X_SMALL, Y_SMALL, np.full(40, 1 / 40))
    for options in ({}, {"sample_weight": np.ones(40)}):  # weights of 1 change nothing
        drawn = BaggingClassifier(Recorder(), 2).fit(X_SMALL, Y_SMALL, **options).estimators_samples_
        np.testing.assert_array_equal(
            drawn[0], BaggingClassifier(Recorder(), 2).fit(X_SMALL, Y_SMALL)[0].X_[:, 0] / 3
        )


@pytest.mark.parametrize("max_features", [1.0, 0.5])
def test_own_trees_are_those_that_the_drawn_rows_would_grow(max_features: float) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    member = weald.DecisionTreeClassifier(max_depth=3)
    model = BaggingClassifier(member, 4, max_features=max_features).fit(X, y, weight)
    for one, rows, columns in zip(model, model.estimators_samples_, model.estimators_features_, strict=True):
        own = X[:, columns]
        alone = clone(member).fit(own, y, np.bincount(rows, minlength=len(y)))
        np.testing.assert_allclose(one.predict_proba(own[rows]), alone.predict_proba(own[rows]))


def test_a_class_may_be_without_weight_where_members_allow_it() -> None:
    weight = (Y_SMALL == 0).astype(float)
    for member in (None, WeightRecorder(), Recorder()):
        assert set(BaggingClassifier(member, 3).fit(X_SMALL, Y_SMALL, weight).predict(X_SMALL)) == {0}


def test_weights_of_a_warm_start_must_be_those_of_the_earlier_fit() -> None:
    weight = 1.0 + np.arange(40.0)
    model = BaggingClassifier(Recorder(), 2, warm_start=True).fit(X_SMALL, Y_SMALL, weight)
    whole = BaggingClassifier(Recorder(), 4).fit(X_SMALL, Y_SMALL, weight)
    with pytest.raises(InputError, match="by the weights of the earlier fit; sample_weight has others"):
        clone(model).fit(X_SMALL, Y_SMALL, weight).set_params(n_estimators=4).fit(X_SMALL, Y_SMALL)
    model.set_params(n_estimators=4).fit(X_SMALL, Y_SMALL, weight)
    np.testing.assert_array_equal(model.estimators_samples_, whole.estimators_samples_)


def test_a_file_keeps_the_weights_that_rows_are_drawn_by(tmp_path: Path) -> None:
    weight = np.arange(40) % 4 * 0.5
    model = BaggingClassifier(n_estimators=2).fit(X_SMALL, Y_SMALL, weight)
    model.save(tmp_path / "bags.weald")
    loaded = weald.load(tmp_path / "bags.weald")
    np.testing.assert_array_equal(loaded.estimators_samples_, model.estimators_samples_)
    members, extra = model._composite_parts()
    for wrong in (np.zeros(40), -weight, weight[:9]):
        with pytest.raises(ModelFileError, match="'weight' must be"):
            estimator_of(unpack(composite_bytes(model, members, {**extra, "weight": wrong})))


@pytest.mark.parametrize("member", [None, DecisionTreeRegressor(), KNeighborsRegressor()])
def test_labels_of_several_columns_are_averaged_column_by_column(member: Any, tmp_path: Path) -> None:
    X, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y, -3.0 * y])
    model = BaggingRegressor(member, 20, oob_score=True).fit(X, both)
    np.testing.assert_allclose(model.predict(X), np.mean([one.predict(X) for one in model], axis=0))
    assert model.predict(X).shape == model.oob_prediction_.shape == both.shape
    known = ~np.isnan(model.oob_prediction_[:, 0])
    assert model.oob_score_ == pytest.approx(r2_score(both[known], model.oob_prediction_[known]))
    if member is None:
        model.save(tmp_path / "both.weald")
        assert np.array_equal(weald.load(tmp_path / "both.weald").predict(X), model.predict(X))


class Silent(Recorder):
    """Its fit returns nothing, as a careless one does."""

    def fit(self, X: Any, y: Any) -> None:  # type: ignore[override]
        super().fit(X, y)


def test_a_member_is_what_was_fitted_whatever_its_fit_returns() -> None:
    assert all(isinstance(one, Silent) for one in BaggingClassifier(Silent(), 2).fit(X_SMALL, Y_SMALL))
    stack = weald.StackingClassifier([("silent", Silent())], stack_method="predict", cv=2)
    assert isinstance(stack.fit(X_SMALL, Y_SMALL).estimators_[0], Silent)


@pytest.mark.parametrize("twice", [True, False])
def test_members_get_their_columns(twice: bool) -> None:
    X = np.random.default_rng(0).random((30, 8))
    model = BaggingClassifier(WeightRecorder(), 12, max_features=0.5, bootstrap_features=twice)
    model.fit(X, np.arange(30) % 2)
    repeated = False
    for member, columns in zip(model, model.estimators_features_, strict=True):
        assert len(columns) == 4
        np.testing.assert_array_equal(member.X_, X[:, columns])
        repeated |= len(set(columns.tolist())) < 4
    assert repeated == twice
    assert len({tuple(columns.tolist()) for columns in model.estimators_features_}) > 1


@pytest.mark.parametrize("member", [None, DecisionTreeClassifier(), KNeighborsClassifier(), LinearSVC()])
def test_out_of_bag_is_what_members_say_of_rows_that_they_did_not_get(member: Any) -> None:
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    model = BaggingClassifier(member, 12, oob_score=True, max_features=3, random_state=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few rows are in every bag
        model.fit(X, y)
    sums = np.zeros((len(y), 3))
    for one, rows, columns in zip(model, model.estimators_samples_, model.estimators_features_, strict=True):
        out = np.setdiff1d(np.arange(len(y)), rows)
        if hasattr(one, "predict_proba"):
            sums[out] += one.predict_proba(X[out][:, columns])
        else:
            sums[out, np.searchsorted(model.classes_, one.predict(X[out][:, columns]))] += 1
    known = sums.sum(axis=1) > 0
    expected = sums[known] / sums[known].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.oob_decision_function_[known], expected, atol=1e-12)
    assert np.isnan(model.oob_decision_function_[~known]).all()
    assert model.oob_score_ == accuracy_score(y[known], model.classes_[expected.argmax(axis=1)])


@pytest.mark.parametrize("member", [None, DecisionTreeRegressor(), KNeighborsRegressor()])
def test_out_of_bag_of_a_regression(member: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = BaggingRegressor(member, 25, oob_score=True).fit(X, y)
    sums, counts = np.zeros(len(y)), np.zeros(len(y))
    for one, rows in zip(model, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(y)), rows)
        sums[out] += one.predict(X[out])
        counts[out] += 1
    np.testing.assert_allclose(model.oob_prediction_, sums / counts, rtol=1e-12)
    np.testing.assert_allclose(model.oob_score_, r2_score(y, sums / counts))


def test_rows_that_are_in_every_bag_are_told() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="rows are in the bag of every member"):
        model = BaggingClassifier(GaussianNB(), 1, oob_score=True).fit(X, y)
    assert np.isnan(model.oob_decision_function_).any()
    assert model.oob_score_ > 0.8


@pytest.mark.parametrize("member", [None, KNeighborsClassifier(7)])
def test_soft_averages_probabilities_and_hard_counts_votes(member: Any) -> None:
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    soft = BaggingClassifier(member, 7, max_samples=0.2).fit(X, y)
    hard = clone(soft).set_params(voting="hard").fit(X, y)
    np.testing.assert_allclose(
        soft.predict_proba(X), np.mean([one.predict_proba(X) for one in soft], axis=0), atol=1e-12
    )
    votes = np.mean([one.predict(X)[:, None] == soft.classes_ for one in hard], axis=0)
    np.testing.assert_allclose(hard.predict_proba(X), votes, atol=1e-12)
    assert (hard.predict(X) == hard.classes_[votes.argmax(axis=1)]).all()
    np.testing.assert_allclose(soft.predict_proba(X).sum(axis=1), 1.0)


def test_members_without_probabilities_vote() -> None:
    X, y = load_iris(return_X_y=True)
    model = BaggingClassifier(LinearSVC(), 4).fit(X, y)
    assert set(np.unique(model.predict_proba(X))) <= {0.0, 0.25, 0.5, 0.75, 1.0}


def test_decision_functions_are_averaged_where_members_have_them() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = BaggingClassifier(LinearSVC(), 3).fit(X, y)
    mean = np.mean([one.decision_function(X) for one in model], axis=0)
    np.testing.assert_allclose(model.decision_function(X), mean)
    assert not hasattr(BaggingClassifier(GaussianNB()), "decision_function")


@pytest.mark.parametrize("member", [None, DecisionTreeClassifier(max_features=1), KNeighborsClassifier()])
def test_jobs_never_change_the_model(member: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cart, "PARALLEL_ROWS", 0)  # the table is too small for threads otherwise
    X, y = load_iris(return_X_y=True)
    outcomes = []
    for jobs in (None, 1, 2, 3):
        model = BaggingClassifier(member, 6, max_features=3, oob_score=True, n_jobs=jobs, random_state=2)
        model.fit(X, y)
        outcomes.append((model.predict_proba(X), model.oob_decision_function_))
    for outcome in outcomes[1:]:
        np.testing.assert_array_equal(outcome[0], outcomes[0][0])
        np.testing.assert_array_equal(outcome[1], outcomes[0][1])


@pytest.mark.parametrize("member", [None, DecisionTreeRegressor(max_features=2)])
def test_a_warm_start_ends_where_one_fit_would(member: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    whole = BaggingRegressor(member, 7, oob_score=True, random_state=4).fit(X, y)
    warm = BaggingRegressor(member, 3, oob_score=True, warm_start=True, random_state=4).fit(X, y)
    first = warm.estimators_[0]
    warm.set_params(n_estimators=7).fit(X, y)
    assert warm.estimators_[0] is first
    np.testing.assert_array_equal(warm.predict(X), whole.predict(X))
    np.testing.assert_array_equal(warm.oob_prediction_, whole.oob_prediction_)
    with pytest.warns(UserWarning, match="fits no new members"):
        warm.fit(X, y)
    with pytest.raises(InputError, match="warm_start cannot go back: n_estimators is 2, but there are 7"):
        clone_with(warm, n_estimators=2).fit(X, y)
    with pytest.raises(InputError, match="warm_start needs the rows and columns of the earlier fit"):
        clone_with(warm, n_estimators=9).fit(X[1:], y[1:])


def clone_with(model: Any, **params: Any) -> Any:
    return pickle.loads(pickle.dumps(model)).set_params(**params)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"max_samples": 0}, "max_samples must be a whole number of at least 1, or a share"),
        (
            {"max_samples": 1.5, "bootstrap": False},
            "max_samples must be a whole number of at least 1, or a share above 0 and",
        ),
        ({"max_samples": float("inf")}, "max_samples must be a whole number of at least 1, or a share"),
        ({"max_samples": True}, "max_samples must be a whole number of at least 1, or a share"),
        ({"max_samples": 151, "bootstrap": False}, "max_samples is 151, but X has 150 rows"),
        ({"max_features": 5}, "max_features is 5, but X has 4 columns"),
        ({"max_features": "sqrt"}, "max_features must be a whole number"),
        ({"oob_score": True, "bootstrap": False}, "oob_score=True needs bootstrap=True"),
        ({"voting": "loud"}, "voting must be one of 'soft', 'hard', not 'loud'."),
        ({"n_estimators": 0}, "n_estimators must be a whole number"),
        ({"estimator": 3}, "estimator must be an estimator with fit and predict, not 3."),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], sentence: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError) as caught:
        BaggingClassifier(**{"estimator": GaussianNB(), **parameters}).fit(X, y)
    assert str(caught.value).startswith(sentence)


def test_an_unfitted_model_says_so() -> None:
    with pytest.raises(NotFittedError):
        BaggingClassifier().predict([[1.0]])
    with pytest.raises(NotFittedError):
        BaggingRegressor().estimators_samples_  # noqa: B018


def test_a_frame_cannot_hold_a_column_twice_but_trees_on_bins_need_not_hold_it() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    assert isinstance(X, pandas.DataFrame)
    options: dict[str, Any] = {"max_features": 3, "bootstrap_features": True}
    with pytest.raises(NotSupportedError, match="which a data frame cannot hold"):
        BaggingClassifier(GaussianNB(), **options).fit(X, y)
    assert BaggingClassifier(**options).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_frames_keep_their_names_and_categories(frames: str) -> None:
    library = pytest.importorskip(frames)
    data = weald.datasets.load("penguins")
    frame = library.DataFrame(data.data)
    model = BaggingClassifier(n_estimators=5, max_features=0.8, random_state=1).fit(frame, data.target)
    assert model.score(frame, data.target) > 0.95
    assert model.feature_names_in_.tolist() == list(frame.columns)
    boosted = weald.BoostedTreesClassifier(n_estimators=20)
    assert (
        BaggingClassifier(boosted, 3, max_features=0.8).fit(frame, data.target).score(frame, data.target)
        > 0.9
    )


def test_our_trees_are_as_good_as_scikit_learns() -> None:
    X, y = load_diabetes(return_X_y=True)
    ours = BaggingRegressor(n_estimators=40, oob_score=True).fit(X, y)
    theirs = ensemble.BaggingRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    assert ours.oob_score_ > theirs.oob_score_ - 0.03
    X, y = load_breast_cancer(return_X_y=True)
    good = BaggingClassifier(n_estimators=40, oob_score=True).fit(X, y)
    theirs = ensemble.BaggingClassifier(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    assert good.oob_score_ > theirs.oob_score_ - 0.015


def test_grid_search_reaches_the_members_parameters() -> None:
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        BaggingClassifier(KNeighborsClassifier(), 3), {"estimator__n_neighbors": [1, 95]}, cv=3
    )
    assert search.fit(X, y).best_params_ == {"estimator__n_neighbors": 1}


def test_metadata_reaches_members_that_ask_for_it() -> None:
    class Wants(Recorder):
        def fit(self, X: Any, y: Any, costs: Any = None) -> Wants:
            super().fit(X, y)
            self.costs_ = costs
            return self

    with pytest.raises(InputError, match="fit got costs, which only scikit-learn's metadata routing"):
        BaggingClassifier(Wants(), 2).fit(X_SMALL, Y_SMALL, costs=np.arange(40))
    with sklearn.config_context(enable_metadata_routing=True):
        model = BaggingClassifier(Wants().set_fit_request(costs=True), 2)
        model.fit(X_SMALL, Y_SMALL, costs=np.arange(40))
        for member, rows in zip(model, model.estimators_samples_, strict=True):
            np.testing.assert_array_equal(member.costs_, rows)
        weighted = BaggingClassifier(LogisticRegression(), 2).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), weighted)
        pipeline.fit(X_SMALL, Y_SMALL, sample_weight=np.ones(40))


class Asked(Recorder):
    """Remembers what its prediction was asked with."""

    def predict(self, X: Any, costs: Any = None) -> Any:
        self.asked_ = costs
        return super().predict(X)


class AskedForProbabilities(Asked):
    def predict_proba(self, X: Any, costs: Any = None) -> Any:
        self.asked_ = costs
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_predictions_pass_on_what_members_ask_for(method: str) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        for member, voting in (
            (Asked().set_predict_request(costs=True), "soft"),
            (AskedForProbabilities().set_predict_proba_request(costs=True), "soft"),
            (AskedForProbabilities().set_predict_request(costs=True), "hard"),
        ):
            model = BaggingClassifier(member, 2, voting=voting).fit(X_SMALL, Y_SMALL)
            getattr(model, method)(X_SMALL, costs="high")
            assert [one.asked_ for one in model] == ["high", "high"]
        with pytest.raises(TypeError, match="costs"):
            BaggingClassifier(n_estimators=2).fit(X_SMALL, Y_SMALL).predict(X_SMALL, costs=1)
    with pytest.raises(InputError, match="predict got costs, which only scikit-learn's metadata routing"):
        BaggingRegressor(n_estimators=2).fit(X_SMALL, Y_SMALL).predict(X_SMALL, costs=1)


def test_the_reason_for_a_missing_method_is_told() -> None:
    with pytest.raises(AttributeError, match="no attribute 'decision_function'") as told:
        BaggingClassifier(KNeighborsClassifier()).decision_function(X_SMALL)
    assert "KNeighborsClassifier" in str(told.value.__cause__)


def test_pickles_and_files_predict_the_same(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    boosted = weald.BoostedTreesClassifier(n_estimators=2)
    for member, options in (
        (None, {}),
        (None, {"voting": "hard", "max_features": 2}),
        (boosted, {"max_features": 2, "bootstrap_features": True}),
    ):
        model = BaggingClassifier(member, 4, oob_score=True, random_state=1, **options).fit(X, y)
        model.save(tmp_path / "model.weald")
        for again in (pickle.loads(pickle.dumps(model)), weald.load(tmp_path / "model.weald")):
            np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
            assert (again.predict(X) == model.predict(X)).all()
            assert again.oob_score_ == model.oob_score_
            for one, other in zip(again.estimators_samples_, model.estimators_samples_, strict=True):
                np.testing.assert_array_equal(one, other)
    with pytest.raises(NotSupportedError, match="GaussianNB, which is not an estimator of Weald's"):
        BaggingClassifier(GaussianNB(), 2).fit(X, y).save(tmp_path / "model.weald")


@pytest.mark.parametrize(
    ("name", "value"), [("n_rows", 0), ("seed", "x"), ("n_draws", None), ("n_chosen", 2)]
)
def test_a_file_whose_parts_do_not_fit_is_refused(name: str, value: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = BaggingClassifier(n_estimators=2).fit(X, y)
    members, extra = model._composite_parts()
    sentence = "but was given 2" if name == "n_chosen" else f"The file's '{name}' must be a whole number"
    with pytest.raises(ModelFileError, match=sentence):
        estimator_of(unpack(composite_bytes(model, members, {**extra, name: value})))


@pytest.mark.parametrize("estimator", [BaggingRegressor, weald.RandomForestRegressor, weald.ExtraTreesRegressor])
def test_a_score_out_of_bag_needs_rows_that_are(estimator: Any) -> None:
    X, y, weight = np.arange(40.0)[:, None], np.arange(40.0), np.eye(40)[0]
    with pytest.raises(InputError, match=r"oob_score=True needs rows that some (tree|member) was not given"):
        estimator(n_estimators=3, bootstrap=True, oob_score=True).fit(X[:1], y[:1])
    with warnings.catch_warnings(), pytest.raises(InputError, match="or have no weight"):
        warnings.simplefilter("ignore")
        estimator(n_estimators=3, bootstrap=True, oob_score=True).fit(X, y, sample_weight=weight)


def test_a_share_of_huge_weights_is_more_rows_than_can_be_drawn() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.linspace(1e20, 2e20, len(y))
    with pytest.raises(InputError, match=r"a member would be given 2\.25e\+22 rows"):
        BaggingClassifier(max_samples=1.0).fit(X, y, sample_weight=weight)
    BaggingClassifier(max_samples=100, n_estimators=2).fit(X, y, sample_weight=weight)
