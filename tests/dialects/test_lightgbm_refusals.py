"""What weald.lightgbm does not have is refused by name, and what it has behaves where LightGBM has nothing to compare."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import weald
import weald.lightgbm as lgb
from weald.dialects.lightgbm.objectives import Chosen
from weald.dialects.lightgbm.translate import native_parameters
from weald.params.lightgbm import LIGHTGBM_PARAMETERS, read_parameters
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

rng = np.random.default_rng(0)
X = rng.integers(0, 6, (120, 3)).astype(np.float64)
Y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(120)
LABELS = (Y > 0).astype(float)
QUIET: dict[str, Any] = {"verbosity": -1, "num_threads": 1}


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"num_leavs": 3}, "there is no parameter 'num_leavs' in LightGBM; did you mean 'num_leaves'?"),
        ({"qqq": 3}, "docs/lightgbm_parameters.md lists all"),
        ({"class_weight": "balanced"}, "there is no parameter 'class_weight'"),
        ({"objective": "lambdarank"}, "objective='lambdarank' is not supported"),
        ({"objective": "xendcg"}, "objective='rank_xendcg' is not supported"),
        ({"objective": "xentlambda"}, "use 'cross_entropy'"),
        ({"objective": "regresion"}, "objective must be one of"),
        ({"device": "npu"}, "device_type must be one of"),
        ({"linear_tree": True}, "linear_tree is not supported by weald.lightgbm: leaves are constants"),
        ({"machines": "a:1,b:2"}, "training runs on one machine"),
        ({"monotone_constraints_method": "advanced"}, "use 'basic'"),
        ({"monotone_penalty": 1.0}, "no penalty of monotone splits"),
        ({"cegb_tradeoff": 0.5}, "cost nothing beside their gain"),
        ({"feature_contri": [1, 1, 2]}, "all columns' gains count alike"),
        ({"sigmoid": 2.0}, "the logistic function has the slope 1"),
        ({"reg_sqrt": True}, "TransformedTargetRegressor"),
        ({"categorical_feature": "name:g"}, "categorical_feature names the column 'g'"),
        ({"input_model": "m.txt"}, "init_model"),
        ({"boosting": "goss", "top_rate": 0.8, "other_rate": 0.5}, "together at most 1"),
        ({"boosting": "goss", "bagging_freq": 1, "bagging_fraction": 0.5}, "draws rows by itself"),
        ({"num_class": 3}, "num_class belongs to objective='multiclass' and 'multiclassova'"),
        ({"objective": "multiclass"}, "needs num_class"),
        ({"objective": "custom"}, "a function must give the gradients"),
        ({"is_unbalance": True, "scale_pos_weight": 2.0, "objective": "binary"}, "give one of them"),
        ({"force_col_wise": True, "force_row_wise": True}, "exclude each other"),
        ({"path_smooth": 1.0, "min_data_in_leaf": 1}, "path_smooth needs min_data_in_leaf of at least 2"),
        ({"learning_rate": abs}, "learning_rate must be a number above 0, not <built-in"),
        ({"learning_rate": "fast"}, "learning_rate must be a number above 0, not 'fast'"),
        ({"num_leaves": 1}, "num_leaves must be a whole number of at least 2"),
        ({"monotone_constraints": [1, 0]}, "monotone_constraints has 2 entries, but data has 3 columns"),
        ({"monotone_constraints": "(1"}, "cannot be read"),
        ({"interaction_constraints": [["g"]]}, "interaction_constraints names the column 'g'"),
        ({"forcedsplits_filename": "/nowhere.json"}, "cannot be read as JSON"),
        ({"seed": "x"}, "seed must be a whole number"),
        ({"num_iterations": 0}, "num_boost_round must be a whole number of at least 1"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_in_a_sentence(params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        lgb.train({**QUIET, **params}, lgb.Dataset(X, Y), 1)
    assert sentence in str(caught.value)


def test_a_refused_parameter_may_have_lightgbms_default() -> None:
    defaults = {
        name: entry.default
        for name, entry in LIGHTGBM_PARAMETERS.items()
        if entry.standing == "refused" and entry.default is not None
    }
    assert read_parameters(defaults) == defaults
    assert lgb.train({**QUIET, **defaults}, lgb.Dataset(X, Y), 1).num_trees() == 1


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        ("ndcg", "neither ranking"),
        ("l3", r"metric='l3' is not known"),
        ("binary_loglos", r"Did you mean 'binary_logloss'\?"),
        ("multi_logloss", "is for several classes, but the number of outputs is 1"),
        (3, "metric must be names, not 3"),
    ],
)
def test_a_metric_that_cannot_be_is_refused_in_a_sentence(metric: Any, sentence: str) -> None:
    data = lgb.Dataset(X, Y)
    with pytest.raises(InputError, match=sentence):
        lgb.train({**QUIET, "metric": metric}, data, 1, valid_sets=[data])


def test_of_several_names_the_own_one_counts_with_a_warning() -> None:
    lines: list[str] = []
    assert read_parameters({"eta": 0.9, "learning_rate": 0.2}, warn=lines.append) == {"learning_rate": 0.2}
    assert read_parameters({"shrinkage_rate": 0.3, "eta": 0.1}, warn=lines.append) == {"learning_rate": 0.1}
    read_parameters({"eta": 0.9, "learning_rate": 0.2, "verbose": -1}, warn=lines.append)
    assert [line.split(":")[0] for line in lines] == ["eta=0.9 is ignored", "shrinkage_rate=0.3 is ignored"]
    with pytest.warns(UserWarning, match="eta=0.9 is ignored: learning_rate is given under several names"):
        lgb.train({"num_threads": 1, "eta": 0.9, "learning_rate": 0.2}, lgb.Dataset(X, Y), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lgb.LGBMRegressor(bagging_fraction=0.5, bagging_freq=1, n_estimators=1, n_jobs=1).fit(X, Y)
    with pytest.warns(UserWarning, match="bagging_freq is 0"):
        lgb.LGBMRegressor(subsample=0.5, n_estimators=1, n_jobs=1).fit(X, Y)


def test_parameters_become_the_native_ones() -> None:
    def native(**params: Any) -> dict[str, Any]:
        known = read_parameters(params)
        return native_parameters(known, Chosen(known), feature_names=["a", "b", "c"], has_categories=True)

    plain = native()
    assert plain["max_leaves"] == 31
    assert plain["min_samples_leaf"] == 20
    assert plain["reg_lambda"] == 0.0
    assert plain["min_samples_bin"] == 3
    assert (plain["cat_smooth"], plain["cat_l2"], plain["min_samples_category"]) == (10.0, 10.0, 100)
    assert (plain["max_cat_threshold"], plain["max_cat_to_onehot"]) == (32, 3)
    assert (plain["max_categories"], plain["rare_categories"]) == (65_535, 0.01)
    assert "subsample" not in plain
    assert native(bagging_freq=3, subsample=0.5)["subsample_freq"] == 3
    assert native(boosting="goss")["sampling"] == "goss"
    assert native(boosting="dart")["normalize_type"] == "paper"
    assert native(boosting="dart", max_drop=-1)["max_drop"] == 0
    assert native(min_split_gain=0.4)["gamma"] == 0.2
    assert native(enable_bundle=False)["bundling"] == "none"
    assert native(max_bin_by_feature="10,20,30")["max_bins_by_column"] == [10, 20, 30]
    assert native(n_jobs=3)["n_jobs"] == 3
    assert native(bagging_seed=1)["random_state"] != native(bagging_seed=2)["random_state"]
    shares = native(objective="binary", pos_bagging_fraction=0.5, bagging_freq=1)
    assert (shares["positive_subsample"], shares["negative_subsample"]) == (0.5, 1.0)


def test_files_of_forced_bins_and_splits(tmp_path: Path) -> None:
    path = tmp_path / "bins.json"
    path.write_text(json.dumps([{"feature": 1, "bin_upper_bound": [1.5, 3]}]))
    known = read_parameters({"forcedbins_filename": str(path)})
    native = native_parameters(known, Chosen(known), feature_names=["a", "b"])
    assert native["forced_bins"] == {1: [1.5, 3.0]}
    with pytest.raises(InputError, match="names the column 1"):
        native_parameters(known, Chosen(known), feature_names=["a"])
    path.write_text("[1]")
    with pytest.raises(InputError, match="bin_upper_bound"):
        native_parameters(known, Chosen(known), feature_names=["a", "b"])
    path.write_text(json.dumps({"feature": 2, "threshold": 2.5}))
    params = {**QUIET, "forcedsplits_filename": str(path), "min_data_in_leaf": 5}
    root = lgb.train(params, lgb.Dataset(X, Y), 1).dump_model()["tree_info"][0]["tree_structure"]
    assert (root["split_feature"], root["threshold"]) == (2, 2.5)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: lgb.Dataset("train.csv"), "there is no such file"),
        (lambda: lgb.Dataset(X, group=[60, 60]), "ranking is not supported"),
        (lambda: lgb.Dataset([["a", "b"]]), "data holds text"),
        (lambda: lgb.Dataset(X, label=[1, 2]), "label has 2 values, but data has 120 rows"),
        (lambda: lgb.Dataset(X, label=["a"] * 120), "label must hold numbers"),
        (lambda: lgb.Dataset(X, feature_name=["a", "b"]), "feature_name has 2 names, but data has 3"),
        (lambda: lgb.Dataset(X, feature_name=["a", "b", "a"]), "must differ"),
        (lambda: lgb.Dataset(X, feature_name=["a", "b", "[c]"]), "must not contain"),
        (lambda: lgb.Dataset(X, categorical_feature=["q"]), "names the column 'q'"),
        (lambda: lgb.Dataset(X, Y).get_field("colour"), "has no field 'colour'"),
        (lambda: lgb.Dataset([[1.0, 2.0], [3.0]]), "the list is ragged"),
        (lambda: lgb.Dataset([X, X[:, :2]]), "equally many columns, but they have [2, 3]"),
        (lambda: lgb.Dataset(X, reference=lgb.Dataset(X[:, :2])), "reference has 2 columns"),
        (lambda: lgb.train(QUIET, lgb.Dataset(X), 1), "needs labels"),
        (lambda: lgb.Booster(model_str="hello"), "none of model_to_string"),
        (lambda: lgb.Booster(model_str="tree\nversion=v4\n"), "has no header"),
        (lambda: lgb.LGBMClassifier(objective="binary").fit(X, X[:, 0]), "is for two classes"),
        (lambda: lgb.LGBMModel().fit(X, Y), "needs an objective"),
        (lambda: lgb.LGBMRegressor().fit(X, Y, group=[120]), "ranking is not supported"),
        (lambda: lgb.LGBMRegressor().fit(X, Y, eval_set=[(X, Y)], eval_init_score=[1, 2]), "2 entries"),
        (lambda: lgb.LGBMRegressor().fit(X, Y, eval_X=X), "eval_X and eval_y go together"),
        (lambda: lgb.LGBMClassifier().fit(X, LABELS, eval_set=[(X, LABELS + 1)]), "which y does not have"),
        (lambda: lgb.reset_parameter(num_class=[3]), "num_class cannot be changed"),
        (lambda: lgb.plot_tree(None), "trees_to_dataframe"),
        (lambda: lgb.LGBMRanker, "ranking is not supported"),
        (lambda: lgb.DaskLGBMRanker, "one machine"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(lgb.LightGBMError) as caught:
        make()
    assert sentence in str(caught.value)


def test_what_a_trained_booster_refuses(tmp_path: Path) -> None:
    data = lgb.Dataset(X, Y)
    booster = lgb.train(QUIET, data, 2)
    for action, sentence in (
        (lambda: booster.predict(X, pred_early_stop=True), "predictions sum all trees"),
        (lambda: booster.predict("file.csv"), "there is no such file"),
        (lambda: booster.update(), "has no train_set"),
        (lambda: booster.eval_train(), "keep_training_booster"),
        (lambda: booster.shuffle_models(), "order of trees"),
        (lambda: booster.set_leaf_output(0, 0, 1.0), "trees do not change"),
        (lambda: booster.get_leaf_output(9, 0), "no leaf 0 of a tree 9"),
        (lambda: booster.set_network("a:1"), "one machine"),
        (lambda: booster.feature_importance("cover"), "importance_type must be one of split, gain"),
        (lambda: booster.reset_parameter({"max_bin": 7}), "max_bin cannot be changed"),
    ):
        with pytest.raises(InputError, match=sentence):
            action()
    with pytest.raises(TypeError, match="not a Dataset"):
        booster.predict(data)
    path = tmp_path / "model.weald"
    booster.save_model(path)
    with pytest.raises(ModelFileError, match=r"weald.lightgbm.Booster\(model_file"):
        weald.load(path)
    native = tmp_path / "native.weald"
    weald.BoostedTreesRegressor(n_estimators=1).fit(X, Y).save(native)
    with pytest.raises(ModelFileError, match=r"no model of weald.lightgbm"):
        lgb.Booster(model_file=native)
    with pytest.raises(InputError, match="has an init_score, but the training set has none"):
        lgb.train(QUIET, data, 1, valid_sets=[data.create_valid(X, Y, init_score=Y)])


def test_pickles_files_and_copies_of_fitted_estimators() -> None:
    model = lgb.LGBMClassifier(n_estimators=3, n_jobs=1, verbosity=-1).fit(X, LABELS)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.booster_.model_to_string() == model.booster_.model_to_string()
    folds = lgb.cv(QUIET, lgb.Dataset(X, Y), 2, nfold=2, stratified=False, return_cvbooster=True)["cvbooster"]
    read = lgb.CVBooster().model_from_string(folds.model_to_string())
    assert np.array_equal(read.predict(X), folds.predict(X))


def test_categories_below_0_are_missing() -> None:
    codes = X.copy()
    codes[::7, 0] = -1.0
    holes = np.where(codes < 0, np.nan, codes)
    params = {**QUIET, "min_data_per_group": 5, "min_data_in_leaf": 5}
    found = [
        lgb.train(params, lgb.Dataset(table, Y, categorical_feature=[0]), 5).predict(table)
        for table in (codes, holes)
    ]
    assert np.array_equal(*found)
    sparse = scipy.sparse.csr_matrix(codes)
    booster = lgb.train(params, lgb.Dataset(sparse, Y, categorical_feature=[0]), 5)
    assert np.array_equal(booster.predict(codes), found[0])
    assert min(booster.dump_model()["feature_infos"]["Column_0"]["values"]) >= 0
    assert (sparse.toarray() == codes).all()


def test_a_logger_of_ones_own(two_classes: Any) -> None:
    from weald.dialects.lightgbm import basic

    class Lines:
        def __init__(self) -> None:
            self.said: list[str] = []

        def info(self, line: str) -> None:
            self.said.append(line)

        warning = info

    lines, data = Lines(), lgb.Dataset(*two_classes)
    try:
        lgb.register_logger(lines)
        lgb.train({"num_threads": 1}, data, 2, valid_sets=[data], callbacks=[lgb.log_evaluation(1)])
    finally:
        basic._logger.clear()
    assert [line.split("\t")[0] for line in lines.said] == ["[1]", "[2]"]
    with pytest.raises(TypeError, match="must have a method 'info'"):
        lgb.register_logger(object())


def test_early_stopping_by_the_first_metric_and_by_steps() -> None:
    train, valid = lgb.Dataset(X[:80], LABELS[:80]), lgb.Dataset(X[80:], LABELS[80:])
    params = {
        **QUIET,
        "objective": "binary",
        "metric": ["binary_logloss", "binary_error"],
        "learning_rate": 0.5,
    }
    params["min_data_in_leaf"] = 5

    def rounds(**options: Any) -> int:
        stop = lgb.early_stopping(3, verbose=False, **options)
        return lgb.train(params, train, 60, valid_sets=[train, valid], callbacks=[stop]).best_iteration

    first = rounds(first_metric_only=True)
    assert rounds() <= first
    assert rounds(first_metric_only=True, min_delta=0.2) < first
    assert rounds(first_metric_only=True, min_delta=[0.2, 0.0]) == rounds(
        first_metric_only=True, min_delta=0.2
    )
    named = lgb.train(
        {**params, "early_stopping_round": 3, "first_metric_only": True}, train, 60, valid_sets=[train, valid]
    )
    assert named.best_iteration == first
    with pytest.raises(InputError, match="min_delta must be at least 0"):
        rounds(min_delta=-1.0)
    with pytest.warns(UserWarning, match="only the training set"):
        lgb.train(
            {**params, "verbosity": 0},
            train,
            2,
            valid_sets=[train],
            callbacks=[lgb.early_stopping(1, verbose=False)],
        )
    with pytest.raises(NotSupportedError, match="is for several classes"):
        lgb.train({**params, "metric": "multi_error"}, train, 1, valid_sets=[train])


def threads_of_predictions(booster: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A list that every later prediction of the booster appends its number of threads to."""
    found: list[Any] = []
    make = type(booster)._reader

    def reader(self: Any, first: int, last: int, n_jobs: int | None, with_base: bool = True) -> Any:
        found.append(n_jobs)
        return make(self, first, last, n_jobs, with_base)

    monkeypatch.setattr(type(booster), "_reader", reader)
    return found


def test_a_prediction_has_the_number_of_threads_that_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    booster = lgb.train(QUIET, lgb.Dataset(X, Y), 3)
    model = lgb.LGBMClassifier(n_estimators=3, n_jobs=1, verbosity=-1).fit(X, LABELS)
    found = threads_of_predictions(booster, monkeypatch)
    for kind in ("raw_score", "pred_leaf", "pred_contrib"):
        booster.predict(X, num_threads=2, **{kind: True})
    booster.predict(X, n_jobs=2)
    booster.predict(X)
    model.predict(X, num_threads=2)
    model.predict_proba(X, nthreads=2)
    model.decision_function(X, num_threads=2)
    assert found == [2, 2, 2, 2, 1, 2, 2, 2]


def test_a_prediction_can_be_told_to_be_quiet() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    booster = lgb.train({"num_threads": 1, "verbosity": 0}, lgb.Dataset(table, Y), 3)
    with pytest.warns(UserWarning, match="in another order"):
        booster.predict(table[["b", "a", "c"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        booster.predict(table[["b", "a", "c"]], verbosity=-1)


@pytest.mark.parametrize("method", ["predict", "refit"])
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"learning_rate": 0.3}, "does not take learning_rate=0.3"),
        ({"num_leaves": 7}, "takes num_threads and verbosity"),
        ({"pred_early_stop": True}, "predictions sum all trees"),
        ({"num_thread": "many"}, "num_threads"),
        ({"qqq": 1}, "there is no parameter 'qqq'"),
    ],
)
def test_parameters_that_a_call_cannot_heed_are_refused(
    method: str, given: dict[str, Any], sentence: str
) -> None:
    booster = lgb.train(QUIET, lgb.Dataset(X, Y), 3)
    with pytest.raises((InputError, NotSupportedError), match=sentence):
        getattr(booster, method)(X, **({} if method == "predict" else {"label": Y}), **given)
    assert booster.predict(X, learning_rate=0.1).shape == (120,)  # as the model has it


def test_a_header_of_a_table_is_refused() -> None:
    booster = lgb.train(QUIET, lgb.Dataset(X, Y), 3)
    with pytest.raises(NotSupportedError, match="data_has_header is of files"):
        booster.predict(X, data_has_header=True)


def test_refit_takes_what_the_model_has_and_refuses_anything_else() -> None:
    data = lgb.Dataset(X, Y, feature_name=["a", "b", "c"], categorical_feature=[0], params={"max_bin": 5})
    booster = lgb.train({**QUIET, "min_data_in_leaf": 5}, data, 5)
    plain = booster.refit(X[:60], Y[:60] + 1.0)
    same = booster.refit(
        X[:60],
        Y[:60] + 1.0,
        reference=data,
        feature_name=["a", "b", "c"],
        categorical_feature=[0],
        dataset_params={"max_bin": 255},
        free_raw_data=False,
        num_threads=1,
    )
    assert np.array_equal(same.predict(X), plain.predict(X))
    for given, kind, sentence in (
        ({"reference": X}, TypeError, "reference must be a Dataset"),
        ({"reference": lgb.Dataset(X[:, :2])}, InputError, "reference has 2 columns, but data has 3"),
        ({"feature_name": ["a", "b"]}, InputError, "feature_name has 2 names"),
        ({"feature_name": ["b", "a", "c"]}, InputError, "the model has the columns"),
        ({"categorical_feature": [0, 1]}, InputError, "names the column 'b', which holds numbers"),
        ({"dataset_params": {"max_bin": 7}}, NotSupportedError, "dataset_params has max_bin=7"),
    ):
        with pytest.raises(kind, match=sentence):
            booster.refit(X, Y, **given)
