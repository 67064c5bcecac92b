"""Boosters by hand: rounds one by one are those of `train` to the byte, and nothing is binned or predicted again on the way."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import weald.lightgbm as lgb
import weald.xgboost as xgb
from weald.forest import predict
from weald.training.boosting import opening, starts

ROUNDS = 6
MANY = 20
RNG = np.random.default_rng(5)
X = np.round(RNG.standard_normal((200, 4)), 1)
X[RNG.random(X.shape) < 0.05] = np.nan
Y = np.nan_to_num(X[:, 0]) + np.abs(np.nan_to_num(X[:, 1])) + 0.2 * RNG.standard_normal(200)
CLASSES = np.digitize(Y, [0.2, 1.2]).astype(float)
WEIGHT = RNG.integers(0, 4, 200).astype(float)
MARGIN = RNG.standard_normal(200)
MARGINS = RNG.standard_normal((200, 3))

XGB: dict[str, Any] = {"nthread": 1, "max_depth": 3, "verbosity": 0}
XGB_PARAMS: dict[str, dict[str, Any]] = {
    "plain": {"subsample": 0.7, "colsample_bytree": 0.8},
    "lossguide": {"grow_policy": "lossguide", "max_leaves": 5},
    "exact": {"tree_method": "exact"},
    "approx": {"tree_method": "approx", "max_bin": 8},
    "dart": {"booster": "dart", "rate_drop": 0.5, "subsample": 0.8},
    "parallel trees": {"num_parallel_tree": 3, "subsample": 0.6},
    "gblinear": {"booster": "gblinear", "feature_selector": "shuffle", "max_depth": None},
    "classes": {"objective": "multi:softprob", "num_class": 3},
    "dart of classes": {"objective": "multi:softprob", "num_class": 3, "booster": "dart", "one_drop": True},
}
LGB: dict[str, Any] = {"num_threads": 1, "num_leaves": 6, "min_data_in_leaf": 5, "verbosity": -1}
LGB_PARAMS: dict[str, dict[str, Any]] = {
    "plain": {"bagging_fraction": 0.7, "bagging_freq": 2, "feature_fraction": 0.8},
    "goss": {"boosting": "goss", "learning_rate": 0.4},
    "dart": {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.2},
    "rf": {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1},
    "extra trees": {"extra_trees": True, "path_smooth": 2.0},
    "quantile": {"objective": "quantile", "alpha": 0.8},
    "classes": {"objective": "multiclass", "num_class": 3},
    "rf of classes": {
        "objective": "multiclassova",
        "num_class": 3,
        "boosting": "rf",
        "feature_fraction": 0.5,
    },
}
#: What rows have beside labels.
GIVEN = ("nothing", "weights", "starts", "both")


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often tables were binned, and trees that are there asked for scores."""
    done: Counter[str] = Counter()
    bin_table, raw_scores = opening.bin_table, predict.raw_scores

    def binned(*arguments: Any, **more: Any) -> Any:
        done["bins"] += 1
        return bin_table(*arguments, **more)

    def scored(*arguments: Any, **more: Any) -> Any:
        done["scores"] += 1
        return raw_scores(*arguments, **more)

    monkeypatch.setattr(opening, "bin_table", binned)
    for module in (opening, starts):
        monkeypatch.setattr(module, "raw_scores", scored)
    return done


def squared(scores: Any, data: Any) -> Any:
    """An objective of one's own, of one output or three."""
    labels = data.get_label()
    if scores.ndim == 2:
        labels = np.stack([labels == number for number in range(3)], axis=1)
    return scores - labels, np.full(scores.shape, 1.5)


# --- xgboost ----------------------------------------------------------------------------------------


def xgb_params(name: str, **more: Any) -> dict[str, Any]:
    given = {**XGB, **XGB_PARAMS[name], **more}
    return {key: value for key, value in given.items() if value is not None}


def matrix(name: str, given: str = "nothing", rows: Any = slice(None), **more: Any) -> Any:
    several = "classes" in name
    fields: dict[str, Any] = {"label": (CLASSES if several else Y)[rows]}
    if given in ("weights", "both"):
        fields["weight"] = WEIGHT[rows]
    if given in ("starts", "both"):
        fields["base_margin"] = (MARGINS if several else MARGIN)[rows]
    return xgb.DMatrix(X[rows], **{**fields, **more})


def xgb_updates(booster: Any, data: Any, rounds: int = ROUNDS, fobj: Any = None) -> Any:
    for number in range(rounds):
        booster.update(data, number, fobj)
    return booster


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", XGB_PARAMS)
def test_updates_of_xgboost_are_train(name: str, given: str) -> None:
    data = matrix(name, given)
    whole = xgb.train(xgb_params(name), data, ROUNDS)
    single = xgb_updates(xgb.Booster(xgb_params(name)), data)
    assert single.save_raw() == whole.save_raw()
    assert np.array_equal(single.predict(data), whole.predict(data))


@pytest.mark.parametrize("name", XGB_PARAMS)
def test_updates_of_xgboost_by_an_objective_of_ones_own_are_train(name: str) -> None:
    data = matrix(name, "weights")
    whole = xgb.train(xgb_params(name), data, ROUNDS, obj=squared)
    single = xgb_updates(xgb.Booster(xgb_params(name)), data, fobj=squared)
    assert single.save_raw() == whole.save_raw()


@pytest.mark.parametrize("name", XGB_PARAMS)
def test_updates_of_xgboost_go_on_from_a_model_as_train_does(name: str) -> None:
    data, other = matrix(name, "both"), matrix(name, "both", slice(50, 190))
    first = xgb.train(xgb_params(name), data, 3)
    whole = xgb.train(xgb_params(name), other, 3, xgb_model=first)
    single = xgb_updates(xgb.Booster(xgb_params(name), model_file=first.save_raw()), other, 3)
    assert single.save_raw() == whole.save_raw()
    assert first.num_boosted_rounds() == 3


@pytest.mark.parametrize("name", XGB_PARAMS)
def test_twenty_updates_of_xgboost_bin_once_and_predict_nothing_again(name: str, work: Counter[str]) -> None:
    data = matrix(name)
    has_bins = "booster" not in XGB_PARAMS[name] or XGB_PARAMS[name]["booster"] != "gblinear"
    booster = xgb_updates(xgb.Booster(xgb_params(name)), data, MANY)
    assert work == ({"bins": 1} if has_bins else {})
    for number in range(MANY):  # another learning rate, limit or function of a round asks for nothing new
        booster.set_param({"eta": 0.3 / (1 + number)} | ({"max_depth": 1 + number % 4} if has_bins else {}))
        booster.update(data, number, (None, squared)[number % 2])
    assert work == ({"bins": 1} if has_bins else {})
    saved = booster.save_raw()
    work.clear()
    again = xgb_updates(xgb.Booster(xgb_params(name), model_file=saved), data, MANY)
    assert again.num_boosted_rounds() == 3 * MANY
    assert work["bins"] == has_bins
    assert work["scores"] <= 1  # of the trees that were there; dart and linear models have their own way


XGB_CHANGES: list[dict[str, Any]] = [
    {"eta": 0.05},
    {"max_depth": 1, "lambda": 5.0},
    {"subsample": 0.4, "colsample_bynode": 0.5},
    {"max_bin": 5},
    {"seed": 11, "subsample": 0.5},
    {"grow_policy": "lossguide", "max_leaves": 3, "max_depth": 0},
    {"monotone_constraints": "(1,0,0,0)"},
]


@pytest.mark.parametrize("changes", XGB_CHANGES, ids=str)
@pytest.mark.parametrize("name", ["plain", "dart", "parallel trees", "classes"])
def test_parameters_of_xgboost_that_change_between_updates_are_a_train_that_goes_on(
    name: str, changes: dict[str, Any]
) -> None:
    data = matrix(name, "both")
    booster = xgb_updates(xgb.Booster(xgb_params(name)), data, 3)
    booster.set_param(changes)
    xgb_updates(booster, data, 3)
    first = xgb.train(xgb_params(name), data, 3)
    second = xgb.train(xgb_params(name, **changes), data, 3, xgb_model=first)
    assert booster.save_raw() == second.save_raw()
    assert booster.save_raw() != xgb.train(xgb_params(name), data, ROUNDS).save_raw()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("gblinear", {"alpha": 0.01, "feature_selector": "cyclic", "eta": 0.1}),
        ("dart", {"rate_drop": 0.9, "normalize_type": "forest"}),
    ],
)
def test_what_belongs_to_a_booster_of_xgboost_changes_between_updates(
    name: str, changes: dict[str, Any]
) -> None:
    data = matrix(name)
    booster = xgb_updates(xgb.Booster(xgb_params(name)), data, 3)
    booster.set_param(changes)
    first = xgb.train(xgb_params(name), data, 3)
    second = xgb.train(xgb_params(name, **changes), data, 3, xgb_model=first)
    assert xgb_updates(booster, data, 3).save_raw() == second.save_raw()


@pytest.mark.parametrize("given", ["nothing", "both"])
@pytest.mark.parametrize("name", XGB_PARAMS)
def test_another_matrix_between_updates_of_xgboost(name: str, given: str, work: Counter[str]) -> None:
    data, other = matrix(name, given), matrix(name, given, slice(40, 170))
    booster = xgb_updates(xgb.Booster(xgb_params(name)), data, 2)
    work.clear()
    xgb_updates(booster, other, 2)
    xgb_updates(booster, data, 2)
    assert work["bins"] in (0, 2)  # once for each
    model = None
    for own in (data, other, data):
        model = xgb.train(xgb_params(name), own, 2, xgb_model=model)
    assert booster.save_raw() == model.save_raw()


@pytest.mark.parametrize("field", ["label", "weight", "base_margin"])
@pytest.mark.parametrize("name", XGB_PARAMS)
def test_what_a_matrix_is_given_between_updates_of_xgboost_counts(name: str, field: str) -> None:
    values = {"label": 2.0 - CLASSES if "classes" in name else -Y, "weight": WEIGHT[::-1] + 0.5}
    values["base_margin"] = (MARGINS if "classes" in name else MARGIN) * 0.5
    data = matrix(name, "both")
    booster = xgb_updates(xgb.Booster(xgb_params(name)), data, 3)
    before = booster.save_raw()
    getattr(data, f"set_{field}")(values[field])
    xgb_updates(booster, data, 3)
    first = xgb.train(xgb_params(name), matrix(name, "both"), 3)
    second = xgb.train(xgb_params(name), matrix(name, "both", **{field: values[field]}), 3, xgb_model=first)
    assert before == first.save_raw()
    assert booster.save_raw() == second.save_raw()


def test_gradients_given_to_boost_are_those_of_the_objective(work: Counter[str]) -> None:
    data = matrix("plain")
    params = xgb_params("plain", base_score=0.5)
    by_hand = xgb.Booster(params)
    for number in range(ROUNDS):
        scores = np.full(200, 0.5) if number == 0 else by_hand.predict(data, output_margin=True)
        gradient, hessian = squared(scores, data)
        by_hand.boost(data, number, grad=gradient, hess=hessian)
    assert work["bins"] == 1
    whole = xgb.train(params, data, ROUNDS, obj=squared)
    assert np.allclose(by_hand.predict(data), whole.predict(data), atol=1e-5)


# --- lightgbm ---------------------------------------------------------------------------------------


def lgb_params(name: str, **more: Any) -> dict[str, Any]:
    return {**LGB, **LGB_PARAMS[name], **more}


def dataset(name: str, given: str = "nothing", rows: Any = slice(None), **more: Any) -> Any:
    several = "classes" in name
    fields: dict[str, Any] = {"label": (CLASSES if several else Y)[rows]}
    if given in ("weights", "both"):
        fields["weight"] = WEIGHT[rows]
    if given in ("starts", "both"):
        fields["init_score"] = (MARGINS if several else MARGIN)[rows]
    return lgb.Dataset(X[rows], **{**fields, **more}, free_raw_data=False)


def lgb_updates(booster: Any, data: Any = None, rounds: int = ROUNDS, fobj: Any = None) -> Any:
    for _ in range(rounds):
        booster.update(data, fobj)
    return booster


def trees(booster: Any) -> bytes:
    """The model's bytes without the parameters, among which `train` has its number of rounds."""
    text: bytes = booster._fitted().predictor.dumps({})
    return text + np.asarray(booster._rates).tobytes()


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", LGB_PARAMS)
def test_updates_of_lightgbm_are_train(name: str, given: str) -> None:
    whole = lgb.train(lgb_params(name), dataset(name, given), ROUNDS)
    single = lgb_updates(lgb.Booster(lgb_params(name), dataset(name, given)))
    assert trees(single) == trees(whole)
    assert single.model_to_string() == whole.model_to_string()


@pytest.mark.parametrize("name", [name for name in LGB_PARAMS if name != "quantile"])
def test_updates_of_lightgbm_by_an_objective_of_ones_own_are_train(name: str) -> None:
    params = lgb_params(name, objective=squared)
    whole = lgb.train(params, dataset(name, "weights"), ROUNDS)
    single = lgb_updates(lgb.Booster(params, dataset(name, "weights")))
    by_hand = lgb.Booster({**params, "objective": "custom"}, dataset(name, "weights"))
    assert trees(single) == trees(whole)
    assert trees(lgb_updates(by_hand, fobj=squared)) == trees(whole)


@pytest.mark.parametrize("name", LGB_PARAMS)
def test_twenty_updates_of_lightgbm_bin_once_and_predict_nothing_again(name: str, work: Counter[str]) -> None:
    booster = lgb_updates(lgb.Booster(lgb_params(name), dataset(name)), rounds=MANY)
    assert work == {"bins": 1}
    for number in range(MANY):
        rate = {} if "rf" in name else {"learning_rate": 0.3 / (1 + number)}
        booster.reset_parameter({**rate, "num_leaves": 2 + number % 5}).update()
    assert work == {"bins": 1}
    text = booster.model_to_string()
    work.clear()
    again = lgb_updates(lgb.Booster(model_str=text), dataset(name), MANY)
    assert again.current_iteration() == 3 * MANY
    assert work["bins"] == 1
    assert work["scores"] <= 2  # of the trees that were there: their sum, and of averaged ones also the mean


LGB_CHANGES: list[dict[str, Any]] = [
    {"learning_rate": 0.05},
    {"num_leaves": 3, "lambda_l2": 5.0},
    {"feature_fraction": 0.5, "feature_fraction_bynode": 0.6},
    {"min_data_in_leaf": 30},
    {"seed": 11, "feature_fraction": 0.5},
    {"extra_trees": True},
]
LGB_OWN_CHANGES: dict[str, dict[str, Any]] = {
    "dart": {"drop_rate": 0.9, "max_drop": 2},
    "rf": {"bagging_fraction": 0.3},
    "goss": {"top_rate": 0.5},
}


LGB_CASES = [
    (name, changes)
    for name in ("plain", "dart", "rf", "goss", "classes", "quantile")
    for changes in LGB_CHANGES
    if "learning_rate" not in changes or name != "rf"
]


@pytest.mark.parametrize(("name", "changes"), [*LGB_CASES, *LGB_OWN_CHANGES.items()], ids=str)
def test_parameters_of_lightgbm_that_change_between_updates_are_a_train_that_goes_on(
    name: str, changes: dict[str, Any]
) -> None:
    booster = lgb_updates(lgb.Booster(lgb_params(name), dataset(name, "weights")), rounds=3)
    booster.reset_parameter(changes)
    lgb_updates(booster, rounds=3)
    first = lgb.train(lgb_params(name), dataset(name, "weights"), 3)
    second = lgb.train(lgb_params(name, **changes), dataset(name, "weights"), 3, init_model=first)
    assert trees(booster) == trees(second)


@pytest.mark.parametrize("given", ["nothing", "weights"])
@pytest.mark.parametrize("name", LGB_PARAMS)
def test_another_data_set_between_updates_of_lightgbm(name: str, given: str, work: Counter[str]) -> None:
    data, other = dataset(name, given), dataset(name, given, slice(40, 170))
    booster = lgb_updates(lgb.Booster(lgb_params(name), data), rounds=2)
    work.clear()
    lgb_updates(booster, other, 2)
    lgb_updates(booster, data, 2)
    assert work["bins"] == 2
    model = None
    for rows in (slice(None), slice(40, 170), slice(None)):
        model = lgb.train(lgb_params(name), dataset(name, given, rows), 2, init_model=model)
    assert trees(booster) == trees(model)


@pytest.mark.parametrize("field", ["label", "weight"])
@pytest.mark.parametrize("name", LGB_PARAMS)
def test_what_a_data_set_is_given_between_updates_of_lightgbm_counts(name: str, field: str) -> None:
    values = {"label": 2.0 - CLASSES if "classes" in name else -Y, "weight": WEIGHT[::-1] + 0.5}
    data = dataset(name, "weights")
    booster = lgb_updates(lgb.Booster(lgb_params(name), data), rounds=3)
    getattr(data, f"set_{field}")(values[field])
    lgb_updates(booster, rounds=3)
    first = lgb.train(lgb_params(name), dataset(name, "weights"), 3)
    other = dataset(name, "weights", **{field: values[field]})
    assert trees(booster) == trees(lgb.train(lgb_params(name), other, 3, init_model=first))


# --- a booster that becomes another model -----------------------------------------------------------


def xgb_taken_back(booster: Any) -> None:
    booster.load_model(booster[:2].save_raw())


def xgb_interrupted(booster: Any) -> None:
    class Interrupt(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        booster._train(matrix("plain"), 1, xgb.callback.CallbackContainer([Interrupt()]))


@pytest.mark.parametrize("change", [xgb_taken_back, xgb_interrupted, copy.copy])
def test_updates_of_xgboost_go_on_after_the_model_was_another(change: Callable[[Any], Any]) -> None:
    data = matrix("plain")
    booster = xgb_updates(xgb.Booster(xgb_params("plain")), data, 4)
    change(booster)
    rounds = booster.num_boosted_rounds()
    assert rounds == (2 if change is xgb_taken_back else 4)
    xgb_updates(booster, data, ROUNDS - rounds)
    assert booster.save_raw() == xgb.train(xgb_params("plain"), data, ROUNDS).save_raw()


def test_updates_of_lightgbm_go_on_after_rounds_were_taken_back() -> None:
    booster = lgb_updates(lgb.Booster(lgb_params("plain"), dataset("plain")), rounds=4)
    booster.rollback_one_iter().rollback_one_iter()
    assert booster.current_iteration() == 2
    lgb_updates(booster, rounds=ROUNDS - 2)
    assert trees(booster) == trees(lgb.train(lgb_params("plain"), dataset("plain"), ROUNDS))


def test_a_copy_of_a_booster_goes_on_by_itself() -> None:
    data = matrix("dart")
    booster = xgb_updates(xgb.Booster(xgb_params("dart")), data, 3)
    other = booster.copy()
    xgb_updates(booster, data, 3)
    assert other.num_boosted_rounds() == 3
    xgb_updates(other, data, 3)
    assert other.save_raw() == booster.save_raw()
    ours = lgb_updates(lgb.Booster(lgb_params("dart"), dataset("dart")), rounds=3)
    theirs = copy.deepcopy(ours)
    assert trees(lgb_updates(ours, rounds=3)) == trees(lgb_updates(theirs, rounds=3))


@pytest.mark.parametrize("module", [xgb, lgb])
def test_threads_that_make_a_boosters_first_update_take_turns(module: Any) -> None:
    filled, n_threads = np.nan_to_num(X), 4

    def booster() -> tuple[Any, Callable[[], Any]]:
        if module is xgb:
            matrix = xgb.DMatrix(filled, label=Y)
            made = xgb.Booster({"nthread": 1}, [matrix])
            return made, lambda: made.update(matrix, 0)
        learner = lgb.Booster({"verbosity": -1, "num_threads": 1}, lgb.Dataset(filled, Y))
        return learner, learner.update

    def predicted(model: Any) -> Any:
        return model.predict(xgb.DMatrix(filled) if module is xgb else filled)

    together, update = booster()
    start = Barrier(n_threads)

    def once(_: int) -> None:
        start.wait()
        update()

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(once, range(n_threads)))
    alone, update = booster()
    for _ in range(n_threads):
        update()
    for other in (together, copy.deepcopy(together), pickle.loads(pickle.dumps(together))):
        assert np.array_equal(predicted(other), predicted(alone))
