"""Scripts on the topics of CatBoost's examples: each runs with both modules, and both give the like of it."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

QUIET: dict[str, Any] = {"verbose": False, "thread_count": 1, "allow_writing_files": False}
SMALL: dict[str, Any] = {**QUIET, "iterations": 30, "learning_rate": 0.2, "depth": 4}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CatBoost's own writes catboost_info where it runs."""
    monkeypatch.chdir(tmp_path)


def test_a_classifier_with_an_eval_set(cb: Any, two_classes: Any) -> None:
    X, y = two_classes
    model = cb.CatBoostClassifier(
        iterations=200,
        learning_rate=0.5,
        depth=4,
        eval_metric="AUC",
        custom_metric=["Accuracy", "F1"],
        **QUIET,
    )
    model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]), early_stopping_rounds=10)
    found = model.get_evals_result()
    assert set(found) == {"learn", "validation"}
    assert set(found["validation"]) == {"AUC", "Logloss", "Accuracy", "F1"}
    assert set(found["learn"]) == {"Logloss", "Accuracy", "F1"}
    assert len(found["validation"]["AUC"]) < 200
    assert model.tree_count_ == model.best_iteration_ + 1
    assert len(found["validation"]["AUC"]) == model.best_iteration_ + 11
    assert model.best_score_["validation"]["AUC"] == max(found["validation"]["AUC"])
    assert model.get_best_score()["learn"]["Logloss"] == min(found["learn"]["Logloss"])
    assert model.predict_proba(X).shape == (300, 2)
    assert model.predict(X).dtype.kind == "i"
    assert model.classes_.tolist() == [0, 1]
    assert model.score(X, y) > 0.85
    assert model.learning_rate_ == pytest.approx(0.5)


def test_kinds_of_predictions(cb: Any, two_classes: Any, three_classes: Any) -> None:
    X, y = two_classes
    model = cb.CatBoostClassifier(**SMALL).fit(X, np.where(y, "late", "early"))
    raw = model.predict(X, prediction_type="RawFormulaVal")
    chance = model.predict(X, prediction_type="Probability")
    assert np.allclose(chance[:, 1], 1.0 / (1.0 + np.exp(-raw)))
    assert np.allclose(model.predict(X, prediction_type="LogProbability"), np.log(chance))
    assert np.allclose(model.predict_log_proba(X), np.log(chance))
    assert np.allclose(model.predict(X, prediction_type="Exponent"), np.exp(raw))
    assert np.array_equal(model.predict(X), np.where(raw > 0, "late", "early"))
    stages = list(model.staged_predict_proba(X, eval_period=12))
    assert len(stages) == 3
    assert np.allclose(stages[-1], chance)
    assert np.allclose(stages[0], model.predict_proba(X, ntree_end=12))
    parts = model.predict(X, "RawFormulaVal", ntree_end=10) + model.predict(
        X, "RawFormulaVal", ntree_start=10, ntree_end=30
    )
    assert np.allclose(parts, raw, atol=1e-6)
    X, y = three_classes
    model = cb.CatBoostClassifier(**SMALL).fit(X, y)
    assert model.predict(X, prediction_type="RawFormulaVal").shape == (300, 3)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert np.mean(np.ravel(model.predict(X)) == y) > 0.7
    assert model.get_all_params()["bootstrap_type"] == "Bayesian"


def test_pools(cb: Any, numbers: Any) -> None:
    X, y = numbers
    weight = np.linspace(0.5, 1.5, 300)
    pool = cb.Pool(X, label=y, weight=weight, feature_names=list("abcd"))
    assert pool.shape == (300, 4)
    assert (pool.num_row(), pool.num_col()) == (300, 4)
    assert pool.get_feature_names() == list("abcd")
    assert np.allclose(pool.get_label(), y, rtol=1e-5)
    assert np.allclose(pool.get_weight(), weight)
    part = pool.slice(list(range(200)))
    rest = pool.slice(list(range(200, 300)))
    model = cb.CatBoostRegressor(**SMALL).fit(part, eval_set=rest)
    assert model.feature_names_ == list("abcd")
    assert model.score(rest) > 0.4
    assert model.predict(rest).shape == (100,)
    assert cb.CatBoostRegressor(**SMALL).fit(X, y, sample_weight=weight).score(X, y) > 0.6


def test_metrics_are_those_of_the_predictions(
    cb: Any, numbers: Any, two_classes: Any, three_classes: Any
) -> None:
    from sklearn import metrics as sk

    X, y = numbers
    pool = cb.Pool(X, y - y.min())
    model = cb.CatBoostRegressor(**SMALL).fit(pool)
    names = [
        "RMSE",
        "MAE",
        "R2",
        "MSLE",
        "MAPE",
        "SMAPE",
        "MedianAbsoluteError",
        "Quantile:alpha=0.3",
        "Huber:delta=1",
        "LogCosh",
        "FairLoss:smoothness=2",
        "Lq:q=3",
        "NumErrors:greater_than=1",
        "Expectile:alpha=0.3",
    ]
    found = model.eval_metrics(pool, names, eval_period=10)
    assert all(len(values) == 4 for values in found.values())
    predicted, target = model.predict(X), y - y.min()
    distance = target - predicted
    want = [
        np.sqrt(np.mean(distance**2)),
        np.mean(np.abs(distance)),
        sk.r2_score(target, predicted),
        np.mean((np.log1p(target) - np.log1p(predicted)) ** 2),
        np.mean(np.abs(distance) / np.maximum(target, 1.0)),
        100 * np.mean(2 * np.abs(distance) / (np.abs(target) + np.abs(predicted))),
        np.median(np.abs(distance)),
        sk.mean_pinball_loss(target, predicted, alpha=0.3),
        np.mean(np.where(np.abs(distance) < 1, distance**2 / 2, np.abs(distance) - 0.5)),
        np.mean(np.log(np.cosh(distance))),
        np.mean(4 * (np.abs(distance) / 2 - np.log1p(np.abs(distance) / 2))),
        np.mean(np.abs(distance) ** 3),
        np.mean(np.abs(distance) > 1),
        np.mean(np.where(distance > 0, 0.3, 0.7) * distance**2),
    ]
    for name, value in zip(names, want, strict=True):
        assert found[name][-1] == pytest.approx(value, rel=1e-3), name
    X, y = two_classes
    pool = cb.Pool(X, y)
    model = cb.CatBoostClassifier(**SMALL).fit(pool)
    chance = model.predict_proba(X)[:, 1]
    guess = (chance > 0.5).astype(int)
    of_two = {
        "Logloss": sk.log_loss(y, chance),
        "CrossEntropy": sk.log_loss(y, chance),
        "AUC": sk.roc_auc_score(y, chance),
        "NormalizedGini": 2 * sk.roc_auc_score(y, chance) - 1,
        "BrierScore": np.mean((chance - y) ** 2),
        "Accuracy": sk.accuracy_score(y, guess),
        "ZeroOneLoss": 1 - sk.accuracy_score(y, guess),
        "HammingLoss": 1 - sk.accuracy_score(y, guess),
        "Precision": sk.precision_score(y, guess),
        "Recall": sk.recall_score(y, guess),
        "F1": sk.f1_score(y, guess),
        "F:beta=2": sk.fbeta_score(y, guess, beta=2),
        "TotalF1": sk.f1_score(y, guess, average="weighted"),
        "BalancedAccuracy": sk.balanced_accuracy_score(y, guess),
        "BalancedErrorRate": 1 - sk.balanced_accuracy_score(y, guess),
        "MCC": sk.matthews_corrcoef(y, guess),
        "Kappa": sk.cohen_kappa_score(y, guess),
    }
    found = model.eval_metrics(pool, list(of_two))
    for name, value in of_two.items():
        assert found[name][-1] == pytest.approx(value, abs=2e-5), name
    X, y = three_classes
    pool = cb.Pool(X, y)
    model = cb.CatBoostClassifier(**SMALL).fit(pool)
    guess = np.ravel(model.predict(X))
    found = model.eval_metrics(pool, ["MultiClass", "Accuracy", "TotalF1", "MCC", "Kappa"])
    assert found["MultiClass"][-1] == pytest.approx(sk.log_loss(y, model.predict_proba(X)), rel=1e-4)
    assert found["TotalF1"][-1] == pytest.approx(sk.f1_score(y, guess, average="weighted"), rel=1e-4)
    assert found["MCC"][-1] == pytest.approx(sk.matthews_corrcoef(y, guess), rel=1e-4)
    assert found["Kappa"][-1] == pytest.approx(sk.cohen_kappa_score(y, guess), rel=1e-4)


def test_metrics_of_weighted_rows_and_of_another_loss(cb: Any) -> None:
    from sklearn import metrics as sk

    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 4)), 3.0 * rng.random(300)
    noisy = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300)
    y = (noisy > 0).astype(int)
    pool = cb.Pool(X, y, weight=weight)
    model = cb.CatBoostClassifier(**SMALL).fit(pool)
    chance = model.predict_proba(X)[:, 1]
    for name, own in (("PRAUC", None), ("PRAUC:use_weights=true", weight)):
        precision, recall, _ = sk.precision_recall_curve(y, chance, sample_weight=own)
        (values,) = model.eval_metrics(pool, [name]).values()
        assert values[-1] == pytest.approx(sk.auc(recall, precision), abs=2e-3), name
    y = np.digitize(noisy, [-0.6, 0.6])
    pool = cb.Pool(X, y)
    for loss in ("MultiClass", "MultiClassOneVsAll"):
        model = cb.CatBoostClassifier(**SMALL, loss_function=loss).fit(pool)
        raw = model.predict(X, prediction_type="RawFormulaVal")
        softmax = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
        pairs = [
            sk.roc_auc_score(y[rows] == one, (raw[:, one] - raw[:, other])[rows])
            for one in range(3)
            for other in range(one)
            for rows in [np.isin(y, (one, other))]
        ]
        alone = [sk.log_loss(y == k, 1.0 / (1.0 + np.exp(-raw[:, k]))) for k in range(3)]
        want = [sk.log_loss(y, softmax), np.mean(alone), np.mean(pairs)]
        found = model.eval_metrics(pool, ["MultiClass", "MultiClassOneVsAll", "AUC"])
        assert [values[-1] for values in found.values()] == pytest.approx(want, rel=1e-5), loss


def test_losses(cb: Any, numbers: Any) -> None:
    X, y = numbers
    counts = np.round(np.exp(y / 6))
    for loss, target in (
        ("MAE", y),
        ("MAPE", y + 20.0),
        ("Huber:delta=1", y),
        ("LogCosh", y),
        ("Poisson", counts),
        ("Tweedie:variance_power=1.5", counts),
    ):
        model = cb.CatBoostRegressor(**{**SMALL, "iterations": 60}, loss_function=loss).fit(X, target)
        predicted = model.predict(X)
        assert np.corrcoef(predicted, target)[0, 1] > 0.6, loss
        assert abs(predicted.mean() - target.mean()) < 0.5 * target.std(), loss
        assert list(model.best_score_["learn"]) == [loss]
    low = cb.CatBoostRegressor(**{**SMALL, "iterations": 60}, loss_function="Quantile:alpha=0.1").fit(X, y)
    assert np.mean(y < low.predict(X)) < 0.25
    both = cb.CatBoostRegressor(
        **{**SMALL, "iterations": 60}, loss_function="MultiQuantile:alpha=0.1,0.9"
    ).fit(X, y)
    assert both.predict(X).shape == (300, 2)
    assert np.mean(y < both.predict(X)[:, 1]) > 0.75
    sure = cb.CatBoostRegressor(**{**SMALL, "iterations": 60}, loss_function="RMSEWithUncertainty").fit(X, y)
    found = sure.predict(X)
    assert found.shape == (300, 2)
    assert np.corrcoef(found[:, 0], y)[0, 1] > 0.7
    assert (found[:, 1] > 0).all()
    assert np.allclose(sure.predict(X, "RawFormulaVal")[:, 0], found[:, 0])


def test_one_class_against_the_others_and_shares(cb: Any, two_classes: Any, three_classes: Any) -> None:
    X, y = three_classes
    model = cb.CatBoostClassifier(**SMALL, loss_function="MultiClassOneVsAll").fit(X, y)
    raw = model.predict(X, prediction_type="RawFormulaVal")
    assert np.allclose(model.predict_proba(X), 1.0 / (1.0 + np.exp(-raw)))
    X, y = two_classes
    share = np.where(y, 0.8, 0.3)
    model = cb.CatBoostClassifier(**SMALL, loss_function="CrossEntropy").fit(X, share)
    assert np.corrcoef(model.predict_proba(X)[:, 1], share)[0, 1] > 0.8


def test_weights_of_classes(cb: Any, two_classes: Any) -> None:
    X, y = two_classes
    some = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:20]])
    X, y = X[some], y[some]
    plain = cb.CatBoostClassifier(**SMALL).fit(X, y)
    balanced = cb.CatBoostClassifier(**SMALL, auto_class_weights="Balanced").fit(X, y)
    rooted = cb.CatBoostClassifier(**SMALL, auto_class_weights="SqrtBalanced").fit(X, y)
    means = [model.predict_proba(X)[:, 1].mean() for model in (plain, rooted, balanced)]
    assert means == sorted(means)
    given = cb.CatBoostClassifier(**SMALL, class_weights=[1.0, 150 / 20]).fit(X, y)
    scaled = cb.CatBoostClassifier(**SMALL, scale_pos_weight=150 / 20).fit(X, y)
    named = cb.CatBoostClassifier(**SMALL, class_weights={0: 1.0, 1: 150 / 20}).fit(X, y)
    assert np.allclose(given.predict_proba(X), scaled.predict_proba(X))
    assert np.allclose(given.predict_proba(X), named.predict_proba(X))


def test_first_scores_and_training_that_goes_on(cb: Any, numbers: Any) -> None:
    X, y = numbers
    start = np.full(300, 4.0)
    pool = cb.Pool(X, y, baseline=start)
    model = cb.CatBoostRegressor(**SMALL).fit(pool)
    assert np.allclose(model.predict(pool), model.predict(X) + 4.0)
    assert np.mean((model.predict(pool) - y) ** 2) < 0.5 * np.var(y)
    first = cb.CatBoostRegressor(**{**SMALL, "iterations": 10}).fit(X, y)
    more = cb.CatBoostRegressor(**{**SMALL, "iterations": 15}).fit(X, y, init_model=first)
    assert more.tree_count_ == 25
    assert np.allclose(more.predict(X, ntree_end=10), first.predict(X))
    more.shrink(12)
    assert more.tree_count_ == 12


def test_cross_validation(cb: Any, two_classes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # CatBoost's own writes catboost_info where it runs
    X, y = two_classes
    params = {**SMALL, "loss_function": "Logloss", "custom_metric": "AUC"}
    table = cb.cv(cb.Pool(X, y), params, fold_count=3)
    assert list(table.columns)[:5] == [
        "iterations",
        "test-Logloss-mean",
        "test-Logloss-std",
        "train-Logloss-mean",
        "train-Logloss-std",
    ]
    assert {"test-AUC-mean", "test-AUC-std"} == set(table.columns[5:])
    assert table["iterations"].tolist() == list(range(30))
    assert table["test-AUC-mean"].iloc[-1] > 0.85
    table, models = cb.cv(
        cb.Pool(X, y),
        {**params, "iterations": 200, "learning_rate": 0.8},
        early_stopping_rounds=5,
        return_models=True,
        stratified=True,
        seed=1,
    )
    assert len(models) == 3
    assert len(table) < 200
    assert models[0].predict(X).shape == (300,)


def test_files_and_copies(cb: Any, two_classes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.base import clone

    monkeypatch.chdir(tmp_path)
    X, y = two_classes
    model = cb.CatBoostClassifier(**SMALL).fit(X, y)
    assert not list(tmp_path.iterdir())
    model.save_model(str(tmp_path / "model.cbm"))
    again = cb.CatBoostClassifier().load_model(str(tmp_path / "model.cbm"))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.classes_.tolist() == [0, 1]
    assert again.tree_count_ == 30
    assert again.get_all_params()["depth"] == 4
    pickled = pickle.loads(pickle.dumps(model))
    assert np.array_equal(pickled.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(model.copy().predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params() == SMALL
    assert clone(model).tree_count_ is None
    assert not clone(model).is_fitted()
    assert model.is_fitted()


def test_searches_and_pipelines_of_scikit_learn(cb: Any, numbers: Any) -> None:
    from sklearn.model_selection import GridSearchCV

    X, y = numbers
    search = GridSearchCV(
        cb.CatBoostRegressor(**SMALL), {"learning_rate": [0.01, 0.3], "depth": [3]}, cv=2
    ).fit(X, y)
    assert search.best_params_ == {"depth": 3, "learning_rate": 0.3}
    assert search.best_estimator_.get_params()["learning_rate"] == 0.3


def test_lines_and_callbacks(cb: Any, two_classes: Any) -> None:
    X, y = two_classes
    out = io.StringIO()
    model = cb.CatBoostClassifier(iterations=12, thread_count=1, allow_writing_files=False, verbose=5)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], log_cout=out)
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("Learning rate set to ")
    assert [line.split(":")[0] for line in lines[1:5]] == ["0", "5", "10", "11"]
    assert "learn: " in lines[1]
    assert "\ttest: " in lines[1]
    assert "best: " in lines[1]
    assert any(line.startswith("bestIteration = ") for line in lines)

    class Stop:
        def after_iteration(self, info: Any) -> bool:
            assert len(info.metrics["learn"]["Logloss"]) == info.iteration
            return bool(info.iteration < 4)

    model = cb.CatBoostClassifier(**SMALL).fit(X, y, callbacks=[Stop()])
    assert model.tree_count_ == 4
    seldom = cb.CatBoostRegressor(**{**SMALL, "iterations": 21}, metric_period=5).fit(X, y, eval_set=(X, y))
    assert len(seldom.evals_result_["learn"]["RMSE"]) == 5


@pytest.mark.filterwarnings("ignore:Failed to optimize")
def test_losses_and_metrics_of_ones_own(cb: Any, two_classes: Any) -> None:
    X, y = two_classes

    class Logistic:
        def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> Any:
            p = 1.0 / (1.0 + np.exp(-np.array(approxes)))
            return list(zip(np.array(targets) - p, -p * (1.0 - p), strict=True))

    class Share:
        def get_final_error(self, error: float, weight: float) -> float:
            return error / weight

        def is_max_optimal(self) -> bool:
            return True

        def evaluate(self, approxes: Any, target: Any, weight: Any) -> Any:
            (scores,) = approxes
            right = (np.array(scores) > 0) == (np.array(target) > 0.5)
            return float(right.sum()), float(len(right))

    own = cb.CatBoostClassifier(**SMALL, loss_function=Logistic(), eval_metric=Share())
    own.fit(X, y, eval_set=(X, y))
    named = cb.CatBoostClassifier(**SMALL, leaf_estimation_iterations=1).fit(X, y)
    (share,) = own.evals_result_["validation"].values()
    assert max(share) > 0.85
    raw = own.predict(X, prediction_type="RawFormulaVal")
    assert (
        np.corrcoef(raw, named.predict(X, prediction_type="RawFormulaVal", ntree_end=own.tree_count_))[0, 1]
        > 0.9
    )


def test_huber_reaches_labels_that_are_many_deltas_away(cb: Any, numbers: Any) -> None:
    X, y = numbers
    for more in ({}, {"score_function": "L2"}):
        settings = {**SMALL, "iterations": 60, "learning_rate": 0.1, "loss_function": "Huber:delta=0.5", **more}
        found = cb.CatBoostRegressor(**settings).fit(X, y + 40.0).predict(X)
        assert np.abs(found - y - 40.0).mean() < 15.0  # steps of delta at most would leave 37


def test_columns_that_only_rise(cb: Any, numbers: Any) -> None:
    X, y = numbers
    X = np.nan_to_num(X)
    for constraints in ([1, 0, 0, 0], "(1,0,0,0)", {0: 1}):
        model = cb.CatBoostRegressor(**SMALL, monotone_constraints=constraints).fit(X, y)
        line = np.tile(X[:1], (12, 1))
        line[:, 0] = np.arange(12)
        assert (np.diff(model.predict(line)) >= -1e-9).all()


def test_growth_of_trees_and_bootstraps(cb: Any, two_classes: Any) -> None:
    X, y = two_classes
    for settings in (
        {"grow_policy": "Depthwise", "min_data_in_leaf": 5},
        {"grow_policy": "Lossguide", "max_leaves": 8},
        {"bootstrap_type": "Bernoulli", "subsample": 0.5},
        {"bootstrap_type": "Bayesian", "bagging_temperature": 0.5},
        {"bootstrap_type": "MVS", "subsample": 0.6},
        {"bootstrap_type": "No", "rsm": 0.5},
        {"score_function": "L2", "random_strength": 0.0},
        {"leaf_estimation_method": "Gradient", "leaf_estimation_iterations": 3},
        {"boost_from_average": True},
        {"feature_border_type": "Median", "border_count": 8},
    ):
        model = cb.CatBoostClassifier(**SMALL, **settings).fit(X, y)
        assert model.score(X, y) > 0.85, settings
        used = model.get_all_params()
        for name, value in settings.items():
            assert used[name] == pytest.approx(value) if isinstance(value, float) else used[name] == value


def test_importances(cb: Any, two_classes: Any) -> None:
    X, y = two_classes
    pool = cb.Pool(pd.DataFrame(X, columns=list("abcd")), y)
    model = cb.CatBoostClassifier(**SMALL).fit(pool)
    values = model.get_feature_importance()
    assert values.sum() == pytest.approx(100.0)
    assert values.argmax() == 0
    assert np.allclose(values, model.feature_importances_)
    assert np.allclose(values, model.get_feature_importance(type="PredictionValuesChange"))
    table = model.get_feature_importance(prettified=True)
    assert list(table.columns) == ["Feature Id", "Importances"]
    assert table["Feature Id"].iloc[0] == "a"
    losses = model.get_feature_importance(pool, type="LossFunctionChange")
    assert losses.argmax() == 0
    assert losses[0] > 0.05


def test_parts_of_one_model(cb: Any, numbers: Any) -> None:
    X, y = numbers
    model = cb.CatBoostRegressor(**SMALL).fit(X, y)
    parts = model.virtual_ensembles_predict(X, virtual_ensembles_count=5)
    assert parts.shape == (300, 5, 1)
    assert np.corrcoef(parts[:, -1, 0], model.predict(X))[0, 1] > 0.9
    told = model.virtual_ensembles_predict(X, prediction_type="TotalUncertainty", virtual_ensembles_count=5)
    assert told.shape == (300, 2)
    assert np.allclose(told[:, 0], parts[:, :, 0].mean(axis=1))
    assert np.allclose(told[:, 1], parts[:, :, 0].var(axis=1))


def test_importances_of_several_classes(cb: Any, three_classes: Any) -> None:
    X, y = three_classes
    pool = cb.Pool(X, y)
    model = cb.CatBoostClassifier(**SMALL).fit(pool)
    losses = model.get_feature_importance(pool, type="LossFunctionChange")
    assert losses.shape == (4,)
    parts = model.get_feature_importance(pool, type="ShapValues")
    assert parts.shape == (300, 3, 5)
    raw = model.predict(X, prediction_type="RawFormulaVal")
    assert np.allclose(parts.sum(axis=2), raw, atol=1e-6)

    def entropy(scores: Any) -> float:
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        return float(-np.log(chances[np.arange(300), y]).mean())

    want = [entropy(raw - parts[:, :, column]) - entropy(raw) for column in range(4)]
    assert np.allclose(losses, want, atol=1e-6)


def test_uncertainty_of_classes(cb: Any, two_classes: Any, three_classes: Any) -> None:
    for X, y in (two_classes, three_classes):
        model = cb.CatBoostClassifier(**SMALL).fit(X, y)
        raw = model.virtual_ensembles_predict(X, virtual_ensembles_count=5)
        scores = np.concatenate([np.zeros_like(raw), raw], axis=2) if raw.shape[2] == 1 else raw
        chances = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
        told = model.virtual_ensembles_predict(X, "TotalUncertainty", virtual_ensembles_count=5)
        assert told.shape == (300, 2)
        of_noise = -(chances * np.log(chances)).sum(axis=2).mean(axis=1)
        mean = chances.mean(axis=1)
        assert np.allclose(told[:, 0], of_noise, atol=1e-6)
        assert np.allclose(told[:, 1], -(mean * np.log(mean)).sum(axis=1), atol=1e-6)


@pytest.fixture(scope="module")
def colours() -> Any:
    rng = np.random.default_rng(0)
    colour, shape = rng.choice(list("abcdefgh"), 400), rng.integers(0, 6, 400)
    size = rng.random(400)
    y = np.isin(colour, list("acf")) * 1.0 + (shape % 2) * 0.5 + size + 0.1 * rng.standard_normal(400)
    return pd.DataFrame({"colour": colour, "size": size, "shape": shape}), y


def test_categories(cb: Any, colours: Any) -> None:
    frame, y = colours
    names = ["colour", "shape"]
    model = cb.CatBoostRegressor(**SMALL, cat_features=names).fit(frame, y)
    assert model.get_cat_feature_indices() == [0, 2]
    assert model.score(frame, y) > 0.8
    new = frame.assign(colour="never seen")
    assert np.isfinite(model.predict(new)).all()
    late = y > np.median(y)
    pool = cb.Pool(frame, late, cat_features=names)
    model = cb.CatBoostClassifier(**SMALL, one_hot_max_size=10).fit(pool)
    assert model.score(pool) > 0.85
    model = cb.CatBoostClassifier(**SMALL, max_ctr_complexity=1).fit(frame, late, cat_features=[0, 2])
    assert model.score(frame, late) > 0.8
    rows = [list(row) for row in frame.itertuples(index=False)]
    model = cb.CatBoostClassifier(**SMALL).fit(rows, late, cat_features=[0, 2])
    assert model.score(rows, late) > 0.8
    with pytest.raises((ValueError, cb.CatBoostError)):
        cb.Pool(frame, y)


def test_ordered_boosting(cb: Any, colours: Any) -> None:
    frame, y = colours
    model = cb.CatBoostRegressor(**SMALL, boosting_type="Ordered", cat_features=["colour", "shape"]).fit(
        frame, y
    )
    assert model.score(frame, y) > 0.75
