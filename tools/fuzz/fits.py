"""One fit with random valid parameters on a nasty table, and what it predicts."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import weald
import weald.catboost as cb
import weald.lightgbm as lgb
import weald.xgboost as xgb
from tools.fuzz.draws import Draws
from tools.fuzz.labels import draw_classes, draw_values, draw_weights
from tools.fuzz.parameters import draw_values as draw_parameters
from tools.fuzz.tables import Table, draw_table
from weald.params.catboost import CATBOOST_PARAMETERS
from weald.params.declare import declared
from weald.params.dialect import DialectParameter, ParameterTable
from weald.params.lightgbm import LIGHTGBM_PARAMETERS
from weald.params.xgboost import XGBOOST_PARAMETERS

Params = dict[str, Any]
_FAMILIES = (
    "BoostedTrees", "DecisionTree", "RandomForest", "ExtraTrees", "Bagging", "AdaBoost", "GradientBoosting", "Voting",
    "Stacking", "Blending",
)  # fmt: skip
_ENCODER = "TargetStatisticsEncoder"
_GROUPS = (*_FAMILIES, _ENCODER, "xgboost", "lightgbm", "catboost")
_SHARES = (14, 4, 4, 4, 4, 6, 6, 4, 4, 4, 3, 14, 14, 14)
# Parameters of these kinds are drawn elsewhere, or print.
_NOT_DRAWN = frozenset(
    {"verbose", "estimator", "estimators", "final_estimator", "warm_start", "eval_metric", "init"}
)
_SUITED = {
    "poisson": "counts", "count:poisson": "counts", "Poisson": "counts", "gamma": "positive", "reg:gamma": "positive",
    "tweedie": "counts", "reg:tweedie": "counts", "squared_log": "positive", "reg:squaredlogerror": "positive",
    "cross_entropy": "shares", "reg:logistic": "shares", "CrossEntropy": "shares", "mape": "positive", "MAPE": "positive",
}  # fmt: skip


@dataclass
class Case:
    """What is fitted to what: told before the fit, so that a crash has a name."""

    group: str
    told: str
    run: Callable[[], list[Any]]


def draw_fit(seed: int, number: int) -> Case:
    """The case of this number: everything about it follows from the two."""
    draws = Draws(seed, number)
    table = draw_table(draws)
    group = draws.one(_GROUPS, _SHARES)
    if group in _FAMILIES:
        return _native(draws, table, group)
    if group == _ENCODER:
        return _encoder(draws, table)
    return {"xgboost": _xgboost, "lightgbm": _lightgbm, "catboost": _catboost}[group](draws, table)


def _told(what: str, params: Mapping[str, Any], table: Table, *more: str) -> str:
    values = ", ".join(f"{name}={value!r}" for name, value in params.items())
    return f"{what}({values}) on {table.n_rows} rows, {table.kind}; {'; '.join(more)}"


# Estimators of Weald's own.


def _native(draws: Draws, table: Table, family: str) -> Case:
    classifies = draws.chance(0.55)
    name = family + ("Classifier" if classifies else "Regressor")
    params = _native_params(draws, table, name)
    suited = str(params.get("loss", params.get("criterion")))
    y, labels = _labels_for(draws, table, "classes" if classifies else "values", suited)
    weight, weights = draw_weights(draws, table.n_rows)
    fit: Params = {} if weight is None else {"sample_weight": weight}
    if family == "BoostedTrees" and draws.chance(0.2):
        fit["eval_set"] = [(table.X, y)]

    def run() -> list[Any]:
        model = getattr(weald, name)(**params).fit(table.X, y, **fit)
        answers = _answers(model, table.X)
        if draws.chance(0.2):
            answers += _answers(_saved_and_loaded(model), table.X)
        return answers

    return Case(family, _told(name, params, table, f"{labels} labels", f"{weights} weights"), run)


def _encoder(draws: Draws, table: Table) -> Case:
    kind = weald.TargetStatisticsEncoder
    params = draw_parameters(draws, declared(kind), table, 5, _NOT_DRAWN)
    y, labels = (draw_classes if draws.chance(0.5) else draw_values)(draws, table.n_rows)

    def run() -> list[Any]:
        encoder = kind(**params)
        encoder.fit_transform(table.X, y)
        encoder.transform(table.X)
        # Columns of numbers stay as they are in the table, missing and infinite ones too.
        return list(encoder.encodings_)

    return Case(_ENCODER, _told(_ENCODER, params, table, f"{labels} labels"), run)


def _native_params(draws: Draws, table: Table, name: str, most: int = 6) -> Params:
    kind = getattr(weald, name)
    parameters = declared(kind)
    params = draw_parameters(draws, parameters, table, most, _NOT_DRAWN)
    if "n_estimators" in parameters:
        params.setdefault("n_estimators", 12 if name.startswith("AdaBoost") else 4)
    if "n_jobs" in parameters:
        params.setdefault("n_jobs", draws.one([1, 2]))
    suffix = "Classifier" if name.endswith("Classifier") else "Regressor"
    if "estimator" in parameters and draws.chance(0.5):
        member = draws.one(["DecisionTree", "ExtraTrees", "BoostedTrees"]) + suffix
        params["estimator"] = getattr(weald, member)(**_native_params(draws, table, member, 3))
    if "estimators" in parameters:
        names = [
            draws.one(["BoostedTrees", "RandomForest", "DecisionTree", "AdaBoost"]) + suffix for _ in range(2)
        ]
        members = [getattr(weald, each)(**_native_params(draws, table, each, 1)) for each in names]
        params["estimators"] = [(f"member {place}", member) for place, member in enumerate(members)]
    if "final_estimator" in parameters and draws.chance(0.5):
        params["final_estimator"] = getattr(weald, "BoostedTrees" + suffix)(n_estimators=3)
    if name.startswith("GradientBoosting") and draws.chance(0.4):
        of_numbers = ["squared_error", "absolute_error", "huber", "quantile"]
        params["loss"] = draws.one(["log_loss", "exponential"] if suffix == "Classifier" else of_numbers)
    return params


def _answers(model: Any, X: Any) -> list[Any]:
    """All that a model says of rows."""
    methods = [name for name in ("predict", "predict_proba") if hasattr(model, name)]
    return [getattr(model, name)(X) for name in methods]


def _saved_and_loaded(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.weald")
        model.save(path)
        return weald.load(path)


# The dialects.


def _dialect_params(draws: Draws, table: Table, known: ParameterTable, without: frozenset[str]) -> Params:
    allowed: dict[str, DialectParameter] = {
        name: entry for name, entry in known.items() if entry.standing != "refused" and name not in without
    }
    free = {name: entry for name, entry in allowed.items() if entry.of is None}
    params = draw_parameters(draws, free, table, 5, _NOT_DRAWN)
    belonging = {
        name: entry
        for name, entry in allowed.items()
        if entry.of is not None and known.value_of(params, entry.of[0]) in entry.of[1]
    }
    return params | draw_parameters(draws, belonging, table, 3, _NOT_DRAWN)


def _labels_for(draws: Draws, table: Table, task: str, objective: str | None) -> tuple[Any, str]:
    if task == "values":
        return draw_values(draws, table.n_rows, _SUITED.get(str(objective)))
    return draw_classes(draws, table.n_rows, {"two": 2, "several": 3, "classes": None}[task])


def _xgboost(draws: Draws, table: Table) -> Case:
    without = frozenset(
        {
            "objective",
            "num_class",
            "callbacks",
            "feature_types",
            "early_stopping_rounds",
            "validate_parameters",
        }
    )
    params = _dialect_params(draws, table, XGBOOST_PARAMETERS, without)
    categorical = bool(table.text_columns) or draws.chance(0.2)
    scikit = draws.chance(0.5)
    several = draws.chance(0.3)
    if scikit:
        task = draws.one(["classes", "values"])
        params = {"n_estimators": 4, "verbosity": 0, **params, "enable_categorical": categorical}
    else:
        objectives = [name for name in XGBOOST_PARAMETERS["objective"].choices]
        objective = draws.one(objectives)
        if several:
            params["num_class"] = 3
            objective = draws.one(["multi:softmax", "multi:softprob"])
        params |= {"objective": objective, "verbosity": 0}
        task = "several" if several else "two" if objective.startswith("binary") else "values"
        for name in ("n_estimators", "missing", "enable_categorical", "importance_type"):
            params.pop(name, None)
    y, labels = _labels_for(draws, table, task, params.get("objective"))
    weight, weights = draw_weights(draws, table.n_rows)

    def run() -> list[Any]:
        if scikit:
            kind = xgb.XGBClassifier if task == "classes" else xgb.XGBRegressor
            return _answers(kind(**params).fit(table.X, y, sample_weight=weight), table.X)
        data = xgb.DMatrix(table.X, y, weight=weight, enable_categorical=categorical)
        booster = xgb.train(params, data, 4)
        return [booster.predict(data)]

    return Case(
        "xgboost", _told("xgboost", params, table, f"{task}, {labels} labels", f"{weights} weights"), run
    )


def _lightgbm(draws: Draws, table: Table) -> Case:
    without = frozenset(
        {"objective", "num_class", "metric", "early_stopping_round", "class_weight", "importance_type"}
    )
    params = _dialect_params(draws, table, LIGHTGBM_PARAMETERS, without)
    params |= {"verbosity": -1}
    scikit = draws.chance(0.5)
    if scikit:
        task = draws.one(["classes", "values"])
        params.setdefault("n_estimators", params.pop("num_iterations", 4))
    else:
        objective = draws.one([name for name in LIGHTGBM_PARAMETERS["objective"].choices if name != "custom"])
        task = (
            "several" if objective.startswith("multiclass") else "two" if objective == "binary" else "values"
        )
        params |= {"objective": objective, **({"num_class": 3} if task == "several" else {})}
    y, labels = _labels_for(draws, table, task, params.get("objective"))
    weight, weights = draw_weights(draws, table.n_rows)

    def run() -> list[Any]:
        if scikit:
            kind = lgb.LGBMClassifier if task == "classes" else lgb.LGBMRegressor
            return _answers(kind(**params).fit(table.X, y, sample_weight=weight), table.X)
        text: Params = {"categorical_feature": table.text_columns} if table.text_columns else {}
        booster = lgb.train(
            params, lgb.Dataset(table.X, y, weight=weight, **text), params.get("num_iterations", 4)
        )
        return [booster.predict(table.X)]

    return Case(
        "lightgbm", _told("lightgbm", params, table, f"{task}, {labels} labels", f"{weights} weights"), run
    )


def _catboost(draws: Draws, table: Table) -> Case:
    without = frozenset({
        "loss_function", "class_names", "cat_features", "verbose", "logging_level", "silent", "eval_metric", "custom_metric",
        "train_dir", "class_weights", "per_float_feature_quantization", "use_best_model",
    })  # fmt: skip
    params = _dialect_params(draws, table, CATBOOST_PARAMETERS, without)
    params.setdefault("iterations", 4)
    params["verbose"] = False
    if table.text_columns and draws.chance(0.9):
        params["cat_features"] = table.text_columns
    two, several = ["Logloss", "CrossEntropy"], ["MultiClass", "MultiClassOneVsAll"]
    values = [
        "RMSE", "MAE", "MAPE", "Quantile:alpha=0.9", "MultiQuantile:alpha=0.1,0.9", "Huber:delta=1.0", "Poisson",
        "Tweedie:variance_power=1.5", "LogCosh", "RMSEWithUncertainty",
    ]  # fmt: skip
    loss = draws.one([*two, *several, *values, None])
    task = "two" if loss in two else "several" if loss in several else "values"
    if loss is None:
        task = draws.one(["classes", "values"])
    else:
        params["loss_function"] = loss
    y, labels = _labels_for(draws, table, task, loss)
    weight, weights = draw_weights(draws, table.n_rows)
    kind: Any = cb.CatBoostRegressor if task == "values" else cb.CatBoostClassifier
    pooled = draws.chance(0.4)

    def run() -> list[Any]:
        if not pooled:
            return _answers(kind(**params).fit(table.X, y, sample_weight=weight), table.X)
        data = cb.Pool(table.X, y, weight=weight, cat_features=params.get("cat_features"))
        given = {name: value for name, value in params.items() if name != "cat_features"}
        return _answers(kind(**given).fit(data), data)

    return Case(
        "catboost", _told("catboost", params, table, f"{task}, {labels} labels", f"{weights} weights"), run
    )


def unbounded(answers: list[Any]) -> str:
    """What is not finite among numbers that a model said; empty where all is."""
    for answer in answers:
        array = np.asarray(answer)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return "NaN" if np.isnan(array).any() else "infinity"
    return ""


def run_quietly(case: Case) -> str:
    """Run a case without warnings; what is not finite among its answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return unbounded(case.run())
