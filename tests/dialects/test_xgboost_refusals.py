"""What weald.xgboost does not have is refused by name, and what it has behaves where XGBoost has nothing to compare."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import weald
import weald.xgboost as xgb
from weald.dialects.xgboost.callback import (
    EarlyStopping,
    EvaluationMonitor,
    LearningRateScheduler,
    TrainingCallback,
)
from weald.params.xgboost import read_parameters
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError
from weald.training.boosting import opening
from weald.training.boosting.opening import bin_table

rng = np.random.default_rng(0)
X = rng.integers(0, 6, (120, 3)).astype(np.float64)
Y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(120)
LABELS = (Y > 0).astype(float)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"max_deph": 3}, "there is no parameter 'max_deph' in XGBoost; did you mean 'max_depth'?"),
        ({"n_estimators": 3}, "there is no parameter 'n_estimators'"),
        ({"zzz": 3}, "docs/xgboost_parameters.md lists all"),
        ({"objective": "rank:ndcg"}, "objective='rank:ndcg' is not supported"),
        ({"objective": "survival:cox"}, "objective='survival:cox' is not supported"),
        ({"objective": "reg:linear"}, "use 'reg:squarederror', its newer name"),
        ({"objective": "reg:squarederor"}, "objective must be one of"),
        ({"tree_method": "gpu_hist"}, "tree_method='gpu_hist' is not supported yet; use 'hist'"),
        ({"device": "sycl"}, "device='sycl' is not supported; use 'cpu', or 'cuda'"),
        ({"device": "cuda:a"}, "device='cuda:a' must be numbers of devices"),
        ({"sampling_method": "gradient_based"}, "use 'uniform'"),
        ({"multi_strategy": "multi_output_tree"}, "use 'one_output_per_tree'"),
        ({"process_type": "update"}, "process_type='update' is for updater='refresh'"),
        ({"process_type": "update", "updater": "refresh"}, "needs an xgb_model with at least 1 rounds"),
        ({"refresh_leaf": 0}, "refresh_leaf=False is not supported"),
        ({"lambdarank_pair_method": "mean"}, "ranking is not supported"),
        ({"aft_loss_distribution": "normal"}, "survival is not supported"),
        ({"validate_parameters": False}, "validate_parameters=False is not supported"),
        ({"booster": "gblinear", "updater": "shotgun"}, "use 'coord_descent'"),
        ({"eta": 0.1, "learning_rate": 0.2}, "eta was given twice, as 0.1 and 0.2"),
        ({"eta": "fast"}, "eta must be a number of at least 0, not 'fast'"),
        ({"max_depth": 2.5}, "max_depth must be a whole number"),
        ({"max_depth": len}, "max_depth must be a whole number"),
        ({"max_leaves": 1}, "max_leaves must be 0, for no limit, or at least 2"),
        (
            {"num_class": 3, "objective": "reg:gamma"},
            "num_class belongs to objective='multi:softmax' and 'multi:softprob'",
        ),
        ({"objective": "multi:softprob", "num_class": 3, "base_score": [1.0, 2.0]}, "base_score must be a finite"),
        ({"objective": "multi:softmax"}, "needs num_class"),
        ({"objective": "reg:quantileerror"}, "needs quantile_alpha"),
        ({"monotone_constraints": "(1,-1"}, "monotone_constraints='(1,-1' cannot be read"),
        ({"monotone_constraints": {"f9": 1}}, "monotone_constraints names the column 'f9'"),
        ({"interaction_constraints": [["f0", "g"]]}, "interaction_constraints names the column 'g'"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_in_a_sentence(params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        xgb.train(params, xgb.DMatrix(X, Y), 1)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        ("ndcg", "ranking or survival"),
        ("map@3", "ranking or survival"),
        ("rmsee", r"eval_metric='rmsee' is not known.*Did you mean 'rmse'\?"),
        ("error@x", "must have a number after the @"),
        ("mlogloss", "is for several classes"),
        (3, "eval_metric must be names here, not 3"),
    ],
)
def test_a_metric_that_cannot_be_is_refused_in_a_sentence(metric: Any, sentence: str) -> None:
    matrix = xgb.DMatrix(X, Y)
    with pytest.raises(InputError, match=sentence):
        xgb.train({"eval_metric": [metric]}, matrix, 1, evals=[(matrix, "t")])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("group", [120]),
        ("qid", np.zeros(120)),
        ("label_lower_bound", Y),
        ("label_upper_bound", Y),
    ],
)
def test_a_matrix_refuses_what_there_is_no_use_for(name: str, value: Any) -> None:
    with pytest.raises(NotSupportedError, match=f"{name} is not supported by weald.xgboost"):
        xgb.DMatrix(X, Y, **{name: value})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"label": Y[:5]}, "label has 5 values, but data has 120 rows"),
        ({"label": np.zeros((120, 2))}, "label must be one value a row, but its shape is"),
        ({"label": ["a"] * 120}, "label must hold numbers"),
        ({"weight": -Y}, "must be finite and not negative"),
        ({"feature_names": ["a"]}, "feature_names has 1 names, but data has 3 columns"),
        ({"feature_names": ["a", "a", "b"]}, "must differ"),
        ({"feature_names": ["a<", "c", "b"]}, "must not contain"),
        ({"label": [np.nan] * 120}, "label must be finite, but row 0 has nan"),
        ({"feature_types": ["x", "q", "q"]}, "feature_types must be of q"),
        ({"base_margin": np.zeros(7)}, "base_margin must be finite, one number a row"),
    ],
)
def test_a_matrix_says_what_is_wrong(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        xgb.DMatrix(X, **arguments)


def test_other_things_of_xgboost_are_refused_with_what_to_use(tmp_path: Path) -> None:
    bst = xgb.train({}, xgb.DMatrix(X, Y), 1)
    for name in ("approx_contribs", "pred_interactions"):
        with pytest.raises(NotSupportedError, match=f"{name} is not supported"):
            bst.predict(xgb.DMatrix(X), **{name: True})
    for name in ("XGBRanker", "spark", "rabit", "collective"):
        assert not hasattr(xgb, name)
        with pytest.raises(AttributeError, match=f"weald.xgboost has no {name}: "):
            getattr(xgb, name)
    with pytest.raises(AttributeError, match="no attribute 'XGBClasifier'"):
        xgb.XGBClasifier  # noqa: B018
    for draw in (xgb.plot_tree, xgb.to_graphviz):
        with pytest.raises(NotSupportedError, match="dump_format='dot'"):
            draw(bst)
    (tmp_path / "train.svm").write_text("1 0:1\n0 1:x\n")
    for query, sentence in (
        ("", "save_binary has not written"),
        ("?format=libfm", "must be libsvm or csv"),
        ("?format=libsvm", "line 2 of"),
        ("?format=csv&colour=1", "has the option 'colour'"),
    ):
        with pytest.raises(InputError, match=sentence):
            xgb.DMatrix(f"{tmp_path / 'train.svm'}{query}")
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        xgb.DMatrix("train.svm")
    with pytest.raises(InputError, match="feature_weights has 2 numbers, but data has 3 columns"):
        xgb.XGBRegressor().fit(X, Y, feature_weights=[1, 1])
    with pytest.raises(NotSupportedError, match="colsample_bynode draws the columns of a tree alike"):
        xgb.XGBRegressor(colsample_bynode=0.5, feature_weights=[1, 1, 2]).fit(X, Y)
    with pytest.raises(NotSupportedError, match="fmap"):
        bst.get_dump("features.txt")


def test_a_damaged_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text('{"learner": {}}')
    with pytest.raises(ModelFileError, match="the XGBoost model has no 'objective'"):
        xgb.Booster(model_file=path)
    path.write_bytes(b"\x00" * 100)
    with pytest.raises(ModelFileError):
        xgb.Booster(model_file=path)
    with pytest.raises(InputError, match="has not been trained yet"):
        xgb.Booster().predict(xgb.DMatrix(X))


def test_models_are_refused_that_do_not_fit_the_data() -> None:
    named = xgb.train({}, xgb.DMatrix(X, Y, feature_names=["a", "b", "c"]), 1)
    with pytest.raises(InputError, match="data has 2 columns, but the model was trained with 3"):
        named.predict(xgb.DMatrix(X[:, :2]))
    with pytest.raises(InputError, match="feature_names mismatch: column 1 is 'x', but was 'b'"):
        named.predict(xgb.DMatrix(X, feature_names=["a", "x", "c"]))
    with pytest.raises(InputError, match="data has no feature_names"):
        named.predict(xgb.DMatrix(X))
    assert named.predict(xgb.DMatrix(X), validate_features=False).shape == (120,)
    with pytest.raises(TypeError, match="predict takes a DMatrix"):
        named.predict(X)
    with pytest.raises(InputError, match="iteration_range"):
        named.predict(xgb.DMatrix(X, feature_names=["a", "b", "c"]), iteration_range=(0, 9))


def test_weald_load_says_who_reads_a_booster(tmp_path: Path) -> None:
    xgb.train({}, xgb.DMatrix(X, Y), 1).save_model(tmp_path / "model.ubj")
    with pytest.raises(ModelFileError, match=r"read it with weald\.xgboost\.Booster"):
        weald.load(tmp_path / "model.ubj")


def test_frames_of_polars_and_arrow_are_read_like_arrays() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    matrix = xgb.DMatrix(frame, Y, missing=2.0)
    assert (matrix.feature_names, matrix.feature_types) == (["a", "b", "c"], ["float"] * 3)
    assert matrix.num_nonmissing() == int((X != 2.0).sum())
    of_frame = xgb.train({}, matrix, 3).predict(matrix)
    array = xgb.DMatrix(X, Y, missing=2.0)
    assert np.array_equal(of_frame, xgb.train({}, array, 3).predict(array))
    assert matrix.slice([0, 1]).num_row() == 2
    kinds = polars.DataFrame({"k": polars.Series(["u", "v"] * 60, dtype=polars.Categorical)})
    assert xgb.XGBRegressor(enable_categorical=True, n_estimators=2).fit(kinds, Y).predict(kinds).shape == (
        120,
    )


def test_a_scheduler_sets_the_rates_of_all_folds() -> None:
    steady = xgb.cv({"eta": 0.2}, xgb.DMatrix(X, Y), 3, as_pandas=False)
    scheduled = xgb.cv(
        {"eta": 0.9}, xgb.DMatrix(X, Y), 3, as_pandas=False, callbacks=[LearningRateScheduler(lambda k: 0.2)]
    )
    assert scheduled == steady


def test_another_objective_may_go_on_from_a_model() -> None:
    matrix = xgb.DMatrix(X, Y)
    first = xgb.train({"objective": "reg:squarederror"}, matrix, 3)
    both = xgb.train({"objective": "reg:absoluteerror"}, matrix, 3, xgb_model=first)
    assert both.num_boosted_rounds() == 6
    assert np.allclose(both.predict(matrix, iteration_range=(0, 3)), first.predict(matrix))


def test_a_scheduler_sets_the_rate_of_every_round() -> None:
    matrix = xgb.DMatrix(X, Y)
    steady = xgb.train({"eta": 0.5}, matrix, 2)
    scheduled = xgb.train({"eta": 0.5}, matrix, 3, callbacks=[LearningRateScheduler([0.5, 0.5, 0.25])])
    assert np.array_equal(scheduled.predict(matrix, iteration_range=(0, 2)), steady.predict(matrix))
    third = scheduled.predict(matrix) - scheduled.predict(matrix, iteration_range=(0, 2))
    full = xgb.train({"eta": 0.5}, matrix, 3)
    wanted = full.predict(matrix) - full.predict(matrix, iteration_range=(0, 2))
    assert np.allclose(third, wanted / 2, atol=1e-6)
    with pytest.raises(InputError, match="learning_rates has 1 numbers"):
        xgb.train({}, matrix, 3, callbacks=[LearningRateScheduler([0.5])])


def test_callbacks_that_cannot_work_say_so() -> None:
    matrix = xgb.DMatrix(X, Y)
    with pytest.raises(InputError, match="callbacks must be of TrainingCallback"):
        xgb.train({}, matrix, 1, callbacks=[print])  # type: ignore[list-item]
    with pytest.raises(InputError, match="early stopping needs at least one evaluation set"):
        xgb.train({}, matrix, 1, early_stopping_rounds=2)
    with pytest.raises(InputError, match="metric_name='auc' is not evaluated; there are 'rmse'"):
        stop = EarlyStopping(rounds=1, metric_name="auc")
        xgb.train({}, matrix, 1, evals=[(matrix, "t")], callbacks=[stop], verbose_eval=False)

    class Nothing(TrainingCallback):
        def after_training(self, model: Any) -> Any:
            return None

    with pytest.raises(InputError, match="must return the model"):
        xgb.train({}, matrix, 1, callbacks=[Nothing()])


def test_no_rounds_are_a_model_of_the_first_prediction() -> None:
    matrix = xgb.DMatrix(X, Y)
    bst = xgb.train({"base_score": 2.0}, matrix, 0)
    assert bst.num_boosted_rounds() == 0
    assert np.allclose(bst.predict(matrix), 2.0)


def test_an_error_in_a_fold_reaches_the_caller_of_cv() -> None:
    def broken(predictions: Any, matrix: Any) -> Any:
        raise RuntimeError("broken on purpose")

    with pytest.raises(RuntimeError, match="broken on purpose"):
        xgb.cv({}, xgb.DMatrix(X, Y), 3, custom_metric=broken)


def test_cv_is_the_same_every_time() -> None:
    runs = [xgb.cv({"subsample": 0.7}, xgb.DMatrix(X, Y), 5, as_pandas=False) for _ in range(2)]
    assert runs[0] == runs[1]


def test_gradients_by_hand_are_a_round() -> None:
    matrix = xgb.DMatrix(X, Y)
    hand = xgb.Booster({"base_score": 0.5})
    hand.boost(matrix, 0, grad=0.5 - Y, hess=np.ones(120))
    assert np.allclose(
        hand.predict(matrix), xgb.train({"base_score": 0.5}, matrix, 1).predict(matrix), atol=1e-5
    )


def test_labels_may_be_of_any_type() -> None:
    names = np.where(LABELS == 1, "yes", "no")
    model = xgb.XGBClassifier(n_estimators=5).fit(X, names, eval_set=[(X, names)], verbose=False)
    assert set(model.predict(X)) == {"yes", "no"}
    assert model.score(X, names) > 0.9


def test_text_and_aliases_are_read_as_xgboost_reads_them() -> None:
    assert read_parameters({"learning_rate": "0.1", "n_jobs": 2, "one_drop": None}) == {
        "eta": 0.1,
        "nthread": 2,
    }
    assert read_parameters([("eval_metric", "auc"), ("eval_metric", "rmse")]) == {
        "eval_metric": ["auc", "rmse"]
    }


def test_a_bin_too_many_is_a_warning_that_verbosity_silences() -> None:
    matrix = xgb.DMatrix(X, Y)
    with pytest.warns(UserWarning, match="max_bin=70000 is taken as 65535, the most that Weald has."):
        xgb.train({"max_bin": 70_000}, matrix, 1)
    with pytest.warns(
        UserWarning, match="max_bin=512 is taken as 255, the most that Weald has with tree_method='approx'"
    ):
        xgb.train({"max_bin": 512, "tree_method": "approx"}, matrix, 1)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xgb.train({"max_bin": 70_000, "verbosity": 0}, matrix, 1)
        xgb.train({"max_bin": 256}, matrix, 1)
        xgb.train({"max_bin": 512}, matrix, 1)
        with xgb.config_context(verbosity=0):
            xgb.train({"max_bin": 70_000}, matrix, 1)


def test_importances_are_drawn() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    model = xgb.XGBRegressor(n_estimators=3).fit(X, Y)
    axes = xgb.plot_importance(model, max_num_features=2)
    assert len(axes.patches) == 2
    with pytest.raises(InputError, match="plot_importance takes a Booster"):
        xgb.plot_importance(3)


@pytest.mark.parametrize("threads", [2, 3])
def test_the_same_bytes_on_any_number_of_threads(threads: int) -> None:
    params = {"objective": "binary:logistic", "subsample": 0.7, "colsample_bynode": 0.7}
    matrix = xgb.DMatrix(X, LABELS)
    one = xgb.train({**params, "nthread": 1}, matrix, 5).save_raw()
    assert xgb.train({**params, "nthread": threads}, matrix, 5).save_raw() == one


@pytest.mark.parametrize(
    ("changed", "name"), [({"booster": "dart"}, "booster"), ({"num_parallel_tree": 2}, "num_parallel_tree")]
)
def test_what_the_trees_are_made_for_cannot_be_changed_in_a_callback(
    changed: dict[str, Any], name: str
) -> None:
    class Change(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            model.set_param(changed)
            return False

    with pytest.raises(InputError, match=f"{name} cannot be changed to .* while a model is trained"):
        xgb.train({}, xgb.DMatrix(X, Y), 3, callbacks=[Change()])


def test_parameters_that_a_callback_sets_reach_all_folds() -> None:
    class Change(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            if epoch == 1:
                model.set_param("max_depth", 1)
            return False

    matrix = xgb.DMatrix(X, Y)
    plain = xgb.cv({"max_depth": 3}, matrix, 4, as_pandas=False)
    changed = xgb.cv({"max_depth": 3}, matrix, 4, as_pandas=False, callbacks=[Change()])
    assert changed["train-rmse-mean"][:2] == plain["train-rmse-mean"][:2]
    assert changed["train-rmse-mean"][2] > plain["train-rmse-mean"][2]
    assert len(changed["train-rmse-mean"]) == 4


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"objective": "binary:logistic", "scale_pos_weight": 3.0, "subsample": 0.7},
        {"tree_method": "exact"},
        {"tree_method": "approx", "max_bin": 4},
        {"booster": "gblinear"},
        {"booster": "dart", "rate_drop": 0.5},
        {"seed": np.random.default_rng(0)},
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_rounds_one_by_one_are_those_of_train_on_bins_that_are_found_once(
    params: dict[str, Any], sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    binned = []

    def counting(*arguments: Any, **more: Any) -> Any:
        binned.append(bin_table(*arguments, **more))
        return binned[-1]

    monkeypatch.setattr(opening, "bin_table", counting)
    table = scipy.sparse.csr_matrix(X) if sparse else X
    matrix = xgb.DMatrix(table, LABELS, weight=np.linspace(0.5, 2.0, 120))
    whole = xgb.train(copy.deepcopy(params), matrix, 4)
    binned.clear()
    single = xgb.Booster(copy.deepcopy(params))
    for number in range(4):
        single.update(matrix, number)
    has_bins = params.get("booster") != "gblinear"
    assert len(binned) == has_bins
    if "seed" not in params:
        assert single.save_raw() == whole.save_raw()
    if has_bins:
        single.update(xgb.DMatrix(table, LABELS), 4)
        single.update(matrix, 5)
        assert len(binned) == 3


def test_other_bins_are_found_when_they_are_asked_for() -> None:
    matrix = xgb.DMatrix(X, Y)
    bst = xgb.Booster({"max_bin": 2, "max_depth": 1})
    bst.update(matrix, 0)
    bst.set_param("max_bin", 16)
    bst.update(matrix, 1)
    first, second = (set(bst[k].trees_to_dataframe()["Split"].dropna()) for k in (0, 1))
    fine = xgb.train({"max_bin": 16, "max_depth": 1}, matrix, 1, xgb_model=bst[0])
    assert set(fine[1].trees_to_dataframe()["Split"].dropna()) == second
    assert first


def test_fields_of_a_matrix_by_their_names() -> None:
    matrix = xgb.DMatrix(X, Y)
    matrix.set_float_info_npy2d("base_margin", np.ones((120, 2)))
    assert matrix.get_base_margin().shape == (120, 2)
    assert matrix.data_split_mode().name == "ROW"
    for refused in (
        lambda: matrix.get_uint_info("group_ptr"),
        lambda: matrix.set_uint_info("group", [120]),
        lambda: matrix.get_group(),
    ):
        with pytest.raises(NotSupportedError, match="ranking is not supported"):
            refused()
    assert matrix.get_categories().empty()
    with pytest.raises(InputError, match="export_to_arrow=True"):
        matrix.get_categories().to_arrow()
    with pytest.raises(NotSupportedError, match="data_split_mode must be ROW"):
        xgb.DMatrix(X, data_split_mode=1)
    reference = xgb.QuantileDMatrix(X, Y, max_bin=9)
    assert xgb.QuantileDMatrix(X, Y, ref=reference).ref is reference


def test_the_best_round_can_be_set() -> None:
    bst = xgb.train({}, xgb.DMatrix(X, Y), 3)
    bst.best_iteration, bst.best_score = np.int64(1), 0.5
    assert (bst.best_iteration, bst.attr("best_iteration"), bst.best_score) == (1, "1", 0.5)


def test_threads_may_be_set_for_all() -> None:
    from weald.dialects.xgboost.config import threads_of

    with xgb.config_context(nthread=3, use_rmm=False):
        assert xgb.get_config() == {"nthread": 3, "verbosity": 1}
        assert (threads_of({}), threads_of({"nthread": 0}), threads_of({"nthread": 2})) == (3, 3, 2)
        model = xgb.train({}, xgb.DMatrix(X, Y), 1)
    assert threads_of({}) is None
    assert model.save_raw() == xgb.train({}, xgb.DMatrix(X, Y), 1).save_raw()
    for wrong in (-2, 1.5, True):
        with pytest.raises(InputError, match="nthread must be a whole number"):
            xgb.set_config(nthread=wrong)
    with pytest.raises(NotSupportedError, match="use_rmm=True is of GPUs"):
        xgb.set_config(use_rmm=True)
    with pytest.raises(InputError, match="set_config knows nthread and verbosity only, not 'threads'"):
        xgb.set_config(threads=1)


def test_a_model_of_numbers_is_not_read_by_a_classifier(tmp_path: Path) -> None:
    xgb.train({}, xgb.DMatrix(X, Y), 1).save_model(tmp_path / "model.ubj")
    with pytest.raises(InputError, match="objective is 'reg:squarederror', which has no classes"):
        xgb.XGBClassifier().load_model(tmp_path / "model.ubj")


def test_cv_has_no_best_model_to_save() -> None:
    with pytest.raises(InputError, match="save_best=True has no meaning in cv"):
        xgb.cv({}, xgb.DMatrix(X, Y), 2, callbacks=[EarlyStopping(rounds=1, save_best=True)])


def test_only_the_worker_that_there_is_prints() -> None:
    data = xgb.DMatrix(X, Y)
    for rank, n_lines in ((0, 2), (1, 0)):
        lines: list[str] = []
        monitor = EvaluationMonitor(rank=rank, logger=lines.append)
        xgb.train({}, data, 2, evals=[(data, "train")], verbose_eval=False, callbacks=[monitor])
        assert len(lines) == n_lines
