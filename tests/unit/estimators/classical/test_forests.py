"""Random forests, extra trees and decision trees: draws, out-of-bag rows, weights, outputs, files, and what is refused."""

from __future__ import annotations

import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, r2_score

import weald
from unit.forest.factories import mutate, sign
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.binning import bin_once
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError
from weald.tree.cart import cart

FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
TREES = (DecisionTreeClassifier, DecisionTreeRegressor)
IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def data_for(kind: Any) -> tuple[Any, Any]:
    return IRIS if "Classifier" in kind.__name__ else DIABETES


def outputs_of(model: Any, X: Any) -> Any:
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


# --- growing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORESTS)
def test_the_number_of_threads_does_not_change_a_byte(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cart, "PARALLEL_ROWS", 0)  # the tables are too small for threads otherwise
    X, y = data_for(kind)
    models = [kind(35, bootstrap=True, oob_score=True, n_jobs=jobs).fit(X, y) for jobs in (1, 2, 3)]
    assert len({model._to_bytes() for model in models}) == 1


def test_balanced_subsamples_are_the_same_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cart, "PARALLEL_ROWS", 0)
    models = [
        RandomForestClassifier(7, class_weight="balanced_subsample", n_jobs=jobs).fit(*CANCER)
        for jobs in (1, 2)
    ]
    assert models[0].forest_ == models[1].forest_


def test_seeds_give_different_forests_and_none_is_zero() -> None:
    forests = [RandomForestClassifier(3, random_state=seed).fit(*IRIS).forest_ for seed in (None, 0, 1)]
    assert forests[0] == forests[1]
    assert forests[0] != forests[2]


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_is_the_mean_of_its_members(kind: Any) -> None:
    X, y = data_for(kind)
    model = kind(8).fit(X, y)
    total = sum(outputs_of(member, X) for member in model.estimators_)
    assert np.allclose(outputs_of(model, X), total / 8, rtol=1e-14, atol=1e-15)
    assert model.estimators_ is model.estimators_
    assert model.estimators_[0].get_params()["max_features"] == model.max_features
    assert [member.get_n_leaves() for member in model.estimators_] == model.forest_.leaves_per_tree().tolist()


def test_full_depth_trees_know_their_training_rows() -> None:
    assert DecisionTreeClassifier().fit(*CANCER).score(*CANCER) == 1.0
    X, y = DIABETES
    assert ExtraTreesRegressor(3).fit(X, y).score(X, y) > 0.98
    assert DecisionTreeRegressor(max_depth=2).fit(X, y).get_depth() == 2


def test_columns_drawn_for_a_tree_are_all_it_uses() -> None:
    model = RandomForestClassifier(10, features_per="tree", max_features=2).fit(*IRIS)
    used = [set(member.forest_.feature.tolist()) - {-1} for member in model.estimators_]
    assert all(len(columns) <= 2 for columns in used)
    assert len(set.union(*used)) == 4
    other = RandomForestClassifier(10, max_features=2).fit(*IRIS)
    assert max(len(set(member.forest_.feature.tolist()) - {-1}) for member in other.estimators_) > 2


def test_a_bag_holds_two_thirds_of_the_rows() -> None:
    model = RandomForestRegressor(40, max_depth=1).fit(*DIABETES)
    shares = [len(np.unique(rows)) / len(DIABETES[1]) for rows in model.estimators_samples_]
    assert all(len(rows) == len(DIABETES[1]) for rows in model.estimators_samples_)
    assert np.mean(shares) == pytest.approx(0.632, abs=0.01)


@pytest.mark.parametrize(
    ("max_samples", "drawn"), [(0.5, 221), (100, 100), (None, 442), (1.0, 442), (600, 600), (1.5, 663)]
)
def test_max_samples_is_the_size_of_a_bag(max_samples: Any, drawn: int) -> None:
    model = RandomForestRegressor(2, max_depth=1, max_samples=max_samples).fit(*DIABETES)
    assert [len(rows) for rows in model.estimators_samples_] == [drawn] * 2


def test_a_warm_start_grows_the_forest_that_a_single_fit_grows() -> None:
    whole = RandomForestClassifier(29, oob_score=True).fit(*IRIS)
    model = RandomForestClassifier(24, warm_start=True, oob_score=True).fit(*IRIS)
    first = model.forest_
    model.set_params(n_estimators=29).fit(*IRIS)
    assert model._to_bytes() == whole._to_bytes()
    assert model.forest_.trees(0, 24) == first
    assert np.array_equal(model.oob_decision_function_, whole.oob_decision_function_)
    with pytest.warns(UserWarning, match="adds no tree: there are 29"):
        model.fit(*IRIS)
    with pytest.raises(InputError, match="cannot go back: n_estimators is 3"):
        model.set_params(n_estimators=3).fit(*IRIS)


def test_a_warm_start_with_classes_weighed_by_their_rows_says_what_it_does() -> None:
    model = RandomForestClassifier(2, warm_start=True, class_weight="balanced").fit(*IRIS)
    with pytest.warns(UserWarning, match="class_weight='balanced' of the rows of this fit"):
        model.set_params(n_estimators=3).fit(*IRIS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(n_estimators=4, class_weight={0: 2.0}).fit(*IRIS)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_is_a_sequence_of_its_trees(kind: Any) -> None:
    forest = kind(3, max_depth=2, min_samples_leaf=4)
    with pytest.raises(NotFittedError):
        len(forest)
    with pytest.raises(NotFittedError):
        forest.estimator_  # noqa: B018
    forest.fit(*data_for(kind))
    assert len(forest) == 3
    assert list(forest) == forest.estimators_
    assert forest[-1] is forest.estimators_[2]
    assert [tree.tree_.max_depth for tree in forest] == [2, 2, 2]
    assert all(rows.dtype == np.int32 for rows in forest.estimators_samples_)
    template = forest.estimator_
    assert type(template) is type(forest[0])
    assert template.get_params() == forest[0].get_params() == forest.estimator.get_params()
    assert (template.max_depth, template.min_samples_leaf) == (2, 4)
    assert not hasattr(template, "tree_")


def test_a_warm_start_on_other_columns_classes_or_rows_is_refused() -> None:
    X, y = IRIS

    def fitted() -> RandomForestClassifier:
        return RandomForestClassifier(2, warm_start=True).fit(X, y).set_params(n_estimators=4)

    with pytest.raises(InputError, match="columns and categories"):
        fitted().fit(X[:, :2], y)
    with pytest.raises(InputError, match="classes and outputs"):
        fitted().fit(X[y < 2], y[y < 2])
    with pytest.raises(InputError, match="needs the rows, weights and draws of the earlier fit"):
        fitted().set_params(oob_score=True).fit(X[:120], np.where(y[:120] == 2, 2, y[:120]))


@pytest.mark.parametrize("kind", [*FORESTS, *TREES])
def test_a_table_that_is_binned_already_gives_the_same_model(kind: Any) -> None:
    X, y = data_for(kind)
    model = kind(max_depth=4)
    assert kind(max_depth=4).fit(bin_once(X, [model]), y).forest_ == model.fit(X, y).forest_


# --- out of bag -----------------------------------------------------------------------------------


@pytest.mark.parametrize("several", [False, True])
def test_out_of_bag_predictions_are_those_of_the_trees_that_have_not_seen_the_row(several: bool) -> None:
    X, y = DIABETES
    y = np.column_stack([y, -y]) if several else y
    model = RandomForestRegressor(40, oob_score=True).fit(X, y)
    sums, votes = np.zeros_like(y), np.zeros(len(y))
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        unseen = np.setdiff1d(np.arange(len(y)), rows)
        sums[unseen] += member.predict(X[unseen])
        votes[unseen] += 1
    expected = (sums.T / votes).T
    assert np.array_equal(model.oob_prediction_, expected)
    assert model.oob_score_ == r2_score(y, expected)


@pytest.mark.parametrize("data", [IRIS, CANCER])
def test_out_of_bag_probabilities_are_those_of_the_trees_that_have_not_seen_the_row(data: Any) -> None:
    X, y = data
    model = RandomForestClassifier(40, oob_score=True).fit(X, y)
    sums, votes = np.zeros((len(y), len(np.unique(y)))), np.zeros(len(y))
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        unseen = np.setdiff1d(np.arange(len(y)), rows)
        sums[unseen] += member.predict_proba(X[unseen])
        votes[unseen] += 1
    expected = sums / votes[:, None]
    assert np.allclose(model.oob_decision_function_, expected, rtol=0, atol=1e-15)
    assert model.oob_score_ == (expected.argmax(axis=1) == y).mean()


def test_a_function_can_score_the_out_of_bag_rows() -> None:
    X, y = CANCER
    names = np.array(["bad", "good"])[y]
    model = RandomForestClassifier(40, oob_score=lambda t, p: f1_score(t, p, pos_label="good")).fit(X, names)
    predicted = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == f1_score(names, predicted, pos_label="good")


def test_rows_in_every_bag_have_no_out_of_bag_prediction() -> None:
    with pytest.warns(UserWarning, match="rows are in the bag of every tree"):
        model = RandomForestClassifier(2, oob_score=True).fit(*IRIS)
    missing = np.isnan(model.oob_decision_function_).all(axis=1)
    in_all = np.intersect1d(*model.estimators_samples_)
    assert np.array_equal(np.flatnonzero(missing), in_all)
    assert 0.8 < model.oob_score_ <= 1.0


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*FORESTS, *TREES])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(kind: Any) -> None:
    X, y = data_for(kind)
    weight = np.arange(len(y)) % 3 % 2 * 1.0
    here = weight > 0
    assert kind(max_depth=5).fit(X, y, weight).forest_ == kind(max_depth=5).fit(X[here], y[here]).forest_


def test_rows_of_weight_zero_are_out_of_every_bag() -> None:
    X, y = IRIS
    weight = (np.arange(len(y)) % 2).astype(float)
    model = RandomForestClassifier(30, oob_score=True).fit(X, y, weight)
    assert all((rows % 2 == 1).all() for rows in model.estimators_samples_)
    assert not np.isnan(model.oob_decision_function_[::2]).any()


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
def test_class_weights_multiply_the_weights_of_rows(kind: Any) -> None:
    X, y = CANCER
    rows = np.where(y == 1, 3.0, 1.0)
    expected = kind(max_depth=4).fit(X, y, rows).forest_
    assert kind(max_depth=4, class_weight={1: 3.0}).fit(X, y).forest_ == expected
    balanced = kind(max_depth=4, class_weight="balanced").fit(X, y)
    assert balanced.forest_ == kind(max_depth=4).fit(X, y, len(y) / (2 * np.bincount(y)[y])).forest_
    both = kind(max_depth=4, class_weight=[{1: 3.0}, {0: 1.0}]).fit(X, np.column_stack([y, y]))
    assert both.forest_ == kind(max_depth=4).fit(X, np.column_stack([y, y]), rows).forest_


def test_balanced_subsamples_balance_each_bag() -> None:
    X, y = CANCER
    model = RandomForestClassifier(3, max_depth=1, class_weight="balanced_subsample").fit(X, y)
    for tree, rows in enumerate(model.estimators_samples_):
        root = model.forest_.tree(tree).cover[0]
        assert root == pytest.approx(len(rows), rel=1e-6)
        counts = np.bincount(rows, minlength=len(y)).astype(float)
        weight = counts * (len(rows) / (2 * np.bincount(y[rows]))[y])
        assert weight[y == 0].sum() == pytest.approx(weight[y == 1].sum())


def test_balanced_subsamples_do_without_a_class_of_which_no_row_was_drawn() -> None:
    X, y = np.arange(6.0).reshape(-1, 1), np.array([0, 0, 0, 0, 0, 1])
    both = np.column_stack([y, 2 * y])  # a factor for each output
    model = RandomForestClassifier(30, class_weight="balanced_subsample").fit(X, both)
    assert any(5 not in rows for rows in model.estimators_samples_)
    assert all(np.isfinite(part).all() for part in model.predict_proba(X))


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("equal", "'minority' or a dict, not 'equal'"),
        ({7: 1.0}, "names the class 7"),
        ({0: -1.0}, "must be a number of at least 0, not -1.0"),
        ([{0: 1.0}, {0: 1.0}], "a list of 1 dicts"),
    ],
)
def test_class_weights_that_cannot_be_are_refused(class_weight: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RandomForestClassifier(2, class_weight=class_weight).fit(*IRIS)
    with pytest.raises(InputError, match="'minority' or a dict, not 'balanced_subsample'"):
        DecisionTreeClassifier(class_weight="balanced_subsample").fit(*IRIS)


# --- outputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier])
def test_several_outputs_of_classes_have_their_own_classes_and_probabilities(kind: Any) -> None:
    X, y = IRIS
    two = np.column_stack([np.array(["a", "b", "c"])[y], np.where(X[:, 0] > 5.8, "long", "short")])
    model = kind(random_state=1).fit(X, two)
    assert model.n_outputs_ == 2
    assert model.n_classes_ == [3, 2]
    assert [found.tolist() for found in model.classes_] == [["a", "b", "c"], ["long", "short"]]
    first, second = model.predict_proba(X)
    assert first.shape == (150, 3)
    assert second.shape == (150, 2)
    assert np.allclose(first.sum(axis=1), 1)
    assert np.allclose(second.sum(axis=1), 1)
    assert (model.predict(X) == two).mean() > 0.98
    logs = model.predict_log_proba(X)
    assert np.array_equal(np.exp(logs[1]) > 0.5, second > 0.5)


def test_several_outputs_of_the_same_classes_have_an_out_of_bag_score() -> None:
    X, y = CANCER
    model = RandomForestClassifier(20, oob_score=True).fit(X, np.column_stack([y, 1 - y]))
    assert model.oob_decision_function_.shape == (len(y), 2, 2)
    assert model.oob_score_ > 0.9
    with pytest.raises(InputError, match="same number of classes"):
        RandomForestClassifier(20, oob_score=True).fit(X, np.column_stack([y, np.arange(len(y)) % 3]))


def test_a_single_class_is_predicted_with_certainty() -> None:
    X = IRIS[0]
    model = RandomForestClassifier(3).fit(X, np.full(len(X), "only"))
    assert model.predict(X[:2]).tolist() == ["only", "only"]
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


def test_missing_values_and_categories_need_no_preparation() -> None:
    data = weald.datasets.load("penguins")
    model = RandomForestClassifier(30, oob_score=True).fit(data.data, data.target)
    assert model.oob_score_ > 0.97
    assert model.feature_names_in_.tolist() == list(data.data)
    assert (model.forest_.category_set >= 0).any()
    other = {name: values[:3].copy() for name, values in data.data.items()}
    other["island"] = np.array(["Atlantis"] * 3, dtype=object)
    assert model.predict(other).shape == (3,)


def test_leaves_and_paths_lead_from_the_root_to_the_leaf() -> None:
    X, y = IRIS
    model = RandomForestClassifier(4, max_depth=3).fit(X, y)
    leaves = model.apply(X)
    indicator, offsets = model.decision_path(X)
    assert indicator.shape == (150, model.forest_.n_nodes)
    for row in range(0, 150, 13):
        passed = set(indicator[row].indices.tolist())
        expected = set()
        for tree in range(4):
            view, node = model.forest_.tree(tree), 0
            expected.add(int(offsets[tree]))
            while view.feature[node] >= 0:
                goes_left = X[row, view.feature[node]] <= view.threshold[node]
                node = int(view.left[node]) + (not goes_left)
                expected.add(int(offsets[tree]) + node)
            assert node == leaves[row, tree]
        assert passed == expected
    tree = model.estimators_[2]
    assert np.array_equal(tree.apply(X), leaves[:, 2])
    assert tree.decision_path(X).sum() == indicator[:, offsets[2] : offsets[3]].sum()


# --- importances ----------------------------------------------------------------------------------


def test_importances_are_means_over_the_trees_and_come_with_their_spread() -> None:
    model = RandomForestClassifier(12).fit(*IRIS)
    each = np.array([member.feature_importances_ for member in model.estimators_])
    assert np.allclose(each.sum(axis=1), 1)
    assert np.allclose(model.feature_importances_, each.mean(axis=0))
    assert np.allclose(model.feature_importances_std_, each.std(axis=0))
    stumps = RandomForestClassifier(3, min_samples_leaf=0.9).fit(*IRIS)
    assert not stumps.feature_importances_.any()
    assert not stumps.feature_importances_std_.any()


def test_shuffling_a_column_that_matters_costs_and_another_does_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 1] > 0).astype(int)
    model = RandomForestClassifier(10).fit(X, y)
    found = model.permutation_importances(X, y, n_repeats=3, random_state=1)
    assert found.importances.shape == (3, 3)
    assert found.importances_mean.argmax() == 1
    assert found.importances_mean[1] > 0.3
    again = model.permutation_importances(X, y, n_repeats=3, random_state=1)
    assert np.array_equal(found.importances, again.importances)
    assert np.allclose(found.importances_std, found.importances.std(axis=1))


def test_out_of_bag_permutation_tells_noise_from_signal_on_the_training_rows() -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.standard_normal((300, 2)), rng.permutation(300)])
    y = (X[:, 1] + 0.5 * rng.standard_normal(300) > 0).astype(int)
    model = RandomForestClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X, y)
    inside = model.permutation_importances(X, y, n_repeats=3)
    outside = model.permutation_importances(X, y, n_repeats=3, out_of_bag=True)
    assert outside.importances_mean.argmax() == 1
    # Trees remember the rows that they have seen, also by a column of noise.
    assert inside.importances_mean[2] > 0.01 > outside.importances_mean[2]
    # Nothing shuffled: the view scores as the out-of-bag estimate does.
    view, weight = model._out_of_bag_view(X, None)
    assert weight is None
    assert view.score(X, y) == model.oob_score_


def test_out_of_bag_permutation_is_refused_without_the_training_rows() -> None:
    X, y = np.arange(40.0).reshape(-1, 2), np.arange(20.0)
    model = RandomForestRegressor(n_estimators=3).fit(X, y)
    with pytest.raises(InputError, match="needs the 20 rows of the training table, but X has 10"):
        model.permutation_importances(X[:10], y[:10], out_of_bag=True)
    few = model.permutation_importances(X, y, out_of_bag=True, scoring="neg_mean_squared_error")
    assert np.isfinite(few.importances).all()  # rows that every tree has drawn do not count
    whole = RandomForestRegressor(n_estimators=3, bootstrap=False).fit(X, y)
    with pytest.raises(InputError, match="out_of_bag=True needs bootstrap=True"):
        whole.permutation_importances(X, y, out_of_bag=True)


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*FORESTS, *TREES])
def test_a_saved_model_comes_back_and_predicts_the_same_bits(kind: Any, tmp_path: Path) -> None:
    X, y = data_for(kind)
    model = kind(max_depth=6, categorical_features=[1]).fit(X, y)
    model.save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald")
    assert type(loaded) is kind
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(outputs_of(loaded, X), outputs_of(model, X))
    assert loaded._to_bytes() == model._to_bytes()
    assert np.array_equal(loaded.feature_importances_, model.feature_importances_)


def test_a_file_keeps_the_out_of_bag_score_and_a_pickle_also_its_predictions() -> None:
    model = RandomForestRegressor(30, oob_score=True).fit(*DIABETES)
    twin = pickle.loads(pickle.dumps(model))
    assert twin.oob_score_ == model.oob_score_
    assert np.array_equal(twin.oob_prediction_, model.oob_prediction_)
    assert np.array_equal(twin.estimators_samples_[7], model.estimators_samples_[7])
    assert twin.set_params(warm_start=True, n_estimators=31).fit(*DIABETES).forest_.n_trees == 31
    assert not hasattr(pickle.loads(pickle.dumps(RandomForestRegressor())), "forest_")


def test_a_loaded_forest_goes_on_growing_but_does_not_know_its_bags(tmp_path: Path) -> None:
    model = RandomForestClassifier(3).fit(*IRIS)
    model.save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald").set_params(warm_start=True, n_estimators=5)
    with pytest.raises(AttributeError, match="known after fit only"):
        loaded.estimators_samples_  # noqa: B018
    assert loaded.fit(*IRIS).forest_ == RandomForestClassifier(5).fit(*IRIS).forest_
    with pytest.raises(InputError, match="made in this session"):
        loaded.set_params(oob_score=True, n_estimators=6).fit(*IRIS)


@pytest.mark.parametrize("kind", [RandomForestClassifier, DecisionTreeRegressor])
def test_no_mutant_of_a_file_is_accepted_and_none_signed_anew_crashes(kind: Any, tmp_path: Path) -> None:
    X, y = data_for(kind)
    data = (
        kind(max_depth=2, **({"n_estimators": 2} if kind in FORESTS else {})).fit(X[::3], y[::3])._to_bytes()
    )
    generator = random.Random(5)
    path = tmp_path / "mutant.weald"
    accepted = 0
    for _ in range(150):
        mutant = mutate(data, generator)
        if mutant == data or len(mutant) < 9:
            continue
        path.write_bytes(mutant)
        with pytest.raises(ModelFileError):
            weald.load(path)
        path.write_bytes(sign(mutant))
        try:
            model = weald.load(path)
        except ModelFileError:
            continue
        accepted += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(outputs_of(model, X[:2])) == 2
    assert accepted < 140


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": None}, "must have the classes of every output"),
        ({"classes": []}, "must have the classes of every output"),
        ({"classes": [{"dtype": "<i8", "values": [1, 1, 2]}]}, "must be different"),
        ({"classes": [{"dtype": "<i8", "values": [1, 2]}]}, "cannot have 3 outputs"),
        ({"oob_score": "high"}, "oob_score must be a number"),
        ({"params": {"depth": 3}}, "has no parameter 'depth'"),
        ({"params": []}, "params must be a dictionary"),
        ({"extra": 1}, "fields of a RandomForestClassifier"),
        ({"estimator": "RandomForestRegressor"}, "cannot have classes"),
        ({"estimator": "DecisionTreeClassifier"}, "cannot have 2 trees"),
    ],
)
def test_a_header_that_does_not_fit_its_forest_is_refused(change: Any, message: str, tmp_path: Path) -> None:
    from weald.forest import file as model_file

    forest, header = model_file.loads(RandomForestClassifier(2, max_depth=2).fit(*IRIS)._to_bytes())
    path = tmp_path / "model.weald"
    path.write_bytes(model_file.dumps(forest, header | change))
    with pytest.raises(ModelFileError, match=message):
        weald.load(path)


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1"),
        (
            {"criterion": "squared_error"},
            "criterion='squared_error' cannot be used with labels that are classes",
        ),
        ({"criterion": "giny"}, "criterion must be one of"),
        ({"max_features": "half"}, "max_features must be 'sqrt', 'log2', None"),
        ({"max_features": 5}, "max_features must be .* from 1 to 4"),
        ({"max_features": 0.0}, "max_features must be"),
        ({"max_features": True}, "max_features must be"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a whole number of at least 1"),
        ({"min_samples_split": 1}, "min_samples_split must be a whole number of at least 2"),
        ({"min_samples_split": 1.5}, "min_samples_split must be"),
        (
            {"max_samples": 0},
            "max_samples must be None, a whole number of at least 1, or a share above 0 of the 150",
        ),
        ({"max_samples": -0.5}, "max_samples must be"),
        ({"max_samples": float("inf")}, "max_samples must be"),
        ({"max_samples": 0.5, "bootstrap": False}, "max_samples=0.5 needs bootstrap=True"),
        ({"oob_score": True, "bootstrap": False}, "oob_score needs bootstrap=True"),
        ({"oob_score": "accuracy"}, "oob_score must be True, False or a function"),
        ({"features_per": "level"}, "features_per must be"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf must be"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be"),
    ],
)
def test_parameters_that_cannot_be_are_refused(params: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RandomForestClassifier(**params).fit(*IRIS)


def test_what_is_not_supported_says_what_to_use() -> None:
    with pytest.raises(NotSupportedError, match=r"ccp_alpha is 0\.1, but trees are not pruned"):
        DecisionTreeClassifier(ccp_alpha=0.1).fit(*IRIS)
    with pytest.raises(NotSupportedError, match="monotonic_cst is not supported yet"):
        RandomForestRegressor(monotonic_cst=[1]).fit(*DIABETES)


def test_an_unfitted_forest_says_so() -> None:
    for name in ("predict", "apply", "decision_path"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(RandomForestRegressor(), name)(DIABETES[0])
    with pytest.raises(NotFittedError):
        RandomForestRegressor().feature_importances_  # noqa: B018
    with pytest.raises(NotFittedError):
        RandomForestRegressor().permutation_importances(*DIABETES)
