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
    with pytest.raises(ValueError, match="needs use_missing and zero_as_missing of the earlier fit"):
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

    with pytest.raises(ValueError, match="num_boost_round must be a whole number above 0"):
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
