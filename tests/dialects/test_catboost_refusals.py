"""What weald.catboost does not have is refused by name, and what it has behaves where CatBoost has nothing to compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
import weald.catboost as cb
from weald.dialects.catboost.objectives import choose
from weald.dialects.catboost.statistics import statistics_of
from weald.dialects.catboost.translate import native_parameters, resolved_parameters
from weald.params.catboost import CATBOOST_PARAMETERS, read_parameters
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

rng = np.random.default_rng(0)
X = rng.integers(0, 6, (120, 3)).astype(np.float64)
Y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(120)
LABELS = (Y > 0).astype(int)
QUIET: dict[str, Any] = {
    "iterations": 3,
    "learning_rate": 0.3,
    "verbose": False,
    "thread_count": 1,
    "bootstrap_type": "No",
}


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"itrations": 3}, "there is no parameter 'itrations' in CatBoost; did you mean 'iterations'?"),
        ({"qqq": 3}, "docs/catboost_parameters.md lists all"),
        ({"n_estimators": 3}, "iterations and n_estimators are two names of one parameter"),
        ({"loss_function": "YetiRank"}, "as there is no ranking"),
        (
            {"loss_function": "Lq:q=2"},
            "loss_function='Lq' is not supported by weald.catboost; use Quantile or Huber",
        ),
        ({"loss_function": "RMES"}, "loss_function='RMES' is not known"),
        ({"loss_function": "Huber"}, "needs delta"),
        ({"loss_function": "Huber:alpha=1"}, "has no option 'alpha' here; it has delta"),
        ({"loss_function": "Huber:delta=x"}, "delta of loss_function='Huber' must be a number"),
        ({"loss_function": 3}, "loss_function must be a name"),
        ({"task_type": "TPU"}, "task_type must be one of"),
        ({"devices": "0"}, "devices belongs to task_type='GPU', but task_type is 'CPU'"),
        ({"gpu_ram_part": 0.5}, "a device decides it itself"),
        ({"text_features": ["a"]}, "make numbers of them first"),
        ({"langevin": True}, "no Langevin boosting"),
        ({"feature_weights": [1, 2, 3]}, "all columns count alike"),
        ({"has_time": True}, "orders are drawn at random"),
        ({"save_snapshot": True}, "use init_model"),
        ({"eval_fraction": 0.2}, "give fit an eval_set"),
        ({"feature_border_type": "MaxLogSum"}, "use 'GreedyLogSum'"),
        ({"bootstrap_type": "Poisson"}, "there is no GPU"),
        (
            {"bootstrap_type": "MVS", "bagging_temperature": 2.0},
            "belongs to bootstrap_type='Bayesian', but bootstrap_type is 'MVS'",
        ),
        (
            {"bootstrap_type": "Bayesian", "bagging_temperature": 50.0},
            "bagging_temperature must be a number of at least 0 and at most 20, not 50.0",
        ),
        (
            {"subsample": 0.5},
            "subsample belongs to bootstrap_type='MVS' and 'Bernoulli', but bootstrap_type is 'No'",
        ),
        ({"max_leaves": 8}, "max_leaves=8 belongs to grow_policy='Lossguide'"),
        ({"grow_policy": "Depthwise", "max_leaves": 8}, "whose trees of this depth have 64 leaves"),
        ({"fold_len_multiplier": 3.0}, "belongs to boosting_type='Ordered'"),
        ({"od_type": "Iter", "od_pval": 0.1}, "od_pval belongs to od_type='IncToDec'"),
        ({"early_stopping_rounds": 3, "od_wait": 4}, "leave od_wait out"),
        ({"early_stopping_rounds": 3, "od_pval": 0.1}, "leave od_pval out"),
        (
            {"boosting_type": "Ordered", "permutation_count": 1},
            "permutation_count=1 leaves boosting_type='Ordered' no order to take gradients in",
        ),
        ({"silent": True}, "verbose and silent both say what is printed"),
        (
            {"class_weights": [1, 2]},
            "class_weights=[1, 2] needs a loss of classes, but loss_function is 'RMSE'",
        ),
        ({"auto_class_weights": "Balanced"}, "auto_class_weights='Balanced' needs a loss of classes"),
        ({"scale_pos_weight": 5}, "scale_pos_weight=5 needs a loss of classes"),
        ({"class_names": [0, 1]}, "class_names=[0, 1] needs a loss of classes"),
        ({"classes_count": 2}, "classes_count=2 needs a loss of classes"),
        ({"target_border": 0.5}, "target_border=0.5 needs a loss of classes"),
        (
            {"loss_function": "CrossEntropy", "class_weights": [1, 2]},
            "class_weights=[1, 2] needs a loss of classes, but loss_function is 'CrossEntropy'",
        ),
        ({"use_best_model": True}, "use_best_model needs an eval_set"),
        ({"learning_rate": -1.0}, "learning_rate must be a number above 0"),
        ({"depth": 17}, "depth must be a whole number"),
        ({"monotone_constraints": "a:1"}, "names the column 'a'"),
        ({"monotone_constraints": "a:x"}, "cannot be read"),
        ({"per_float_feature_quantization": "9:border_count=4"}, "write it as 0:border_count=1024"),
        ({"verbose": "loud"}, "verbose must be True, False or a number of rounds"),
        ({"eval_metric": "NDCG"}, "the metric 'NDCG' is not supported"),
        ({"eval_metric": "AUC"}, "the metric 'AUC' does not fit loss_function='RMSE'; use one of RMSE"),
        ({"eval_metric": "Huber"}, "the metric 'Huber' needs delta"),
        ({"eval_metric": "MAE:alpha=1"}, "the metric 'MAE' has no option 'alpha' here"),
        ({"eval_metric": "RMES"}, "eval_metric='RMES' is not known"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_in_a_sentence(params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        cb.CatBoost({**QUIET, **params}).fit(X, Y)
    assert sentence in str(caught.value)


def test_a_refused_parameter_may_have_catboosts_default() -> None:
    defaults = {
        name: entry.default
        for name, entry in CATBOOST_PARAMETERS.items()
        if entry.standing == "refused" and entry.default is not None
    }
    assert read_parameters(defaults) == defaults
    assert cb.CatBoost({**QUIET, **defaults}).fit(X, Y).tree_count_ == 3


def test_parameters_become_the_native_ones() -> None:
    def native(
        params: dict[str, Any], loss: str = "RMSE", categorical: Any = (), weight: Any = None
    ) -> dict[str, Any]:
        chosen = choose(loss, 3)
        full = resolved_parameters(read_parameters(params), chosen, n_rows=1000, has_evals=False)
        return native_parameters(
            full, chosen, feature_names=list("abc"), categorical=categorical, weight=weight
        )

    found = native({})
    assert (found["growth"], found["max_depth"], found["max_leaves"]) == ("oblivious", 6, None)
    assert (found["reg_lambda"], found["max_bins"], found["border_type"]) == (3.0, 255, "greedy_log_sum")
    assert (found["sampling"], found["subsample"], found["mvs_reg"]) == ("mvs", 0.8, None)
    assert (found["split_score"], found["random_strength"]) == ("newton_l2", 1.0)
    assert (found["leaf_estimation"], found["leaf_iterations"]) == ("newton", 1)
    assert "categories" not in found
    assert "booster" not in found
    assert native({"leaf_estimation_method": "Gradient"}, "Logloss")["leaf_iterations"] == 40
    assert native({"iterations": 100}, "Logloss")["leaf_iterations"] == 1
    assert native({}, "MAE")["leaf_estimation"] == "exact"
    found = native({}, "MultiClass")
    assert (found["sampling"], found["bagging_temperature"]) == ("bayesian", 1.0)
    assert "subsample" not in found
    found = native({"grow_policy": "Lossguide"})
    assert (found["growth"], found["max_leaves"], found["max_depth"]) == ("leafwise", 31, 6)
    assert native({"bootstrap_type": "Bernoulli"})["subsample"] == 0.66
    assert native({}, weight=np.array([1.0, 0.0, 3.0]))["reg_lambda"] == 6.0
    assert native({"monotone_constraints": {"b": -1}})["monotone_constraints"] == [0, -1, 0]
    assert native({"per_float_feature_quantization": {1: "border_count=9"}})["max_bins_by_column"] == {1: 10}
    found = native({"boosting_type": "Ordered", "permutation_count": 3, "fold_len_multiplier": 1.5})
    assert (found["booster"], found["permutations"], found["prefix_growth"]) == ("ordered", 2, 1.5)
    found = native({"max_ctr_complexity": 2, "one_hot_max_size": 5}, categorical=[0, 2])
    assert (found["categories"], found["categorical_features"], found["max_cat_to_onehot"]) == (
        "ordered",
        [0, 2],
        5,
    )
    assert (found["max_combination"], found["prior"], found["statistic_bins"]) == (2, "mean", 32)
    assert (found["counters"], found["target_borders"], found["permutations"]) == (True, 1, 3)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"simple_ctr": "BinarizedTargetMeanValue"}, "use 'Borders' and 'Counter'"),
        ({"simple_ctr": "Counter"}, "must have 'Borders'"),
        ({"simple_ctr": "Borders:Prior=x"}, "'x' in simple_ctr must be a number"),
        ({"simple_ctr": "Borders:Prior=0/1:Prior=1/2"}, "must have one denominator"),
        ({"simple_ctr": "Borders:Size=3"}, "'Size=3' in simple_ctr is not supported"),
        ({"simple_ctr": ["Borders", "Counter:Prior=1"]}, "the prior of a Counter"),
        ({"simple_ctr": ["Borders:Prior=0", "Borders:Prior=1"]}, "simple_ctr has 'Borders' twice"),
        ({"simple_ctr": ["Borders", "Counter", "Counter"]}, "simple_ctr has 'Counter' twice"),
        ({"simple_ctr": ["Borders", "Counter:CtrBorderCount=3"]}, "a Counter has the bins of 'Borders'"),
        ({"simple_ctr": "Borders:CtrBorderType=Uniform"}, "hold rows as evenly as they can; leave it out"),
        (
            {"simple_ctr": "Borders:TargetBorderType=MinEntropy"},
            "part the labels in groups as even as they can",
        ),
        ({"simple_ctr": "Borders:Prior=0.5/0"}, "Prior=0.5/0 in simple_ctr must have a denominator above 0"),
        ({"simple_ctr": "Borders:Prior=3/2"}, "Prior=3/2 in simple_ctr must be from 0 to 2"),
        ({"simple_ctr": "Borders:Prior=inf"}, "'inf' in simple_ctr must be a number"),
        ({"simple_ctr": "Borders:CtrBorderCount=inf"}, "must be a whole number from 1 to 254"),
        (
            {"combinations_ctr": "Borders:CtrBorderCount=1000"},
            "CtrBorderCount=1000 in combinations_ctr must be",
        ),
        ({"simple_ctr": "Borders:CtrBorderCount=3.5"}, "must be a whole number from 1 to 254"),
        ({"simple_ctr": "Borders:TargetBorderCount=0"}, "must be a whole number from 1 to 255"),
        ({"simple_ctr": "Borders:CtrBorderCount=3:CtrBorderCount=4"}, "has CtrBorderCount twice"),
        ({"simple_ctr": 3}, "simple_ctr must be a text"),
        (
            {"simple_ctr": "Borders", "combinations_ctr": "Borders:Prior=0.1"},
            "must say the same as simple_ctr",
        ),
        ({"simple_ctr": "Borders:TargetBorderCount=2", "ctr_target_border_count": 3}, "differ"),
    ],
)
def test_statistics_that_cannot_be_are_refused_in_a_sentence(params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        statistics_of(params)


def test_descriptions_of_statistics() -> None:
    found = statistics_of(
        {"simple_ctr": ["Borders:CtrBorderCount=31:TargetBorderCount=3:Prior=1/2", "Counter"]}
    )
    assert found == {
        "prior": [0.5],
        "prior_weight": 2.0,
        "statistic_bins": 32,
        "target_borders": 3,
        "counters": True,
    }
    assert statistics_of({"ctr_target_border_count": 4})["target_borders"] == 4


@pytest.mark.parametrize("name", ["pairs", "group_id", "text_features", "column_description", "timestamp"])
def test_a_pool_refuses_what_it_does_not_have(name: str) -> None:
    with pytest.raises(NotSupportedError, match=f"{name} is not supported by weald.catboost"):
        cb.Pool(X, Y, **{name: [1]})


def test_a_pool_checks_what_it_is_given() -> None:
    with pytest.raises(InputError, match="label has 3 values, but data has 120 rows"):
        cb.Pool(X, [1, 2, 3])
    with pytest.raises(InputError, match="cat_features names the column 'z'"):
        cb.Pool(X, Y, cat_features=["z"])
    with pytest.raises(InputError, match="Column '0' holds text or categories; name it in cat_features"):
        cb.Pool([["a", 1], ["b", 2]])
    with pytest.raises(InputError, match="read the file first"):
        cb.Pool("train.tsv")
    with pytest.raises(InputError, match="X is a Pool, which has its own y"):
        cb.CatBoost(QUIET).fit(cb.Pool(X, Y), Y)
    with pytest.raises(InputError, match="needs labels"):
        cb.CatBoost(QUIET).fit(cb.Pool(X))
    with pytest.raises(InputError, match="baseline must be there"):
        cb.CatBoost(QUIET).fit(cb.Pool(X, Y, baseline=Y), eval_set=(X, Y))
    sparse = __import__("scipy.sparse").sparse.csr_matrix(X)
    model = cb.CatBoost(QUIET).fit(cb.Pool(sparse, Y))
    assert np.allclose(model.predict(sparse), cb.CatBoost(QUIET).fit(X, Y).predict(X))


def test_labels_that_do_not_fit_the_loss() -> None:
    with pytest.raises(InputError, match="use CatBoostClassifier"):
        cb.CatBoostRegressor(**QUIET, loss_function="Logloss").fit(X, Y)
    with pytest.raises(InputError, match="use CatBoostRegressor"):
        cb.CatBoostClassifier(**QUIET, loss_function="RMSE").fit(X, LABELS)
    with pytest.raises(InputError, match="use 'MultiClass'"):
        cb.CatBoostClassifier(**QUIET, loss_function="Logloss").fit(X, np.arange(120) % 3)
    with pytest.raises(InputError, match="eval_set has the class 7"):
        cb.CatBoostClassifier(**QUIET).fit(X, LABELS, eval_set=(X, np.full(120, 7)))
    with pytest.raises(InputError, match="give eval_metric"):
        own = type("Own", (), {"calc_ders_range": lambda self, a, t, w: np.zeros((120, 2))})()
        cb.CatBoostRegressor(**QUIET, loss_function=own).fit(X, Y)
    for names in ([0, 0, 1], [0], "01"):
        with pytest.raises(InputError, match="class_names must be a list of two or more different classes"):
            cb.CatBoostClassifier(**QUIET, class_names=names).fit(X, LABELS)
    with pytest.raises(InputError, match="class_names has 2 classes, but classes_count is 3"):
        cb.CatBoostClassifier(**QUIET, class_names=[0, 1], classes_count=3).fit(X, LABELS)
    named = cb.CatBoostClassifier(**QUIET, class_names=[1, 0]).fit(X, LABELS)
    assert named.classes_.tolist() == [1, 0]
    bordered = cb.CatBoostClassifier(**QUIET, target_border=0.0).fit(X, Y)
    assert np.array_equal(
        bordered.predict_proba(X), cb.CatBoostClassifier(**QUIET).fit(X, LABELS).predict_proba(X)
    )
    missing = np.where(np.arange(120) == 5, np.nan, Y)
    for labels in (missing, np.where(LABELS, "late", "early")):
        with pytest.raises(InputError, match="y"):
            cb.CatBoostClassifier(**QUIET, target_border=0.0).fit(X, labels)
        with pytest.raises(InputError, match="y"):
            cb.CatBoostClassifier(**QUIET, target_border=0.0).fit(X, Y, eval_set=(X, labels))
    with pytest.raises(InputError, match=r"y must be from 0 to 1 .*, but row 3 has -0\.5"):
        cb.CatBoostClassifier(**QUIET, loss_function="CrossEntropy").fit(
            X, np.where(np.arange(120) == 3, -0.5, LABELS)
        )


def test_missing_numbers_can_be_forbidden_and_missing_categories_not() -> None:
    forbidden = {**QUIET, "nan_mode": "Forbidden"}
    holes = X.copy()
    holes[7, 1] = np.nan
    with pytest.raises(InputError, match="the table has a missing value in column '1', row 7, but nan_mode"):
        cb.CatBoost(forbidden).fit(holes, Y)
    with pytest.raises(InputError, match="eval_set has a missing value in column '1', row 7"):
        cb.CatBoost(forbidden).fit(X, Y, eval_set=(holes, Y))
    frame = pd.DataFrame({"a": np.where(X[:, 0] > 3, None, "low"), "b": X[:, 1]})
    model = cb.CatBoost({**forbidden, "cat_features": ["a"]}).fit(frame, Y, eval_set=(frame, Y))
    assert model.tree_count_ > 0


def test_columns_of_categories_are_those_of_the_pools() -> None:
    frame = pd.DataFrame(
        {"a": np.char.add("k", X[:, 0].astype(int).astype(str)), "b": X[:, 1], "c": X[:, 2].astype(int)}
    )
    pool = cb.Pool(frame, Y, cat_features=["a"])
    with pytest.raises(
        InputError,
        match=r"cat_features of the model are the columns \[0, 2\], but those of the Pool are \[0\]",
    ):
        cb.CatBoostRegressor(**QUIET, cat_features=["a", "c"]).fit(pool)
    assert cb.CatBoostRegressor(**QUIET, cat_features=[0]).fit(pool).get_cat_feature_indices() == [0]
    with pytest.raises(InputError, match="cat_features of eval_set are"):
        cb.CatBoostRegressor(**QUIET).fit(pool, eval_set=cb.Pool(frame, Y, cat_features=["a", "c"]))
    model = cb.CatBoostRegressor(**QUIET, cat_features=["a", "c"]).fit(frame, Y, eval_set=(frame, Y))
    other = frame[["b", "c", "a"]]
    for eval_set in ((other, Y), cb.Pool(other, Y, cat_features=["a", "c"])):
        moved = cb.CatBoostRegressor(**QUIET, cat_features=["a", "c"]).fit(frame, Y, eval_set=eval_set)
        assert moved.evals_result_ == model.evals_result_
    with pytest.raises(InputError, match="eval_set has no column 'a', which X has"):
        cb.CatBoostRegressor(**QUIET, cat_features=["a"]).fit(
            frame, Y, eval_set=(frame.rename(columns={"a": "z"}), Y)
        )


def test_mvs_of_all_rows_draws_none() -> None:
    drawn = {name: value for name, value in QUIET.items() if name != "bootstrap_type"}
    whole = cb.CatBoostRegressor(**drawn, subsample=1.0).fit(X, Y).predict(X)
    assert np.array_equal(
        cb.CatBoostRegressor(**drawn, subsample=1.0, mvs_reg=0.5).fit(X, Y).predict(X), whole
    )
    assert cb.CatBoostRegressor(**drawn, mvs_reg=0.5).fit(X[:60], Y[:60]).tree_count_ == 3
    some = cb.CatBoostRegressor(**drawn, subsample=0.5, mvs_reg=0.0).fit(X, Y).predict(X)
    assert not np.array_equal(
        cb.CatBoostRegressor(**drawn, subsample=0.5, mvs_reg=9.0).fit(X, Y).predict(X), some
    )


def test_rows_of_a_pool_by_number_and_by_mask() -> None:
    pool = cb.Pool(X, Y, weight=np.arange(1, 121))
    mask = Y > 0
    by_mask, by_number = pool.slice(mask), pool.slice(np.flatnonzero(mask))
    assert by_mask.shape == by_number.shape == (int(mask.sum()), 3)
    assert by_mask.get_label() == by_number.get_label() == Y[mask].tolist()
    assert by_mask.get_weight() == (1.0 + np.flatnonzero(mask)).tolist()
    for rows, sentence in (
        (mask[:5], "rindex is a mask of the shape"),
        ([0.5], "rindex must be numbers of rows, or a mask"),
        ([120], "rindex has the row 120, but the Pool has 120 rows"),
    ):
        with pytest.raises(InputError, match=sentence):
            pool.slice(rows)


def test_predictions_that_do_not_fit_the_loss() -> None:
    model = cb.CatBoostRegressor(**QUIET).fit(X, Y)
    with pytest.raises(InputError, match="prediction_type='Probability' does not fit loss_function='RMSE'"):
        model.predict(X, "Probability")
    with pytest.raises(InputError, match="prediction_type must be one of"):
        model.predict(X, "Rank")
    with pytest.raises(InputError, match="prediction runs on the CPU"):
        model.predict(X, task_type="GPU")
    with pytest.raises(InputError, match="hold none of the 3 rounds"):
        model.predict(X, ntree_start=5)
    with pytest.raises(InputError, match="type must be one of"):
        model.get_feature_importance(type="Gain")
    with pytest.raises(InputError, match="needs data"):
        model.get_feature_importance(type="LossFunctionChange")
    with pytest.raises(NotSupportedError, match="plot_tree is not supported"):
        model.plot_tree(0)
    with pytest.raises(NotSupportedError, match="ranking is not supported"):
        _ = cb.CatBoostRanker


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"model_output": "Probability"}, "model_output is not supported .* use 'Raw'"),
        ({"shap_mode": "NoPreCalc"}, "shap_mode is not supported .* use 'Auto'"),
        ({"shap_calc_type": "Approximate"}, "use 'Regular'"),
        ({"reference_data": cb.Pool(X, Y)}, "reference_data is not supported .* leave it out"),
        ({"interaction_indices": [0, 1]}, "interaction_indices is not supported .* leave it out"),
        ({"sage_n_samples": 64}, "use type='LossFunctionChange'"),
        ({"sage_batch_size": 64}, "use type='LossFunctionChange'"),
        ({"sage_detect_convergence": False}, "use type='LossFunctionChange'"),
    ],
)
def test_options_of_importances_that_are_not_there(option: dict[str, Any], sentence: str) -> None:
    model = cb.CatBoostRegressor(**QUIET).fit(X, Y)
    with pytest.raises(NotSupportedError, match=sentence):
        model.get_feature_importance(cb.Pool(X, Y), type="ShapValues", **option)


@pytest.mark.parametrize("kind", ["ShapValues", "LossFunctionChange"])
def test_importances_of_data_need_a_pool(kind: str) -> None:
    model = cb.CatBoostRegressor(**QUIET).fit(X, Y)
    with pytest.raises(InputError, match=f"type='{kind}' needs data: give a Pool, not ndarray"):
        model.get_feature_importance(X, type=kind)
    assert model.get_feature_importance(X).shape == (3,)


def test_a_threshold_of_two_classes() -> None:
    model = cb.CatBoostClassifier(**QUIET).fit(X, LABELS)
    chance = model.predict_proba(X)[:, 1]
    model.set_probability_threshold(float(np.quantile(chance, 0.8)))
    assert model.predict(X).mean() == pytest.approx(0.2, abs=0.1)
    with pytest.raises(InputError, match="from 0 to 1"):
        model.set_probability_threshold(2.0)


def test_files_are_checked(tmp_path: Path) -> None:
    model = cb.CatBoostClassifier(**QUIET, eval_metric="AUC").fit(X, LABELS, eval_set=(X, LABELS))
    model.save_model(tmp_path / "model")
    again = cb.CatBoost().load_model(tmp_path / "model")
    assert again.evals_result_ == model.evals_result_
    assert again.best_iteration_ == model.best_iteration_
    assert again.feature_names_ == model.feature_names_ == ["0", "1", "2"]
    blob = (tmp_path / "model").read_bytes()
    assert np.array_equal(cb.CatBoost().load_model(blob=blob).predict(X), again.predict(X))
    other = cb.CatBoostClassifier(**{**QUIET, "thread_count": 2}, eval_metric="AUC").fit(
        X, LABELS, eval_set=(X, LABELS)
    )
    other.save_model(tmp_path / "other")
    assert (tmp_path / "other").read_bytes() == blob
    with pytest.raises(ModelFileError, match="CatBoost's own"):
        cb.CatBoost().load_model(blob=b"CBM1....")
    with pytest.raises(ModelFileError):
        cb.CatBoost().load_model(blob=blob[:-9])
    with pytest.raises(NotSupportedError, match="format='json' is not written"):
        model.save_model(tmp_path / "m", format="json")
    with pytest.raises(InputError, match="one of fname, stream and blob"):
        cb.CatBoost().load_model()
    weald.BoostedTreesRegressor(n_estimators=2).fit(X, Y).save(tmp_path / "native")
    with pytest.raises(ModelFileError, match=r"no model of weald\.catboost"):
        cb.CatBoost().load_model(tmp_path / "native")


def test_lines_can_be_told_to_be_few(capsys: pytest.CaptureFixture[str]) -> None:
    loud = {name: value for name, value in QUIET.items() if name != "verbose"}
    cb.CatBoost({**loud, "logging_level": "Silent"}).fit(X, Y)
    cb.CatBoost(loud).fit(X, Y, silent=True)
    assert capsys.readouterr().out == ""
    cb.CatBoost(loud).fit(X, Y)
    assert len(capsys.readouterr().out.splitlines()) == 3
    cb.CatBoost(loud).fit(X, Y, verbose=2)
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"log_cerr": print}, "log_cerr is not supported by weald.catboost: errors are raised"),
        ({"fold_count": 3, "nfold": 3}, "fold_count, nfold and folds all say what the folds are"),
        ({"nfold": 3, "folds": [([0, 1], [2, 3])]}, "fold_count, nfold and folds all say what the folds are"),
        ({"seed": 3, "partition_random_seed": 4}, "seed and partition_random_seed say the same"),
        (
            {"metric_update_interval": 2.0},
            "metric_update_interval is not supported by weald.catboost: cv draws no pictures",
        ),
    ],
)
def test_what_cv_cannot_heed_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        cb.cv(cb.Pool(X, Y), {"loss_function": "RMSE", **QUIET}, **given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"delimiter": ","}, "delimiter is not supported by weald.catboost: files are not read"),
        ({"has_header": True}, "has_header is not supported"),
        ({"ignore_csv_quoting": True}, "ignore_csv_quoting is not supported"),
        ({"log_cout": print}, "log_cout is not supported by weald.catboost: nothing is printed"),
        ({"log_cerr": print}, "log_cerr is not supported by weald.catboost: errors are raised"),
    ],
)
def test_what_a_pool_cannot_heed_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NotSupportedError, match=sentence):
        cb.Pool(X, Y, **given)


def test_what_would_print_is_refused_where_nothing_is_printed() -> None:
    model = cb.CatBoost(QUIET).fit(X, Y)
    with pytest.raises(NotSupportedError, match="log_cout is not supported"):
        model.eval_metrics(cb.Pool(X, Y), "RMSE", log_cout=print)
    for given in ({"log_cout": print}, {"log_cerr": print}, {"verbose": 10}):
        (name,) = given
        with pytest.raises(NotSupportedError, match=f"^{name} is not supported"):
            model.get_feature_importance(**given)
    assert len(model.get_feature_importance(verbose=0)) == X.shape[1]
