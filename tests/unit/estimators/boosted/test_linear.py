"""booster="linear" behind the estimators: what works, what is refused, files, warm starts, early stopping."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import scale

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.binning import bin_once
from weald.estimators.shared.persistence import to_bytes
from weald.params.declare import declared
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)
RX, RY = load_diabetes(return_X_y=True)
RX = scale(RX)
IX, IY = load_iris(return_X_y=True)


def regressor(**parameters: Any) -> BoostedTreesRegressor:
    return BoostedTreesRegressor(**({"booster": "linear", "n_estimators": 10, "n_jobs": 1} | parameters))


def classifier(**parameters: Any) -> BoostedTreesClassifier:
    return BoostedTreesClassifier(**({"booster": "linear", "n_estimators": 10, "n_jobs": 1} | parameters))


def file_bytes(model: Any) -> bytes:
    return to_bytes(model, model._model)


# --- what it is -----------------------------------------------------------------------------------


def test_predictions_are_the_intercept_plus_the_weighted_columns() -> None:
    model = regressor().fit(RX, RY)
    assert model.coef_.shape == (10,) and isinstance(model.intercept_, float)
    assert model.predict(RX) == pytest.approx(RX @ model.coef_ + model.intercept_)
    two, three = classifier().fit(X, Y), classifier().fit(IX, IY)
    assert two.coef_.shape == (1, 30) and two.intercept_.shape == (1,)
    assert three.coef_.shape == (3, 4) and three.intercept_.shape == (3,)
    assert three.decision_function(IX) == pytest.approx(IX @ three.coef_.T + three.intercept_)


def test_importances_are_shares_of_the_absolute_weights() -> None:
    model = classifier().fit(IX, IY)
    expected = np.abs(model.coef_).sum(axis=0)
    assert model.feature_importances_ == pytest.approx(expected / expected.sum())


def test_what_only_trees_have_is_refused_and_the_other_way_round() -> None:
    model = regressor().fit(RX, RY)
    with pytest.raises(AttributeError, match="booster='linear' has none"):
        model.forest_  # noqa: B018
    with pytest.raises(NotSupportedError, match="has no trees"):
        model.apply(RX)
    trees = BoostedTreesRegressor(n_estimators=2).fit(RX, RY)
    for name in ("coef_", "intercept_"):
        assert not hasattr(trees, name) and hasattr(model, name)
        assert not hasattr(regressor(), name)


def test_training_scores_are_the_predictions_to_the_last_bit() -> None:
    seen: list[Any] = []

    def squared(y: Any, scores: Any) -> Any:
        seen.append(scores.copy())
        return scores - y, np.ones_like(y)

    regressor(loss=squared, n_estimators=4).fit(RX, RY)
    three = regressor(loss=squared, n_estimators=3).fit(RX, RY)
    assert three.predict(RX).tobytes() == seen[3].tobytes()


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie"])
def test_every_loss_is_lowered(loss: str) -> None:
    y = RY / RY.mean()
    model = regressor(loss=loss, n_estimators=150, learning_rate=0.3).fit(RX, y, eval_set=[(RX, y)])
    (values,) = model.history_["valid_0"].values()
    assert values[-1] < values[0]
    assert np.isfinite(model.predict(RX)).all()


def test_exponential_loss_classifies() -> None:
    assert classifier(loss="exponential", n_estimators=50).fit(X, Y).score(X, Y) > 0.95


def test_a_limit_of_the_step_holds_for_every_row() -> None:
    free = regressor(n_estimators=1, learning_rate=1.0).fit(RX[:, :1], RY)
    short = regressor(n_estimators=1, learning_rate=1.0, max_delta_step=0.5).fit(RX[:, :1], RY)
    moved = np.abs(short.coef_[0] * RX[:, 0]).max()
    assert moved == pytest.approx(0.5) and abs(free.coef_[0]) > abs(short.coef_[0])


def test_penalties_are_of_a_row_so_that_a_table_twice_as_long_has_the_same_model() -> None:
    penalties: dict[str, Any] = {"reg_lambda": 0.1, "reg_alpha": 0.5, "n_estimators": 50}
    once = regressor(**penalties).fit(RX, RY)
    twice = regressor(**penalties).fit(np.vstack([RX, RX]), np.append(RY, RY))
    weighted = regressor(**penalties).fit(RX, RY, sample_weight=np.full(len(RY), 2.0))
    assert twice.coef_ == pytest.approx(once.coef_, rel=1e-5)
    assert weighted.coef_ == pytest.approx(once.coef_, rel=1e-5)


@pytest.mark.parametrize("name", ["greedy", "thrifty"])
def test_top_k_limits_the_weights_that_move(name: str) -> None:
    model = regressor(booster=weald.Linear(selector=name, top_k=2), n_estimators=1).fit(RX, RY)
    assert np.count_nonzero(model.coef_) == 2
    assert np.count_nonzero(regressor(n_estimators=1).fit(RX, RY).coef_) == 10


def test_selectors_come_to_the_same_solution() -> None:
    settings: dict[str, Any] = {"n_estimators": 300, "learning_rate": 0.9, "reg_lambda": 0.5}
    expected = regressor(**settings).fit(RX, RY).coef_
    for name in ("shuffle", "random", "greedy", "thrifty"):
        found = regressor(**settings, booster=weald.Linear(selector=name)).fit(RX, RY).coef_
        assert found == pytest.approx(expected, abs=1e-3)


def test_the_seed_decides_the_shuffled_order() -> None:
    one, same, other = (
        regressor(booster=weald.Linear(selector="shuffle"), n_estimators=2, random_state=seed)
        .fit(RX, RY)
        .coef_
        for seed in (1, 1, 2)
    )
    assert one.tobytes() == same.tobytes() != other.tobytes()


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_array])
def test_sparse_and_dense_tables_give_the_same_model_but_for_rounding(make: Any) -> None:
    table = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = classifier().fit(table, Y), classifier().fit(make(table), Y)
    assert sparse.coef_ == pytest.approx(dense.coef_, rel=1e-6, abs=1e-9)
    assert sparse.predict_proba(make(table)).tobytes() == sparse.predict_proba(table).tobytes()
    missing = classifier(bins=weald.Bins(unstored="missing")).fit(make(table), Y)
    assert missing.coef_.tobytes() == sparse.coef_.tobytes()


def test_a_sparse_table_is_never_filled_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from weald.data.sparse import SparseTable

    def refuse(*_: Any) -> Any:
        raise AssertionError("the table was filled up")

    monkeypatch.setattr(SparseTable, "_filled", refuse)
    table = scipy.sparse.random(50, 100_000, 0.001, "csr", random_state=np.random.default_rng(0))
    y = np.arange(50) % 2
    model = classifier().fit(table, y, eval_set=[(table, y)])
    assert model.predict(table).shape == (50,)


def test_missing_values_add_nothing() -> None:
    holes = RX.copy()
    holes[::3, 2] = np.nan
    model = regressor().fit(holes, RY)
    assert file_bytes(model) == file_bytes(regressor().fit(np.nan_to_num(holes), RY))
    assert model.predict(holes).tobytes() == model.predict(np.nan_to_num(holes)).tobytes()
    stored = scipy.sparse.csr_matrix(holes)
    assert regressor().fit(stored, RY).coef_ == pytest.approx(model.coef_, rel=1e-6)


def test_single_precision_and_the_order_in_memory_do_not_matter() -> None:
    single = X.astype(np.float32)
    expected = file_bytes(classifier().fit(single, Y))
    assert file_bytes(classifier().fit(single.astype(np.float64), Y)) == expected
    assert file_bytes(classifier().fit(np.asfortranarray(single), Y)) == expected


def test_rows_of_weight_zero_are_as_if_they_were_not_there() -> None:
    weight = (np.arange(len(Y)) % 3).astype(float)
    kept = weight > 0
    removed = classifier().fit(X[kept], Y[kept], sample_weight=weight[kept])
    assert file_bytes(classifier().fit(X, Y, sample_weight=weight)) == file_bytes(removed)
    sparse = classifier().fit(scipy.sparse.csr_matrix(X), Y, sample_weight=weight)
    assert sparse.coef_ == pytest.approx(removed.coef_, rel=1e-5)


def test_categories_infinities_and_bins_are_refused() -> None:
    with pytest.raises(NotSupportedError, match=r"Column 'colour' is categorical.*encode it first"):
        regressor().fit({"size": np.arange(3.0), "colour": np.array(["red", "blue", "red"])}, [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="Column 'x1' has an infinite value"):
        regressor().fit([[1.0, np.inf], [2.0, 3.0]], [1.0, 2.0])
    assert bin_once(RX, [regressor()]) is None
    table = bin_once(RX, [BoostedTreesRegressor()])
    with pytest.raises(NotSupportedError, match="not their bins"):
        regressor().fit(table, RY)


def test_weights_that_run_away_are_refused() -> None:
    with pytest.raises(InputError, match=r"ran away in round \d+"):
        regressor(learning_rate=5.0, n_estimators=2000).fit(RX, RY)


# --- parameters -----------------------------------------------------------------------------------

OTHER_VALUES: dict[str, Any] = {
    "growth": "depthwise",
    "max_leaves": 7,
    "max_depth": 3,
    "min_samples_leaf": 5,
    "min_child_weight": 1.0,
    "gamma": 1.0,
    "leaves": weald.Leaves(iterations=2),
    "splits": weald.Splits(extra_trees=True),
    "subsample": 0.5,
    "sampling": "goss",
    "colsample_bytree": 0.5,
    "colsample_bylevel": 0.5,
    "colsample_bynode": 0.5,
    "split_finder": "exact",
    "categories": "partition",
    "monotone_constraints": np.ones(10),
    "interaction_constraints": [[0, 1]],
    "bins": 15,
    "importance_type": "split",
    "column_weights": np.full(10, 2.0),
    "device": "opencl",
}


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_parameters_of_trees_are_refused(name: str) -> None:
    with pytest.raises(
        NotSupportedError, match=f"(?s)^{name}=.* belongs to trees, and booster='linear' has none"
    ):
        regressor(**{name: OTHER_VALUES[name]}).fit(RX, RY)


# Each field of a choice, by itself, with a value that its declaration allows and that is not its default.
FIELDS = (
    [
        ("leaves", weald.Leaves(**{name: value}))
        for name, value in {"method": "gradient", "iterations": 2, "path_smooth": 1.0}.items()
    ]
    + [
        ("splits", weald.Splits(**{name: value}))
        for name, value in {
            "score": "cosine",
            "noise": 1.0,
            "extra_trees": True,
            "forced": {"feature": 0, "threshold": 0.5},
        }.items()
    ]
    + [
        ("bins", weald.Bins(**{name: value}))
        for name, value in {
            "max_bins": 15,
            "by_column": [15],
            "max_categories": 15,
            "rare_categories": 0.1,
            "min_samples": 2,
            "sample": 2_000,
            "borders": "median",
            "forced": {0: [1.0]},
            "use_missing": False,
            "zero_as_missing": True,
            "bundling": "none",
            "max_conflict_rate": 0.1,
        }.items()
    ]
    + [
        ("sampling", choice)
        for choice in (
            weald.Uniform(frequency=2),
            weald.ByClass(positive=0.5),
            weald.Goss(),
            weald.Bayesian(),
            weald.MinimalVariance(),
        )
    ]
    + [
        ("split_finder", choice)
        for choice in (weald.Histogram(precision="wide"), weald.Approximate(), weald.Exact())
    ]
    + [("categories", choice) for choice in (weald.Partition(), weald.TargetStatistics())]
)


@pytest.mark.parametrize(
    ("name", "choice"), FIELDS, ids=lambda value: value if isinstance(value, str) else repr(value)
)
def test_choices_of_trees_are_refused(name: str, choice: Any) -> None:
    with pytest.raises(NotSupportedError) as refused:
        regressor(**{name: choice}).fit(RX, RY)
    assert str(refused.value).startswith(f"{name}={choice!r} belongs to trees, and booster='linear' has none")


def test_choices_that_are_what_they_are_anyway_are_no_parameters_of_trees() -> None:
    expected = regressor().fit(RX, RY)
    model = regressor(
        booster=weald.Linear(),
        leaves=weald.Leaves(),
        splits=weald.Splits(),
        sampling=weald.Uniform(),
        split_finder=weald.Histogram(),
        categories=weald.OneHot(),
        bins=weald.Bins(),
    )
    assert model.fit(RX, RY).coef_.tobytes() == expected.coef_.tobytes()
    assert regressor(bins=255).fit(RX, RY).coef_.tobytes() == expected.coef_.tobytes()


def test_every_parameter_is_of_trees_or_works_with_the_linear_booster() -> None:
    of_both = set(declared(BoostedTreesClassifier)) - set(OTHER_VALUES)
    assert of_both == {
        *("loss", "n_estimators", "learning_rate", "reg_lambda", "reg_alpha", "max_delta_step", "booster"),
        *("base_score", "class_weight", "scale_pos_weight", "eval_metric", "early_stopping_rounds"),
        *("warm_start", "n_jobs", "random_state", "verbose", "categorical_features"),
    }
    of_bins = {name for part, choice in FIELDS if part == "bins" for name in _set_in(choice)}
    assert set(declared(weald.Bins)) - of_bins == {"unstored"}
    for part, kind in (("leaves", weald.Leaves), ("splits", weald.Splits)):
        assert {name for own, choice in FIELDS if own == part for name in _set_in(choice)} == set(
            declared(kind)
        )


def _set_in(choice: Any) -> set[str]:
    """The fields of a choice that are not their defaults."""
    return {name for name, known in declared(type(choice)).items() if getattr(choice, name) != known.default}


def test_what_the_selectors_take() -> None:
    with pytest.raises(
        InputError, match=r"booster\.top_k=3 belongs to selector='greedy' and 'thrifty', not 'cyclic'"
    ):
        regressor(booster=weald.Linear(top_k=3)).fit(RX, RY)
    with pytest.raises(InputError, match=r"booster\.selector must be one of 'cyclic', .* not 'best'"):
        regressor(booster=weald.Linear(selector="best")).fit(RX, RY)
    for name in ("selector", "top_k"):
        with pytest.raises(ValueError, match=f"^Plain has no parameter '{name}'; "):
            BoostedTreesRegressor().set_params(**{f"booster__{name}": 3})
    with pytest.raises(TypeError, match="has no parameter 'parallel_trees'; "):
        weald.Linear(parallel_trees=2)  # type: ignore[call-arg]


# --- rounds ---------------------------------------------------------------------------------------


def test_early_stopping_keeps_the_weights_of_the_best_round() -> None:
    train, valid = slice(0, 40), slice(40, None)
    settings: dict[str, Any] = {"learning_rate": 0.5, "n_estimators": 500}
    stopped = regressor(**settings, early_stopping_rounds=5).fit(
        RX[train], RY[train], eval_set=[(RX[valid], RY[valid])]
    )
    values = stopped.history_["valid_0"]["rmse"]
    assert len(values) == stopped.best_iteration_ + 6 < 500
    assert values[stopped.best_iteration_] == min(values)
    exact = regressor(learning_rate=0.5, n_estimators=stopped.best_iteration_ + 1).fit(RX[train], RY[train])
    assert exact.coef_.tobytes() == stopped.coef_.tobytes()


def test_early_stopping_watches_what_its_callback_names() -> None:
    stopping = weald.EarlyStopping(3, metric="mae", on="b")
    model = regressor(n_estimators=400, learning_rate=0.5, eval_metric=["rmse", "mae"]).fit(
        RX[:40],
        RY[:40],
        eval_set=[(RX[:40], RY[:40]), (RX[40:], RY[40:])],
        eval_names=["a", "b"],
        callbacks=[stopping],
    )
    values = model.history_["b"]["mae"]
    assert model.best_iteration_ == int(np.argmin(values)) == len(values) - 4


@pytest.mark.parametrize("name", ["cyclic", "shuffle"])
def test_a_warm_start_comes_to_the_bytes_of_one_fit(name: str) -> None:
    whole = classifier(n_estimators=9, booster=weald.Linear(selector=name)).fit(IX, IY)
    model = classifier(n_estimators=4, booster=weald.Linear(selector=name), warm_start=True).fit(IX, IY)
    model.set_params(n_estimators=9).fit(IX, IY)
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    assert model.intercept_.tobytes() == whole.intercept_.tobytes()


def test_a_warm_start_with_another_booster_is_refused() -> None:
    model = regressor(warm_start=True).fit(RX, RY)
    with pytest.raises(
        InputError, match="warm_start needs the booster of the earlier fit, which was 'linear'"
    ):
        model.set_params(booster="plain", n_estimators=20).fit(RX, RY)
    trees = BoostedTreesRegressor(n_estimators=2, warm_start=True).fit(RX, RY)
    with pytest.raises(InputError, match="which was not 'linear'"):
        trees.set_params(booster="linear", n_estimators=20).fit(RX, RY)


def test_a_checkpoint_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "model.weald"
    expected = file_bytes(regressor(n_estimators=8).fit(RX, RY))

    def interrupt(state: Any) -> None:
        if state.number == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        regressor(n_estimators=8).fit(RX, RY, callbacks=[weald.Checkpoint(path, every=2), interrupt])
    resumed = regressor(n_estimators=8).fit(RX, RY, resume_from=path)
    assert file_bytes(resumed) == expected


def test_callbacks_see_the_model_of_the_round_and_set_its_rate(capsys: pytest.CaptureFixture[str]) -> None:
    models: list[Any] = []
    scheduled = regressor(n_estimators=3, verbose=1).fit(
        RX,
        RY,
        callbacks=[
            weald.LearningRateScheduler([0.5, 0.25, 0.125]),
            lambda state: models.append(state.model()),
        ],
    )
    assert [model.n_rounds for model in models] == [1, 2, 3]
    assert models[-1] == scheduled._model.predictor
    assert models[0].weights[0] == pytest.approx(
        regressor(n_estimators=1, learning_rate=0.5).fit(RX, RY).coef_
    )
    with pytest.raises(NotSupportedError, match="grows no trees"):
        regressor(n_estimators=1).fit(RX, RY, callbacks=[lambda state: state.forest()])


def test_training_starts_from_a_base_score_or_from_scores_of_the_user() -> None:
    based = regressor(base_score=100.0, n_estimators=1, learning_rate=1.0).fit(RX, RY)
    assert based._model.predictor.base_score.tolist() == [100.0]
    offset = np.linspace(0.0, 50.0, len(RY))
    settings: dict[str, Any] = {"n_estimators": 60, "learning_rate": 0.9}
    moved = regressor(**settings).fit(
        RX, RY, init_score=offset, eval_set=[(RX, RY)], eval_init_scores=[offset]
    )
    shifted = regressor(**settings, base_score=0.0).fit(RX, RY - offset)
    assert moved.coef_ == pytest.approx(shifted.coef_, rel=1e-5)
    error = np.sqrt(np.mean((moved.predict(RX) + offset - RY) ** 2))
    assert moved.history_["valid_0"]["rmse"][-1] == pytest.approx(error)


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [Y, np.array(["benign", "malignant"])[Y]])
def test_a_model_comes_back_from_a_file_and_a_pickle(tmp_path: Path, labels: Any) -> None:
    model = classifier(booster=weald.Linear(selector="thrifty", top_k=5)).fit(
        X, labels, eval_set=[(X, labels)]
    )
    path = tmp_path / "linear.weald"
    model.save(path)
    for again in (weald.load(path), pickle.loads(pickle.dumps(model))):
        assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
        assert again.coef_.tobytes() == model.coef_.tobytes()
        assert again.history_ == model.history_ and again.booster == weald.Linear(selector="thrifty", top_k=5)
        assert (again.classes_ == model.classes_).all()
        assert file_bytes(again) == file_bytes(model)


def test_a_file_whose_columns_do_not_fit_is_refused() -> None:
    from dataclasses import replace

    from weald.data import read_table
    from weald.estimators.shared.persistence import from_bytes

    model = regressor().fit(RX, RY)
    for table, message in (
        (RX[:, :3], "The schema has 3 columns, but the linear model 10"),
        (RX.round().astype(object).astype(str), "columns must be numeric"),
    ):
        broken = to_bytes(model, replace(model._model, schema=read_table(table).schema))
        with pytest.raises(ModelFileError, match=message):
            from_bytes(broken)
