"""What went differently, or broke scripts, without a word: each test runs with both modules, and both do the same."""

from __future__ import annotations

import importlib
import itertools
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

P: dict[str, Any] = {"nthread": 1, "max_depth": 2}


def logistic(scores: Any, matrix: Any) -> Any:
    p = 1.0 / (1.0 + np.exp(-scores))
    return p - matrix.get_label(), p * (1.0 - p)


def softmax(scores: Any, matrix: Any) -> Any:
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p - np.eye(p.shape[1])[matrix.get_label().astype(int)], 2.0 * p * (1.0 - p)


# --- an objective of one's own beside a named one ---------------------------------------------------


def test_predictions_start_and_metrics_are_the_named_objectives(xgb: Any, two_classes: Any) -> None:
    X, y = two_classes
    dtrain, found = xgb.DMatrix(X, y), {}
    params = {**P, "objective": "binary:logistic"}
    booster = xgb.train(
        params, dtrain, 3, obj=logistic, evals=[(dtrain, "t")], evals_result=found, verbose_eval=False
    )
    predicted = booster.predict(dtrain)
    margins = booster.predict(dtrain, output_margin=True)
    assert np.allclose(predicted, 1.0 / (1.0 + np.exp(-margins)), atol=1e-6)
    named = xgb.train({**params, "base_score": 0.5}, dtrain, 3)
    assert np.allclose(predicted, named.predict(dtrain), atol=1e-5)
    truth = -np.mean(np.log(np.where(y == 1, predicted, 1.0 - predicted)))
    assert found["t"]["logloss"][-1] == pytest.approx(truth, abs=1e-5)
    single = xgb.Booster(params, [dtrain])
    single.update(dtrain, 0, logistic)
    assert np.allclose(single.predict(dtrain), named[:1].predict(dtrain), atol=1e-5)


def test_a_function_of_scores_is_given_no_probabilities(xgb: Any, two_classes: Any) -> None:
    dtrain, seen = xgb.DMatrix(*two_classes), []

    def watch(predictions: Any, matrix: Any) -> Any:
        seen.append(float(predictions.min()))
        return "own", 0.0

    for own in (logistic, None):
        xgb.train(
            {**P, "objective": "binary:logistic"},
            dtrain,
            1,
            obj=own,
            evals=[(dtrain, "t")],
            custom_metric=watch,
            verbose_eval=False,
        )
    assert seen[0] < 0.0 < seen[1]


@pytest.mark.parametrize("named", ["multi:softprob", "multi:softmax", None])
def test_classes_of_an_own_objective(xgb: Any, three_classes: Any, named: str | None) -> None:
    dtrain, found = xgb.DMatrix(*three_classes), {}
    params = {**P, "num_class": 3} | ({} if named is None else {"objective": named})
    booster = xgb.train(
        params, dtrain, 2, obj=softmax, evals=[(dtrain, "t")], evals_result=found, verbose_eval=False
    )
    assert list(found["t"]) == ["mlogloss"]
    predicted = booster.predict(dtrain)
    assert predicted.shape == ((300, 3) if named == "multi:softprob" else (300,))
    if predicted.ndim == 2:
        assert np.allclose(predicted.sum(axis=1), 1.0, atol=1e-5)


def test_a_classifier_with_an_own_objective_has_probabilities(
    xgb: Any, two_classes: Any, three_classes: Any
) -> None:
    class Labels:
        def __init__(self, y: Any) -> None:
            self.get_label = lambda: y

    X, y = two_classes
    model = xgb.XGBClassifier(
        objective=lambda y, s: logistic(s, Labels(y)), n_estimators=3, max_depth=2, n_jobs=1
    )
    model.fit(X, y, eval_set=[(X, y)], verbose=False)
    named = xgb.XGBClassifier(base_score=0.5, n_estimators=3, max_depth=2, n_jobs=1).fit(X, y)
    assert np.allclose(model.predict_proba(X), named.predict_proba(X), atol=1e-5)
    assert list(model.evals_result()["validation_0"]) == ["logloss"]
    X, y = three_classes
    several = xgb.XGBClassifier(objective=lambda y, s: softmax(s, Labels(y)), n_estimators=2, n_jobs=1)
    assert np.allclose(several.fit(X, y).predict_proba(X).sum(axis=1), 1.0, atol=1e-5)


def test_gradients_by_hand_start_where_an_untrained_model_predicts(xgb: Any, two_classes: Any) -> None:
    dtrain = xgb.DMatrix(*two_classes)
    booster = xgb.Booster({**P, "objective": "binary:logistic"}, [dtrain])
    assert np.allclose(booster.predict(dtrain, output_margin=True), 0.5)
    assert booster.num_features() == 4
    n_rows = dtrain.num_row()
    booster.boost(dtrain, 0, grad=np.zeros(n_rows), hess=np.ones(n_rows))
    assert np.allclose(booster.predict(dtrain, output_margin=True), 0.5)


@pytest.mark.parametrize(("base_score", "margin"), [(0.3, -0.8473), (None, 0.5)])
def test_an_untrained_model_predicts_its_base_score(
    xgb: Any, two_classes: Any, base_score: float | None, margin: float
) -> None:
    dtrain = xgb.DMatrix(*two_classes)
    booster = xgb.Booster({**P, "objective": "binary:logistic", "base_score": base_score}, [dtrain])
    assert np.allclose(booster.predict(dtrain, output_margin=True), margin, atol=1e-4)


# --- first scores, importances, dumps ---------------------------------------------------------------


def test_base_scores_of_classes_are_scores(xgb: Any, three_classes: Any) -> None:
    dtrain = xgb.DMatrix(*three_classes)
    params = {**P, "objective": "multi:softprob", "num_class": 3, "eta": 0}
    for given in ([0.1, 0.2, 0.7], 0.3, [1.0, 2.0, 3.0]):
        margins = xgb.train({**params, "base_score": given}, dtrain, 1).predict(dtrain, output_margin=True)
        assert np.allclose(margins, given, atol=1e-6)


def test_raw_scores_start_at_the_mean_label(xgb: Any, two_classes: Any) -> None:
    X, y = two_classes
    model = xgb.XGBRegressor(objective="binary:logitraw", learning_rate=0, n_estimators=1, n_jobs=1)
    model.fit(X, y)
    assert np.allclose(model.predict(X), y.mean(), atol=1e-5)
    assert np.allclose(model.intercept_, y.mean(), atol=1e-5)


def test_rates_of_0_add_nothing(xgb: Any, numbers: Any) -> None:
    dtrain = xgb.DMatrix(*numbers)
    scheduler = xgb.callback.LearningRateScheduler([0.3, 0.0])
    one = xgb.train({**P, "eta": 0.3}, dtrain, 1)
    two = xgb.train({**P, "eta": 0}, dtrain, 2, callbacks=[scheduler])
    assert two.num_boosted_rounds() == 2
    assert np.allclose(two.predict(dtrain), one.predict(dtrain), atol=1e-6)


def test_importances_of_linear_classes_are_one_a_class(xgb: Any, three_classes: Any) -> None:
    X, y = np.nan_to_num(three_classes[0]), three_classes[1]
    model = xgb.XGBClassifier(booster="gblinear", updater="coord_descent", n_estimators=2, n_jobs=1).fit(X, y)
    assert model.feature_importances_.shape == (4, 3)
    scores = model.get_booster().get_score(importance_type="weight")
    assert {name: len(values) for name, values in scores.items()} == {f"f{k}": 3 for k in range(4)}


def test_a_tolerance_ends_the_moves_of_a_linear_model(xgb: Any, numbers: Any) -> None:
    dtrain = xgb.DMatrix(np.nan_to_num(numbers[0]), numbers[1])
    params = {"booster": "gblinear", "updater": "coord_descent", "nthread": 1}
    models = [
        xgb.train({**params, "tolerance": tolerance}, dtrain, rounds)
        for tolerance, rounds in ((1e9, 1), (1e9, 9), (0.0, 9))
    ]
    first, still, moving = (model.predict(dtrain) for model in models)
    assert np.array_equal(first, still)
    assert not np.allclose(moving, still)
    assert models[1].num_boosted_rounds() == 9


def test_names_in_pictures_are_escaped(xgb: Any, numbers: Any) -> None:
    X, y = numbers
    dtrain = xgb.DMatrix(X[:, :1], y, feature_names=['a"\\b'])
    dot = xgb.train({**P, "max_depth": 1}, dtrain, 1).get_dump(dump_format="dot")[0]
    assert 'label="a\\"\\\\b<' in dot


# --- tables -----------------------------------------------------------------------------------------


@pytest.fixture
def coloured() -> Any:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 200)
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical.from_codes(codes, ["red", "green", "blue"]),
            "size": rng.integers(0, 5, 200),
        }
    )
    return frame, (codes == 1) * 2.0 + frame["size"].to_numpy() * 0.1


def test_numbers_of_an_array_are_codes_of_the_frames_categories(
    xgb: Any, coloured: Any, tmp_path: Path
) -> None:
    frame, y = coloured
    model = xgb.XGBRegressor(n_estimators=3, enable_categorical=True, n_jobs=1).fit(frame, y)
    codes = frame.assign(colour=frame["colour"].cat.codes).to_numpy(np.float64)
    model.save_model(tmp_path / "model.ubj")
    again = xgb.XGBRegressor()
    again.load_model(tmp_path / "model.ubj")
    for one in (model, again):
        assert np.allclose(one.predict(codes), model.predict(frame))
        assert np.allclose(one.get_booster().inplace_predict(codes), model.predict(frame))


def test_a_frame_of_numbers_is_refused_where_there_were_categories(xgb: Any, coloured: Any) -> None:
    frame, y = coloured
    model = xgb.XGBRegressor(n_estimators=2, enable_categorical=True, n_jobs=1).fit(frame, y)
    with pytest.raises(ValueError, match=r"type|colour"):
        model.predict(frame.assign(colour=1.0))


def test_categories_are_told_in_the_order_of_their_codes(xgb: Any, coloured: Any) -> None:
    pytest.importorskip("pyarrow")
    if xgb.__name__ == "xgboost" and not hasattr(xgb.DMatrix, "get_categories"):
        pytest.skip("this XGBoost has no get_categories")
    frame, y = coloured
    dtrain = xgb.DMatrix(frame, y, enable_categorical=True)
    for holder in (dtrain, xgb.train(P, dtrain, 1)):
        told = dict(holder.get_categories(export_to_arrow=True).to_arrow())
        assert told["colour"].to_pylist() == ["red", "green", "blue"]
        assert told["size"] is None


def test_labels_that_are_no_numbers_are_refused_at_once(xgb: Any, numbers: Any) -> None:
    X, y = numbers
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"(?i)label"):
            xgb.DMatrix(X, np.where(np.arange(300) == 3, wrong, y))


def test_declared_categories_of_an_array_need_no_switch(xgb: Any, numbers: Any) -> None:
    X, y = np.nan_to_num(numbers[0]), numbers[1]
    kinds = ["c", "q", "q", "q"]
    switched = xgb.DMatrix(X, y, feature_types=kinds, enable_categorical=True)
    plain = xgb.DMatrix(X, y, feature_types=kinds)
    assert np.array_equal(xgb.train(P, plain, 2).predict(plain), xgb.train(P, switched, 2).predict(switched))


def test_a_series_is_a_table_of_one_column(xgb: Any, numbers: Any) -> None:
    X, y = numbers
    series = pd.Series(X[:, 0], name="q")
    assert xgb.DMatrix(series, y).feature_names == ["q"]
    model = xgb.XGBRegressor(n_estimators=2, n_jobs=1).fit(series, y)
    assert np.array_equal(model.predict(series), model.predict(series.to_frame()))


def test_sparse_columns_of_pandas_are_columns(xgb: Any, numbers: Any) -> None:
    X, y = np.nan_to_num(numbers[0]), numbers[1]
    frame = pd.DataFrame({f"c{k}": pd.arrays.SparseArray(X[:, k], fill_value=0.0) for k in range(4)})
    model = xgb.XGBRegressor(n_estimators=2, n_jobs=1).fit(frame, y)
    assert np.allclose(model.predict(frame), xgb.XGBRegressor(n_estimators=2, n_jobs=1).fit(X, y).predict(X))


def test_text_files_are_read(xgb: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("1:0.5 0:1.5 2:3\n0:2 1:2 2:1 # a remark\n")
    matrix = xgb.DMatrix(f"{path}?format=libsvm")
    assert (matrix.num_row(), matrix.num_col(), matrix.num_nonmissing()) == (2, 3, 4)
    assert matrix.get_label().tolist() == [1.0, 0.0]
    assert matrix.get_weight().tolist() == [0.5, 2.0]
    assert matrix.get_data().toarray().tolist() == [[1.5, 0.0, 3.0], [0.0, 2.0, 1.0]]
    path.write_text("1,2,3\n0,5,6\n")
    matrix = xgb.DMatrix(f"{path}?format=csv&label_column=0")
    assert matrix.get_label().tolist() == [1.0, 0.0]
    assert matrix.get_data().toarray().tolist() == [[2.0, 3.0], [5.0, 6.0]]


def test_a_matrix_is_written_and_read(xgb: Any, numbers: Any, tmp_path: Path) -> None:
    X, y = numbers
    matrix = xgb.DMatrix(X, y, weight=np.arange(1.0, 301.0), feature_names=list("abcd"))
    matrix.save_binary(str(tmp_path / "matrix.buffer"))
    again = xgb.DMatrix(str(tmp_path / "matrix.buffer"))
    assert np.array_equal(again.get_label(), matrix.get_label())
    assert np.array_equal(again.get_weight(), matrix.get_weight())
    assert again.feature_names == list("abcd")
    assert (again.get_data() != matrix.get_data()).nnz == 0


def test_cuts_of_a_matrix(xgb: Any, numbers: Any) -> None:
    X, y = numbers
    starts, cuts = xgb.QuantileDMatrix(X, y, max_bin=4).get_quantile_cut()
    assert (starts.dtype, cuts.dtype, len(starts)) == (np.uint64, np.float32, 5)
    assert starts[-1] == len(cuts)
    for column, (begin, end) in enumerate(itertools.pairwise(starts)):
        part = cuts[int(begin) : int(end)]
        assert np.all(np.diff(part) > 0)
        assert part[0] < np.nanmin(X[:, column])
        assert part[-1] > np.nanmax(X[:, column])


# --- scripts ----------------------------------------------------------------------------------------


def test_arguments_may_come_by_position(xgb: Any, numbers: Any) -> None:
    X, y = numbers
    with pytest.warns(FutureWarning, match="Pass `weight` as keyword args"):
        dtrain = xgb.DMatrix(X, y, np.full(300, 2.0))
    assert dtrain.get_weight()[0] == 2.0
    with pytest.warns(FutureWarning, match="Pass `weight` as keyword args"):
        assert xgb.QuantileDMatrix(X, y, np.full(300, 2.0)).num_row() == 300
    with pytest.warns(FutureWarning, match="Pass `evals` as keyword args"):
        booster = xgb.train(P, dtrain, 1, [(dtrain, "t")], verbose_eval=False)
    with pytest.warns(FutureWarning, match="Pass `output_margin` as keyword args"):
        booster.predict(dtrain, True)
    with pytest.warns(FutureWarning, match="Pass `nfold` as keyword args"):
        xgb.cv(P, dtrain, 1, 2)
    with pytest.warns(FutureWarning, match="Pass `sample_weight` as keyword args"):
        xgb.XGBRegressor(n_estimators=1, n_jobs=1).fit(X, y, np.ones(300))


def test_options_of_another_booster_or_objective_are_a_warning(xgb: Any, three_classes: Any) -> None:
    dtrain = xgb.DMatrix(*three_classes)
    for name, value in (("rate_drop", 0.5), ("top_k", 1), ("huber_slope", 2.0)):
        with pytest.warns(UserWarning, match=f"{name}"):
            with_it = xgb.train({**P, name: value}, dtrain, 1)
        assert np.array_equal(with_it.predict(dtrain), xgb.train(P, dtrain, 1).predict(dtrain))


def test_weights_of_ones_are_those_of_the_objectives_that_have_them(xgb: Any, two_classes: Any) -> None:
    X, y = two_classes
    dtrain = xgb.DMatrix(X, y + 1.0)
    for objective, has in (("reg:squarederror", True), ("reg:gamma", True), ("reg:tweedie", False)):
        params = {**P, "objective": objective, "max_depth": 1, "base_score": 1.5}
        plain = xgb.train(params, dtrain, 1).predict(dtrain)
        weighed = xgb.train({**params, "scale_pos_weight": 3.0, "verbosity": 0}, dtrain, 1).predict(dtrain)
        assert np.array_equal(plain, weighed) != has, objective


@pytest.mark.parametrize(
    ("rounds", "kept"), [(np.s_[...], 4), (np.s_[:0], 4), (np.s_[1:3], 2), (np.s_[::2], 2), (3, 1)]
)
def test_slices_of_rounds(xgb: Any, numbers: Any, rounds: Any, kept: int) -> None:
    booster = xgb.train(P, xgb.DMatrix(*numbers), 4)
    assert booster[rounds].num_boosted_rounds() == kept
    for beyond in (np.s_[9:], 4, np.s_[2:9]):
        with pytest.raises(IndexError):
            booster[beyond]
    for wrong in ((1, 2), np.s_[3:1], np.s_[:-1]):
        with pytest.raises(ValueError, match=r"."):
            booster[wrong]


def test_early_stopping_tells_its_history(xgb: Any, numbers: Any) -> None:
    dtrain = xgb.DMatrix(*numbers)
    stop, found = xgb.callback.EarlyStopping(rounds=2), {}
    xgb.train(P, dtrain, 3, evals=[(dtrain, "t")], callbacks=[stop], evals_result=found, verbose_eval=False)
    assert stop.stopping_history["t"]["rmse"] == list(found["t"]["rmse"])
    assert stop.best_scores["t"]["rmse"] == list(found["t"]["rmse"])
    assert stop.current_rounds == 0


def test_settings_are_of_their_thread(xgb: Any) -> None:
    seen: list[int] = []
    with xgb.config_context(verbosity=3):
        thread = threading.Thread(target=lambda: seen.append(xgb.get_config()["verbosity"]))
        thread.start()
        thread.join()
        xgb.set_config(verbosity=None)
        assert xgb.get_config()["verbosity"] == 3
    assert seen == [1]


def test_metrics_that_are_none_are_refused(xgb: Any, numbers: Any) -> None:
    for given in (123, [123], ["rmse", 1.5]):
        with pytest.raises(TypeError, match="eval_metric"):
            xgb.XGBRegressor(n_estimators=1, eval_metric=given).fit(*numbers)


def test_an_estimator_refuses_the_file_of_another_kind(xgb: Any, two_classes: Any, tmp_path: Path) -> None:
    xgb.XGBClassifier(n_estimators=1, n_jobs=1).fit(*two_classes).save_model(tmp_path / "model.ubj")
    with pytest.raises(TypeError, match="classifier"):
        xgb.XGBRegressor().load_model(tmp_path / "model.ubj")
    forest = xgb.XGBRFClassifier()
    forest.load_model(tmp_path / "model.ubj")


def test_modules_and_errors_are_where_scripts_look(xgb: Any, numbers: Any, tmp_path: Path) -> None:
    names = {
        "core": ["Booster", "DMatrix", "QuantileDMatrix", "XGBoostError"],
        "sklearn": ["XGBClassifier", "XGBModel", "XGBRegressor"],
        "callback": ["EarlyStopping", "TrainingCallback"],
        "training": ["train", "cv"],
        "plotting": ["plot_importance"],
        "config": ["config_context", "get_config", "set_config"],
    }
    for name, members in names.items():
        module = importlib.import_module(f"{xgb.__name__}.{name}")
        assert all(hasattr(module, member) for member in members)
        assert getattr(xgb, name) is module
    error = xgb.core.XGBoostError
    assert issubclass(error, ValueError)
    dtrain = xgb.DMatrix(*numbers)
    for script in (
        lambda: xgb.train({"eta": -1}, dtrain, 1),
        lambda: xgb.train({"objective": "zzz"}, dtrain, 1),
        lambda: xgb.Booster(model_file=tmp_path / "nothing"),
        lambda: xgb.DMatrix(str(tmp_path / "nothing.txt")),
        lambda: xgb.DMatrix(numbers[0], [1.0]),
    ):
        with pytest.raises(error):
            script()


def test_a_pruning_callback_of_optuna_stops_training(numbers: Any) -> None:
    pytest.importorskip("xgboost")
    pytest.importorskip("optuna_integration", reason="optuna's integration is not installed")
    import optuna
    from optuna_integration import XGBoostPruningCallback

    import weald.xgboost as wx

    class Always(optuna.pruners.BasePruner):  # type: ignore[misc]
        def prune(self, study: Any, trial: Any) -> bool:
            return True

    def train(trial: Any) -> float:
        dtrain = wx.DMatrix(*numbers)
        prune = XGBoostPruningCallback(trial, "t-rmse")
        wx.train(P, dtrain, 5, evals=[(dtrain, "t")], callbacks=[prune], verbose_eval=False)
        return 0.0

    def folds(trial: Any) -> float:
        prune = XGBoostPruningCallback(trial, "test-rmse")
        wx.cv(P, wx.DMatrix(*numbers), 5, nfold=3, callbacks=[prune])
        return 0.0

    def estimator(trial: Any) -> float:
        prune = XGBoostPruningCallback(trial, "validation_0-rmse")
        model = wx.XGBRegressor(n_estimators=5, n_jobs=1, callbacks=[prune])
        model.fit(*numbers, eval_set=[numbers], verbose=False)
        return 0.0

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for objective in (train, folds, estimator):
        for pruner, state in ((Always(), "PRUNED"), (optuna.pruners.NopPruner(), "COMPLETE")):
            study = optuna.create_study(pruner=pruner)
            study.optimize(objective, n_trials=1)
            assert study.trials[0].state.name == state
            values = study.trials[0].intermediate_values
            assert len(values) == (1 if state == "PRUNED" else 5)
            assert all(isinstance(value, float) and value > 0.0 for value in values.values())


def test_columns_are_drawn_by_feature_weights(xgb: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((200, 10))
    y = X.sum(axis=1)
    weights = np.arange(10.0)
    dtrain = xgb.DMatrix(X, y, feature_weights=weights)
    assert np.array_equal(dtrain.get_float_info("feature_weights"), weights)
    booster = xgb.train({**P, "max_depth": 1, "colsample_bytree": 0.1}, dtrain, 300)
    counts = booster.get_score(importance_type="weight")
    drawn = np.array([counts.get(f"f{place}", 0.0) for place in range(10)])
    assert drawn[0] == 0.0 and drawn[7:].sum() > 2.0 * drawn[1:4].sum() > 0.0
    every = xgb.train(P, dtrain, 3)  # all columns, whatever they weigh
    assert np.array_equal(every.predict(dtrain), xgb.train(P, xgb.DMatrix(X, y), 3).predict(dtrain))
    model = xgb.XGBRegressor(
        n_estimators=20, max_depth=1, colsample_bytree=0.1, feature_weights=[0.0] * 9 + [1.0], n_jobs=1
    ).fit(X, y)
    assert model.get_booster().get_score(importance_type="weight") == {"f9": 20.0}


@pytest.mark.parametrize("limits", [{"gamma": 40.0, "max_depth": 5}, {"max_depth": 1}, {"gamma": 1e9}])
def test_old_trees_are_cut_back_as_xgboost_does(numbers: Any, limits: dict[str, Any]) -> None:
    theirs = pytest.importorskip("xgboost")
    import weald.xgboost as ours

    X, y = numbers
    update = {**P, "process_type": "update", "updater": "prune", "max_depth": 5, **limits}
    predicted, sizes = [], []
    for xgb in (ours, theirs):
        first = xgb.train({**P, "base_score": 0.0, "max_depth": 5}, xgb.DMatrix(X, label=y), 3)
        later = xgb.train({**update, "base_score": 0.0}, xgb.DMatrix(X, label=y), 3, xgb_model=first)
        predicted.append(later.predict(xgb.DMatrix(X)))
        sizes.append([tree.count("leaf=") for tree in later.get_dump()])
        assert sizes[-1] < [tree.count("leaf=") for tree in first.get_dump()]
    assert sizes[0] == sizes[1]
    assert predicted[0] == pytest.approx(predicted[1], rel=1e-4, abs=1e-4)


def test_cut_trees_keep_their_categories() -> None:
    pd = pytest.importorskip("pandas")
    import weald.xgboost as xgb

    rng = np.random.default_rng(0)
    town = rng.integers(0, 9, 300)
    table = pd.DataFrame({"town": pd.Categorical([f"t{code}" for code in town]), "size": rng.random(300)})
    y = 10.0 * (town % 3) + table["size"].to_numpy()
    matrix = xgb.DMatrix(table, label=y, enable_categorical=True)
    first = xgb.train({**P, "max_depth": 4}, matrix, 2)
    update = {**P, "process_type": "update", "updater": "prune", "gamma": 100.0, "max_depth": 4}
    later = xgb.train(update, matrix, 2, xgb_model=first)
    assert len(later.get_dump()[0]) < len(first.get_dump()[0])
    assert np.corrcoef(later.predict(matrix), town % 3)[0, 1] > 0.9


def test_old_trees_are_refreshed_by_other_rows(numbers: Any) -> None:
    theirs = pytest.importorskip("xgboost")
    import weald.xgboost as ours

    X, y = numbers
    update = {"process_type": "update", "updater": "refresh", "refresh_leaf": True, "nthread": 1}
    predicted = []
    for xgb in (ours, theirs):
        first = xgb.train({**P, "base_score": 0.0}, xgb.DMatrix(X, y), 3)
        other = xgb.DMatrix(X[:200], y[:200] + 5.0)
        later = xgb.train({**P, **update, "base_score": 0.0}, other, 2, xgb_model=first)
        assert later.num_boosted_rounds() == 2
        predicted.append(later.predict(xgb.DMatrix(X)))
    assert np.allclose(*predicted, atol=1e-4)


# --- scikit-learn -----------------------------------------------------------------------------------


def test_a_subclass_with_keywords_is_cloned_and_searched(xgb: Any, numbers: Any) -> None:
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    class Own(xgb.XGBRegressor):  # type: ignore[misc, name-defined]
        def __init__(self, *, extra: int = 7, **kwargs: Any) -> None:
            self.extra = extra
            super().__init__(**kwargs)

    model = Own(max_depth=2, n_estimators=2, n_jobs=1, tree_method="exact")
    assert model.get_params()["extra"] == 7
    copied = clone(model.set_params(extra=3))
    assert (copied.extra, copied.max_depth, copied.tree_method) == (3, 2, "exact")
    X, y = numbers
    search = GridSearchCV(copied, {"rate_drop": [0.0, 0.9], "extra": [1, 2]}, cv=2)
    search.estimator.set_params(booster="dart")
    assert set(search.fit(X, y).best_params_) == {"rate_drop", "extra"}
