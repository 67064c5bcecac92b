"""Scripts on the topics of LightGBM's examples: each runs with both modules, and both give the like of it."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

QUIET = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5, "min_data_in_bin": 1}


def test_a_simple_script(lgb: Any, numbers: Any, tmp_path: Path) -> None:
    X, y = numbers
    lgb_train = lgb.Dataset(X[:200], y[:200])
    lgb_eval = lgb.Dataset(X[200:], y[200:], reference=lgb_train)
    params = {
        "boosting_type": "gbdt",
        "objective": "regression",
        "metric": {"l2", "l1"},
        "num_leaves": 31,
        "learning_rate": 0.05,
        "feature_fraction": 0.9,
        "bagging_fraction": 0.8,
        "bagging_freq": 5,
        "verbose": -1,
        "num_threads": 1,
    }
    gbm = lgb.train(
        params,
        lgb_train,
        num_boost_round=40,
        valid_sets=lgb_eval,
        callbacks=[lgb.early_stopping(stopping_rounds=5, verbose=False)],
    )
    gbm.save_model(str(tmp_path / "model.txt"))
    y_pred = gbm.predict(X[200:], num_iteration=gbm.best_iteration)
    assert y_pred.dtype == np.float64
    assert np.sqrt(np.mean((y_pred - y[200:]) ** 2)) < 0.8 * y[200:].std()
    again = lgb.Booster(model_file=str(tmp_path / "model.txt"))
    assert np.array_equal(again.predict(X[200:]), y_pred)
    assert set(gbm.best_score["valid_0"]) == {"l1", "l2"}


def test_the_estimators_with_early_stopping_and_a_search(lgb: Any, numbers: Any) -> None:
    from sklearn.model_selection import GridSearchCV

    X, y = numbers
    gbm = lgb.LGBMRegressor(num_leaves=31, learning_rate=0.8, n_estimators=300, n_jobs=1, verbosity=-1)
    gbm.fit(
        X[:200],
        y[:200],
        eval_set=[(X[200:], y[200:])],
        eval_metric="l1",
        callbacks=[lgb.early_stopping(5, first_metric_only=True, verbose=False)],
    )
    assert gbm.best_iteration_ == gbm.n_iter_ < 295
    assert gbm.objective_ == "regression"
    assert list(gbm.evals_result_["valid_0"]) == ["l1", "l2"]
    assert len(gbm.evals_result_["valid_0"]["l1"]) == gbm.best_iteration_ + 5
    assert gbm.n_features_ == gbm.n_features_in_ == 4
    assert gbm.feature_name_ == ["Column_0", "Column_1", "Column_2", "Column_3"]
    assert gbm.feature_importances_.dtype.kind == "i"
    assert gbm.feature_importances_.sum() > 0
    assert np.array_equal(gbm.predict(X), gbm.booster_.predict(X, num_iteration=gbm.best_iteration_))
    assert gbm.best_score_["valid_0"]["l1"] == min(gbm.evals_result_["valid_0"]["l1"])

    def rae(y_true: Any, y_pred: Any) -> Any:
        return "RAE", np.sum(np.abs(y_pred - y_true)) / np.sum(np.abs(np.mean(y_true) - y_true)), False

    def share(y_true: Any, y_pred: Any, weight: Any) -> Any:
        assert weight is None
        return "share", np.mean(y_pred > y_true), True

    gbm.fit(X, y, eval_set=[(X, y)], eval_names=["all"], eval_metric=[rae, share])
    assert list(gbm.evals_result_) == ["all"]
    assert list(gbm.evals_result_["all"]) == ["l2", "RAE", "share"]
    search = GridSearchCV(gbm, {"learning_rate": [0.01, 0.3], "n_estimators": [5]}, cv=2).fit(X, y)
    assert search.best_params_["learning_rate"] == 0.3


def test_classes_of_any_type_with_weights(lgb: Any, three_classes: Any) -> None:
    X, codes = three_classes
    names = np.array(["low", "middle", "high"])[codes]
    model = lgb.LGBMClassifier(
        n_estimators=10, n_jobs=1, verbosity=-1, class_weight={"low": 3.0, "high": 1.0, "middle": 1.0}
    )
    model.fit(
        X,
        names,
        eval_set=[(X, names), (X[:100], names[:100])],
        eval_metric=["logloss", "binary_error", "auc_mu"],
        eval_sample_weight=[None, np.ones(100)],
        eval_class_weight=[None, "balanced"],
    )
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert model.n_classes_ == 3
    assert model.objective_ == "multiclass"
    assert list(model.evals_result_) == ["training", "valid_1"]
    assert set(model.evals_result_["valid_1"]) == {"multi_logloss", "multi_error", "auc_mu"}
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (300, 3)
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    assert (model.predict(X) == names).mean() > 0.8
    assert model.predict(X, raw_score=True).shape == (300, 3)
    assert model.predict(X, pred_leaf=True).shape == (300, 30)
    two = lgb.LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1).fit(X, codes > 0)
    assert two.decision_function(X).shape == (300,)
    assert np.allclose(two.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-two.decision_function(X))))


def test_names_categories_and_continued_training(lgb: Any, two_classes: Any, tmp_path: Path) -> None:
    X, y = two_classes
    X = np.nan_to_num(X)
    weight = np.linspace(0.5, 1.5, 300)
    names = [f"feature_{k}" for k in range(4)]
    train = lgb.Dataset(
        X[:200],
        y[:200],
        weight=weight[:200],
        feature_name=names,
        categorical_feature=[2],
        free_raw_data=False,
    )
    test = lgb.Dataset(X[200:], y[200:], reference=train, weight=weight[200:], free_raw_data=False)
    params = {
        **QUIET,
        "objective": "binary",
        "metric": "binary_logloss",
        "min_data_per_group": 5,
        "cat_smooth": 1.0,
    }
    gbm = lgb.train(params, train, num_boost_round=8, valid_sets=train)
    assert gbm.feature_name() == names
    assert list(gbm.best_score) == ["training"]
    dump = gbm.dump_model()
    json.dumps(dump)
    assert dump["feature_names"] == names
    assert dump["num_tree_per_iteration"] == 1
    assert len(dump["tree_info"]) == 8
    root = dump["tree_info"][0]["tree_structure"]
    assert {"split_feature", "split_gain", "threshold", "left_child", "right_child"} <= set(root)
    assert gbm.feature_importance().sum() == sum(tree["num_leaves"] - 1 for tree in dump["tree_info"])
    gbm.save_model(str(tmp_path / "model.txt"))
    assert pickle.loads(pickle.dumps(gbm)).predict(X).tolist() == gbm.predict(X).tolist()
    text = gbm.model_to_string()
    assert np.array_equal(lgb.Booster(model_str=text).predict(X), gbm.predict(X))
    more = lgb.train(
        params, train, num_boost_round=8, init_model=str(tmp_path / "model.txt"), valid_sets=test
    )
    assert more.current_iteration() == more.num_trees() == 16
    assert np.allclose(more.predict(X, num_iteration=8), gbm.predict(X))
    found: dict[str, Any] = {}
    lgb.train(
        params,
        train,
        num_boost_round=6,
        init_model=more,
        valid_sets=[test],
        valid_names=["hold"],
        callbacks=[
            lgb.reset_parameter(learning_rate=lambda number: 0.05 * 0.99**number),
            lgb.record_evaluation(found),
        ],
    )
    assert len(found["hold"]["binary_logloss"]) == 6
    leaves = [4] * 3 + [8] * 3
    changed = lgb.train(params, train, num_boost_round=6, callbacks=[lgb.reset_parameter(num_leaves=leaves)])
    counts = [tree["num_leaves"] for tree in changed.dump_model()["tree_info"]]
    assert max(counts[:3]) == 4
    assert max(counts[3:]) == 8


def test_a_custom_objective_and_metrics(lgb: Any, two_classes: Any) -> None:
    X, y = two_classes

    def loglikelihood(preds: Any, train_data: Any) -> Any:
        labels = train_data.get_label()
        preds = 1.0 / (1.0 + np.exp(-preds))
        return preds - labels, preds * (1.0 - preds)

    def binary_error(preds: Any, train_data: Any) -> Any:
        labels = train_data.get_label()
        preds = 1.0 / (1.0 + np.exp(-preds))
        return "error", np.mean(labels != (preds > 0.5)), False

    def accuracy(preds: Any, train_data: Any) -> Any:
        return "accuracy", np.mean(train_data.get_label() == (preds > 0.0)), True

    data = lgb.Dataset(X, y, free_raw_data=False)
    found: dict[str, Any] = {}
    own = lgb.train(
        {**QUIET, "objective": loglikelihood},
        data,
        num_boost_round=15,
        feval=[binary_error, accuracy],
        valid_sets=[data],
        callbacks=[lgb.record_evaluation(found)],
    )
    assert list(found["training"]) == ["error", "accuracy"]
    assert found["training"]["error"][-1] == pytest.approx(1.0 - found["training"]["accuracy"][-1])
    named = lgb.train({**QUIET, "objective": "binary", "boost_from_average": False}, data, 15)
    assert np.allclose(own.predict(X), named.predict(X, raw_score=True), atol=0.2)
    assert np.mean((own.predict(X) > 0) == (named.predict(X) > 0.5)) > 0.97

    booster = lgb.Booster(params={**QUIET, "objective": "none"}, train_set=lgb.Dataset(X, y))
    for _ in range(3):
        booster.update(fobj=loglikelihood)
    assert booster.current_iteration() == 3

    def squared(y_true: Any, y_pred: Any) -> Any:
        return y_pred - y_true, np.ones_like(y_pred)

    model = lgb.LGBMRegressor(objective=squared, n_estimators=20, n_jobs=1, verbosity=-1).fit(X, y)
    assert model.score(X, y) > 0.5
    assert callable(model.objective_)


def test_three_classes_of_an_objective_of_ones_own(lgb: Any, three_classes: Any) -> None:
    X, y = three_classes

    def softmax(preds: Any, data: Any) -> Any:
        assert preds.shape == (300, 3)
        p = np.exp(preds - preds.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p - np.eye(3)[data.get_label().astype(int)], 1.5 * p * (1.0 - p)

    own = lgb.train({**QUIET, "objective": softmax, "num_class": 3}, lgb.Dataset(X, y), 10)
    named = lgb.train({**QUIET, "objective": "multiclass", "num_class": 3}, lgb.Dataset(X, y), 10)
    assert own.num_trees() == 30
    assert own.num_model_per_iteration() == 3
    assert np.mean(own.predict(X).argmax(axis=1) == named.predict(X).argmax(axis=1)) > 0.95


def test_labels_between_0_and_1(lgb: Any, numbers: Any) -> None:
    X, _ = numbers
    chance = 1.0 / (1.0 + np.exp(1.0 - 0.3 * np.nan_to_num(X[:, 0])))
    label = (np.random.default_rng(0).random(300) < chance).astype(float)

    def trained(objective: str, y: Any) -> Any:
        data = lgb.Dataset(X, y)
        return lgb.train(
            {**QUIET, "objective": objective, "metric": ["cross_entropy", "kullback_leibler"]},
            data,
            15,
            valid_sets=[data],
        )

    binary, entropy = trained("binary", label), trained("cross_entropy", label)
    assert np.allclose(binary.predict(X), entropy.predict(X), atol=1e-3)
    shares = trained("xentropy", chance)
    assert np.corrcoef(shares.predict(X), chance)[0, 1] > 0.9
    assert shares.best_score["training"]["kullback_leibler"] < 0.05


def test_cross_validation(lgb: Any, two_classes: Any) -> None:
    from sklearn.model_selection import KFold

    X, y = two_classes
    data = lgb.Dataset(X, y, free_raw_data=False)
    params = {**QUIET, "objective": "binary"}
    found = lgb.cv(params, data, 5, nfold=3, metrics=["auc", "binary_logloss"])
    assert list(found) == [
        f"valid {metric}-{what}" for metric in ("auc", "binary_logloss") for what in ("mean", "stdv")
    ]
    assert found["valid auc-mean"][-1] > 0.85
    found = lgb.cv(
        {**params, "learning_rate": 0.8},
        data,
        100,
        folds=KFold(3),
        eval_train_metric=True,
        return_cvbooster=True,
        callbacks=[
            lgb.early_stopping(3, verbose=False),
            lgb.reset_parameter(learning_rate=lambda k: 0.8 * 0.9**k),
        ],
    )
    folds = found["cvbooster"]
    assert {"train binary_logloss-mean", "valid binary_logloss-stdv"} <= set(found)
    assert len(found["valid binary_logloss-mean"]) == folds.best_iteration < 100
    assert len(folds.predict(X)) == len(folds.boosters) == 3
    assert found["train binary_logloss-mean"][-1] < found["valid binary_logloss-mean"][-1]
    pairs = [(np.arange(0, 200), np.arange(200, 300))]
    once = lgb.cv(params, data, 3, folds=pairs, feval=lambda p, d: ("mean", float(np.mean(p)), True))
    assert once["valid mean-stdv"] == [0.0] * 3


def test_leaves_that_follow_other_rows(lgb: Any, numbers: Any) -> None:
    X, y = numbers
    gbm = lgb.train(QUIET, lgb.Dataset(X[:200], y[:200]), 20)
    same, other = (
        gbm.refit(X[200:], y[200:] + 5.0, decay_rate=1.0),
        gbm.refit(X[200:], y[200:] + 5.0, decay_rate=0.1),
    )
    assert np.allclose(same.predict(X), gbm.predict(X))
    assert other.predict(X).mean() > gbm.predict(X).mean() + 2.0
    assert other.num_trees() == 20


def test_a_booster_by_hand(lgb: Any, two_classes: Any) -> None:
    X, y = two_classes
    train = lgb.Dataset(X[:200], y[:200], free_raw_data=False)
    valid = train.create_valid(X[200:], y[200:])
    booster = lgb.Booster({**QUIET, "objective": "binary", "metric": "auc"}, train)
    booster.add_valid(valid, "hold")
    for _ in range(4):
        booster.update()
    (result,) = booster.eval_valid()
    assert tuple(result)[:2] == ("hold", "auc")
    assert tuple(result)[3] is True
    (training,) = booster.eval_train()
    assert training[0] == "training"
    assert training[2] > 0.9
    before = booster.predict(X, num_iteration=3)
    booster.rollback_one_iter()
    assert booster.current_iteration() == 3
    assert np.allclose(booster.predict(X), before)
    booster.reset_parameter({"learning_rate": 0.5}).update()
    assert booster.num_trees() == 4
    raw = booster.predict(X, raw_score=True)
    leaves = booster.predict(X, pred_leaf=True)
    summed = sum(
        np.array([booster.get_leaf_output(tree, leaf) for leaf in leaves[:, tree]]) for tree in range(4)
    )
    assert np.allclose(summed, raw)
    rest = booster.predict(X, raw_score=True, start_iteration=1)
    assert np.allclose(rest + booster.predict(X, raw_score=True, num_iteration=1), raw)
    assert booster.lower_bound() <= raw.min() <= raw.max() <= booster.upper_bound()
    assert np.array_equal(copy.deepcopy(booster).predict(X), booster.predict(X))


def test_trees_in_words(lgb: Any, numbers: Any) -> None:
    X, y = numbers
    frame = pd.DataFrame(X, columns=list("abcd"))
    gbm = lgb.train({**QUIET, "num_leaves": 5}, lgb.Dataset(frame, y), 3)
    table = gbm.trees_to_dataframe()
    assert list(table.columns[:6]) == [
        "tree_index",
        "node_depth",
        "node_index",
        "left_child",
        "right_child",
        "parent_index",
    ]
    assert len(table) == 27
    leaves = table[table["left_child"].isna()]
    assert leaves["count"].groupby(leaves["tree_index"]).sum().tolist() == [300, 300, 300]
    assert set(table["split_feature"].dropna()) <= set("abcd")
    gains = table.groupby("split_feature")["split_gain"].sum()
    want = dict(zip("abcd", gbm.feature_importance("gain"), strict=True))
    assert all(gain == pytest.approx(want[name]) for name, gain in gains.items())
    counts, _ = gbm.get_split_value_histogram("a")
    assert counts.sum() == gbm.feature_importance("split")[0]


def test_categories_of_a_frame(lgb: Any) -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "grey", "black", "white"], 600)
    frame = pd.DataFrame({"size": rng.integers(0, 9, 600), "colour": pd.Categorical(colour)})
    y = np.isin(colour, ["red", "blue", "grey"]) * 3.0 + frame["size"].to_numpy() * 0.1
    model = lgb.LGBMRegressor(n_estimators=60, n_jobs=1, verbosity=-1, min_data_per_group=20).fit(frame, y)
    assert model.score(frame, y) > 0.98
    assert list(model.feature_names_in_) == ["size", "colour"]
    assert np.allclose(model.booster_.predict(frame), model.predict(frame))
    codes = frame.assign(colour=frame["colour"].cat.codes)
    declared = lgb.LGBMRegressor(n_estimators=60, n_jobs=1, verbosity=-1, min_data_per_group=20)
    declared.fit(codes, y, categorical_feature=["colour"])
    assert declared.score(codes, y) > 0.98
    with pytest.raises(ValueError, match="colour"):
        lgb.Dataset(frame.astype({"colour": object}), y).construct()


def test_first_scores(lgb: Any, numbers: Any) -> None:
    X, y = numbers
    start = np.full(300, 4.0)
    data = lgb.Dataset(X, y, init_score=start)
    valid = data.create_valid(X[:50], y[:50], init_score=start[:50])
    gbm = lgb.train(QUIET, data, 20, valid_sets=[valid], keep_training_booster=True)
    error = np.mean((gbm.predict(X[:50]) + 4.0 - y[:50]) ** 2)
    assert gbm.best_score["valid_0"]["l2"] == pytest.approx(error, rel=1e-4)
    assert data.get_init_score().tolist() == start.tolist()
    model = lgb.LGBMRegressor(n_estimators=20, n_jobs=1, verbosity=-1, min_child_samples=5, min_data_in_bin=1)
    model.fit(X, y, init_score=start, eval_set=[(X[:50], y[:50])], eval_init_score=[start[:50]])
    assert model.best_score_["valid_0"]["l2"] == pytest.approx(error, rel=0.1)


def test_a_data_set_tells_what_it_holds(lgb: Any) -> None:
    data = lgb.Dataset(
        np.arange(200.0).reshape(-1, 2),
        label=np.arange(100),
        weight=np.arange(1, 101),
        feature_name=["left side", "right"],
        free_raw_data=False,
        params={"max_bin": 15, "verbosity": -1},
    ).construct()
    assert (data.num_data(), data.num_feature()) == (100, 2)
    assert data.get_label().dtype == np.float32
    assert data.get_weight()[:3].tolist() == [1.0, 2.0, 3.0]
    assert data.get_feature_name() == ["left_side", "right"]
    assert data.get_field("label")[:3].tolist() == [0.0, 1.0, 2.0]
    part = data.subset([1, 3, 5]).construct()
    assert part.num_data() == 3
    assert part.get_label().tolist() == [1.0, 3.0, 5.0]
    data.set_label(np.zeros(100))
    assert not data.get_label().any()
    with pytest.raises((TypeError, ValueError)):
        lgb.train({"verbosity": -1}, np.ones((3, 2)))


@pytest.mark.parametrize(
    ("objective", "metric"),
    [
        ("regression_l1", "l1"),
        ("huber", "huber"),
        ("fair", "fair"),
        ("quantile", "quantile"),
        ("mape", "mape"),
        ("poisson", "poisson"),
        ("gamma", "gamma"),
        ("tweedie", "tweedie"),
    ],
)
def test_objectives_and_their_metrics(lgb: Any, numbers: Any, objective: str, metric: str) -> None:
    X, y = numbers
    y = np.abs(y) + 0.5
    data = lgb.Dataset(X, y)
    found: dict[str, Any] = {}
    gbm = lgb.train(
        {**QUIET, "objective": objective, "learning_rate": 0.02 if objective == "fair" else 0.3},
        data,
        30,
        valid_sets=[data],
        callbacks=[lgb.record_evaluation(found)],
    )
    values = found["training"][metric]
    assert list(found["training"]) == [metric]
    assert values[-1] < values[0]
    if objective not in ("quantile", "fair"):
        assert np.corrcoef(gbm.predict(X), y)[0, 1] > 0.9


@pytest.mark.parametrize(
    "params",
    [
        {"boosting": "dart", "drop_rate": 0.3, "skip_drop": 0.2},
        {"boosting": "dart", "xgboost_dart_mode": True, "uniform_drop": True, "max_drop": 2},
        {"boosting": "goss", "learning_rate": 0.5},
        {"data_sample_strategy": "goss", "top_rate": 0.3, "other_rate": 0.2, "learning_rate": 0.5},
        {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.7, "feature_fraction": 0.8},
        {"bagging_freq": 1, "pos_bagging_fraction": 0.5, "neg_bagging_fraction": 0.9},
        {"extra_trees": True},
        {"path_smooth": 2.0},
        {"is_unbalance": True},
        {"scale_pos_weight": 3.0},
        {"max_bin": 7, "lambda_l1": 0.1, "lambda_l2": 1.0, "min_gain_to_split": 0.01, "max_depth": 3},
    ],
)
def test_ways_to_train(lgb: Any, two_classes: Any, params: dict[str, Any]) -> None:
    X, y = two_classes
    data = lgb.Dataset(X, y)
    gbm = lgb.train({**QUIET, "objective": "binary", "metric": "auc", **params}, data, 30, valid_sets=[data])
    assert gbm.best_score["training"]["auc"] > 0.85
    assert gbm.best_score["training"]["auc"] == pytest.approx(
        _auc(y, gbm.predict(X, raw_score=True)), abs=1e-6
    )
    plain = lgb.train({**QUIET, "objective": "binary"}, lgb.Dataset(X, y), 30).predict(X).mean()
    if "scale_pos_weight" in params:
        assert gbm.predict(X).mean() > plain + 0.005
    else:
        assert gbm.predict(X).mean() == pytest.approx(plain, abs=0.15)


def _auc(y: Any, score: Any) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(y, score))


def test_constraints(lgb: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(400)
    grid = np.column_stack((np.linspace(0, 1, 50), np.full((50, 2), 0.5)))
    up = lgb.train({**QUIET, "monotone_constraints": [1, 0, 0]}, lgb.Dataset(X, y), 20)
    assert (np.diff(up.predict(grid)) >= -1e-12).all()
    apart = lgb.train({**QUIET, "interaction_constraints": [[0], [1], [2]]}, lgb.Dataset(X, y), 10)
    table = apart.trees_to_dataframe()
    assert (table.groupby("tree_index")["split_feature"].nunique() == 1).all()


def test_lines_that_are_said(lgb: Any, two_classes: Any, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = two_classes
    data = lgb.Dataset(X, y, free_raw_data=False)
    params = {**QUIET, "objective": "binary", "metric": ["auc", "binary_error"]}
    lgb.train(params, data, 4, valid_sets=[data], valid_names=["t"], callbacks=[lgb.log_evaluation(2)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["[2]", "[4]"]
    assert [part.split(":")[0] for part in lines[0].split("\t")[1:]] == ["t's auc", "t's binary_error"]
    valid = data.create_valid(X, 1 - y)
    lgb.train(
        {**params, "learning_rate": 0.5}, data, 20, valid_sets=[valid], callbacks=[lgb.early_stopping(2)]
    )
    said = capsys.readouterr().out
    assert "Early stopping, best iteration is:" in said
    lgb.train(params, data, 2)
    assert capsys.readouterr().out == ""


def test_pictures(lgb: Any, two_classes: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = two_classes
    model = lgb.LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1)
    model.fit(X, y, eval_set=[(X, y)], eval_metric="auc")
    ax = lgb.plot_importance(model, max_num_features=3, title="t@importance_type@")
    assert len(ax.patches) == 3
    ax = lgb.plot_metric(model, metric="auc")
    assert ax.get_ylabel() == "auc"
    assert len(ax.lines) == 1
    ax = lgb.plot_split_value_histogram(model.booster_, feature=0)
    assert len(ax.patches) > 0
    plt.close("all")
