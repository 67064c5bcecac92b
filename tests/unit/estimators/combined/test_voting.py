"""Voting and averaging estimators: what is fitted, what is predicted, what is refused, what is saved."""

from __future__ import annotations

import functools
import json
import pickle
import random
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import weald
from unit.forest.factories import mutate, sign, split_file
from weald import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    InputError,
    ModelFileError,
    NotSupportedError,
    VotingClassifier,
    VotingRegressor,
)
from weald.estimators.shared.registry import estimator_of
from weald.forest.container import unpack

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
XR, YR = load_diabetes(return_X_y=True)


def classifiers() -> list[tuple[str, Any]]:
    return [
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
        ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
    ]


def regressors() -> list[tuple[str, Any]]:
    return [
        ("line", LinearRegression()),
        ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
        ("mean", DummyRegressor()),
    ]


def ours() -> list[tuple[str, Any]]:
    small = BoostedTreesClassifier(n_estimators=2, min_samples_leaf=5)
    return [("shallow", clone(small).set_params(max_leaves=2)), ("deep", small)]


def trees() -> list[tuple[str, Any]]:
    small = BoostedTreesRegressor(n_estimators=3)
    return [("shallow", clone(small).set_params(max_leaves=2)), ("deep", small)]


# Rules.


def test_the_average_is_that_of_the_members() -> None:
    model = VotingRegressor(regressors(), weights=[3, 1, 0]).fit(XR, YR)
    line, tree, _ = model.transform(XR).T
    np.testing.assert_allclose(model.predict(XR), 0.75 * line + 0.25 * tree, rtol=1e-14)
    assert model.weights_.tolist() == [0.75, 0.25, 0.0]


def test_the_majority_refuses_where_members_disagree() -> None:
    model = VotingClassifier(classifiers(), voting="majority", refusal_label="unsure").fit(X, NAMES)
    votes = model.transform(X)
    counts = np.array([np.bincount(row, minlength=3) for row in votes])
    refused = counts.max(axis=1) < 2
    assert np.array_equal(model.refused(X), refused)
    predicted = model.predict(X)
    assert (predicted[refused] == "unsure").all()
    assert np.array_equal(predicted[~refused], model.classes_[counts.argmax(axis=1)][~refused])


def test_a_majority_of_two_needs_both() -> None:
    model = VotingClassifier(classifiers()[:2], voting="majority", refusal_label=-1).fit(X, Y)
    first, second = model.transform(X).T
    assert 0 < model.refused(X).sum() < 20
    assert np.array_equal(model.predict(X), np.where(first == second, first, -1))


def test_a_weighted_majority_counts_weights() -> None:
    model = VotingClassifier(classifiers(), voting="majority", refusal_label=-1, weights=[3, 1, 1]).fit(X, Y)
    assert not model.refused(X).any()
    assert np.array_equal(model.predict(X), model.transform(X)[:, 0])


def test_random_ties_depend_on_the_row_and_the_seed_only() -> None:
    def fit(seed: Any) -> VotingClassifier:
        return VotingClassifier(disagreeing, ties="random", random_state=seed).fit(X, Y)

    disagreeing = [
        ("zero", DummyClassifier(strategy="constant", constant=0)),
        ("one", DummyClassifier(strategy="constant", constant=1)),
    ]
    model = fit(0)
    predicted = model.predict(X)
    distinct = np.unique(X, axis=0)
    share = model.predict(distinct).mean()
    assert 0.3 < share < 0.7
    assert np.array_equal(predicted[::-1], model.predict(X[::-1]))
    assert np.array_equal(predicted[50:], np.concatenate([model.predict(X[50:51]), model.predict(X[51:])]))
    assert np.array_equal(predicted, fit(None).predict(X))
    assert not np.array_equal(predicted, fit(1).predict(X))
    generator = fit(np.random.RandomState(3))
    assert np.array_equal(generator.predict(X), generator.predict(X))
    assert VotingClassifier(disagreeing).fit(X, Y).predict(X).tolist() == [0] * 150


def test_random_ties_of_probabilities_are_drawn_too() -> None:
    uniform = DummyClassifier(strategy="uniform", random_state=0)
    model = VotingClassifier([("a", uniform)], voting="soft", ties="random").fit(X, Y)
    assert (np.bincount(model.predict(X), minlength=3) > 20).all()


# Weights.


def test_learned_weights_of_a_regression_are_the_best_on_rows_not_seen() -> None:
    folds = KFold(4, shuffle=True, random_state=1)
    model = VotingRegressor(regressors(), weights="fit", cv=folds).fit(XR, YR)
    outputs = np.stack([cross_val_predict(member, XR, YR, cv=folds) for _, member in regressors()])
    steps = np.linspace(0, 1, 101)
    grid = [(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1]
    errors = [((np.array(w) @ outputs - YR) ** 2).mean() for w in grid]
    found = ((model.weights_ @ outputs - YR) ** 2).mean()
    assert found <= min(errors) + 1e-9
    assert model.weights_.sum() == pytest.approx(1)
    assert (model.weights_ >= 0).all()


@pytest.mark.parametrize("voting", ["soft", "hard", "majority"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_learned_weights_of_a_vote_have_the_smallest_brier_score(voting: str, n_classes: int) -> None:
    rows = n_classes > Y
    data, labels = X[rows][:, :2], Y[rows]
    label = -1 if voting == "majority" else None
    model = VotingClassifier(classifiers(), voting=voting, weights="fit", cv=3, refusal_label=label).fit(
        data, labels
    )
    method = "predict_proba" if voting == "soft" else "predict"
    outputs = [cross_val_predict(member, data, labels, cv=3, method=method) for _, member in classifiers()]
    if voting != "soft":
        outputs = [np.eye(n_classes)[output] for output in outputs]
    steps = np.linspace(0, 1, 51)
    target = np.eye(n_classes)[labels]

    def brier(weights: Any) -> float:
        return float(((np.einsum("i,irk->rk", np.asarray(weights), np.stack(outputs)) - target) ** 2).mean())

    best = min(brier((a, b, 1 - a - b)) for a in steps for b in steps if a + b <= 1)
    assert brier(model.weights_) <= best + 1e-9


def test_learned_weights_leave_out_what_does_not_help() -> None:
    members = [("near", KNeighborsClassifier()), ("never", DummyClassifier(strategy="constant", constant=1))]
    model = VotingClassifier(members, voting="soft", weights="fit").fit(X, Y)
    assert model.weights_.tolist() == [1.0, 0.0]


def test_rows_without_weight_do_not_shape_the_learned_weights() -> None:
    weight = np.ones(len(YR))
    weight[::3] = 0
    spoiled = np.where(weight == 0, 1e4, YR)
    members = [pair for pair in regressors() if pair[0] != "mean"]
    kept = weight > 0
    folds = [
        (np.flatnonzero(np.arange(len(YR)) % 2 == k), np.flatnonzero(np.arange(len(YR)) % 2 != k))
        for k in (0, 1)
    ]
    position = np.cumsum(kept) - 1
    fewer = [tuple(position[part[kept[part]]] for part in fold) for fold in folds]
    one = VotingRegressor(members, weights="fit", cv=folds).fit(XR, spoiled, sample_weight=weight)
    other = VotingRegressor(members, weights="fit", cv=fewer).fit(XR[kept], YR[kept])
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-9)


def test_weights_of_dropped_members_do_not_count() -> None:
    model = VotingRegressor(regressors(), weights=[2, 5, 6]).set_params(tree="drop").fit(XR, YR)
    assert model.weights_.tolist() == [0.25, 0.75]
    assert model.named_estimators_["tree"] == "drop"
    assert len(model.estimators_) == 2
    assert model.get_feature_names_out().tolist() == ["votingregressor_line", "votingregressor_mean"]


def test_weights_can_be_set_without_a_new_fit_but_not_learned() -> None:
    model = VotingRegressor(regressors()).fit(XR, YR)
    assert model.weights_.tolist() == [1 / 3] * 3
    line = model.set_params(weights=[1, 0, 0]).predict(XR)
    assert np.array_equal(line, model.transform(XR)[:, 0])
    with pytest.raises(InputError, match="call fit again"):
        model.set_params(weights="fit").predict(XR)


# Members.


def test_labels_of_text_come_back_and_members_know_positions() -> None:
    model = VotingClassifier(classifiers(), voting="soft").fit(X, NAMES)
    assert set(model.predict(X)) == set(NAMES)
    assert model.le_.inverse_transform([0]).tolist() == ["setosa"]
    assert model.estimators_[0].classes_.tolist() == [0, 1, 2]
    assert model.named_estimators_.bayes is model.estimators_[0]
    assert model.named_estimators["bayes"] is model.estimators[0][1]


def test_the_number_of_jobs_changes_nothing() -> None:
    one = VotingClassifier(ours(), voting="soft", weights="fit", cv=2).fit(X, Y)
    two = VotingClassifier(ours(), voting="soft", weights="fit", cv=2, n_jobs=2).fit(X, Y)
    assert one._to_bytes() == two._to_bytes()


def test_members_of_ours_are_as_if_fitted_alone() -> None:
    model = VotingClassifier(ours()).fit(X, Y)
    for (_, alone), member in zip(ours(), model.estimators_, strict=True):
        assert clone(alone).fit(X, Y)._to_bytes() == member._to_bytes()


def test_parameters_reach_into_members() -> None:
    model = VotingClassifier(ours())
    model.set_params(deep__n_estimators=7, shallow="drop", voting="soft")
    assert model.get_params()["deep__n_estimators"] == 7
    assert model.get_params()["shallow"] == "drop"
    assert clone(model).get_params()["deep__n_estimators"] == 7


def test_frames_with_text_and_missing_values_go_to_members_of_ours() -> None:
    pandas = pytest.importorskip("pandas")
    data = weald.datasets.load("penguins")
    frame = pandas.DataFrame(data.data)
    model = VotingClassifier(ours(), voting="soft", ties="random").fit(frame, data.target)
    assert model.score(frame, data.target) > 0.7
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == frame.shape[1]
    assert np.array_equal(model.predict(data.data), model.predict(frame))
    columns = VotingClassifier(ours()).fit(data.data, data.target)
    assert columns.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(NotSupportedError, match="dict of columns"):
        VotingClassifier(ours(), weights="fit").fit(data.data, data.target)


def test_transform_has_names_and_can_be_a_frame() -> None:
    pytest.importorskip("pandas")
    soft = VotingClassifier(classifiers(), voting="soft").fit(X, Y).set_output(transform="pandas")
    assert list(soft.transform(X).columns)[:4] == [f"votingclassifier_bayes{k}" for k in range(3)] + [
        "votingclassifier_tree0"
    ]
    flat = VotingClassifier(classifiers(), voting="soft", flatten_transform=False).fit(X, Y)
    assert flat.transform(X).shape == (3, 150, 3)
    with pytest.raises(InputError, match="flatten_transform=True"):
        flat.get_feature_names_out()
    hard = VotingClassifier(classifiers()).fit(X, Y)
    assert hard.transform(X).shape == (150, 3)
    assert hard.get_feature_names_out()[0] == "votingclassifier_bayes"
    for wrong, match in [(["a"], "length equal"), (["a"] * 4, None)]:
        if match is None:
            hard.get_feature_names_out(wrong)
        else:
            with pytest.raises(InputError, match=match):
                hard.get_feature_names_out(wrong)


def test_methods_are_there_when_they_apply() -> None:
    hard = VotingClassifier(classifiers()).fit(X, Y)
    assert not hasattr(hard, "predict_proba") and not hasattr(hard, "refused")
    soft = VotingClassifier(classifiers(), voting="soft").fit(X, Y)
    np.testing.assert_allclose(soft.predict_proba(X).sum(axis=1), 1)


# Row weights and routing.


def test_row_weights_reach_every_member() -> None:
    weight = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    model = VotingClassifier(classifiers(), voting="soft").fit(X, Y, sample_weight=weight)
    for (_, alone), member in zip(classifiers(), model.estimators_, strict=True):
        assert np.array_equal(alone.fit(X, Y, sample_weight=weight).predict_proba(X), member.predict_proba(X))


def test_row_weights_are_refused_where_a_member_takes_none() -> None:
    members = [*classifiers(), ("near", KNeighborsClassifier())]
    with pytest.raises(InputError, match="'near' is a KNeighborsClassifier, whose fit takes none"):
        VotingClassifier(members).fit(X, Y, sample_weight=np.ones(150))


def test_row_weights_go_through_members_that_have_members() -> None:
    weight = np.random.default_rng(0).integers(0, 3, size=len(XR)).astype(float)
    stacked = weald.StackingRegressor(regressors()[:2], cv=2)
    model = VotingRegressor([("stacked", stacked), ("inner", VotingRegressor(regressors()))])
    model.fit(XR, YR, sample_weight=weight)
    assert np.array_equal(
        model.estimators_[0].predict(XR), clone(stacked).fit(XR, YR, sample_weight=weight).predict(XR)
    )


def test_routing_brings_row_weights_to_the_members_that_ask_for_them() -> None:
    weight = np.arange(150.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = GaussianNB().set_fit_request(sample_weight=True)
        asks_not = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=False)
        model = VotingClassifier([("a", asks), ("b", asks_not)], weights="fit", cv=2).fit(
            X, Y, sample_weight=weight
        )
        assert not hasattr(model, "set_fit_request")
    assert np.array_equal(model.estimators_[0].theta_, GaussianNB().fit(X, Y, weight).theta_)
    plain = DecisionTreeClassifier(random_state=0).fit(X, Y)
    assert np.array_equal(model.estimators_[1].tree_.value, plain.tree_.value)


def test_other_arguments_of_fit_need_routing() -> None:
    with pytest.raises(InputError, match="fit got color, which only scikit-learn's metadata routing"):
        VotingClassifier(classifiers()).fit(X, Y, color=1)


# What is refused.


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"voting": "most"}, "voting must be one of 'hard', 'soft', 'majority', not 'most'"),
        ({"voting": "majority"}, "needs a refusal_label"),
        ({"refusal_label": -1}, "refusal_label=-1 is for voting='majority'"),
        ({"voting": "majority", "refusal_label": "none"}, "refusal_label must be a number"),
        ({"voting": "majority", "refusal_label": 2}, "refusal_label=2 is one of the labels"),
        ({"ties": "last"}, "ties must be one of"),
        ({"weights": [1, 2]}, "each of the 3 estimators, not 2 weights"),
        ({"weights": [1, 2, -1]}, "not negative"),
        ({"weights": "learn"}, "weights must be None, numbers or 'fit', not 'learn'"),
        ({"weights": [0, 0, 0]}, "all zero"),
        ({"weights": [1, 0, 0], "bayes": "drop"}, "zero for all estimators that are not dropped"),
        ({"cv": "prefit", "weights": "fit"}, "cv must be a number of folds"),
        ({"weights": "fit", "cv": [(np.arange(100), np.arange(50))]}, "exactly one fold"),
        ({"verbose": "loud"}, "verbose must be"),
        ({"verbose": -1}, "verbose must be"),
        ({"flatten_transform": 1}, "flatten_transform must be True or False"),
        ({"estimators": []}, "estimators must be a list"),
        ({"estimators": "members"}, "estimators must be a list"),
        ({"estimators": [("a", GaussianNB()), ("a", GaussianNB())]}, "'a' is there twice"),
        ({"estimators": [("a__b", GaussianNB())]}, "must not have '__'"),
        ({"estimators": [("weights", GaussianNB())]}, "'weights' must not"),
        ({"estimators": [("a", "drop")]}, "not dropped"),
        ({"estimators": [("a", GaussianNB)]}, "'a' must be an estimator"),
        ({"estimators": [("a", LinearRegression())]}, "'a' must be a classifier, not LinearRegression"),
        (
            {"estimators": [("a", RidgeClassifier())], "voting": "soft"},
            "'a' is a RidgeClassifier, which has no",
        ),
        ({"random_state": "now"}, "random_state must be"),
    ],
)
def test_parameters_that_cannot_be_are_refused_in_a_sentence(params: dict[str, Any], match: str) -> None:
    model = VotingClassifier(classifiers()).set_params(**params)
    with pytest.raises(InputError, match=match) as caught:
        model.fit(X, Y)
    assert "\n" not in str(caught.value).replace("array([", "").split("estimators must")[0]
    assert not hasattr(model, "estimators_")


def test_a_classifier_among_regressors_is_refused() -> None:
    with pytest.raises(InputError, match="member 'a' must be a regressor"):
        VotingRegressor([("a", GaussianNB())]).fit(XR, YR)


@pytest.mark.parametrize("model", [VotingClassifier(classifiers()), VotingRegressor(regressors())])
def test_nothing_works_before_fit(model: Any, tmp_path: Path) -> None:
    for use in (
        lambda: model.predict(X),
        lambda: model.transform(X),
        lambda: model.save(tmp_path / "m"),
        model.get_feature_names_out,
    ):
        with pytest.raises(NotFittedError, match="call 'fit' first"):
            use()
    assert not hasattr(model, "weights_")


def test_lots_need_a_table() -> None:
    with pytest.raises(InputError, match="Expected 2D array"):
        VotingClassifier(classifiers(), ties="random").fit(np.arange(150.0), Y)


def test_boolean_labels_leave_no_room_for_a_refusal() -> None:
    with pytest.raises(InputError, match="y is boolean"):
        VotingClassifier(classifiers(), voting="majority", refusal_label=-1).fit(X, Y == 0)


# Files.


@functools.cache
def saved(kind: str) -> Any:
    three = [*ours(), ("third", BoostedTreesClassifier(n_estimators=1, max_leaves=3))]
    nested = [("inner", VotingRegressor(trees())), *trees()]
    match kind:
        case "plurality":
            return VotingClassifier(three).set_params(third="drop").fit(X, NAMES)
        case "soft":
            weights = [1, 2, 3]
            model = VotingClassifier(three, voting="soft", weights=weights, ties="random", random_state=4)
            return model.fit(X, Y)
        case "majority":
            model = VotingClassifier(three, voting="majority", refusal_label="unsure", weights="fit", cv=2)
            return model.fit(X, NAMES)
        case "mean":
            return VotingRegressor(trees(), weights="fit", cv=2).fit(XR, YR)
        case "nested":
            return VotingRegressor(nested, weights=np.array([1.0, 0.5, 0])).fit(XR, YR)
    stacked = weald.StackingRegressor(trees(), trees()[0][1], cv=2)
    return VotingRegressor([("stacked", stacked), *trees()]).fit(XR, YR)


@pytest.mark.parametrize("kind", ["plurality", "soft", "majority", "mean", "nested", "stacked"])
def test_a_model_comes_back_from_its_file(kind: str, tmp_path: Path) -> None:
    model = saved(kind)
    data = XR if isinstance(model, VotingRegressor) else X
    model.save(tmp_path / "voting.weald")
    loaded = weald.load(tmp_path / "voting.weald")
    assert type(loaded) is type(model)
    assert np.array_equal(loaded.predict(data), model.predict(data))
    assert loaded.predict(data).dtype == model.predict(data).dtype
    assert np.array_equal(loaded.weights_, model.weights_)
    assert np.array_equal(loaded.transform(data), model.transform(data))
    assert loaded.n_features_in_ == model.n_features_in_
    assert [name for name, _ in loaded.estimators] == [name for name, _ in model.estimators]
    assert loaded._to_bytes() == model._to_bytes()


def test_a_loaded_model_can_be_fitted_again(tmp_path: Path) -> None:
    model = saved("majority")
    model.save(tmp_path / "voting.weald")
    again = clone(weald.load(tmp_path / "voting.weald")).fit(X, NAMES)
    assert again._to_bytes() == model._to_bytes()


def test_what_was_set_after_the_fit_does_not_spoil_the_file() -> None:
    model = VotingRegressor(trees(), weights="fit", cv=KFold(2)).fit(XR, YR)
    model.set_params(weights=[1, 3], deep="drop")
    loaded = estimator_of(unpack(model._to_bytes()))
    assert np.array_equal(loaded.predict(XR), model.predict(XR))
    assert loaded.weights_.tolist() == [0.25, 0.75]
    with pytest.raises(InputError, match=r"cv must be a number of folds, .* not 'KFold"):
        loaded.set_params(weights="fit").fit(XR, YR)


def test_members_that_are_not_ours_are_named_and_pickle_takes_them(tmp_path: Path) -> None:
    model = VotingClassifier([*ours(), ("bayes", GaussianNB())]).fit(X, Y)
    with pytest.raises(NotSupportedError, match=r"member 'bayes' is a GaussianNB, .* use joblib or pickle"):
        model.save(tmp_path / "voting.weald")
    joblib.dump(model, tmp_path / "voting.joblib")
    for loaded in (joblib.load(tmp_path / "voting.joblib"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(loaded.predict(X), model.predict(X))


def damaged(change: Any) -> bytes:
    text, arrays = split_file(saved("majority")._to_bytes())
    table = json.loads(text)
    metadata = json.loads(table["__metadata__"]["weald"])
    change(metadata["header"])
    table["__metadata__"]["weald"] = json.dumps(metadata, sort_keys=True, separators=(",", ":"))
    spelled = json.dumps(table, separators=(",", ":")).encode()
    return sign(len(spelled).to_bytes(8, "little") + spelled + arrays)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda header: header["extra"].update(kept={"value": 1}), "kept must be a list"),
        (
            lambda header: header["extra"].update(kept={"value": [["shallow", True]]}),
            "not those that it says",
        ),
        (lambda header: header["extra"].update(seed={"value": "x"}), "seed must be"),
        (lambda header: header["extra"].update(more={"value": 1}), "fields of a VotingClassifier"),
        (lambda header: header.update(estimator="VotingRegressor"), "VotingRegressor"),
        (lambda header: header["params"].update(voting="most"), "voting must be one of"),
        (lambda header: header["params"].update(refusal_label="setosa"), "one of the labels"),
        (lambda header: header["params"].update(weights="learn"), "weights must be"),
        (lambda header: header["params"].update(weights=[1]), "each of the 3 estimators"),
        (
            lambda header: header["extra"]["classes"]["labels"].update(values=["a", "b", "a"]),
            "classes must be different",
        ),
        (lambda header: header["extra"]["classes"]["labels"].update(values=["a", "b"]), "by their positions"),
        (lambda header: header["members"].__setitem__(0, "other"), "not those that it says"),
    ],
)
def test_a_signed_file_whose_parts_do_not_fit_is_refused(change: Any, match: str) -> None:
    with pytest.raises(ModelFileError, match=match):
        estimator_of(unpack(damaged(change)))


def test_a_mutant_is_refused_and_one_signed_anew_is_refused_or_predicts() -> None:
    data = saved("majority")._to_bytes()
    generator = random.Random(11)
    for _ in range(300):
        mutant = mutate(data, generator)
        if mutant == data:
            continue
        with pytest.raises(ModelFileError):
            estimator_of(unpack(mutant))
        if len(mutant) <= 8:
            continue
        try:
            loaded = estimator_of(unpack(sign(mutant)))
        except ModelFileError:
            continue
        loaded.predict(X)


def test_logistic_members_are_only_asked_for_what_voting_needs() -> None:
    model = VotingClassifier(
        [("line", LogisticRegression(max_iter=500)), ("near", KNeighborsClassifier())]
    ).fit(X, Y)
    assert model.predict(X).shape == (150,)
    assert VotingRegressor([("near", KNeighborsRegressor())]).fit(XR, YR).predict(XR).shape == YR.shape
