"""Scripts on the topics of XGBoost's documentation: each runs with both modules, and both give the like of it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")


def test_getting_started(xgb: Any) -> None:
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split

    data = load_iris()
    X_train, X_test, y_train, y_test = train_test_split(
        data["data"], data["target"], test_size=0.2, random_state=0
    )
    bst = xgb.XGBClassifier(n_estimators=10, max_depth=2, learning_rate=0.5, n_jobs=1)
    bst.fit(X_train, y_train)
    predicted = bst.predict(X_test)
    assert predicted.shape == y_test.shape
    assert (predicted == y_test).mean() > 0.9
    probabilities = bst.predict_proba(X_test)
    assert probabilities.shape == (len(y_test), 3)
    assert probabilities.dtype == np.float32
    assert np.allclose(probabilities.sum(axis=1), 1.0, atol=1e-5)
    assert bst.n_features_in_ == 4
    assert bst.n_classes_ == 3


def test_the_native_interface(xgb: Any, two_classes: Any, tmp_path: Path) -> None:
    X, y = two_classes
    dtrain = xgb.DMatrix(X[:200], label=y[:200], feature_names=["a", "b", "c", "d"], missing=np.nan)
    dtest = xgb.DMatrix(X[200:], label=y[200:], feature_names=["a", "b", "c", "d"])
    param = {
        "max_depth": 2,
        "eta": 1,
        "objective": "binary:logistic",
        "nthread": 1,
        "eval_metric": ["auc", "error"],
    }
    found: dict[str, Any] = {}
    bst = xgb.train(
        param,
        dtrain,
        10,
        evals=[(dtrain, "train"), (dtest, "eval")],
        evals_result=found,
        verbose_eval=False,
    )
    assert list(found) == ["train", "eval"]
    assert list(found["eval"]) == ["auc", "error"]
    assert len(found["eval"]["auc"]) == 10
    assert found["eval"]["auc"][-1] > 0.9
    ypred = bst.predict(dtest)
    assert ypred.dtype == np.float32
    assert ypred.shape == (100,)
    bst.save_model(tmp_path / "0001.json")
    again = xgb.Booster({"nthread": 1})
    again.load_model(tmp_path / "0001.json")
    assert np.array_equal(again.predict(dtest), ypred)
    assert again.feature_names == ["a", "b", "c", "d"]
    assert bst.num_boosted_rounds() == 10
    assert bst.num_features() == 4


def test_pairs_as_parameters_and_lines_that_are_printed(
    xgb: Any, two_classes: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    dtrain = xgb.DMatrix(*two_classes)
    params = [
        ("objective", "binary:logistic"),
        ("eval_metric", "auc"),
        ("eval_metric", "logloss"),
        ("nthread", 1),
    ]
    xgb.train(params, dtrain, 5, evals=[(dtrain, "train")], verbose_eval=2)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["[0]", "[2]", "[4]"]
    assert [part.split(":")[0] for part in lines[0].split("\t")[1:]] == ["train-auc", "train-logloss"]
    xgb.train(params, dtrain, 2, evals=[(dtrain, "train")], verbose_eval=False)
    xgb.train(params, dtrain, 2)
    assert capsys.readouterr().out == ""


def test_early_stopping(xgb: Any, two_classes: Any) -> None:
    X, y = two_classes
    dtrain, dvalid = xgb.DMatrix(X[:150], y[:150]), xgb.DMatrix(X[150:], y[150:])
    params = {"objective": "binary:logistic", "eta": 0.8, "nthread": 1}
    bst = xgb.train(
        params, dtrain, 200, evals=[(dtrain, "t"), (dvalid, "v")], early_stopping_rounds=4, verbose_eval=False
    )
    assert bst.num_boosted_rounds() == bst.best_iteration + 5 < 200
    assert float(bst.attr("best_score")) == bst.best_score
    whole = bst.predict(dvalid)
    best = bst.predict(dvalid, iteration_range=(0, bst.best_iteration + 1))
    assert not np.array_equal(whole, best)

    model = xgb.XGBClassifier(n_estimators=200, learning_rate=0.8, early_stopping_rounds=4, n_jobs=1)
    model.fit(X[:150], y[:150], eval_set=[(X[150:], y[150:])], verbose=False)
    assert model.best_iteration == bst.best_iteration
    assert model.best_score == pytest.approx(bst.best_score)
    assert np.allclose(model.predict_proba(X[150:])[:, 1], best)
    assert list(model.evals_result()) == ["validation_0"]
    assert list(model.evals_result()["validation_0"]) == ["logloss"]
    saved = xgb.callback.EarlyStopping(rounds=4, save_best=True, metric_name="logloss", data_name="v")
    bst = xgb.train(params, dtrain, 200, evals=[(dvalid, "v")], callbacks=[saved], verbose_eval=False)
    assert bst.num_boosted_rounds() == bst.best_iteration + 1


def test_categories_of_a_frame(xgb: Any) -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "grey", "black", "white"], 400)
    frame = pd.DataFrame({"size": rng.integers(0, 9, 400), "colour": pd.Categorical(colour)})
    y = np.isin(colour, ["red", "blue", "grey"]) * 3.0 + frame["size"].to_numpy() * 0.1
    model = xgb.XGBRegressor(n_estimators=30, enable_categorical=True, n_jobs=1, tree_method="hist").fit(
        frame, y
    )
    assert model.score(frame, y) > 0.98
    assert list(model.feature_names_in_) == ["size", "colour"]
    matrix = xgb.DMatrix(frame, y, enable_categorical=True)
    assert matrix.feature_types == ["int", "c"]
    assert np.allclose(model.get_booster().predict(matrix), model.predict(frame))
    with pytest.raises(ValueError, match="enable_categorical"):
        xgb.DMatrix(frame, y)
    with pytest.raises(ValueError, match=r"colour|text"):
        xgb.DMatrix(frame.astype({"colour": object}), y, enable_categorical=True)


def test_a_custom_objective_and_metric(xgb: Any, numbers: Any) -> None:
    X, y = numbers
    y = np.abs(y) + 1.0

    def squared_log(predt: Any, dtrain: Any) -> Any:
        label = dtrain.get_label()
        predt = np.maximum(predt, -1 + 1e-6)
        return (np.log1p(predt) - np.log1p(label)) / (predt + 1), np.maximum(
            (-np.log1p(predt) + np.log1p(label) + 1) / (predt + 1) ** 2, 1e-6
        )

    def rmsle(predt: Any, dtrain: Any) -> Any:
        label = dtrain.get_label()
        predt = np.maximum(predt, -1 + 1e-6)
        return "PyRMSLE", float(np.sqrt(np.mean((np.log1p(label) - np.log1p(predt)) ** 2)))

    dtrain = xgb.DMatrix(X, y)
    found: dict[str, Any] = {}
    bst = xgb.train(
        {"tree_method": "hist", "seed": 1994, "disable_default_eval_metric": 1, "nthread": 1},
        dtrain,
        num_boost_round=30,
        obj=squared_log,
        custom_metric=rmsle,
        evals=[(dtrain, "dtrain")],
        evals_result=found,
        verbose_eval=False,
    )
    assert list(found["dtrain"]) == ["PyRMSLE"]
    assert found["dtrain"]["PyRMSLE"][-1] < 0.3 * found["dtrain"]["PyRMSLE"][0]
    builtin = xgb.train({"objective": "reg:squaredlogerror", "nthread": 1}, dtrain, num_boost_round=30)
    assert np.corrcoef(bst.predict(dtrain), builtin.predict(dtrain))[0, 1] > 0.99


def test_a_custom_softmax(xgb: Any, three_classes: Any) -> None:
    X, y = three_classes

    def softprob(predt: Any, data: Any) -> Any:
        assert predt.shape == (300, 3)
        p = np.exp(predt - predt.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        hit = np.eye(3)[data.get_label().astype(int)]
        return p - hit, np.maximum(2.0 * p * (1.0 - p), 1e-6)

    dtrain = xgb.DMatrix(X, y)
    own = xgb.train(
        {"num_class": 3, "disable_default_eval_metric": True, "nthread": 1}, dtrain, 5, obj=softprob
    )
    native = xgb.train(
        {"num_class": 3, "objective": "multi:softmax", "nthread": 1, "base_score": 0.5}, dtrain, 5
    )
    scores = own.predict(dtrain, output_margin=True)
    assert scores.shape == (300, 3)
    assert np.mean(scores.argmax(axis=1) == native.predict(dtrain)) > 0.98


def test_functions_of_the_scikit_learn_classes(xgb: Any, numbers: Any) -> None:
    from sklearn.metrics import mean_absolute_error

    X, y = numbers

    def squared(labels: Any, predt: Any) -> Any:
        return predt - labels, np.ones_like(predt)

    model = xgb.XGBRegressor(objective=squared, eval_metric=mean_absolute_error, n_estimators=15, n_jobs=1)
    model.fit(X, y, eval_set=[(X, y)], verbose=False)
    assert list(model.evals_result()["validation_0"])[-1] == "mean_absolute_error"
    plain = xgb.XGBRegressor(n_estimators=15, n_jobs=1, base_score=0.5).fit(X, y)
    assert np.allclose(model.predict(X), plain.predict(X), atol=1e-3)


def test_training_that_goes_on(xgb: Any, two_classes: Any, tmp_path: Path) -> None:
    X, y = two_classes
    whole = xgb.XGBClassifier(n_estimators=8, n_jobs=1).fit(X, y)
    half = xgb.XGBClassifier(n_estimators=4, n_jobs=1).fit(X, y)
    more = xgb.XGBClassifier(n_estimators=4, n_jobs=1).fit(X, y, xgb_model=half.get_booster())
    assert more.get_booster().num_boosted_rounds() == 8
    assert np.allclose(more.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    half.save_model(tmp_path / "half.ubj")
    more = xgb.train(
        {"objective": "binary:logistic", "nthread": 1},
        xgb.DMatrix(X, y),
        4,
        xgb_model=str(tmp_path / "half.ubj"),
    )
    assert np.allclose(more.predict(xgb.DMatrix(X)), whole.predict_proba(X)[:, 1], atol=1e-6)
    dtrain = xgb.DMatrix(X, y)
    stepwise = xgb.Booster({"objective": "binary:logistic", "nthread": 1}, [dtrain])
    for number in range(3):
        stepwise.update(dtrain, number)
    assert np.allclose(
        stepwise.predict(xgb.DMatrix(X)),
        whole.predict_proba(X, iteration_range=(0, 3))[:, 1],
        atol=1e-6,
    )


def test_cross_validation(xgb: Any, two_classes: Any) -> None:
    X, y = two_classes
    dtrain = xgb.DMatrix(X, y)
    param = {"max_depth": 2, "eta": 0.5, "objective": "binary:logistic", "nthread": 1}
    table = xgb.cv(param, dtrain, 6, nfold=5, metrics={"error"}, seed=0)
    assert list(table) == ["train-error-mean", "train-error-std", "test-error-mean", "test-error-std"]
    assert len(table) == 6
    assert table["test-error-mean"].iloc[-1] < 0.2
    found = xgb.cv(
        {**param, "eta": 1.0, "max_depth": 6},
        dtrain,
        100,
        nfold=3,
        stratified=True,
        metrics=["auc", "logloss"],
        early_stopping_rounds=3,
        as_pandas=False,
    )
    assert list(found)[:2] == ["train-auc-mean", "train-auc-std"]
    curve = found["test-logloss-mean"]
    assert len(curve) == int(np.argmin(curve)) + 1 < 100
    folds = [(np.arange(200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))]
    halves = xgb.cv(param, dtrain, 2, folds=folds, as_pandas=False)
    assert len(halves["test-logloss-std"]) == 2


def test_predictions_of_every_kind(xgb: Any, three_classes: Any) -> None:
    X, y = three_classes
    dtrain = xgb.DMatrix(X, y)
    bst = xgb.train({"objective": "multi:softprob", "num_class": 3, "max_depth": 3, "nthread": 1}, dtrain, 4)
    assert bst.predict(dtrain).shape == (300, 3)
    assert bst.predict(dtrain, output_margin=True).shape == (300, 3)
    leaves = bst.predict(dtrain, pred_leaf=True)
    assert leaves.shape == (300, 12)
    assert leaves.dtype == np.float32
    assert bst.predict(dtrain, pred_leaf=True, strict_shape=True).shape == (300, 4, 3, 1)
    assert bst.predict(dtrain, iteration_range=(0, 2)).shape == (300, 3)
    assert np.allclose(bst.inplace_predict(X), bst.predict(dtrain))
    assert np.allclose(bst.inplace_predict(X, predict_type="margin"), bst.predict(dtrain, output_margin=True))
    assert np.allclose(bst[0:2].predict(dtrain), bst.predict(dtrain, iteration_range=(0, 2)))
    assert len(list(bst)) == 4
    one = xgb.train({"nthread": 1}, xgb.DMatrix(X, y), 2)
    assert one.predict(dtrain, strict_shape=True).shape == (300, 1)
    assert one.predict(dtrain, pred_leaf=True).shape == (300, 2)


def test_base_margins(xgb: Any, two_classes: Any) -> None:
    X, y = two_classes
    params = {"objective": "binary:logistic", "nthread": 1}
    first = xgb.train(params, xgb.DMatrix(X, y), 3)
    margin = first.predict(xgb.DMatrix(X), output_margin=True)
    dtrain = xgb.DMatrix(X, y, base_margin=margin)
    assert np.allclose(dtrain.get_base_margin(), margin)
    second = xgb.train(params, dtrain, 3)
    both = xgb.train(params, xgb.DMatrix(X, y), 6)
    assert np.allclose(second.predict(dtrain), both.predict(xgb.DMatrix(X)), atol=1e-5)


def test_callbacks(xgb: Any, two_classes: Any, tmp_path: Path) -> None:
    class Watch(xgb.callback.TrainingCallback):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[Any] = []

        def before_training(self, model: Any) -> Any:
            self.seen.append("begin")
            return model

        def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            self.seen.append(("before", epoch, model.num_boosted_rounds()))
            return False

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            self.seen.append(("after", epoch, len(evals_log["t"]["logloss"])))
            return epoch == 2

        def after_training(self, model: Any) -> Any:
            self.seen.append("end")
            return model

    X, y = two_classes
    dtrain, watch = xgb.DMatrix(X, y), Watch()
    checkpoints = xgb.callback.TrainingCheckPoint(tmp_path, name="check", interval=1)
    rates = xgb.callback.LearningRateScheduler(lambda epoch: 0.5 / (epoch + 1))
    bst = xgb.train(
        {"objective": "binary:logistic", "nthread": 1},
        dtrain,
        10,
        evals=[(dtrain, "t")],
        callbacks=[checkpoints, rates, watch],
        verbose_eval=False,
    )
    assert bst.num_boosted_rounds() == 3
    rounds = [
        ("before", 0, 0),
        ("after", 0, 1),
        ("before", 1, 1),
        ("after", 1, 2),
        ("before", 2, 2),
        ("after", 2, 3),
    ]
    assert watch.seen == ["begin", *rounds, "end"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["check_1.ubj", "check_2.ubj"]
    again = xgb.Booster(model_file=str(tmp_path / "check_2.ubj"))
    assert np.allclose(again.predict(dtrain), bst.predict(dtrain))


def test_a_linear_booster(xgb: Any, numbers: Any) -> None:
    X = np.nan_to_num(numbers[0])
    y = X @ [1.0, -2.0, 0.5, 0.0] + 3.0
    model = xgb.XGBRegressor(booster="gblinear", n_estimators=200, updater="coord_descent", n_jobs=1)
    model.fit(X, y)
    assert np.allclose(model.coef_, [1.0, -2.0, 0.5, 0.0], atol=0.05)
    assert model.intercept_.shape == (1,)
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.999
    assert list(model.get_booster().get_score(importance_type="weight")) == ["f0", "f1", "f2", "f3"]
    assert model.get_booster().get_dump()[0].startswith("bias:\n")


def test_random_forests(xgb: Any, two_classes: Any, numbers: Any) -> None:
    forest = xgb.XGBRFClassifier(n_estimators=20, max_depth=5, random_state=1, n_jobs=1).fit(*two_classes)
    assert forest.get_booster().num_boosted_rounds() == 1
    assert len(forest.get_booster().get_dump()) == 20
    assert forest.score(*two_classes) > 0.85
    assert forest.apply(two_classes[0]).shape == (300, 20)
    regressor = xgb.XGBRFRegressor(n_estimators=20, random_state=1, n_jobs=1).fit(*numbers)
    assert regressor.score(*numbers) > 0.85
    params = {"num_parallel_tree": 5, "subsample": 0.8, "colsample_bynode": 0.8, "eta": 1, "nthread": 1}
    bst = xgb.train(params, xgb.DMatrix(*numbers), 2)
    assert len(bst.get_dump()) == 10
    assert bst.num_boosted_rounds() == 2


def test_importances_and_dumps(xgb: Any, two_classes: Any) -> None:
    X, y = two_classes
    names = ["a", "b", "c", "d"]
    bst = xgb.train(
        {"objective": "binary:logistic", "max_depth": 2, "nthread": 1},
        xgb.DMatrix(X, y, feature_names=names),
        3,
    )
    for kind in ("weight", "gain", "cover", "total_gain", "total_cover"):
        score = bst.get_score(importance_type=kind)
        assert set(score) <= set(names)
        assert all(value > 0 for value in score.values())
    text = bst.get_dump(with_stats=True)
    assert len(text) == 3
    assert text[0].startswith("0:[a<")
    assert "missing=" in text[0] and "gain=" in text[0] and "cover=" in text[0]
    import json

    tree = json.loads(bst.get_dump(dump_format="json", with_stats=True)[0])
    assert {
        "nodeid",
        "depth",
        "split",
        "split_condition",
        "yes",
        "no",
        "missing",
        "gain",
        "cover",
        "children",
    } == set(tree)
    assert bst.get_dump(dump_format="dot")[0].startswith("digraph {")
    frame = bst.trees_to_dataframe()
    columns = ["Tree", "Node", "ID", "Feature", "Split", "Yes", "No", "Missing", "Gain", "Cover", "Category"]
    assert list(frame.columns) == columns
    histogram = bst.get_split_value_histogram("a")
    assert list(histogram.columns) == ["SplitValue", "Count"]
    model = xgb.XGBClassifier(n_estimators=3, importance_type="total_gain", n_jobs=1).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1.0, abs=1e-5)
    assert model.feature_importances_.dtype == np.float32


def test_attributes_copies_and_pickles(xgb: Any, numbers: Any) -> None:
    dtrain = xgb.DMatrix(*numbers)
    bst = xgb.train({"nthread": 1}, dtrain, 2)
    bst.set_attr(note="mine")
    assert bst.attributes() == {"note": "mine"}
    other = bst.copy()
    other.set_attr(note=None)
    assert (other.attr("note"), bst.attr("note")) == (None, "mine")
    for same in (other, pickle.loads(pickle.dumps(bst)), xgb.Booster(model_file=bst.save_raw())):
        assert np.array_equal(same.predict(dtrain), bst.predict(dtrain))
    with pytest.raises(AttributeError, match="best_iteration"):
        bst.best_iteration  # noqa: B018
    assert bst.eval(dtrain, "all", 7).startswith("[7]\tall-rmse:")


def test_a_matrix_tells_what_it_holds(xgb: Any) -> None:
    from scipy import sparse

    X = np.array([[1.0, np.nan, 3.0], [4.0, -9.0, 6.0]])
    matrix = xgb.DMatrix(X, label=[0, 1], weight=[1.0, 2.0], missing=-9.0)
    assert (matrix.num_row(), matrix.num_col(), matrix.num_nonmissing()) == (2, 3, 4)
    assert matrix.get_label().tolist() == [0.0, 1.0]
    assert matrix.get_weight().tolist() == [1.0, 2.0]
    assert matrix.feature_names is None
    part = matrix.slice([1])
    assert (part.num_row(), part.get_label().tolist(), part.get_weight().tolist()) == (1, [1.0], [2.0])
    matrix.set_label([5, 6])
    matrix.set_info(weight=[3, 4])
    assert matrix.get_float_info("label").tolist() == [5.0, 6.0]
    assert matrix.get_data().toarray().tolist() == [[1.0, 0.0, 3.0], [4.0, 0.0, 6.0]]
    stored = xgb.DMatrix(sparse.csr_matrix([[1.0, 0.0], [0.0, 2.0]]), label=[0, 1])
    assert stored.num_nonmissing() == 2
    quantile = xgb.QuantileDMatrix(X, label=[0, 1], max_bin=16)
    assert quantile.num_row() == 2


def test_sparse_cells_that_are_not_stored_are_missing(xgb: Any) -> None:
    from scipy import sparse

    rng = np.random.default_rng(3)
    dense = rng.integers(1, 5, (300, 3)) * (rng.random((300, 3)) < 0.5)
    y = np.where(dense[:, 0] == 0, 5.0, dense[:, 0]) + dense[:, 1]
    missing = np.where(dense == 0, np.nan, dense)
    params = {"nthread": 1, "max_depth": 3}
    from_sparse = xgb.train(params, xgb.DMatrix(sparse.csr_matrix(dense), y), 5)
    from_dense = xgb.train(params, xgb.DMatrix(missing, y), 5)
    expected = from_dense.predict(xgb.DMatrix(missing))
    assert np.allclose(from_sparse.predict(xgb.DMatrix(sparse.csc_matrix(dense))), expected, atol=1e-5)
    assert np.allclose(from_dense.predict(xgb.DMatrix(sparse.csr_matrix(dense))), expected, atol=1e-5)
    assert np.allclose(from_sparse.predict(xgb.DMatrix(missing)), expected, atol=1e-5)


def test_inside_scikit_learn(xgb: Any, two_classes: Any) -> None:
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = two_classes
    X = np.nan_to_num(X)
    model = xgb.XGBClassifier(n_estimators=5, eta=0.3, n_jobs=1)
    assert model.get_params()["eta"] == 0.3
    assert clone(model).get_params()["eta"] == 0.3
    search = GridSearchCV(model, {"max_depth": [1, 3], "eta": [0.1, 0.5]}, cv=3).fit(X, y)
    assert set(search.best_params_) == {"max_depth", "eta"}
    assert cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3).mean() > 0.8
    fitted = pickle.loads(pickle.dumps(model.fit(X, y)))
    assert np.array_equal(fitted.predict_proba(X), model.predict_proba(X))
    model.set_params(max_depth=2, gamma=1.0)
    assert model.get_xgb_params()["max_depth"] == 2


def test_a_model_of_the_classes_in_a_file(xgb: Any, three_classes: Any, tmp_path: Path) -> None:
    X, y = three_classes
    model = xgb.XGBClassifier(n_estimators=3, n_jobs=1).fit(X, y)
    model.save_model(tmp_path / "model.json")
    again = xgb.XGBClassifier()
    again.load_model(tmp_path / "model.json")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.n_classes_ == 3


def test_weights_and_rows_that_do_not_count(xgb: Any, numbers: Any) -> None:
    X, y = numbers
    weight = np.ones(300)
    weight[::3] = 0.0
    model = xgb.XGBRegressor(n_estimators=5, n_jobs=1).fit(X, y, sample_weight=weight)
    fewer = xgb.XGBRegressor(n_estimators=5, n_jobs=1).fit(X[weight > 0], y[weight > 0])
    assert np.allclose(model.predict(X), fewer.predict(X), atol=0.1)
    scored = xgb.XGBRegressor(n_estimators=2, n_jobs=1)
    scored.fit(X, y, eval_set=[(X, y)], sample_weight_eval_set=[weight], verbose=False)
    plain = xgb.XGBRegressor(n_estimators=2, n_jobs=1)
    plain.fit(X, y, eval_set=[(X[weight > 0], y[weight > 0])], verbose=False)
    assert scored.evals_result()["validation_0"]["rmse"] == pytest.approx(
        plain.evals_result()["validation_0"]["rmse"], rel=1e-5
    )


@pytest.mark.parametrize("objective", ["reg:quantileerror", "reg:tweedie", "reg:pseudohubererror"])
def test_objectives_with_options(xgb: Any, numbers: Any, objective: str) -> None:
    X, y = numbers
    options: dict[str, Any] = {
        "reg:quantileerror": {"quantile_alpha": [0.1, 0.5, 0.9]},
        "reg:tweedie": {"tweedie_variance_power": 1.3},
        "reg:pseudohubererror": {"huber_slope": 2.0},
    }
    dtrain = xgb.DMatrix(X, np.abs(y) + 0.1)
    found: dict[str, Any] = {}
    bst = xgb.train(
        {"objective": objective, "nthread": 1, **options[objective]},
        dtrain,
        20,
        evals=[(dtrain, "t")],
        evals_result=found,
        verbose_eval=False,
    )
    names = {
        "reg:quantileerror": "quantile",
        "reg:tweedie": "tweedie-nloglik@1.3",
        "reg:pseudohubererror": "mphe",
    }
    assert list(found["t"]) == [names[objective]]
    assert found["t"][names[objective]][-1] < found["t"][names[objective]][0]
    assert bst.predict(dtrain).shape == ((300, 3) if objective == "reg:quantileerror" else (300,))


def test_trees_that_are_dropped(xgb: Any, two_classes: Any) -> None:
    dtrain = xgb.DMatrix(*two_classes)
    params = {
        "booster": "dart",
        "max_depth": 3,
        "objective": "binary:logistic",
        "sample_type": "uniform",
        "normalize_type": "tree",
        "rate_drop": 0.3,
        "skip_drop": 0.2,
        "one_drop": 1,
        "nthread": 1,
    }
    found: dict[str, Any] = {}
    bst = xgb.train(params, dtrain, 20, evals=[(dtrain, "t")], evals_result=found, verbose_eval=False)
    assert found["t"]["logloss"][-1] < 0.4
    assert bst.predict(dtrain, iteration_range=(0, 20)).shape == (300,)
    assert np.allclose(bst.predict(dtrain), bst.predict(dtrain, iteration_range=(0, 20)))


@pytest.mark.parametrize("constraints", [(1, 0, 0, -1), "(1,0,0,-1)", {"a": 1, "d": -1}])
def test_monotone_constraints(xgb: Any, constraints: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(400, 4))
    y = 5 * X[:, 0] + np.sin(10 * X[:, 0]) - 3 * X[:, 3] + rng.normal(scale=0.3, size=400)
    names = ["a", "b", "c", "d"]
    params = {"monotone_constraints": constraints, "tree_method": "hist", "nthread": 1}
    bst = xgb.train(params, xgb.DMatrix(X, y, feature_names=names), 30)
    for column, sign in ((0, 1), (3, -1)):
        grid = np.full((50, 4), 0.5)
        grid[:, column] = np.linspace(0, 1, 50)
        steps = np.diff(bst.predict(xgb.DMatrix(grid, feature_names=names)))
        assert (sign * steps >= -1e-6).all()


@pytest.mark.parametrize("constraints", [[["a", "b"], ["c", "d"]], "[[0, 1], [2, 3]]"])
def test_interaction_constraints(xgb: Any, constraints: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(400, 4))
    y = X[:, 0] * X[:, 2] + X[:, 1] * X[:, 3]
    params = {"interaction_constraints": constraints, "max_depth": 4, "nthread": 1}
    bst = xgb.train(params, xgb.DMatrix(X, y, feature_names=["a", "b", "c", "d"]), 10)
    used = [set(tree["Feature"]) - {"Leaf"} for _, tree in bst.trees_to_dataframe().groupby("Tree")]
    assert len(used) == 10 and max(len(names) for names in used) == 2
    assert all(names <= {"a", "b"} or names <= {"c", "d"} for names in used)
