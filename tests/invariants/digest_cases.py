"""Small fits of every kind, by name, and the digests of their models; `digest_boosted` has those of boosted trees.

`test_digests` compares them with ``digests.json``. Where a change is meant to move them, write that file anew with

    python tests/invariants/digest_cases.py --write

and say in the commit message why. Cases use public interfaces alone; where a digest looks into a model, one small
function does it for each kind: `fitted_of`, `trained_parts` and `member_parts`.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import weald
import weald.catboost as cb
import weald.lightgbm as lgb
import weald.xgboost as xgb

sys.path.insert(0, str(Path(__file__).resolve().parent))  # of the module below, also under pytest

import digest_boosted
from digest_boosted import ROWS, TABLES, columns, frame, labels, make, numbers, scores_of, weights

CASES = digest_boosted.Cases(digest_boosted.CASES)
add, case = CASES.add, CASES.named
DIGESTS = Path(__file__).resolve().parent / "digests.json"
_BESIDE = (
    "estimator_weights_",
    "estimator_errors_",
    "estimators_features_",
    "weights_",
    "oof_predictions_",
    "holdout_rows_",
    "holdout_predictions_",
    "oob_decision_function_",
    "oob_prediction_",
)


def digest(result: Any) -> str:
    """16 hexadecimal digits of all arrays of a result: their types, shapes and bytes, in order."""
    found = hashlib.blake2b(digest_size=8)
    for array in arrays_of(result):
        found.update(f"{array.dtype.str} {array.shape} ".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def arrays_of(part: Any) -> Iterator[np.ndarray]:
    """The arrays of a number, an array, a list, a dict or a model, without names and parameters."""
    if isinstance(part, np.ndarray | np.generic | bool | int | float):
        array = np.asarray(part)
        yield array if array.dtype.kind in "biuf" else np.asarray(array, "U")
    elif isinstance(part, Mapping | list | tuple):
        for entry in part.values() if isinstance(part, Mapping) else part:
            yield from arrays_of(entry)
    elif fitted_of(part) is not None:
        yield from arrays_of(trained_parts(part))
    elif hasattr(part, "estimators_"):
        yield from arrays_of(member_parts(part))
    elif is_dataclass(part):
        values = [getattr(part, entry.name) for entry in fields(part)]
        yield from arrays_of([value for value in values if isinstance(value, np.ndarray)])
    else:
        raise TypeError(f"no arrays are known of a {type(part).__name__}")


def fitted_of(model: Any) -> Any:
    """What training has left in a model of any interface; None in an ensemble of estimators, or where nothing is."""
    holder = getattr(model, "_Booster", model)
    return holder._fitted() if hasattr(holder, "_fitted") else None


def trained_parts(model: Any) -> list[Any]:
    """Trees or weights of a model, its tables of target statistics, and the estimator that boosting started from."""
    fitted = fitted_of(model)
    predictor = fitted.predictor if hasattr(fitted, "predictor") else fitted.forest
    statistics = getattr(fitted, "statistics", None)
    init = getattr(model, "init_", None)
    return [
        predictor,
        list(statistics.tables) if statistics is not None else [],
        [init] if hasattr(init, "predict") else [],
        beside(model),
    ]


def member_parts(model: Any) -> list[Any]:
    """The members of an ensemble of estimators, layer by layer, and what it has beside them."""
    final = [model.final_estimator_] if hasattr(model, "final_estimator_") else []
    return [list(model.estimators_), final, beside(model)]


def beside(model: Any) -> list[Any]:
    """The arrays that an estimator shows beside its trees and members."""
    return [getattr(model, name) for name in _BESIDE if hasattr(model, name)]


# --- trees on labels --------------------------------------------------------------------------------


def fit_estimator(kind: str, target: str, table: str, weighted: bool, settings: dict[str, Any]) -> Any:
    X, y = TABLES[table](ROWS), labels(target)
    model = getattr(weald, kind)(**settings).fit(X, y, **({"sample_weight": weights()} if weighted else {}))
    return [model, scores_of(model, X)]


def estimator(
    name: str, kind: str, target: str, table: str = "frame", *, weighted: bool = False, **settings: Any
) -> None:
    """A fit of one of Weald's other estimators."""
    add(name, partial(fit_estimator, kind, target, table, weighted, settings))


FEW = {"n_estimators": 4, "random_state": 3}
for criterion in ("gini", "entropy", "log_loss"):
    estimator(
        f"tree, {criterion}", "DecisionTreeClassifier", "three", criterion=criterion, min_samples_leaf=5
    )
    estimator(f"random forest, {criterion}", "RandomForestClassifier", "two", **FEW, criterion=criterion)
for criterion in ("squared_error", "friedman_mse", "absolute_error", "poisson"):
    target = "count" if criterion == "poisson" else "number"
    estimator(f"tree, {criterion}", "DecisionTreeRegressor", target, criterion=criterion, max_depth=5)
    estimator(f"random forest, {criterion}", "RandomForestRegressor", target, **FEW, criterion=criterion)
    estimator(f"extra trees, {criterion}", "ExtraTreesRegressor", target, **FEW, criterion=criterion)
estimator("tree, drawn thresholds", "DecisionTreeClassifier", "two", splitter="random", max_features=3)
estimator("tree, leaves and weights", "DecisionTreeClassifier", "three", weighted=True, max_leaf_nodes=12,
          class_weight="balanced", min_weight_fraction_leaf=0.02)  # fmt: skip
estimator(
    "tree, rows of nodes", "DecisionTreeRegressor", "number", min_samples_split=0.2, min_samples_leaf=40
)
estimator(
    "tree, impurity and bins", "DecisionTreeRegressor", "number", min_impurity_decrease=0.1, max_bins=16
)
estimator("tree, sparse", "DecisionTreeRegressor", "number", "sparse", max_depth=6)
estimator("tree, several labels", "DecisionTreeRegressor", "several", max_depth=5)
estimator("random forest, three", "RandomForestClassifier", "three", **FEW, class_weight="sqrt_balanced")
estimator("random forest, balanced in bags", "RandomForestClassifier", "rare", **FEW,
          class_weight="balanced_subsample")  # fmt: skip
estimator(
    "random forest, numbers out of bag", "RandomForestRegressor", "number", n_estimators=25, oob_score=True
)
estimator("random forest, columns by tree", "RandomForestRegressor", "number", **FEW, features_per="tree",
          max_features=0.5, max_samples=0.6)  # fmt: skip
estimator(
    "random forest, weights", "RandomForestClassifier", "rare", weighted=True, **FEW, class_weight="minority"
)
estimator(
    "random forest, no bootstrap", "RandomForestRegressor", "several", **FEW, bootstrap=False, max_features=2
)
estimator(
    "random forest, out of bag", "RandomForestClassifier", "two", n_estimators=25, oob_score=True, max_depth=3
)
estimator("extra trees, three", "ExtraTreesClassifier", "three", **FEW, max_leaf_nodes=20)
estimator("extra trees, weights", "ExtraTreesClassifier", "two", weighted=True, **FEW, bootstrap=True)

# --- other ensembles --------------------------------------------------------------------------------

TREE, NUMBERS_TREE = weald.DecisionTreeClassifier(max_depth=3), weald.DecisionTreeRegressor(max_depth=3)
BOOSTED, NUMBERS_BOOSTED = (make(target, n_estimators=2, max_leaves=6) for target in ("two", "number"))
FOREST = weald.RandomForestClassifier(n_estimators=3, max_depth=4)
NUMBERS_FOREST = weald.RandomForestRegressor(n_estimators=3, max_depth=4)
CLASSIFIERS = [("boosted", BOOSTED), ("forest", FOREST), ("tree", TREE)]
REGRESSORS = [("boosted", NUMBERS_BOOSTED), ("forest", NUMBERS_FOREST), ("tree", NUMBERS_TREE)]

estimator("bagging", "BaggingClassifier", "three", **FEW, estimator=TREE)
estimator("bagging, columns", "BaggingRegressor", "number", **FEW, max_samples=0.5, max_features=0.6,
          bootstrap_features=True)  # fmt: skip
estimator("bagging, boosted, hard", "BaggingClassifier", "two", **FEW, estimator=BOOSTED, voting="hard")
estimator("bagging, weights, out of bag", "BaggingRegressor", "number", weighted=True, n_estimators=20,
          estimator=NUMBERS_TREE, oob_score=True)  # fmt: skip
estimator("bagging, boosted, columns", "BaggingClassifier", "three", n_estimators=20, estimator=BOOSTED,
          max_features=4, oob_score=True)  # fmt: skip
estimator("bagging, no bootstrap", "BaggingRegressor", "number", **FEW, estimator=NUMBERS_BOOSTED, bootstrap=False,
          max_samples=300)  # fmt: skip
for algorithm, reweight, target in product(("SAMME", "SAMME.R"), ("weights", "resample"), ("two", "three")):
    estimator(f"adaboost, {algorithm}, {reweight}, {target}", "AdaBoostClassifier", target, **FEW,
              algorithm=algorithm, reweight=reweight)  # fmt: skip
for loss, reweight in product(("linear", "square", "exponential"), ("weights", "resample")):
    estimator(
        f"adaboost, {loss}, {reweight}", "AdaBoostRegressor", "number", **FEW, loss=loss, reweight=reweight
    )
estimator("adaboost, boosted, weights", "AdaBoostClassifier", "two", weighted=True, **FEW, estimator=BOOSTED,
          learning_rate=0.5)  # fmt: skip

for loss, search in product(
    ("squared_error", "absolute_error", "huber", "quantile"), ("leaf", "tree", "projection")
):
    estimator(f"friedman, {loss}, {search}", "GradientBoostingRegressor", "number", **FEW, loss=loss,
              line_search=search, subsample=0.8)  # fmt: skip
for loss, search in product(("log_loss", "exponential"), ("leaf", "tree", "projection")):
    estimator(f"friedman, {loss}, {search}", "GradientBoostingClassifier", "two", **FEW, loss=loss,
              line_search=search, max_features=3)  # fmt: skip
estimator(
    "friedman, three classes", "GradientBoostingClassifier", "three", weighted=True, **FEW, max_leaf_nodes=6
)
estimator("friedman, rows of nodes", "GradientBoostingRegressor", "number", **FEW, min_samples_split=0.2,
          min_samples_leaf=30, init="zero")  # fmt: skip
estimator("friedman, weight and impurity", "GradientBoostingRegressor", "number", **FEW, min_impurity_decrease=0.3,
          min_weight_fraction_leaf=0.08)  # fmt: skip
estimator("friedman, from a tree", "GradientBoostingRegressor", "number", **FEW, init=NUMBERS_TREE)
estimator("friedman, held out", "GradientBoostingRegressor", "number", n_estimators=20, learning_rate=0.9,
          n_iter_no_change=2, validation_fraction=0.3)  # fmt: skip

for vote in ("hard", "soft"):
    estimator(f"voting, {vote}", "VotingClassifier", "three", estimators=CLASSIFIERS, voting=vote)
estimator("voting, lots", "VotingClassifier", "two", estimators=CLASSIFIERS, weights=[1, 1, 2], ties="random")
estimator("voting, majority", "VotingClassifier", "three", estimators=CLASSIFIERS, voting="majority",
          refusal_label="none")  # fmt: skip
estimator(
    "voting, learned weights", "VotingClassifier", "two", estimators=CLASSIFIERS, voting="soft", weights="fit"
)
estimator("voting, numbers", "VotingRegressor", "number", estimators=REGRESSORS, weights=[1.0, 2.0, 0.5])
estimator("voting, numbers, learned", "VotingRegressor", "number", estimators=REGRESSORS, weights="fit", cv=3)
estimator("stacking", "StackingClassifier", "three", estimators=CLASSIFIERS, final_estimator=BOOSTED, cv=3)
estimator("stacking, layers", "StackingRegressor", "number", estimators=[REGRESSORS[:2], REGRESSORS[2:]], cv=2,
          final_estimator=NUMBERS_FOREST, passthrough=True)  # fmt: skip
estimator("stacking, folds kept", "StackingClassifier", "two", weighted=True, estimators=CLASSIFIERS[:2], cv=2,
          final_estimator=TREE, refit=False)  # fmt: skip
estimator("stacking, in sample", "StackingRegressor", "number", estimators=REGRESSORS, cv="in_sample_overfits",
          final_estimator=NUMBERS_TREE)  # fmt: skip
estimator(
    "blending", "BlendingClassifier", "three", estimators=CLASSIFIERS, final_estimator=FOREST, random_state=2
)
estimator("blending, refitted", "BlendingRegressor", "number", estimators=REGRESSORS, holdout=0.4, refit=True,
          final_estimator=NUMBERS_TREE, passthrough=True)  # fmt: skip


@case("blending, rows of its own")
def blended() -> Any:
    model = weald.BlendingRegressor(REGRESSORS, NUMBERS_TREE)
    model.fit(frame(), labels("number"), holdout_set=(frame(400), labels("number", 400), weights(400)))
    return [model, scores_of(model, frame())]


@case("friedman, monitored")
def monitored() -> Any:
    model = weald.GradientBoostingClassifier(n_estimators=9, subsample=0.5)
    model.fit(frame(), labels("two"), monitor=lambda number, model, variables: number == 4)
    return [model, model.train_score_, model.oob_improvement_, scores_of(model, frame())]


def grown(kind: str, target: str, **settings: Any) -> Any:
    """A warm start: more members for a fit that is done."""
    model = getattr(weald, kind)(n_estimators=2, warm_start=True, **settings).fit(frame(), labels(target))
    model.set_params(n_estimators=4).fit(frame(), labels(target))
    return [model, scores_of(model, frame())]


add("random forest, continued", partial(grown, "RandomForestClassifier", "three", max_depth=5))
add("extra trees, continued", partial(grown, "ExtraTreesRegressor", "number"))
add("bagging, continued", partial(grown, "BaggingRegressor", "number", estimator=NUMBERS_TREE))
add("friedman, continued", partial(grown, "GradientBoostingRegressor", "number", subsample=0.7))


def loaded(name: str, model: Any, target: str, table: str = "frame") -> None:
    """A model as it comes back from its file."""

    def run() -> Any:
        X = TABLES[table](ROWS)
        with tempfile.TemporaryDirectory() as folder:
            model.fit(X, labels(target)).save(Path(folder) / "model.weald")
            again = weald.load(Path(folder) / "model.weald")
        return [again, scores_of(again, X)]

    add(f"file, {name}", run)


loaded("boosted, statistics", make("two", growth="oblivious", max_depth=3, categories="ordered"), "two")
loaded("boosted, dart", make("three", booster="dart", rate_drop=0.5), "three")
loaded("linear", make("number", booster="linear"), "number", "numbers")
loaded("forest", FOREST, "three")
loaded("bagging", weald.BaggingRegressor(NUMBERS_TREE, 3, max_features=0.7), "number")
loaded("adaboost", weald.AdaBoostClassifier(TREE, n_estimators=3), "three")
loaded("friedman", weald.GradientBoostingClassifier(n_estimators=3), "three")
loaded("voting", weald.VotingClassifier(CLASSIFIERS, weights="fit", voting="soft"), "two")
loaded("stacking", weald.StackingClassifier(CLASSIFIERS, BOOSTED, cv=2), "two")
loaded("blending", weald.BlendingRegressor(REGRESSORS, NUMBERS_TREE), "number")


def encoded(target: str, **settings: Any) -> Any:
    """Target statistics of the training rows, of other rows, and all tables that they come from."""
    encoder = weald.TargetStatisticsEncoder(**settings)
    training = encoder.fit_transform(frame(), labels(target))
    tables = [encoder.encodings_, encoder.prior_, encoder.training_rows_]
    return [training, encoder.transform(frame(400)), tables]


for kind, target in product(("ordered", "greedy", "holdout", "leave_one_out"), ("number", "two", "three")):
    add(f"encoder, {kind}, {target}", partial(encoded, target, kind=kind, random_state=1))
add("encoder, orders and counters", partial(encoded, "two", permutations=3, counters=True, prior=0.3, a=4.0))
add("encoder, borders", partial(encoded, "number", target_borders=3))

# --- XGBoost's interface ----------------------------------------------------------------------------

QUIET = {"nthread": 1, "max_depth": 4}
CODES = {"num_class": 3, "objective": "multi:softprob"}


def matrix(target: str, rows: int = ROWS, **more: Any) -> Any:
    return xgb.DMatrix(frame(rows), labels(target, rows), enable_categorical=True, **more)


def xgboost(
    name: str, target: str = "number", rounds: int = 4, weighted: bool = False, **params: Any
) -> None:
    """A model of `weald.xgboost.train`."""

    def run() -> Any:
        data = matrix(target, weight=weights() if weighted else None)
        booster = xgb.train({**QUIET, **params}, data, rounds)
        return [booster, booster.predict(data, output_margin=True)]

    add(f"xgboost, {name}", run)


def xgboost_numbers(name: str, target: str, table: str = "numbers", **params: Any) -> None:
    """The same for a table without categories."""

    def run() -> Any:
        data = xgb.DMatrix(TABLES[table](ROWS), labels(target))
        booster = xgb.train({"nthread": 1, **params}, data, 4)
        return [booster, booster.predict(data, output_margin=True)]

    add(f"xgboost, {name}", run)


for objective, target in (
    ("reg:squarederror", "number"), ("reg:absoluteerror", "number"), ("reg:pseudohubererror", "number"),
    ("reg:squaredlogerror", "positive"), ("reg:logistic", "share"), ("binary:logistic", "two"),
    ("binary:logitraw", "two"), ("binary:hinge", "two"), ("count:poisson", "count"), ("reg:gamma", "positive"),
    ("reg:tweedie", "count"),
):  # fmt: skip
    xgboost(objective, target, objective=objective)
xgboost("quantiles", quantile_alpha=[0.2, 0.8], objective="reg:quantileerror")
xgboost("classes", "codes", weighted=True, **CODES)
for method in ("hist", "approx"):
    xgboost(f"{method}, drawn", "two", tree_method=method, objective="binary:logistic", subsample=0.7,
            colsample_bynode=0.7, gamma=2.0, max_bin=20)  # fmt: skip
xgboost(
    "dart",
    rounds=6,
    booster="dart",
    rate_drop=0.4,
    one_drop=True,
    sample_type="weighted",
    normalize_type="forest",
)
xgboost("dart, classes", "codes", rounds=5, booster="dart", rate_drop=0.4, skip_drop=0.3, **CODES)
xgboost("lossguide", grow_policy="lossguide", max_leaves=7, max_cat_threshold=4, reg_alpha=0.2)
xgboost("parallel trees", num_parallel_tree=3, subsample=0.6, base_score=0.3)
xgboost(
    "constraints", monotone_constraints="(1,0,-1,0,0,0,0)", interaction_constraints=[["a", "c"], ["b", "d"]]
)
xgboost(
    "scale of the positive", "rare", objective="binary:logistic", scale_pos_weight=4.0, max_delta_step=0.5
)
xgboost_numbers(
    "exact, drawn", "two", tree_method="exact", objective="binary:logistic", subsample=0.7, gamma=0.3
)
xgboost_numbers("sparse", "number", "sparse", max_depth=3)
xgboost_numbers("linear, shuffle", "number", booster="gblinear", feature_selector="shuffle")
xgboost_numbers("linear, thrifty, classes", "codes", booster="gblinear", feature_selector="thrifty", top_k=2,
                reg_lambda=0.1, **CODES)  # fmt: skip


@case("xgboost, updates")
def xgboost_updates() -> Any:
    data, booster = matrix("two"), xgb.Booster({**QUIET, "objective": "binary:logistic", "subsample": 0.6})
    for number in range(4):
        booster.update(data, number)
    return [booster, booster.predict(data, output_margin=True)]


def distances(scores: Any, data: Any) -> tuple[Any, Any]:
    """Gradient and hessian of half the squared distance, of the interfaces that give predictions first."""
    return scores - data.get_label(), np.ones(len(scores))


@case("xgboost, own objective")
def xgboost_own() -> Any:
    data = matrix("number")
    booster = xgb.train(QUIET, data, 3, obj=distances)
    score = booster.predict(data)
    booster.boost(data, 3, grad=score - labels("number"), hess=np.full(ROWS, 2.0))
    return [booster, booster.predict(data)]


@case("xgboost, file")
def xgboost_file() -> Any:
    booster = xgb.train({**QUIET, "booster": "dart", "rate_drop": 0.5}, matrix("number"), 4)
    again = xgb.Booster(model_file=booster.save_raw())
    again.update(matrix("number"), 4)
    return [again, again.predict(matrix("number"))]


@case("xgboost, callbacks")
def xgboost_callbacks() -> Any:
    callbacks = [
        xgb.callback.LearningRateScheduler(lambda number: 1.7 - 0.1 * number),
        xgb.callback.EarlyStopping(rounds=2, save_best=True),
    ]
    data, other, found = matrix("two"), matrix("two", 400), {}
    params = {**QUIET, "objective": "binary:logistic", "eval_metric": ["auc", "logloss"]}
    booster = xgb.train(params, data, 9, evals=[(data, "own"), (other, "other")], evals_result=found,
                        callbacks=callbacks, verbose_eval=False)  # fmt: skip
    return [booster, found, booster.predict(data)]


@case("xgboost, continued from margins")
def xgboost_continued() -> Any:
    first = xgb.train(QUIET, matrix("number", base_margin=columns()["c"]), 2)
    more = xgb.train({**QUIET, "eta": 0.1}, matrix("number"), 2, xgb_model=first)
    return [first, more, more.predict(matrix("number"))]


@case("xgboost, cross-validation")
def xgboost_folds() -> Any:
    params = {**QUIET, "objective": "binary:logistic", "subsample": 0.8}
    return xgb.cv(params, matrix("two"), 4, nfold=3, metrics=["logloss", "error"], as_pandas=False, seed=1)


def dialect_estimator(name: str, make: Any, target: str, fit: dict[str, Any], raw: dict[str, Any]) -> None:
    """A fit of an estimator of another interface; ``raw``: how its predictions are raw."""

    def run() -> Any:
        model = make().fit(frame(), labels(target), **fit)
        return [model, model.predict(frame(), **raw)]

    add(name, run)


MARGIN: dict[str, Any] = {"output_margin": True}
SIZES: dict[str, Any] = {"n_estimators": 4, "max_depth": 3, "n_jobs": 1, "enable_categorical": True}
dialect_estimator("xgboost, classifier", lambda: xgb.XGBClassifier(**SIZES), "codes", {}, MARGIN)
dialect_estimator("xgboost, regressor", lambda: xgb.XGBRegressor(**SIZES), "number",
                  {"sample_weight": weights()}, MARGIN)  # fmt: skip
dialect_estimator("xgboost, own objective of a regressor",
                  lambda: xgb.XGBRegressor(**SIZES, objective=lambda y, score: (score - y, np.ones(len(y)))),
                  "number", {}, MARGIN)  # fmt: skip
dialect_estimator("xgboost, forest classifier", lambda: xgb.XGBRFClassifier(**SIZES), "two", {}, MARGIN)
dialect_estimator("xgboost, forest regressor", lambda: xgb.XGBRFRegressor(**SIZES), "number", {}, MARGIN)
dialect_estimator("xgboost, dart classifier", lambda: xgb.XGBClassifier(**SIZES, booster="dart", rate_drop=0.5),
                  "two", {}, MARGIN)  # fmt: skip
dialect_estimator("xgboost, stopped early",
                  lambda: xgb.XGBClassifier(**{**SIZES, "n_estimators": 12}, learning_rate=1.0, early_stopping_rounds=2),
                  "two", {"eval_set": [(frame(400), labels("two", 400))], "verbose": False}, MARGIN)  # fmt: skip

# --- LightGBM's interface ---------------------------------------------------------------------------

SILENT = {"verbosity": -1, "num_threads": 1, "num_leaves": 8, "min_data_per_group": 15}
RAW: dict[str, Any] = {"raw_score": True}


def lightgbm(
    name: str,
    target: str = "number",
    rounds: int = 4,
    weighted: bool = False,
    table: Any = frame,
    **params: Any,
) -> None:
    """A model of `weald.lightgbm.train`."""

    def run() -> Any:
        data = lgb.Dataset(table(), labels(target), weight=weights() if weighted else None)
        booster = lgb.train({**SILENT, **params}, data, rounds)
        return [booster, booster.predict(table(), raw_score=True)]

    add(f"lightgbm, {name}", run)


for objective, target in (
    ("regression", "number"), ("regression_l1", "number"), ("huber", "number"), ("fair", "number"),
    ("quantile", "number"), ("poisson", "count"), ("tweedie", "count"), ("mape", "positive"),
    ("gamma", "positive"), ("cross_entropy", "share"), ("binary", "two"),
):  # fmt: skip
    lightgbm(objective, target, objective=objective)
for objective in ("multiclass", "multiclassova"):
    lightgbm(objective, "codes", weighted=True, objective=objective, num_class=3)
lightgbm(
    "one against the others, weighed", "codes", objective="multiclassova", num_class=3, is_unbalance=True
)
lightgbm("goss", rounds=5, data_sample_strategy="goss", learning_rate=0.6, top_rate=0.3, other_rate=0.2)
lightgbm("dart", rounds=7, boosting="dart", drop_rate=0.5, skip_drop=0.2, max_drop=2)
lightgbm("dart, as XGBoost's", "two", rounds=7, objective="binary", boosting="dart", drop_rate=0.5,
         xgboost_dart_mode=True, uniform_drop=True)  # fmt: skip
lightgbm("forest", "two", objective="binary", boosting="rf", bagging_freq=1, bagging_fraction=0.6)
lightgbm("bagging by class", "rare", objective="binary", bagging_freq=2, pos_bagging_fraction=0.9,
         neg_bagging_fraction=0.4)  # fmt: skip
lightgbm("unbalanced", "rare", objective="binary", is_unbalance=True)
lightgbm("columns, smooth, drawn thresholds", feature_fraction=0.7, feature_fraction_bynode=0.6, path_smooth=5.0,
         extra_trees=True, seed=4)  # fmt: skip
lightgbm("few bins", max_bin=9, zero_as_missing=True, max_depth=3)
lightgbm("rows of a bin", min_data_in_bin=60, min_gain_to_split=20.0)
lightgbm("categories", max_cat_to_onehot=2, cat_smooth=1.0, cat_l2=1.0, max_cat_threshold=6)
lightgbm(
    "constraints", monotone_constraints=[1, 0, -1, 0, 0, 0, 0], interaction_constraints=[[0, 2], [1, 3, 4, 5]]
)
lightgbm("no average, penalties", boost_from_average=False, lambda_l1=0.5, lambda_l2=2.0, max_delta_step=0.8)
lightgbm("one-hot columns", table=partial(TABLES["sparse onehot"], ROWS))
lightgbm("sparse", "two", table=partial(TABLES["sparse"], ROWS), objective="binary")
lightgbm("outliers, packed integers", "tailed", use_quantized_grad=True)


@case("lightgbm, updates")
def lightgbm_updates() -> Any:
    data = lgb.Dataset(frame(), labels("number"), init_score=columns()["c"])
    booster = lgb.Booster({**SILENT, "bagging_freq": 1, "bagging_fraction": 0.5}, data)
    for number in range(4):
        booster.update(fobj=distances if number == 2 else None)
        booster.reset_parameter({"learning_rate": 0.2})
    booster.rollback_one_iter()
    return [booster, booster.predict(frame(), raw_score=True)]


@case("lightgbm, callbacks")
def lightgbm_callbacks() -> Any:
    found: dict[str, Any] = {}
    data, other = lgb.Dataset(frame(), labels("two")), lgb.Dataset(frame(400), labels("two", 400))
    callbacks = [
        lgb.early_stopping(2, verbose=False),
        lgb.record_evaluation(found),
        lgb.reset_parameter(learning_rate=lambda number: 1.3 - 0.05 * number),
    ]
    params = {**SILENT, "objective": "binary", "metric": ["auc", "binary_logloss"]}
    booster = lgb.train(params, data, 12, valid_sets=[other, data], callbacks=callbacks)
    return [booster, booster.best_iteration, found, booster.predict(frame(), raw_score=True)]


@case("lightgbm, continued and refitted")
def lightgbm_refitted() -> Any:
    first = lgb.train(SILENT, lgb.Dataset(frame(), labels("number")), 2)
    more = lgb.train(
        {**SILENT, "extra_trees": True}, lgb.Dataset(frame(), labels("number")), 2, init_model=first
    )
    other = more.refit(frame(400), labels("number", 400), decay_rate=0.4)
    return [more, other, other.predict(frame(), raw_score=True)]


@case("lightgbm, file")
def lightgbm_file() -> Any:
    booster = lgb.train(SILENT, lgb.Dataset(frame(), labels("number")), 3)
    again = lgb.Booster(model_str=booster.model_to_string())
    return [again, again.predict(frame(), raw_score=True)]


@case("lightgbm, cross-validation")
def lightgbm_folds() -> Any:
    data = lgb.Dataset(frame(), labels("two"), free_raw_data=False)
    found = lgb.cv({**SILENT, "objective": "binary"}, data, 4, nfold=3, seed=2, return_cvbooster=True)
    return [found.pop("cvbooster").boosters, found]


LEAVES = {"n_estimators": 4, "num_leaves": 8, "n_jobs": 1, "verbosity": -1}
for target in ("two", "three"):
    dialect_estimator(f"lightgbm, classifier, {target}", lambda: lgb.LGBMClassifier(**LEAVES, class_weight="balanced"),
                      target, {}, RAW)  # fmt: skip
dialect_estimator("lightgbm, regressor", lambda: lgb.LGBMRegressor(**LEAVES, subsample=0.5, subsample_freq=1),
                  "number", {"sample_weight": weights()}, RAW)  # fmt: skip
dialect_estimator("lightgbm, evaluated and own objective",
                  lambda: lgb.LGBMRegressor(**LEAVES, objective=lambda y, score: (score - y, np.ones(len(y)))),
                  "number", {"eval_set": [(frame(400), labels("number", 400))], "eval_metric": "l1"},
                  RAW)  # fmt: skip
dialect_estimator("lightgbm, forest regressor",
                  lambda: lgb.LGBMRegressor(**LEAVES, boosting_type="rf", subsample=0.5, subsample_freq=1),
                  "number", {}, RAW)  # fmt: skip

# --- CatBoost's interface ---------------------------------------------------------------------------

SYMMETRIC = {"iterations": 4, "depth": 3, "thread_count": 1, "verbose": False}
CATEGORIES = ["city", "shop", "day"]


def pool(target: str, categories: bool, rows: int = ROWS, **more: Any) -> Any:
    table = frame(rows, False) if categories else numbers(rows)
    return cb.Pool(table, labels(target, rows), cat_features=CATEGORIES if categories else None, **more)


def catboost(
    name: str, target: str = "number", *, categories: bool = True, weighted: bool = False, **params: Any
) -> None:
    """A model of `weald.catboost.train`, on columns of numbers and of categories, or of numbers alone."""

    def run() -> Any:
        data = pool(target, categories, weight=weights() if weighted else None)
        model = cb.train(data, {**SYMMETRIC, **params})
        return [model, model.predict(data, prediction_type="RawFormulaVal")]

    add(f"catboost, {name}", run)


for loss, target in (
    ("RMSE", "number"), ("MAE", "number"), ("MAPE", "positive"), ("Quantile:alpha=0.8", "number"),
    ("MultiQuantile:alpha=0.2,0.7", "number"), ("Huber:delta=0.7", "number"), ("LogCosh", "number"),
    ("RMSEWithUncertainty", "number"), ("Poisson", "count"), ("Tweedie:variance_power=1.4", "count"),
    ("CrossEntropy", "share"), ("Logloss", "two"), ("MultiClass", "three"), ("MultiClassOneVsAll", "three"),
):  # fmt: skip
    catboost(loss, target, loss_function=loss, categories=False)
for kind, policy in product(("Plain", "Ordered"), ("SymmetricTree", "Depthwise", "Lossguide")):
    catboost(f"{kind}, {policy}", "two", loss_function="Logloss", boosting_type=kind, grow_policy=policy)
    catboost(f"{kind}, {policy}, number", boosting_type=kind, grow_policy=policy, iterations=6)
catboost("Ordered, three", "three", loss_function="MultiClass", boosting_type="Ordered", weighted=True)
for score in ("Cosine", "L2", "NewtonCosine"):
    catboost(f"score {score}", "two", loss_function="Logloss", score_function=score, random_strength=0.5)
for kind in ("Bayesian", "Bernoulli", "MVS", "No"):
    catboost(f"bootstrap {kind}", "two", loss_function="Logloss", bootstrap_type=kind, rsm=0.7)
for kind in ("Median", "Uniform", "UniformAndQuantiles"):
    catboost(f"borders {kind}", categories=False, feature_border_type=kind, border_count=9)
for method, steps in (("Gradient", 3), ("Newton", 4)):
    catboost(f"leaves {method}", "two", loss_function="Logloss", leaf_estimation_method=method,
             leaf_estimation_iterations=steps, learning_rate=0.2)  # fmt: skip
catboost("statistics", iterations=6, max_ctr_complexity=1, one_hot_max_size=3, permutation_count=2,
         simple_ctr="Borders:CtrBorderCount=7:TargetBorderCount=3:Prior=0.3",
         combinations_ctr="Borders:CtrBorderCount=7:TargetBorderCount=3:Prior=0.3")  # fmt: skip
catboost("statistics, counters", simple_ctr=["Borders:Prior=0.4", "Counter"], max_ctr_complexity=1)
catboost("class weights, monotone", "rare", loss_function="Logloss", auto_class_weights="Balanced",
         monotone_constraints={"a": 1}, l2_leaf_reg=1.0)  # fmt: skip


class Distance:
    """Half the squared distance as a loss of CatBoost's kind, whose derivatives point uphill."""

    def calc_ders_range(self, scores: Any, targets: Any, weights: Any) -> Any:
        difference = np.asarray(targets) - np.asarray(scores)
        return np.column_stack([difference, -np.ones(len(difference))])


catboost("own loss", categories=False, loss_function=Distance(), eval_metric="RMSE")


@case("catboost, stopped early")
def catboost_early() -> Any:
    model = cb.CatBoostClassifier(**{**SYMMETRIC, "iterations": 15}, learning_rate=1.8, eval_metric="AUC")
    model.fit(pool("two", True), eval_set=pool("two", True, 400), early_stopping_rounds=2)
    scores = model.predict(frame(missing=False), prediction_type="RawFormulaVal")
    return [model, model.best_iteration_, model.evals_result_, scores]


@case("catboost, detector and callbacks")
def catboost_detector() -> Any:
    class Stop:
        def after_iteration(self, info: Any) -> bool:
            return bool(info.iteration < 9)

    model = cb.CatBoostRegressor(**{**SYMMETRIC, "iterations": 15}, learning_rate=1.9, od_type="IncToDec",
                                 od_pval=0.9, od_wait=2, use_best_model=False)  # fmt: skip
    model.fit(pool("number", True), eval_set=pool("number", True, 400), callbacks=[Stop()])
    return [model, model.evals_result_]


@case("catboost, continued and shrunk")
def catboost_continued() -> Any:
    first = cb.CatBoostRegressor(**SYMMETRIC).fit(numbers(), labels("number"))
    based = cb.CatBoostRegressor(**SYMMETRIC).fit(pool("number", False, baseline=columns()["c"]))
    more = cb.CatBoostRegressor(**SYMMETRIC).fit(numbers(), labels("number"), init_model=first)
    more.shrink(6)
    return [based, more, more.predict(numbers())]


@case("catboost, classifier of three")
def catboost_classifier() -> Any:
    model = cb.CatBoostClassifier(**SYMMETRIC, cat_features=CATEGORIES, class_weights=[1.0, 2.0, 0.5])
    model.fit(frame(missing=False), labels("three"))
    return [model, model.predict(frame(missing=False), prediction_type="RawFormulaVal")]


@case("catboost, file")
def catboost_file() -> Any:
    model = cb.CatBoostClassifier(**SYMMETRIC).fit(pool("two", True))
    with tempfile.TemporaryDirectory() as folder:
        model.save_model(str(Path(folder) / "model.cbm"))
        again = cb.CatBoostClassifier().load_model(str(Path(folder) / "model.cbm"))
    return [again, again.predict_proba(frame(missing=False))]


@case("catboost, cross-validation")
def catboost_folds() -> Any:
    params = {**SYMMETRIC, "loss_function": "Logloss", "custom_metric": "AUC"}
    found, models = cb.cv(pool("two", True), params, fold_count=3, as_pandas=False, return_models=True)
    return [found, models]


# --- writing the digests anew -----------------------------------------------------------------------


def main() -> None:
    """Write the digests of all cases, or, without ``--write``, say which differ from those that are written."""
    print(f"weald is {weald.__file__}")
    started, found = time.perf_counter(), {}
    for name, run in CASES.items():
        found[name] = digest(run())
    print(f"{len(found)} cases in {time.perf_counter() - started:.1f} s")
    if "--write" in sys.argv[1:]:
        DIGESTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        return
    known = json.loads(DIGESTS.read_text())
    for name in sorted(known.keys() | found.keys()):
        if known.get(name) != found.get(name):
            print(f"{name!r} differs")


if __name__ == "__main__":
    main()
