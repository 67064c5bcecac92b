"""Where scripts for LightGBM would notice that it is another module: parameters, categories, rounds, attributes, clones."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import weald.lightgbm
from weald.runtime.errors import NotSupportedError

Q: dict[str, Any] = {"verbosity": -1, "num_threads": 1}
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(300)
LABELS = (Y > 0).astype(np.int64)
CLASSES = np.digitize(Y, [-0.5, 0.5])


# --- estimators -------------------------------------------------------------------------------------


def test_a_seed_by_another_name_counts_as_the_signatures(lgb: Any) -> None:
    drawn = {"n_estimators": 4, "subsample": 0.5, "subsample_freq": 1, **Q}
    by_name = lgb.LGBMRegressor(seed=7, **drawn).fit(X, Y).predict(X)
    np.testing.assert_array_equal(by_name, lgb.LGBMRegressor(random_state=7, **drawn).fit(X, Y).predict(X))


def test_a_subclass_keeps_the_parameters_that_it_passes_on(lgb: Any) -> None:
    class Passing(lgb.LGBMRegressor):  # type: ignore[misc]
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)

    class Own(lgb.LGBMClassifier):  # type: ignore[misc]
        def __init__(self, *, other: int = 3, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.other = other

    class Fixed(lgb.LGBMRegressor):  # type: ignore[misc]
        def __init__(self, num_leaves: int = 5) -> None:
            super().__init__(num_leaves=num_leaves, n_estimators=3, learning_rate=0.7, n_jobs=1, verbosity=-1)

    plain = lgb.LGBMRegressor(num_leaves=5, n_estimators=3, learning_rate=0.7, n_jobs=1, verbosity=-1)
    assert np.array_equal(Fixed().fit(X, Y).predict(X), plain.fit(X, Y).predict(X))
    again = clone(Passing(num_leaves=5, extra_trees=True))
    assert (again.num_leaves, again.get_params()["extra_trees"], len(again.get_params())) == (5, True, 20)
    own = clone(Own(other=7, num_leaves=5, n_estimators=4, n_jobs=1, verbosity=-1))
    assert (own.other, own.num_leaves) == (7, 5)
    assert own.fit(X, LABELS).n_estimators_ == 4


def test_a_parameter_of_a_keyword_is_an_attribute(lgb: Any) -> None:
    model = lgb.LGBMRegressor(extra_trees=True)
    assert model.extra_trees is True
    assert model.set_params(extra_trees=False, path_smooth=1.0).extra_trees is False
    assert clone(model).path_smooth == 1.0
    assert not hasattr(model, "path_smoot")


def test_weights_of_classes_are_parameters_of_the_classifier(lgb: Any) -> None:
    def mean(**more: Any) -> float:
        model = lgb.LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1, **more)
        return float(model.fit(X, LABELS).predict_proba(X)[:, 1].mean())

    assert mean(scale_pos_weight=3.0) > mean() + 0.03
    few = LABELS * (np.arange(300) % 3 == 0)
    rare = lgb.LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1, is_unbalance=True).fit(X, few)
    assert rare.predict_proba(X)[:, 1].mean() > few.mean() + 0.02
    assert mean(pos_bagging_fraction=0.3, bagging_freq=1) < mean()
    plain = lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbosity=-1).fit(X, Y).predict(X)
    other = (
        lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbosity=-1, scale_pos_weight=3.0).fit(X, Y).predict(X)
    )
    assert np.array_equal(plain, other)


def test_a_search_goes_over_parameters_that_are_keywords(lgb: Any) -> None:
    grid = {"scale_pos_weight": [1.0, 2.0], "extra_trees": [True, False], "min_data_in_leaf": [5]}
    search = GridSearchCV(
        lgb.LGBMClassifier(n_estimators=3, n_jobs=1, verbosity=-1), grid, cv=2, error_score="raise"
    )
    assert np.isfinite(search.fit(X, LABELS).cv_results_["mean_test_score"]).all()


def test_the_signature_counts_before_its_aliases_but_for_rounds_and_objective(lgb: Any) -> None:
    model = lgb.LGBMRegressor(eta=0.7, n_iter=6, max_leaf=3, loss="l1", n_jobs=1, verbosity=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y)
    plain = lgb.LGBMRegressor(n_estimators=6, objective="l1", n_jobs=1, verbosity=-1).fit(X, Y)
    assert np.array_equal(model.predict(X), plain.predict(X))
    assert model.objective_ == "l1"


def test_the_objective_is_told_as_it_was_asked_for(lgb: Any) -> None:
    for asked, told in ((None, "regression"), ("mae", "mae"), ("poisson", "poisson")):
        model = lgb.LGBMRegressor(objective=asked, n_estimators=1, n_jobs=1, verbosity=-1).fit(X, np.abs(Y))
        assert model.objective_ == told
    assert (
        lgb.LGBMClassifier(n_estimators=1, n_jobs=1, verbosity=-1).fit(X, CLASSES).objective_ == "multiclass"
    )


def test_names_of_columns_are_those_of_a_frame_or_of_fit(lgb: Any) -> None:
    pd = pytest.importorskip("pandas")
    model = lgb.LGBMRegressor(n_estimators=1, n_jobs=1, verbosity=-1)
    assert list(model.fit(X, Y, feature_name=list("abcd")).feature_names_in_) == list("abcd")
    assert list(model.fit(pd.DataFrame(X), Y).feature_names_in_) == ["0", "1", "2", "3"]
    assert list(model.fit(pd.DataFrame(X, columns=["a b", *"cde"]), Y).feature_names_in_) == ["a_b", *"cde"]
    assert not hasattr(model.fit(X, Y), "feature_names_in_")


@pytest.mark.parametrize(
    "name",
    [
        "booster_",
        "objective_",
        "classes_",
        "n_classes_",
        "n_features_in_",
        "feature_names_in_",
        "evals_result_",
    ],
)
def test_what_fit_finds_is_not_there_before(lgb: Any, name: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(lgb.LGBMClassifier(), name)
    assert not hasattr(lgb.LGBMClassifier(), name)


def test_a_random_state_is_drawn_from_at_every_fit(lgb: Any) -> None:
    options = {"n_estimators": 3, "n_jobs": 1, "verbosity": -1, "subsample": 0.5, "subsample_freq": 1}
    for make in (np.random.RandomState, np.random.default_rng):
        one, other = (
            lgb.LGBMRegressor(random_state=make(3), **options).fit(X, Y).predict(X) for _ in range(2)
        )
        assert np.array_equal(one, other)


# --- parameters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"gpu_use_dp": True},
        {"predict_disable_shape_check": True},
        {"metric_freq": 5, "header": True, "output_model": "nowhere.txt"},
        {"tree_learner": "voting", "time_out": 3},
        {"histogram_pool_size": 100.0},
        {"drop_rate": 0.3, "top_rate": 0.3, "alpha": 0.3},
        {"pos_bagging_fraction": 0.5, "bagging_freq": 1},
        {"silent": False, "use_label_encoder": True},
    ],
)
def test_a_parameter_that_changes_nothing_is_taken(lgb: Any, params: dict[str, Any]) -> None:
    plain = lgb.train(Q, lgb.Dataset(X, Y), 3).predict(X)
    assert np.array_equal(lgb.train({**Q, **params}, lgb.Dataset(X, Y), 3).predict(X), plain)


def test_what_changes_nothing_is_said_once_where_a_logger_hears_it() -> None:
    from weald.dialects.lightgbm import basic

    lines: list[str] = []

    class Lines:
        info = warning = staticmethod(lines.append)

    try:
        weald.lightgbm.register_logger(Lines())
        params = {"num_threads": 1, "gpu_use_dp": True, "drop_rate": 0.3, "eta": 0.3, "learning_rate": 0.2}
        weald.lightgbm.train(params, weald.lightgbm.Dataset(X, Y), 2)
    finally:
        basic._logger.clear()
    assert [line.split()[0] for line in lines] == ["eta=0.3", "gpu_use_dp=True", "drop_rate=0.3"]


def test_a_booster_tells_its_parameters_as_they_were_given(lgb: Any) -> None:
    data = lgb.Dataset(X, Y, params={"max_bin": 50})
    booster = lgb.train({**Q, "objective": "l1", "eta": 0.2}, data, 3)
    assert {name: booster.params[name] for name in ("objective", "eta", "num_iterations", "max_bin")} == {
        "objective": "l1",
        "eta": 0.2,
        "num_iterations": 3,
        "max_bin": 50,
    }
    again = lgb.Booster(model_str=booster.model_to_string()).params
    assert (again["objective"], again["learning_rate"], again["num_leaves"]) == ("regression_l1", 0.2, 31)
    own = lgb.LGBMRegressor(n_estimators=2, n_jobs=1, verbosity=-1).fit(X, Y).booster_.params
    assert (own["min_child_samples"], own["num_iterations"]) == (20, 2)
    assert lgb.Dataset(X, params={"max_bins": 50, "num_leaves": 5}).get_params() == {"max_bins": 50}


def test_an_estimators_objective_may_name_its_metric(lgb: Any) -> None:
    model = lgb.LGBMRegressor(objective="rmse", n_estimators=1, n_jobs=1, verbosity=-1)
    assert list(model.fit(X, Y, eval_set=[(X, Y)]).evals_result_["training"]) == ["rmse"]


def test_the_metric_of_several_guesses_has_their_number_in_its_name(lgb: Any) -> None:
    data = lgb.Dataset(X, CLASSES)
    params = {**Q, "objective": "multiclass", "num_class": 3, "metric": "multi_error", "multi_error_top_k": 2}
    assert list(lgb.train(params, data, 1, valid_sets=[data]).best_score["training"]) == ["multi_error@2"]


# --- labels and rounds --------------------------------------------------------------------------------


def test_labels_of_binary_are_told_by_their_sign(lgb: Any) -> None:
    params = {
        **Q,
        "objective": "binary",
        "metric": ["auc", "binary_logloss", "binary_error", "average_precision"],
    }
    scores, predictions = [], []
    for labels in (LABELS, 2 * LABELS - 1, 3 * LABELS):
        data = lgb.Dataset(X, labels)
        booster = lgb.train(params, data, 3, valid_sets=[data])
        scores.append(dict(booster.best_score["training"]))
        predictions.append(booster.predict(X))
    assert scores[0] == scores[1] == scores[2]
    assert np.array_equal(predictions[0], predictions[1])
    assert np.array_equal(predictions[0], predictions[2])


def test_rounds_in_which_no_tree_splits_are_none(lgb: Any) -> None:
    def rounds(labels: Any = Y, **more: Any) -> int:
        return int(
            lgb.train(
                {**Q, "min_gain_to_split": 40.0, **more}, lgb.Dataset(X, labels), 50
            ).current_iteration()
        )

    assert 1 < rounds() < 20
    assert 1 < rounds(bagging_fraction=0.5, bagging_freq=1) < 30
    assert 1 < rounds(CLASSES, objective="multiclass", num_class=3) < 20
    assert rounds(min_data_in_leaf=299) == 1
    booster = lgb.Booster({**Q, "min_gain_to_split": 40.0}, lgb.Dataset(X, Y))
    finished = [booster.update() for _ in range(20)]
    assert finished == sorted(finished)
    assert finished.count(False) == booster.current_iteration() < 20
    assert len(booster.dump_model()["tree_info"]) == booster.num_trees()


def test_callbacks_are_called_in_rounds_without_a_split_too(lgb: Any) -> None:
    found: dict[str, Any] = {}
    data = lgb.Dataset(X, Y)
    booster = lgb.train(
        {**Q, "min_gain_to_split": 40.0},
        data,
        30,
        valid_sets=[data],
        callbacks=[lgb.record_evaluation(found)],
    )
    values = found["training"]["l2"]
    assert len(values) == 30
    assert len(set(values)) == booster.num_trees()


# --- categories ---------------------------------------------------------------------------------------


def categories_frame() -> tuple[Any, Any]:
    pd = pytest.importorskip("pandas")
    town = pd.Categorical(rng.choice(list("abcdef"), 300))
    size = pd.Categorical(rng.choice(list("stuvwxyz"), 300), categories=list("zyxwvuts"), ordered=True)
    frame = pd.DataFrame({"town": town, "size": size, "x": X[:, 0]}, index=np.arange(300)[::-1])
    y = (
        2.0 * frame["town"].isin(["a", "d", "f"]).to_numpy()
        + 0.3 * frame["size"].cat.codes.to_numpy()
        + X[:, 0]
    )
    return frame, y


def decisions(booster: Any) -> dict[str, set[str]]:
    nodes = booster.trees_to_dataframe().dropna(subset=["split_feature"])
    return {name: set(part) for name, part in nodes.groupby("split_feature")["decision_type"]}


PARAMS = {**Q, "min_data_per_group": 5, "cat_smooth": 1.0}


@pytest.mark.parametrize(
    ("chosen", "kinds"),
    [
        ("auto", ("==", "<=")),
        ([], ("<=", "<=")),
        (None, ("<=", "<=")),
        (["size"], ("<=", "==")),
        ([0, 1], ("==", "==")),
    ],
)
def test_categories_with_an_order_or_not_chosen_are_numbers(
    lgb: Any, chosen: Any, kinds: tuple[str, str]
) -> None:
    frame, y = categories_frame()
    booster = lgb.train(PARAMS, lgb.Dataset(frame, y, categorical_feature=chosen), 20)
    assert decisions(booster) == {"town": {kinds[0]}, "size": {kinds[1]}, "x": {"<="}}
    assert [len(one) for one in booster.pandas_categorical] == [6, 8]
    codes = frame.assign(town=frame["town"].cat.codes, size=frame["size"].cat.codes).to_numpy(np.float64)
    predicted = booster.predict(frame)
    assert np.allclose(booster.predict(codes), predicted)
    assert np.mean((predicted - y) ** 2) < 0.35


def test_a_table_with_its_categories_in_another_order_means_the_same(lgb: Any) -> None:
    frame, y = categories_frame()
    train = lgb.Dataset(frame, y, categorical_feature=[])
    other = frame.assign(
        town=frame["town"].cat.reorder_categories(list("fedcba")),
        size=frame["size"].cat.remove_categories(["s"]),
    )
    known = (frame["size"] != "s").to_numpy()
    valid = lgb.Dataset(other[known], y[known], reference=train, categorical_feature=[])
    booster = lgb.train(PARAMS, train, 10, valid_sets=[valid])
    assert np.array_equal(booster.predict(other)[known], booster.predict(frame)[known])
    error = np.mean((booster.predict(frame)[known] - y[known]) ** 2)
    assert booster.best_score["valid_0"]["l2"] == pytest.approx(error, rel=1e-6)


def test_an_estimator_reads_ordered_categories_as_the_booster_does(lgb: Any) -> None:
    frame, y = categories_frame()
    model = lgb.LGBMRegressor(n_estimators=10, n_jobs=1, verbosity=-1).fit(frame, y)
    assert np.array_equal(model.predict(frame), model.booster_.predict(frame))
    assert model.score(frame, y) > 0.5


@pytest.mark.parametrize("told", [[0], "0"])
def test_categories_may_be_told_by_a_parameter(lgb: Any, told: Any) -> None:
    codes = rng.integers(0, 6, 300)
    table, y = np.column_stack([codes, X[:, 0]]), np.isin(codes, [0, 2, 5]) * 3.0 + X[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        params = {**PARAMS, "categorical_feature": told}
        booster = lgb.train(params, lgb.Dataset(table, y), 3)
        of_data = lgb.train(PARAMS, lgb.Dataset(table, y, params={"categorical_feature": told}), 3)
    plain = lgb.train(PARAMS, lgb.Dataset(table, y, categorical_feature=[0]), 3)
    assert booster.dump_model()["tree_info"][0]["num_cat"] > 0
    assert np.array_equal(booster.predict(table), plain.predict(table))
    assert np.array_equal(of_data.predict(table), plain.predict(table))


# --- attributes and modules ---------------------------------------------------------------------------


def test_data_sets_and_boosters_have_their_public_attributes(lgb: Any) -> None:
    data = lgb.Dataset(X, Y, weight=np.ones(300), init_score=np.zeros(300))
    assert [np.asarray(part).shape for part in (data.label, data.weight, data.init_score)] == [(300,)] * 3
    assert (data.group, data.position, data.reference, data.used_indices) == (None,) * 4
    booster = lgb.Booster(Q, data)
    assert booster.train_set is data
    booster.add_valid(data.create_valid(X, Y, init_score=np.zeros(300)), "more")
    assert (len(booster.valid_sets), booster.name_valid_sets) == (1, ["more"])
    data = lgb.Dataset(X, Y)
    data.label = LABELS
    assert set(data.construct().get_label().tolist()) == {0.0, 1.0}
    assert data.get_field("group") is None


def test_several_arrays_are_one_table(lgb: Any) -> None:
    parts = lgb.train(Q, lgb.Dataset([X[:100], X[100:]], Y), 3)
    assert np.array_equal(parts.predict(X), lgb.train(Q, lgb.Dataset(X, Y), 3).predict(X))


def test_early_stopping_that_is_off_stops_nothing(lgb: Any) -> None:
    data = lgb.Dataset(X, Y)
    valid = data.create_valid(X, Y)
    for rounds in (0, -1):
        booster = lgb.train(
            Q, data, 3, valid_sets=[valid], callbacks=[lgb.early_stopping(rounds, verbose=False)]
        )
        assert (booster.num_trees(), booster.best_iteration) == (3, 0)
    with pytest.raises(TypeError):
        lgb.early_stopping(2.0)


def test_callbacks_have_their_public_fields(lgb: Any) -> None:
    stop = lgb.early_stopping(3, True, False, 0.1)
    assert (stop.stopping_rounds, stop.first_metric_only, stop.verbose, stop.min_delta) == (
        3,
        True,
        False,
        0.1,
    )
    assert (stop.enabled, stop.order, stop.before_iteration) == (True, 30, False)
    data = lgb.Dataset(X[:200], Y[:200])
    booster = lgb.train(Q, data, 60, valid_sets=[data.create_valid(X[200:], Y[200:])], callbacks=[stop])
    assert stop.best_iter[0] + 1 == booster.best_iteration
    assert stop.best_score[0] == pytest.approx(booster.best_score["valid_0"]["l2"])
    assert (stop.first_metric, len(stop.best_score_list)) == ("l2", 1)
    assert lgb.reset_parameter(learning_rate=[0.1]).kwargs == {"learning_rate": [0.1]}
    assert (lgb.log_evaluation(2).period, lgb.record_evaluation({}).eval_result) == (2, {})


def test_a_callback_is_told_parameters_as_they_were_given(lgb: Any) -> None:
    told = []
    lgb.train({**Q, "eta": 0.2}, lgb.Dataset(X, Y), 1, callbacks=[lambda env: told.append(dict(env.params))])
    assert (told[0]["eta"], told[0]["num_iterations"]) == (0.2, 1)


def test_goss_begins_by_the_learning_rate_of_the_round(lgb: Any) -> None:
    def predictions(**more: Any) -> Any:
        params = {**Q, "learning_rate": 0.5, **more}
        rates = lgb.reset_parameter(learning_rate=[0.05] * 6)
        return lgb.train(params, lgb.Dataset(X, Y), 6, callbacks=[rates]).predict(X)

    assert np.array_equal(predictions(data_sample_strategy="goss"), predictions())


def test_a_hook_sees_every_dict_of_a_dump_from_the_inside(lgb: Any) -> None:
    seen: list[set[str]] = []

    def hook(part: dict[str, Any]) -> dict[str, Any]:
        seen.append(set(part))
        return part

    lgb.train({**Q, "num_leaves": 3}, lgb.Dataset(X, Y), 2).dump_model(object_hook=hook)
    assert {"tree_info"} <= seen[-1]
    assert sum("leaf_value" in part for part in seen) == 6
    assert sum("tree_index" in part for part in seen) == 2


def test_contributions_of_a_sparse_table_are_made_a_few_rows_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from weald.dialects.lightgbm import booster as home

    lgb = weald.lightgbm
    table = scipy.sparse.random(60, 8, 0.3, format="csr", random_state=0)
    y = np.asarray(table.sum(axis=1)).ravel()
    for params, labels in ((Q, y), ({**Q, "objective": "multiclass", "num_class": 3}, np.arange(60) % 3)):
        booster = lgb.train({**params, "min_data_in_leaf": 3}, lgb.Dataset(table, labels), 3)
        whole = booster.predict(table, pred_contrib=True)
        monkeypatch.setattr(home, "_MOST_CELLS", 50)
        parts = booster.predict(table, pred_contrib=True)
        monkeypatch.undo()
        for one, other in zip(whole, parts, strict=True) if isinstance(whole, list) else [(whole, parts)]:
            assert one.format == other.format == "csr"
            assert np.array_equal(one.toarray(), other.toarray())


def test_the_title_of_a_picture_of_importances_is_left_as_it_is(lgb: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    mark = "@importance_type@"
    axes = lgb.plot_importance(lgb.train(Q, lgb.Dataset(X, Y), 3), title=mark, xlabel=mark, ylabel=mark)
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == (mark, "split", mark)


def test_a_name_that_is_not_there_is_missing_and_says_why() -> None:
    for module, name in (
        (weald.lightgbm, "LGBMRanker"),
        (weald.lightgbm.sklearn, "LGBMRanker"),
    ):
        assert not hasattr(module, name)
        with pytest.raises(NotSupportedError, match=f"has no {name}: "):
            getattr(module, name)
    assert getattr(weald.lightgbm, "LGBMRanker", None) is None
    with pytest.raises(ImportError, match="has no LGBMRanker: ranking is not supported"):
        from weald.lightgbm import LGBMRanker  # noqa: F401


@pytest.mark.parametrize("part", ["basic", "callback", "engine", "plotting", "sklearn"])
def test_the_modules_have_lightgbms_public_names(part: str) -> None:
    theirs = pytest.importorskip(f"lightgbm.{part}")
    ours = getattr(weald.lightgbm, part)
    assert inspect.ismodule(ours)
    assert ours.__name__ == f"weald.lightgbm.{part}"
    assert {name for name in theirs.__all__ if not hasattr(ours, name)} <= {"LGBMRanker"}


def test_errors_are_caught_by_lightgbms_names(lgb: Any) -> None:
    with pytest.raises(lgb.basic.LightGBMError):
        lgb.train({**Q, "num_leaves": 1}, lgb.Dataset(X, Y), 1)
    with pytest.raises(lgb.basic.LightGBMError):
        lgb.train(Q, lgb.Dataset(X, Y), 1).predict(X[:, :2])
    assert issubclass(lgb.basic.LGBMDeprecationWarning, FutureWarning)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_optuna_prunes_trials(lgb: Any) -> None:
    pytest.importorskip("lightgbm")
    optuna = pytest.importorskip("optuna", reason="the callback is optuna's")
    integration = pytest.importorskip("optuna_integration", reason="the callback is of optuna-integration")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: Any) -> float:
        stop = integration.LightGBMPruningCallback(trial, "l2")
        data = lgb.Dataset(X[:200], Y[:200])
        params = {**Q, "learning_rate": [0.3, 0.001][trial.number]}
        booster = lgb.train(
            params, data, 5, valid_sets=[data.create_valid(X[200:], Y[200:])], callbacks=[stop]
        )
        return float(booster.best_score["valid_0"]["l2"])

    study = optuna.create_study(pruner=optuna.pruners.MedianPruner(n_startup_trials=1))
    study.optimize(objective, n_trials=2)
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "PRUNED"]


def test_a_column_in_no_group_is_not_used(lgb: Any) -> None:
    X = np.random.default_rng(0).random((300, 4))
    y = X[:, 0] + X[:, 1] + 2.0 * X[:, 2] + 3.0 * X[:, 3]
    for groups, used in (([[0, 1]], {0, 1}), ([[2]], {2}), ("[0,1],[2]", {0, 1, 2})):
        params = {"verbosity": -1, "num_threads": 1, "interaction_constraints": groups}
        booster = lgb.train(params, lgb.Dataset(X, y), 30)
        assert set(np.flatnonzero(booster.feature_importance()).tolist()) == used
