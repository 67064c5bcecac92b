"""What a model of LightGBM's interface keeps: after saving, in pickles, within callbacks, over batches, for arrays and frames."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

QUIET = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5, "min_data_in_bin": 1}
READINGS = [{"zero_as_missing": True}, {"use_missing": False}, {}]


def squared(scores: Any, data: Any) -> Any:
    return scores - data.get_label(), np.ones_like(scores)


def squared_of_labels(y: Any, scores: Any) -> Any:
    return scores - y, np.ones_like(scores)


def with_zeros(numbers: Any) -> Any:
    """A table whose zeros, and whose missing values, say much about the label."""
    X, y = numbers
    X = X.copy()
    X[::3, 0], X[1::5, 0] = 0.0, np.nan
    return X, y + 10.0 * (X[:, 0] == 0.0) - 5.0 * np.isnan(X[:, 0])


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("of_the_data", [False, True])
def test_zeros_and_missing_values_are_read_alike_after_saving(
    lgb: Any, numbers: Any, tmp_path: Path, reading: dict[str, Any], of_the_data: bool
) -> None:
    X, y = with_zeros(numbers)
    params = QUIET if of_the_data else {**QUIET, **reading}
    data = lgb.Dataset(X, y, params={**QUIET, **reading} if of_the_data else None)
    booster = lgb.train(params, data, 10)
    wanted = booster.predict(X)
    booster.save_model(str(tmp_path / "model"))
    for again in (
        lgb.Booster(model_file=str(tmp_path / "model")),
        lgb.Booster(model_str=booster.model_to_string()),
        pickle.loads(pickle.dumps(booster)),
    ):
        assert np.array_equal(again.predict(X), wanted)
    model = lgb.LGBMRegressor(n_estimators=10, n_jobs=1, verbosity=-1, **reading).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize("reading", READINGS)
def test_callbacks_predict_as_the_finished_model(lgb: Any, numbers: Any, reading: dict[str, Any]) -> None:
    X, y = with_zeros(numbers)
    found = []
    booster = lgb.train(
        {**QUIET, **reading},
        lgb.Dataset(X, y),
        5,
        callbacks=[lambda env: found.append(env.model.predict(X))],
    )
    for number, prediction in enumerate(found):
        assert np.allclose(prediction, booster.predict(X, num_iteration=number + 1), atol=1e-9)


def test_training_does_not_go_on_with_another_reading_of_zeros(numbers: Any) -> None:
    import weald.lightgbm as lgb

    X, y = with_zeros(numbers)
    booster = lgb.train({**QUIET, "zero_as_missing": True}, lgb.Dataset(X, y), 2)
    with pytest.raises(
        ValueError, match="goes on with use_missing and zero_as_missing of the model that is there"
    ):
        lgb.train(QUIET, lgb.Dataset(X, y), 2, init_model=booster)


def test_a_model_of_an_objective_of_ones_own_can_be_saved(lgb: Any, numbers: Any, tmp_path: Path) -> None:
    X, y = numbers

    def local(scores: Any, data: Any) -> Any:
        return squared(scores, data)

    booster = lgb.train({**QUIET, "objective": local}, lgb.Dataset(X, y), 10)
    wanted = booster.predict(X)
    assert booster.params["objective"] == "none"
    booster.save_model(str(tmp_path / "model"))
    read = lgb.Booster(model_file=str(tmp_path / "model"))
    for again in (
        read,
        lgb.Booster(model_str=booster.model_to_string()),
        pickle.loads(pickle.dumps(booster)),
    ):
        assert np.array_equal(again.predict(X), wanted)
    more = lgb.train({**QUIET, "objective": squared}, lgb.Dataset(X, y), 5, init_model=read)
    assert more.num_trees() == 15
    model = lgb.LGBMRegressor(objective=squared_of_labels, n_estimators=10, n_jobs=1, verbosity=-1).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_a_loaded_model_of_an_own_objective_asks_for_the_function(numbers: Any) -> None:
    import weald.lightgbm as lgb

    booster = lgb.Booster({**QUIET, "objective": squared}, lgb.Dataset(*numbers))
    booster.update()
    again = pickle.loads(pickle.dumps(booster))
    with pytest.raises(ValueError, match="a function must give the gradients"):
        again.update(lgb.Dataset(*numbers))
    again.update(lgb.Dataset(*numbers), fobj=squared)
    booster.update()
    assert np.array_equal(again.predict(numbers[0]), booster.predict(numbers[0]))


def test_numbers_of_rounds_may_be_numpys(lgb: Any, numbers: Any) -> None:
    from sklearn.model_selection import GridSearchCV

    X, y = numbers
    model = lgb.LGBMRegressor(n_jobs=1, verbosity=-1)
    search = GridSearchCV(model, {"n_estimators": np.arange(1, 8, 3)}, cv=2).fit(X, y)
    assert search.best_estimator_.n_iter_ == 7
    assert lgb.train(QUIET, lgb.Dataset(X, y), np.int32(3)).num_trees() == 3


@pytest.mark.parametrize("rounds", [0, -1, True, 2.5, "3"])
def test_other_numbers_of_rounds_are_refused(rounds: Any, numbers: Any) -> None:
    import weald.lightgbm as lgb

    with pytest.raises(ValueError, match="num_boost_round must be a whole number of at least 1"):
        lgb.train(QUIET, lgb.Dataset(*numbers), rounds)


def batches(frame: bool) -> list[Any]:
    """Two batches with the same categories, others of them frequent, and a new one in the second."""
    found = []
    for seed, codes in ((1, [3, 3, 3, 5, 8]), (2, [8, 8, 8, 5, 3, 11])):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.choice(codes, 300), rng.normal(size=300)]).astype(float)
        y = np.where(X[:, 0] == 8, 3.0, 0.0) + X[:, 1]
        table = pd.DataFrame({"code": X[:, 0].astype(int), "x": X[:, 1]}) if frame else X
        found.append((table, y))
    return found


@pytest.mark.parametrize("frame", [False, True])
def test_training_goes_on_with_a_batch_of_other_categories(lgb: Any, frame: bool) -> None:
    (X, y), (later, z) = batches(frame)
    params = {**QUIET, "min_data_per_group": 5, "cat_smooth": 1.0}
    first = lgb.train(params, lgb.Dataset(X, y, categorical_feature=[0]), 20)
    found = []
    more = lgb.train(
        params,
        lgb.Dataset(later, z, categorical_feature=[0]),
        20,
        init_model=first,
        callbacks=[lambda env: found.append(env.model.predict(X))],
    )
    assert more.num_trees() == 40
    assert np.allclose(more.predict(X, num_iteration=20), first.predict(X))
    assert np.allclose(found[-1], more.predict(X))
    error = np.mean((more.predict(later) - z) ** 2)
    assert error < 0.5 * np.mean((first.predict(later) - z) ** 2) or error < 0.05
    model = lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbosity=-1).fit(X, y, categorical_feature=[0])
    again = lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbosity=-1)
    assert again.fit(later, z, categorical_feature=[0], init_model=model).n_iter_ == 10


def test_columns_are_matched_by_position_unless_names_are_to_be_checked(lgb: Any, numbers: Any) -> None:
    X, y = numbers
    frame = pd.DataFrame(X, columns=list("abcd"))
    other = frame.rename(columns={"a": "z"})
    for model in (
        lgb.train(QUIET, lgb.Dataset(frame, y), 5),
        lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbosity=-1).fit(frame, y),
    ):
        wanted = model.predict(frame)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the estimators say that an array has no names
            for table in (X, X.tolist(), other, np.asfortranarray(X)):
                assert np.array_equal(model.predict(table), wanted)
            assert np.array_equal(model.predict(X, validate_features=True), wanted)
            turned = frame[list("dcba")]
            assert np.array_equal(model.predict(turned), model.predict(turned.to_numpy()))
        for wrong in (X[:, :2], frame[["a", "b"]], np.hstack([X, X])):
            with pytest.raises((ValueError, lgb.basic.LightGBMError), match="features"):
                model.predict(wrong)
        with pytest.raises((ValueError, lgb.basic.LightGBMError), match="a"):
            model.predict(other, validate_features=True)
    of_arrays = lgb.train(QUIET, lgb.Dataset(X, y), 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(of_arrays.predict(frame), of_arrays.predict(X))


def test_columns_in_another_order_are_told_of(numbers: Any) -> None:
    import weald.lightgbm as lgb

    X, y = numbers
    frame = pd.DataFrame(X, columns=list("abcd"))
    booster = lgb.train(QUIET, lgb.Dataset(frame, y), 2)
    with pytest.warns(UserWarning, match="in another order, and they are matched by position"):
        booster.predict(frame[list("dcba")])


@pytest.mark.parametrize("kind", ["numbers", "categories", "sparse", "forest", "weights", "batch"])
def test_update_bins_its_table_once_and_grows_the_trees_of_train(
    kind: str, numbers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scipy.sparse

    import weald.lightgbm as lgb
    from weald.binning import shared

    X, y = numbers
    params: dict[str, Any] = {**QUIET, "seed": np.int64(3)}
    more: dict[str, Any] = {}
    table: Any = X
    if kind == "categories":
        table, more = np.where(X > 10, -1.0, X), {"categorical_feature": [1]}
    elif kind == "sparse":
        table = scipy.sparse.csr_array(np.nan_to_num(X))
    elif kind == "forest":
        params |= {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    elif kind == "weights":
        more = {"weight": np.arange(300) % 3}
    made, fit_bins = [], shared.fit_bins
    monkeypatch.setattr(shared, "fit_bins", lambda *given: made.append(1) or fit_bins(*given))
    start = lgb.train(params, lgb.Dataset(X[::-1], y[::-1], **more), 2) if kind == "batch" else None
    whole = lgb.train(params, lgb.Dataset(table, y, **more), 5, init_model=start)
    made.clear()
    booster = lgb.Booster(params, lgb.Dataset(table, y, **more))
    if start is not None:
        booster._continue(start)
    for _ in range(5):
        booster.update()
    assert len(made) == 1
    assert np.array_equal(booster.predict(X), whole.predict(X))
    booster.update(
        lgb.Dataset(table[:200], y[:200], **{n: v if n[0] == "c" else v[:200] for n, v in more.items()})
    )
    booster.update()
    assert len(made) == 2


def test_bins_follow_new_weights_and_parameters(numbers: Any) -> None:
    import weald.lightgbm as lgb

    X, y = numbers
    data = lgb.Dataset(X, y)
    booster = lgb.Booster({**QUIET, "max_bin": 4}, data)
    booster.update()
    data.set_weight(np.arange(300.0) ** 4)
    booster.update()
    fresh = lgb.Booster({**QUIET, "max_bin": 4}, lgb.Dataset(X, y))
    fresh.update()
    fresh.update(lgb.Dataset(X, y, weight=np.arange(300.0) ** 4))
    assert np.array_equal(booster.predict(X), fresh.predict(X))
    leaves = lgb.reset_parameter(num_leaves=[4, 8])
    assert lgb.train(QUIET, data, 2, callbacks=[leaves]).num_trees() == 2


def test_contributions_add_up_to_raw_scores(lgb: Any) -> None:
    import scipy.sparse
    from sklearn.datasets import load_diabetes, load_wine

    X, y = load_diabetes(return_X_y=True)
    booster = lgb.train(QUIET, lgb.Dataset(X, y), 10)
    for part in ({}, {"start_iteration": 3, "num_iteration": 4}, {"num_iteration": 2}):
        found = booster.predict(X, pred_contrib=True, **part)
        assert found.shape == (442, 11)
        assert np.allclose(found.sum(axis=1), booster.predict(X, raw_score=True, **part), atol=1e-9, rtol=0)
    sparse = booster.predict(scipy.sparse.csr_matrix(X), pred_contrib=True)
    assert isinstance(sparse, scipy.sparse.csr_matrix)
    assert np.allclose(sparse.toarray(), booster.predict(X, pred_contrib=True))
    X, y = load_wine(return_X_y=True)
    model = lgb.LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1).fit(X, y)
    found = model.predict(X, pred_contrib=True)
    assert found.shape == model.predict_proba(X, pred_contrib=True).shape == (178, 42)
    sums = found.reshape(178, 3, 14).sum(axis=2)
    assert np.allclose(sums, model.predict(X, raw_score=True), atol=1e-9, rtol=0)
    several = model.predict(scipy.sparse.csr_matrix(X), pred_contrib=True)
    assert np.allclose(np.hstack([one.toarray() for one in several]), found)
    forest = lgb.LGBMRegressor(
        boosting_type="rf", subsample=0.6, subsample_freq=1, n_estimators=5, n_jobs=1, verbosity=-1
    ).fit(X, y)
    found = forest.predict(X, pred_contrib=True)
    assert np.allclose(found.sum(axis=1), forest.predict(X, raw_score=True), atol=1e-9, rtol=0)


def test_contributions_are_those_of_lightgbm() -> None:
    from sklearn.datasets import load_diabetes

    import weald.lightgbm as lgb

    theirs = pytest.importorskip("lightgbm", minversion="4.0")
    X, y = load_diabetes(return_X_y=True)
    params = {**QUIET, "num_leaves": 4}
    ours, other = (
        module.train(params, module.Dataset(X, y), 5).predict(X, pred_contrib=True)
        for module in (lgb, theirs)
    )
    assert np.corrcoef(ours[:, :-1].ravel(), other[:, :-1].ravel())[0, 1] > 0.98
    assert np.allclose(ours[:, -1], other[:, -1], rtol=1e-3)


def splits_of(dump: dict[str, Any]) -> list[dict[str, Any]]:
    waiting, found = [tree["tree_structure"] for tree in dump["tree_info"]], []
    while waiting:
        node = waiting.pop()
        if "split_feature" in node:
            found.append(node)
            waiting += [node["left_child"], node["right_child"]]
    return found


@pytest.mark.parametrize("reading", READINGS)
def test_dumps_say_what_is_missing_in_every_column(lgb: Any, numbers: Any, reading: dict[str, Any]) -> None:
    X, y = with_zeros(numbers)
    X[:, 1:] = np.nan_to_num(X[:, 1:])
    X[:, 3] = 7.0
    booster = lgb.train({**QUIET, **reading, "monotone_constraints": [0, 1, 0, 0]}, lgb.Dataset(X, y), 5)
    text = lgb.Booster(model_str=booster.model_to_string())
    for dump in (booster.dump_model(), text.dump_model()):
        found = {(node["split_feature"] == 0, node["missing_type"]) for node in splits_of(dump)}
        wanted = {"zero_as_missing": ("Zero", "Zero"), "use_missing": ("None", "None")}
        first, others = wanted.get(next(iter(reading), ""), ("NaN", "None"))
        assert found == {(True, first), (False, others)}
        assert list(dump["monotone_constraints"]) == [0, 1, 0, 0]
        infos = dump["feature_infos"]
        assert list(infos) == ["Column_0", "Column_1", "Column_2"]
        assert infos["Column_1"] == {"min_value": 0, "max_value": 11, "values": []}
        assert dump["pandas_categorical"] is None
    nodes = booster.trees_to_dataframe()
    assert set(nodes[nodes["split_feature"] == "Column_0"]["missing_type"]) == {first}


def test_dumps_say_what_every_tree_was_multiplied_by(lgb: Any, numbers: Any) -> None:
    X, y = numbers

    def factors(params: dict[str, Any], **more: Any) -> list[float]:
        booster = lgb.train({**QUIET, **params}, lgb.Dataset(X, y), 5, **more)
        booster = lgb.Booster(model_str=booster.model_to_string())
        return [tree["shrinkage"] for tree in booster.dump_model()["tree_info"]]

    rates = lgb.reset_parameter(learning_rate=lambda number: 0.1 * (number + 1))
    assert np.allclose(factors({}, callbacks=[rates])[1:], [0.2, 0.3, 0.4, 0.5])
    dropped = factors({"boosting": "dart", "drop_rate": 0.9, "skip_drop": 0.0, "learning_rate": 0.4})
    assert dropped[-1] < 0.4
    assert factors({"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}) == [1.0] * 5


def test_rates_follow_rounds_that_are_added_and_taken_back(numbers: Any) -> None:
    import weald.lightgbm as lgb

    booster = lgb.Booster({**QUIET, "learning_rate": 0.1}, lgb.Dataset(*numbers))
    booster.update()
    booster.update()
    booster.rollback_one_iter().reset_parameter({"learning_rate": 0.3}).update()
    more = lgb.train({**QUIET, "learning_rate": 0.5}, lgb.Dataset(*numbers), 1, init_model=booster)
    assert [tree["shrinkage"] for tree in more.dump_model()["tree_info"]] == [0.1, 0.3, 0.5]
    assert [tree["shrinkage"] for tree in more.dump_model(start_iteration=1)["tree_info"]] == [0.3, 0.5]


def test_an_array_holds_the_codes_of_a_frames_categories(lgb: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=300),
            "kind": pd.Categorical(rng.choice(["u", "v", "w"], 300, p=[0.2, 0.3, 0.5])),
        }
    )
    y = 3.0 * (frame["kind"] == "v") + frame["x"]
    booster = lgb.train({**QUIET, "min_data_per_group": 5, "cat_smooth": 1.0}, lgb.Dataset(frame, y), 10)
    assert booster.pandas_categorical == [["u", "v", "w"]]
    assert booster.dump_model()["pandas_categorical"] == [["u", "v", "w"]]
    array = np.column_stack([frame["x"], frame["kind"].cat.codes])
    wanted = booster.predict(frame)
    assert np.array_equal(booster.predict(array), wanted)
    assert np.array_equal(lgb.Booster(model_str=booster.model_to_string()).predict(array), wanted)
    array[:, 1] = [9.0, np.nan, -1.0] * 100
    missing = frame.assign(kind=pd.Categorical([None] * 300, categories=["u", "v", "w"]))
    assert np.array_equal(booster.predict(array), booster.predict(missing))


@pytest.mark.parametrize("weighed", [{"is_unbalance": True}, {"scale_pos_weight": 3.0}])
def test_classes_are_weighed_each_against_the_others(weighed: dict[str, Any], three_classes: Any) -> None:
    """The same as three models of one class each, and as LightGBM's own."""
    import weald.lightgbm as lgb

    X, codes = three_classes
    X, y = X[codes + np.arange(300) % 4 > 1], codes[codes + np.arange(300) % 4 > 1]
    params = {**QUIET, **weighed}

    def several(module: Any) -> Any:
        wanted = {**params, "objective": "multiclassova", "num_class": 3}
        return module.train(wanted, module.Dataset(X, y), 10).predict(X)

    single = [
        lgb.train({**params, "objective": "binary"}, lgb.Dataset(X, y == place), 10).predict(X)
        for place in range(3)
    ]
    assert np.allclose(several(lgb), np.column_stack(single), atol=0.03)
    theirs = pytest.importorskip("lightgbm", minversion="4.0")
    assert np.allclose(several(lgb).mean(axis=0), several(theirs).mean(axis=0), atol=0.01)
