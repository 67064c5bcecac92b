"""GradientBoostingClassifier and GradientBoostingRegressor as users meet them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import weald
from invariants.shared_work import shared_histograms
from weald import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from weald.binning import bin_once
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

REGRESSION = ["squared_error", "absolute_error", "huber", "quantile"]
SEARCHES = ["leaf", "tree", "projection"]


@parametrize_with_checks(
    [
        GradientBoostingRegressor(n_estimators=12),
        GradientBoostingClassifier(n_estimators=5),
        GradientBoostingRegressor(n_estimators=12, loss="huber", line_search="tree", max_leaf_nodes=6),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


def models() -> list[Any]:
    """A fitted-to-be estimator for every loss and line search."""
    regressors = [
        GradientBoostingRegressor(loss=loss, line_search=search, n_estimators=8)
        for loss in REGRESSION
        for search in SEARCHES
    ]
    classifiers = [
        GradientBoostingClassifier(loss=loss, line_search=search, n_estimators=8)
        for loss in ("log_loss", "exponential")
        for search in SEARCHES
    ]
    return regressors + classifiers


def data_for(model: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
    return (load_breast_cancer if hasattr(model, "predict_proba") else load_diabetes)(return_X_y=True)  # type: ignore[no-any-return]


def named(model: Any) -> str:
    return f"{model.loss}-{model.line_search}"


@pytest.mark.parametrize("model", models(), ids=named)
def test_every_round_of_every_line_search_lowers_the_training_loss(model: Any) -> None:
    X, y = data_for(model)
    scores = clone(model).fit(X, y).train_score_
    if model.loss == "huber":  # its scale falls from round to round, and so does the loss
        assert scores[-1] < scores[0]
    elif model.line_search != "projection" or model.loss in ("squared_error", "log_loss"):
        # The tree's own values are a step of length one, which only smooth losses are sure to bear.
        assert (np.diff(scores) < 0).all()
    else:
        assert scores[-1] < scores[0]


@pytest.mark.parametrize("model", models(), ids=named)
def test_the_model_does_not_depend_on_the_number_of_threads(model: Any) -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((4_000, 5))
    y = X[:, 0] * X[:, 1] + rng.standard_normal(4_000)
    if hasattr(model, "predict_proba"):
        y = y > 0
    fitted = [clone(model).set_params(n_jobs=jobs, subsample=0.7).fit(X, y) for jobs in (1, 2, 3)]
    assert fitted[0].forest_ == fitted[1].forest_ == fitted[2].forest_
    assert np.array_equal(fitted[0].oob_scores_, fitted[2].oob_scores_)


def test_above_the_thresholds_of_threads_the_model_is_the_same_too() -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((61_000, 14)).astype(np.float32)
    target = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(61_000)
    for loss in ("absolute_error", "huber"):
        with shared_histograms():
            forests = [
                GradientBoostingRegressor(loss=loss, n_estimators=3, n_jobs=jobs).fit(X, target).forest_
                for jobs in (1, 2)
            ]
        assert forests[0] == forests[1]
    three = np.digitize(target, [-0.5, 0.5])
    with shared_histograms():
        forests = [
            GradientBoostingClassifier(n_estimators=2, n_jobs=jobs, subsample=0.5).fit(X, three).forest_
            for jobs in (1, 2, 3)
        ]
    assert forests[0] == forests[1] == forests[2]


def test_the_last_stage_is_the_prediction_to_the_bit() -> None:
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=6).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == 6
    assert np.array_equal(stages[-1], model.decision_function(X))
    assert np.array_equal(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    shorter = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    assert np.array_equal(stages[2], shorter.decision_function(X))
    X, y = load_diabetes(return_X_y=True)
    for init in (None, "zero", LinearRegression()):
        regressor = GradientBoostingRegressor(n_estimators=4, init=init).fit(X, y)
        assert np.array_equal(list(regressor.staged_predict(X))[-1], regressor.predict(X))


def test_estimators_are_regressors_whose_steps_add_up_to_the_scores() -> None:
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=4, learning_rate=0.3).fit(X, y)
    assert model.estimators_.shape == (4, 3)
    for output in range(3):
        total = sum(0.3 * step.predict(X) for step in model.estimators_[:, output])
        expected = model.decision_function(X)[:, output] - model.forest_.base_score[output]
        np.testing.assert_allclose(total, expected, atol=1e-12)
    step = model.estimators_[1, 2]
    assert np.array_equal(step.apply(X), model.apply(X)[:, 1, 2])
    assert step.get_depth() <= 3
    assert step.get_n_leaves() == step.tree_.n_leaves
    assert step.n_features_in_ == 4
    assert "tree 5 of 12" in repr(step)


def test_squared_error_boosts_residuals_like_newton_boosting_with_hessians_of_one() -> None:
    data = weald.datasets.load("penguins")  # with categories and missing values
    rng = np.random.default_rng(0)
    y = rng.standard_normal(len(data.target))
    ours = GradientBoostingRegressor(n_estimators=10).fit(data.data, y)
    newton = BoostedTreesRegressor(
        n_estimators=10,
        growth="depthwise",
        max_depth=3,
        max_leaves=None,
        min_samples_leaf=1,
        min_child_weight=0.0,
        reg_lambda=0.0,
        split_finder=weald.Histogram(precision="wide"),
    ).fit(data.data, y)
    assert np.array_equal(ours.predict(data.data), newton.predict(data.data))
    for search in ("tree", "projection"):  # a mean is its own best step
        other = GradientBoostingRegressor(n_estimators=10, line_search=search).fit(data.data, y)
        np.testing.assert_allclose(other.predict(data.data), ours.predict(data.data), rtol=1e-5)


def test_the_ages_of_four_people_are_found_in_two_trees() -> None:
    """The worked example: shopping divides pupils from adults, questions the younger from the older."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])  # buys more, answers questions
    ages = np.array([14.0, 16.0, 24.0, 26.0])
    model = GradientBoostingRegressor(n_estimators=2, max_depth=1, learning_rate=1.0).fit(X, ages)
    first, second = model.staged_predict(X)
    assert first.tolist() == [15.0, 15.0, 25.0, 25.0]
    assert (ages - first).tolist() == [-1.0, 1.0, -1.0, 1.0]
    assert second.tolist() == [14.0, 16.0, 24.0, 26.0]
    assert [int(step.tree_.feature[0]) for step in model.estimators_[:, 0]] == [0, 1]
    assert model.estimators_[1, 0].predict(X).tolist() == [-1.0, 1.0, -1.0, 1.0]
    assert model.train_score_.tolist() == [1.0, 0.0]


def test_both_criteria_grow_the_same_trees() -> None:
    X, y = load_diabetes(return_X_y=True)
    forests = [
        GradientBoostingRegressor(criterion=criterion, n_estimators=5).fit(X, y).forest_
        for criterion in ("friedman_mse", "squared_error")
    ]
    assert forests[0] == forests[1]


def test_both_criteria_order_splits_alike() -> None:
    """Friedman's improvement w_l w_r / w (mean_l - mean_r)^2 is the squared error's decrease, for any split."""
    rng = np.random.default_rng(0)
    r, w = rng.standard_normal(50), rng.uniform(0.1, 2.0, 50)
    for cut in range(1, 50):
        weights, sums = (w[:cut].sum(), w[cut:].sum()), ((r * w)[:cut].sum(), (r * w)[cut:].sum())
        means = sums[0] / weights[0], sums[1] / weights[1]
        friedman = weights[0] * weights[1] / w.sum() * (means[0] - means[1]) ** 2
        squared = sum(s * s / v for s, v in zip(sums, weights, strict=True)) - (r * w).sum() ** 2 / w.sum()
        assert friedman == pytest.approx(squared)


def test_out_of_bag_improvement_is_of_the_same_rows_and_falls_to_nothing() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(subsample=0.5, n_estimators=120, random_state=3).fit(X, y)
    assert (model.oob_improvement_[:5] > 0).all()
    assert model.oob_improvement_[:10].mean() > 10 * abs(model.oob_improvement_[-50:].mean())
    assert model.oob_score_ == model.oob_scores_[-1]
    assert not hasattr(GradientBoostingRegressor(n_estimators=2).fit(X, y), "oob_scores_")


def test_a_warm_start_goes_on_to_the_model_of_a_single_fit() -> None:
    X, y = load_diabetes(return_X_y=True)
    for settings in ({}, {"subsample": 0.6}, {"init": LinearRegression()}, {"loss": "huber"}):
        whole = GradientBoostingRegressor(n_estimators=12, **settings).fit(X, y)
        parts = GradientBoostingRegressor(n_estimators=5, warm_start=True, **settings).fit(X, y)
        parts.set_params(n_estimators=12).fit(X, y)
        np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-12)
        np.testing.assert_allclose(parts.train_score_, whole.train_score_, rtol=1e-12)
        if "subsample" in settings:
            np.testing.assert_allclose(parts.oob_improvement_, whole.oob_improvement_, rtol=1e-9)
    with pytest.raises(InputError, match="cannot go back"):
        parts.set_params(n_estimators=3).fit(X, y)


def test_init_moves_the_start_and_is_kept() -> None:
    X, y = load_diabetes(return_X_y=True)
    linear = GradientBoostingRegressor(n_estimators=1, init=LinearRegression()).fit(X, y)
    assert linear.init_.coef_.shape == (10,)
    zero = GradientBoostingRegressor(n_estimators=1, init="zero", learning_rate=1.0).fit(X, y)
    assert zero.forest_.base_score.tolist() == [0.0]
    assert zero.predict(X).mean() == pytest.approx(y.mean())
    stopped = GradientBoostingRegressor(init=LinearRegression(), n_iter_no_change=2).fit(X, y)
    assert stopped.n_estimators_ < 100
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=2, init=LogisticRegression(max_iter=500)).fit(X, y)
    assert model.score(X, y) > 0.95
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_model_file_keeps_everything_but_a_foreign_init(tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    path = tmp_path / "model.weald"
    for settings in ({"loss": "exponential", "subsample": 0.5}, {"init": "zero"}, {"n_iter_no_change": 2}):
        model = GradientBoostingClassifier(n_estimators=6, **settings).fit(X, y)
        model.save(path)
        loaded = weald.load(path)
        assert type(loaded) is GradientBoostingClassifier
        assert loaded.get_params() == model.get_params()
        assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
        assert np.array_equal(loaded.train_score_, model.train_score_)
        assert loaded.init_ == model.init_
        if "subsample" in settings:
            assert np.array_equal(loaded.oob_improvement_, model.oob_improvement_)
    foreign = GradientBoostingClassifier(n_estimators=2, init=DummyClassifier()).fit(X, y)
    with pytest.raises(NotSupportedError, match="init=DummyClassifier cannot be part of a model file"):
        foreign.save(path)
    text = path.read_bytes().replace(b"GradientBoostingClassifier", b"GradientBoostingClassifies")
    (tmp_path / "other.weald").write_bytes(text)
    with pytest.raises(ModelFileError):
        weald.load(tmp_path / "other.weald")


def test_sparse_tables_and_missing_values_are_read_as_boosted_trees_read_them() -> None:
    rng = np.random.default_rng(1)
    dense = rng.integers(0, 3, (300, 6)).astype(np.float64)
    y = dense[:, 0] - dense[:, 1] * dense[:, 2]
    model = GradientBoostingRegressor(n_estimators=10).fit(scipy.sparse.csr_matrix(dense), y)
    assert np.array_equal(model.predict(dense), model.predict(scipy.sparse.csc_matrix(dense)))
    dense[:, 3] = np.where(y > 0, np.nan, 1.0)
    with_missing = GradientBoostingRegressor(n_estimators=1, max_depth=1).fit(dense, y)
    assert with_missing.feature_importances_[3] == 1.0


def test_a_table_that_is_binned_once_gives_the_model_of_the_table() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(n_estimators=5)
    table = bin_once(X, [model])
    assert table is not None
    assert clone(model).fit(table, y).forest_ == clone(model).fit(X, y).forest_
    half = table.take(np.arange(0, len(y), 2))
    assert clone(model).set_params(n_iter_no_change=3).fit(half, y[::2]).score(X, y) > 0.2
    foreign = GradientBoostingRegressor(init=LinearRegression())
    assert bin_once(X, [foreign]) is None
    with pytest.raises(InputError, match="init=LinearRegression cannot read a binned table"):
        foreign.fit(table, y)


def test_grid_search_through_a_pipeline_finds_parameters() -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=5))
    search = GridSearchCV(pipeline, {"gradientboostingclassifier__line_search": SEARCHES}, cv=2).fit(X, y)
    assert search.best_score_ > 0.9


def test_a_monitor_sees_the_losses_and_stops() -> None:
    X, y = load_diabetes(return_X_y=True)
    seen: list[float] = []

    def monitor(number: int, estimator: Any, variables: dict[str, Any]) -> bool:
        assert variables["state"].number == number
        assert len(estimator.train_score_) == number + 1
        seen.append(float(estimator.train_score_[-1]))
        return number == 4

    model = GradientBoostingRegressor().fit(X, y, monitor=monitor)
    assert model.n_estimators_ == 5
    assert seen == model.train_score_.tolist()


def test_verbose_says_how_training_goes(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_diabetes(return_X_y=True)
    GradientBoostingRegressor(n_estimators=10, verbose=1).fit(X, y)
    assert "10/10" in capsys.readouterr().err


def test_columns_are_drawn_anew_for_every_node() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(n_estimators=30, max_features=1).fit(X, y)
    assert model.max_features_ == 1
    assert (model.feature_importances_ > 0).sum() > 5
    roots = {int(model.forest_.tree(index).feature[0]) for index in range(30)}
    inside = {int(feature) for feature in model.forest_.tree(0).feature if feature >= 0}
    assert len(roots) > 3
    assert len(inside) > 1
    assert GradientBoostingRegressor(n_estimators=1, max_features="log2").fit(X, y).max_features_ == 3


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"loss": "squared"}, "loss must be one of 'squared_error', .* not 'squared'"),
        ({"ccp_alpha": 0.1}, "ccp_alpha=0.1 is not supported; limit trees by max_depth"),
        ({"line_search": "row"}, "line_search must be one of 'leaf', 'tree', 'projection', not 'row'"),
        ({"min_samples_split": 1}, "min_samples_split must be a whole number of at least 2 or a share"),
        ({"min_samples_leaf": 1.5}, "min_samples_leaf must be .* not 1.5"),
        ({"max_features": "all"}, "max_features must be 'sqrt', 'log2', None, .* not 'all'"),
        ({"max_features": 0}, "max_features must be .* not 0"),
        ({"alpha": 1.5}, "alpha must be a number above 0 and at most 1, not 1.5"),
        ({"alpha": 1.0, "loss": "quantile"}, "alpha must be between 0 and 1"),
        ({"init": "one"}, "init must be None, 'zero' or an estimator with fit and predict, not 'one'"),
        ({"max_depth": 0}, "max_depth must be a whole number of at least 1"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf must be"),
    ],
)
def test_a_bad_parameter_gets_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(InputError, match=sentence):
        GradientBoostingRegressor(n_estimators=1, **settings).fit(X, y)


def test_bad_labels_and_inits_get_one_sentence() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="loss='exponential' is for two classes, but y has 3"):
        GradientBoostingClassifier(loss="exponential").fit(X, y)
    with pytest.raises(
        InputError, match="init must be None, 'zero' or an estimator with fit and predict_proba"
    ):
        GradientBoostingClassifier(init=LinearRegression()).fit(X, y)
    with pytest.raises(
        InputError, match="init=Pipeline is an estimator that does not support sample weights"
    ):
        GradientBoostingRegressor(init=make_pipeline(DummyRegressor())).fit(X, y, np.ones(150))
    with pytest.raises(InputError, match="monitor must be a function"):
        GradientBoostingRegressor().fit(X, y, monitor=3)  # type: ignore[arg-type]


def test_newton_boosting_has_the_exponential_loss_too(tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = BoostedTreesClassifier("exponential", n_estimators=20, eval_metric=["logloss", "auc"])
    model.fit(X, y, eval_set=[(X, y)])
    assert model.history_["valid_0"]["auc"][-1] > 0.99
    odds = np.log(model.predict_proba(X)[:, 1] / model.predict_proba(X)[:, 0])
    np.testing.assert_allclose(odds, 2.0 * model.decision_function(X), atol=1e-9)  # half the log-odds
    model.save(tmp_path / "model.weald")
    assert np.array_equal(weald.load(tmp_path / "model.weald").predict_proba(X), model.predict_proba(X))
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="loss='exponential' is for two classes, but y has 3; use 'softmax'"):
        BoostedTreesClassifier("exponential").fit(X, y)


def test_a_class_that_early_stopping_leaves_no_row_to_fit_is_told() -> None:
    X, y = np.ones((10, 1)), np.array(["rare"] * 2 + ["often"] * 8)
    model = GradientBoostingClassifier(n_iter_no_change=5, validation_fraction=0.8)
    with pytest.raises(InputError, match="of the class 'rare' to fit; hold out fewer rows"):
        model.fit(X, y)
    model.set_params(validation_fraction=0.4).fit(X, y)
