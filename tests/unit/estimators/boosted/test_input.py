"""Bad input gets one clear sentence; unusual input works."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.estimators.shared.labels import writeable
from weald.params.declare import declared
from weald.runtime.errors import InputError, NotSupportedError

X, Y = load_breast_cancer(return_X_y=True)
RX, RY = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("kind", [BoostedTreesClassifier, BoostedTreesRegressor])
def test_parameters_have_the_declared_defaults(kind: Any) -> None:
    assert kind().get_params() == {name: known.default for name, known in declared(kind).items()}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1"),
        ({"n_estimators": 2.5}, "n_estimators must be a whole number"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be"),
        ({"subsample": 1.5}, "subsample must be a number above 0 and at most 1"),
        (
            {"growth": "sideways"},
            "growth must be one of 'leafwise', 'depthwise', 'oblivious', not 'sideways'",
        ),
        ({"sampling": "mvs"}, "sampling='mvs' draws a share of the rows; set subsample below 1"),
        (
            {"sampling": "bayesian", "subsample": 0.5},
            "subsample=0.5 has no meaning with sampling=Bayesian(); leave subsample at 1.0",
        ),
        (
            {"sampling": weald.Bayesian(temperature=50)},
            "sampling.temperature must be a number of at least 0 and at most 20, not 50",
        ),
        (
            {"sampling": weald.MinimalVariance(reg=-0.5), "subsample": 0.5},
            "sampling.reg must be a number of at least 0 or None, not -0.5",
        ),
        (
            {"sampling": weald.Goss},
            "sampling is the class Goss; pass an object, such as Goss(), or the name 'goss'",
        ),
        (
            {"sampling": weald.Dart()},
            "or an object of Uniform, ByClass, Goss, Bayesian or MinimalVariance, not Dart()",
        ),
        (
            {"sampling": None},
            "sampling must be 'uniform', 'by_class', 'goss', 'bayesian' or 'mvs', or an object",
        ),
        (
            {"categories": weald.Partition(max_threshold=65_536)},
            "categories.max_threshold must be a whole number of at least 1 and at most 65535",
        ),
        ({"categories": weald.Partition(smooth=-1.0)}, "categories.smooth must be a number of at least 0"),
        ({"categories": weald.Partition(l2=-1.0)}, "categories.l2 must be a number of at least 0"),
        (
            {"categories": weald.Partition(min_samples=0)},
            "categories.min_samples must be a whole number of at least 1",
        ),
        (
            {"categories": weald.Partition(max_onehot=0)},
            "categories.max_onehot must be a whole number of at least 1",
        ),
        ({"bins": 65_536}, "bins must be a whole number of at least 2 and at most 65535"),
        ({"growth": "oblivious", "max_leaves": 8}, "max_leaves=8 does not apply to growth='oblivious'"),
        ({"growth": "oblivious", "max_depth": 40}, "max_depth must be at most 16"),
        ({"loss": "sqared"}, "squared"),
        ({"loss": "logistic"}, "loss='logistic' is for classification"),
        ({"loss": weald.losses.Huber(delta=-2.0)}, "loss.delta must be a number above 0, not -2.0"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"eval_metric": []}, "eval_metric must not be an empty list"),
        ({"eval_metric": "auc"}, "auc"),
        ({"verbose": -1}, "verbose must be"),
    ],
)
def test_a_bad_parameter_is_refused_by_name(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        BoostedTreesRegressor(**parameters).fit(RX, RY)


@pytest.mark.parametrize(
    ("choice", "field"),
    [
        (weald.MinimalVariance, "frequency"),
        (weald.Goss, "frequency"),
        (weald.Uniform, "temperature"),
        (weald.Uniform, "reg"),
        (weald.Uniform, "top_rate"),
        (weald.Uniform, "positive"),
        (weald.OneHot, "max_onehot"),
        (weald.OneHot, "max_threshold"),
        (weald.OneHot, "smooth"),
        (weald.OneHot, "l2"),
        (weald.OneHot, "min_samples"),
        (weald.TargetStatistics, "max_threshold"),
        (weald.Exact, "eps"),
        (weald.Histogram, "proposals"),
    ],
)
def test_a_choice_does_not_have_the_fields_of_another(choice: Any, field: str) -> None:
    with pytest.raises(TypeError, match=f"has no parameter '{field}'; "):
        choice(**{field: 1})


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, np.zeros(len(Y)), "y has only one class"),
        ({"loss": "softmax"}, Y, "use 'logistic'"),
        ({"loss": "squared"}, Y, "is for regression"),
        ({"class_weight": {7: 2.0}}, Y, "class_weight names the class 7"),
        ({"class_weight": {0: -1.0}}, Y, "class_weight of 0 must be"),
        (
            {"class_weight": "even"},
            Y,
            "class_weight must be None, 'balanced', 'sqrt_balanced', 'minority' or a dict",
        ),
        ({"scale_pos_weight": 2.0}, np.arange(len(Y)) % 3, "scale_pos_weight is for two classes"),
        ({}, np.where(Y == 0, np.nan, 1.0), "y contains NaN"),
        ({}, Y + 0.3, "continuous"),
    ],
)
def test_bad_labels_are_refused(parameters: dict[str, Any], y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoostedTreesClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(len(Y)), "sample_weight"),
        (np.zeros(len(Y)), "sample_weight"),
        (np.full(len(Y), np.nan), "sample_weight"),
        (np.ones(3), "sample_weight|inconsistent"),
        ((Y == 1).astype(float), "only one class with a positive weight"),
    ],
)
def test_bad_weights_are_refused(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoostedTreesClassifier(n_estimators=2).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("bad", [{"eval_set": [X]}, {"eval_set": [(X, Y)], "eval_names": ["a", "b"]}])
def test_bad_evaluation_sets_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"eval_set|eval_names"):
        BoostedTreesClassifier(n_estimators=2).fit(X, Y, **bad)


def test_an_unknown_class_in_an_evaluation_set_is_named() -> None:
    with pytest.raises(InputError, match="eval_set has the class 5"):
        BoostedTreesClassifier(n_estimators=2).fit(X, Y, eval_set=[(X, np.where(Y == 1, 5, 0))])


def test_negative_counts_are_refused_by_poisson() -> None:
    with pytest.raises(InputError, match="y must be"):
        BoostedTreesRegressor("poisson").fit(RX, RY - 1000)


def test_string_labels_come_back_as_they_were() -> None:
    names = load_iris()["target_names"]
    iris_x, iris_y = load_iris(return_X_y=True)
    model = BoostedTreesClassifier(n_estimators=5).fit(iris_x, names[iris_y])
    assert set(model.predict(iris_x)) <= set(names)
    assert model.score(iris_x, names[iris_y]) > 0.95
    assert model.predict_proba(iris_x).sum(axis=1) == pytest.approx(np.ones(150))


def test_class_weight_is_sample_weight() -> None:
    weights = {0: 3.0, 1: 1.0}
    by_class = BoostedTreesClassifier(n_estimators=5, class_weight=weights).fit(X, Y)
    by_row = BoostedTreesClassifier(n_estimators=5).fit(X, Y, sample_weight=np.where(Y == 0, 3.0, 1.0))
    assert by_class.forest_ == by_row.forest_
    positive = BoostedTreesClassifier(n_estimators=5, scale_pos_weight=2.0).fit(X, Y)
    assert positive.forest_ == BoostedTreesClassifier(n_estimators=5, class_weight={1: 2.0}).fit(X, Y).forest_


def test_rows_of_weight_zero_are_as_if_they_were_not_there() -> None:
    weight = (np.arange(len(Y)) % 3 > 0).astype(float)
    kept = weight > 0
    weighted = BoostedTreesClassifier(n_estimators=5).fit(X, Y, sample_weight=weight)
    removed = BoostedTreesClassifier(n_estimators=5).fit(X[kept], Y[kept], sample_weight=weight[kept])
    assert weighted.forest_ == removed.forest_


def test_one_row_constant_columns_and_all_missing_columns_train() -> None:
    assert BoostedTreesRegressor(n_estimators=2).fit([[1.0]], [3.0]).predict([[7.0]]) == pytest.approx([3.0])
    odd = np.column_stack([np.ones(100), np.full(100, np.nan), np.arange(100.0)])
    model = BoostedTreesRegressor(n_estimators=30, learning_rate=0.5, min_samples_leaf=2).fit(
        odd, np.arange(100.0)
    )
    assert model.score(odd, np.arange(100.0)) > 0.99
    assert model.feature_importances_[:2].sum() == 0


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix])
def test_sparse_and_dense_tables_give_one_model(make: Any) -> None:
    dense = np.where(np.abs(RX) < 0.03, 0.0, RX)
    expected = BoostedTreesRegressor(n_estimators=3).fit(dense, RY)
    model = BoostedTreesRegressor(n_estimators=3).fit(make(dense), RY)
    assert model.forest_ == expected.forest_
    assert np.array_equal(model.predict(make(dense)), expected.predict(dense))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library_give_one_model_and_columns_match_by_name(library: str) -> None:
    module = pytest.importorskip(library)
    data = weald.datasets.load("penguins")
    expected = BoostedTreesClassifier(n_estimators=5).fit(data.data, data.target)
    build = module.table if library == "pyarrow" else module.DataFrame
    model = BoostedTreesClassifier(n_estimators=5).fit(build(data.data), data.target)
    assert model.forest_ == expected.forest_
    turned = build(dict(reversed(list(data.data.items()))))
    assert np.array_equal(model.predict_proba(turned), expected.predict_proba(data.data))
    some = {name: values for name, values in data.data.items() if name != "species"}
    some.pop(next(iter(some)))
    with pytest.raises(ValueError, match="missing"):
        model.predict(build(some))


def test_unknown_categories_count_as_missing() -> None:
    colour = np.array(["red", "blue", None, "green"] * 50, dtype=object)
    y = np.where(colour == "red", 1.0, 0.0)
    model = BoostedTreesRegressor(n_estimators=20, min_samples_leaf=1).fit({"colour": colour}, y)
    unknown, missing = model.predict({"colour": np.array(["violet", None], dtype=object)})
    assert unknown == missing
    assert model.predict({"colour": np.array(["red"], dtype=object)})[0] > 0.8


def test_missing_values_learn_their_side() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(2000)
    y = np.where(rng.random(2000) < 0.3, 5.0, x)
    x = np.where(y == 5.0, np.nan, x)
    model = BoostedTreesRegressor(n_estimators=60).fit(x[:, None], y)
    assert model.predict([[np.nan]]) == pytest.approx([5.0], abs=0.1)
    assert model.predict([[-1.0]]) == pytest.approx([-1.0], abs=0.2)


def test_infinities_are_ordinary_extremes() -> None:
    x = np.array([-np.inf, -1.0, 1.0, np.inf] * 50)[:, None]
    y = np.array([0.0, 1.0, 2.0, 3.0] * 50)
    model = BoostedTreesRegressor(n_estimators=200, min_samples_leaf=1).fit(x, y)
    assert model.predict(x[:4]) == pytest.approx(y[:4], abs=0.01)


def test_custom_losses_and_metrics_of_the_user_are_used() -> None:
    def squared(y: Any, scores: Any) -> Any:
        return scores - y, np.ones_like(y)

    def bias(y: Any, prediction: Any, weight: Any) -> float:
        return float(np.mean(prediction - y))

    bias.greater_is_better = False  # type: ignore[attr-defined]
    model = BoostedTreesRegressor(squared, n_estimators=100, eval_metric=["rmse", bias])
    model.fit(RX, RY, eval_set=[(RX, RY)])
    named = BoostedTreesRegressor("squared", n_estimators=100).fit(RX, RY)
    assert abs(model.history_["valid_0"]["bias"][-1]) < 1.0
    assert model.score(RX, RY) == pytest.approx(named.score(RX, RY), abs=0.02)


def test_refused_values_say_what_to_use_instead() -> None:
    with pytest.raises(NotSupportedError, match="use sampling='bayesian'"):
        BoostedTreesRegressor(sampling="bootstrap").fit(RX, RY)


def test_an_oblivious_tree_that_would_not_fit_in_memory_is_refused() -> None:
    wide = np.random.default_rng(0).standard_normal((300, 400))
    with pytest.raises(InputError, match="GB of histograms; choose a smaller max_depth"):
        BoostedTreesRegressor(growth="oblivious", max_depth=14).fit(wide, wide[:, 0])


def test_read_only_labels_and_weights_give_the_model_of_writeable_ones() -> None:
    y, weight = RY.astype(np.float64), np.ones(len(RY))
    expected = BoostedTreesRegressor(n_estimators=2).fit(RX, y, sample_weight=weight)
    y.flags.writeable = weight.flags.writeable = False
    assert writeable(y).flags.writeable and writeable(weight).flags.writeable
    model = BoostedTreesRegressor(n_estimators=2).fit(RX, y, sample_weight=weight, eval_set=[(RX, y, weight)])
    assert model.forest_ == expected.forest_
