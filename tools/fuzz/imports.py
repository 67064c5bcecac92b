"""A model that another system trains with drawn parameters, and the same model imported: they must predict the same."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import weald
from tools.fuzz.draws import Draws
from tools.fuzz.fits import Case

#: How far predictions may be apart, relative to 1 and to themselves: XGBoost and treelite add float32.
_SINGLE, _DOUBLE = 2e-5, 1e-11


@dataclass(frozen=True)
class _Rows:
    """Rows with missing values, infinities aside, and categories; labels of every kind."""

    frame: Any
    signal: NDArray[np.float64]

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The columns of numbers."""
        found: NDArray[np.float64] = self.frame[["a", "b", "k"]].to_numpy(np.float64)
        return found

    def labels(self, kind: str) -> NDArray[Any]:
        """Labels that an objective takes."""
        if kind == "positive":
            return np.abs(self.signal) + 0.1
        if kind == "counts":
            return np.floor(np.abs(self.signal))
        if kind == "two":
            return (self.signal > np.median(self.signal)).astype(np.int64)
        if kind == "share":
            return 1.0 / (1.0 + np.exp(-self.signal))
        if kind == "three":
            return np.digitize(self.signal, np.quantile(self.signal, [0.3, 0.7]))
        return self.signal


def draw_import(seed: int, number: int) -> Case:
    """The case of this number: everything about it follows from the two."""
    draws = Draws(seed, number)
    system = _SYSTEMS[number % len(_SYSTEMS)]
    params, compare = system(draws, _rows(draws))
    name = system.__name__.strip("_")

    def run() -> list[Any]:
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            compare(folder)
        return []

    return Case(name, f"{name}: {params}", run)


def _rows(draws: Draws) -> _Rows:
    import pandas as pd

    n_rows = draws.one([60, 200, 500])
    generator = draws.generator
    frame = pd.DataFrame(
        {
            "a": generator.standard_normal(n_rows),
            "b": np.round(generator.standard_normal(n_rows) * draws.magnitude(1e-3, 1e6), 3),
            "k": generator.integers(0, 4, n_rows).astype(float),
            "c": pd.Categorical(generator.choice(list("uvwxyz"), n_rows)),
            "d": pd.Categorical(generator.integers(0, draws.one([3, 30]), n_rows) * 3),
        }
    )
    signal = frame.a + (frame.c == "u") * 2.0 + frame.d.cat.codes % 3 + frame.k * 0.3
    signal = signal.to_numpy() + 0.2 * generator.standard_normal(n_rows)
    for column in ("a", "k", "c"):
        if draws.chance(0.5):
            frame.loc[generator.random(n_rows) < 0.15, column] = np.nan
    return _Rows(frame, signal)


def _hold(ours: Any, theirs: Any, tolerance: float, what: str) -> None:
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if ours.ndim == 2 and theirs.ndim == 1 and ours.shape[1] == 2:
        ours = ours[:, 1]
    error = np.abs(ours.reshape(theirs.shape) - theirs) / (1.0 + np.abs(theirs))
    if error.size and not error.max() <= tolerance:
        raise AssertionError(f"{what} differ by {error.max():.3g}")


def _again(model: Any, rows: Any, folder: str) -> None:
    """The model's file gives the same model."""
    path = os.path.join(folder, "again.weald")
    if not hasattr(model, "save"):  # a program of steps, which comes back from JSON
        return
    model.save(path)
    if not np.array_equal(
        weald.load(path).decision_function(rows), model.decision_function(rows), equal_nan=True
    ):
        raise AssertionError("the saved model predicts otherwise")


_XGBOOST = {
    "reg:squarederror": "any", "reg:absoluteerror": "any", "reg:pseudohubererror": "any", "reg:logistic": "share",
    "binary:logistic": "two", "binary:logitraw": "two", "binary:hinge": "two", "multi:softprob": "three",
    "count:poisson": "counts",
    "reg:gamma": "positive", "reg:tweedie": "counts", "survival:cox": "positive", "rank:pairwise": "two",
    "reg:quantileerror": "any",
}  # fmt: skip


def _xgboost(draws: Draws, rows: _Rows) -> tuple[Any, Callable[[str], None]]:
    import xgboost

    objective = draws.one(list(_XGBOOST))
    booster = draws.one(["gbtree", "dart", "gblinear"], [6, 2, 1])
    params: dict[str, Any] = {
        "objective": objective,
        "booster": booster,
        "seed": draws.whole(0, 99),
        "nthread": 1,
    }
    if booster != "gblinear":
        params |= {
            "max_depth": draws.whole(0, 7), "max_leaves": draws.one([0, 7, 31]), "eta": draws.magnitude(0.01, 1.0),
            "min_child_weight": draws.magnitude(1e-3, 5.0), "tree_method": draws.one(["hist", "approx"]),
            "grow_policy": draws.one(["depthwise", "lossguide"]), "subsample": draws.one([1.0, 0.6]),
            "num_parallel_tree": draws.one([1, 1, 3]), "max_cat_to_onehot": draws.one([1, 4, 50]),
        }  # fmt: skip
        if params["max_depth"] == 0:
            params |= {"grow_policy": "lossguide", "max_leaves": 15}
    if booster == "dart":
        params |= {"rate_drop": 0.5}
    if objective == "multi:softprob":
        params["num_class"] = 3
    if objective == "reg:quantileerror":
        params["quantile_alpha"] = [0.2, 0.7]
    with_categories = booster != "gblinear" and draws.chance(0.6)
    X = rows.frame if with_categories else rows.numbers
    labels = rows.labels(_XGBOOST[objective])
    rounds, ending = draws.whole(1, 8), draws.one(["json", "ubj"])

    def compare(folder: str) -> None:
        data = xgboost.DMatrix(X, labels, enable_categorical=with_categories)
        trained = xgboost.train(params, data, rounds)
        path = os.path.join(folder, f"model.{ending}")
        trained.save_model(path)
        model = weald.load_foreign(path)
        _hold(model.decision_function(X), trained.predict(data, output_margin=True), _SINGLE, "raw scores")
        if objective != "binary:logitraw":
            ours = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
            _hold(ours, trained.predict(data), _SINGLE, "predictions")
        if booster == "gbtree":
            _hold(model.shap_values(X), trained.predict(data, pred_contribs=True), 1e-4, "Shapley values")
        _again(model, X, folder)

    return {**params, "categories": with_categories, "rounds": rounds}, compare


_LIGHTGBM = {
    "regression": "any", "regression_l1": "any", "huber": "any", "fair": "any", "quantile": "any", "mape": "positive",
    "poisson": "counts", "gamma": "positive", "tweedie": "counts", "binary": "two", "multiclass": "three",
    "multiclassova": "three", "cross_entropy": "share", "cross_entropy_lambda": "share", "lambdarank": "two",
}  # fmt: skip


def _lightgbm(draws: Draws, rows: _Rows) -> tuple[Any, Callable[[str], None]]:
    import lightgbm

    objective, boosting = draws.one(list(_LIGHTGBM)), draws.one(["gbdt", "rf", "dart"], [4, 1, 1])
    params: dict[str, Any] = {
        "objective": objective, "boosting": boosting, "seed": draws.whole(0, 99), "num_threads": 1, "verbose": -1,
        "num_leaves": draws.one([2, 5, 31]), "min_data_in_leaf": draws.one([1, 5, 20]),
        "learning_rate": draws.magnitude(0.01, 1.0),
        "max_cat_to_onehot": draws.one([1, 4, 50]), "min_data_per_group": 5, "cat_smooth": 1.0,
        "extra_trees": draws.chance(0.2), "reg_sqrt": objective == "regression" and draws.chance(0.3),
        "max_bin": draws.one([15, 255]),
    }  # fmt: skip
    params |= draws.one([{}, {"zero_as_missing": True}, {"use_missing": False}])
    if boosting == "rf":
        params |= {"bagging_fraction": 0.6, "bagging_freq": 1}
    if objective.startswith("multiclass"):
        params["num_class"] = 3
    if objective in ("binary", "multiclassova"):
        params["sigmoid"] = draws.one([1.0, 0.7])
    as_frame, rounds, dumped = draws.chance(0.5), draws.whole(1, 8), draws.chance(0.3)
    X = rows.frame if as_frame else rows.numbers
    labels = rows.labels(_LIGHTGBM[objective])

    def compare(folder: str) -> None:
        groups = [len(labels)] if objective == "lambdarank" else None
        data = lightgbm.Dataset(X, labels, group=groups, categorical_feature="auto" if as_frame else [2])
        trained = lightgbm.train(params, data, rounds)
        path = os.path.join(folder, "model.txt")
        trained.save_model(path)
        model = weald.load_foreign(trained.dump_model() if dumped and not as_frame else path)
        theirs = trained.predict(X)
        _hold(
            model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X),
            theirs,
            _DOUBLE,
            "predictions",
        )
        if boosting == "gbdt" and params.get("sigmoid", 1.0) == 1.0:
            _hold(model.shap_values(X), trained.predict(X, pred_contrib=True), 1e-9, "Shapley values")
        _again(model, X, folder)

    return {**params, "frame": as_frame, "rounds": rounds}, compare


_CATBOOST = {
    "RMSE": "any", "MAE": "any", "Poisson": "counts", "Tweedie:variance_power=1.3": "counts", "RMSEWithUncertainty": "any",
    "Logloss": "two", "CrossEntropy": "share", "MultiClass": "three", "MultiClassOneVsAll": "three",
}  # fmt: skip


def _catboost(draws: Draws, rows: _Rows) -> tuple[Any, Callable[[str], None]]:
    import catboost

    loss = draws.one(list(_CATBOOST))
    params: dict[str, Any] = {
        "loss_function": loss, "iterations": draws.whole(1, 8), "verbose": 0, "thread_count": 1,
        "allow_writing_files": False, "random_seed": draws.whole(0, 99),
        "grow_policy": draws.one(["SymmetricTree", "Depthwise", "Lossguide"], [3, 1, 1]), "depth": draws.whole(1, 6),
        "one_hot_max_size": draws.one([2, 8, 60]), "max_ctr_complexity": draws.whole(1, 3),
        "nan_mode": draws.one(["Min", "Max"]), "boosting_type": "Plain",
    }  # fmt: skip
    if draws.chance(0.4):
        params["simple_ctr"] = draws.some(
            ["Borders", "Counter", "Buckets", "BinarizedTargetMeanValue"], 4
        ) or ["Borders"]
    frame = rows.frame.copy()
    frame["c"] = frame["c"].astype(object).fillna("none").astype(str)
    frame["d"] = frame["d"].astype(int)
    changed = frame.copy()
    changed.loc[::3, "c"] = "new"
    labels = rows.labels(_CATBOOST[loss])

    def compare(folder: str) -> None:
        pool = catboost.Pool(frame, labels, cat_features=["c", "d"])
        trained = catboost.CatBoost(params).fit(pool)
        path = os.path.join(folder, "model.json")
        trained.save_model(path, format="json", pool=pool)
        model = weald.load_foreign(path)
        for X in (frame, changed):
            _hold(model.decision_function(X), trained.predict(X), _DOUBLE, "raw scores")
            if hasattr(model, "classes_"):
                theirs = trained.predict(X, prediction_type="Probability")
                _hold(model.predict_proba(X), theirs, _DOUBLE, "probabilities")
        _again(model, changed, folder)

    return params, compare


def _scikit(draws: Draws, rows: _Rows) -> tuple[Any, Callable[[str], None]]:
    import sklearn.ensemble
    import sklearn.tree

    name = draws.one(
        [
            "RandomForest",
            "ExtraTrees",
            "GradientBoosting",
            "HistGradientBoosting",
            "AdaBoost",
            "DecisionTree",
            "IsolationForest",
        ]
    )
    classifies = draws.chance(0.5)
    params: dict[str, Any] = {"random_state": draws.whole(0, 99)}
    if name not in ("AdaBoost", "IsolationForest"):
        params["max_depth"] = draws.one([None, 2, 5]) if name != "GradientBoosting" else 3
    if name in ("GradientBoosting", "AdaBoost", "RandomForest", "ExtraTrees", "IsolationForest"):
        params["n_estimators"] = draws.whole(1, 12)
    if name == "HistGradientBoosting":
        params |= {
            "max_iter": draws.whole(1, 8),
            "max_leaf_nodes": draws.one([3, 31]),
            "min_samples_leaf": draws.one([2, 20]),
        }
    if name == "GradientBoosting" and not classifies:
        params["loss"] = draws.one(["squared_error", "absolute_error", "huber", "quantile"])
    if name in ("RandomForest", "ExtraTrees", "DecisionTree"):
        params |= {"min_samples_leaf": draws.one([1, 4]), "max_features": draws.one([None, 1, "sqrt"])}
    X = (
        rows.numbers
        if name in ("RandomForest", "HistGradientBoosting", "DecisionTree")
        else np.nan_to_num(rows.numbers)
    )
    if name == "HistGradientBoosting" and draws.chance(0.5):
        X, params["categorical_features"] = rows.frame[["a", "k", "c"]], ["c"]
    labels = np.array(["no", "yes", "maybe"])[rows.labels("three")] if classifies else rows.labels("any")
    kind = name if name == "IsolationForest" else name + ("Classifier" if classifies else "Regressor")

    def compare(folder: str) -> None:
        module = sklearn.tree if name == "DecisionTree" else sklearn.ensemble
        trained = getattr(module, kind)(**params)
        trained.fit(X) if kind == "IsolationForest" else trained.fit(X, labels)
        model = weald.load_foreign(trained)
        if kind == "IsolationForest":
            _hold(model.predict(X), -trained.score_samples(X), _DOUBLE, "scores")
        elif classifies:
            _hold(model.predict_proba(X), trained.predict_proba(X), _DOUBLE, "probabilities")
        else:
            _hold(model.predict(X), trained.predict(X), _DOUBLE, "predictions")
        _again(model, X, folder)

    return {"kind": kind, **params}, compare


def _treelite(draws: Draws, rows: _Rows) -> tuple[Any, Callable[[str], None]]:
    import treelite
    import xgboost

    objective = draws.one(["reg:squarederror", "binary:logistic", "multi:softprob", "count:poisson"])
    params: dict[str, Any] = {"objective": objective, "max_depth": draws.whole(1, 6), "nthread": 1}
    if objective == "multi:softprob":
        params["num_class"] = 3
    labels, rounds = rows.labels(_XGBOOST[objective]), draws.whole(1, 8)

    def compare(folder: str) -> None:
        trained = xgboost.train(params, xgboost.DMatrix(rows.numbers, labels), rounds)
        built = treelite.frontend.from_xgboost(trained)
        model = weald.load_foreign(built)
        theirs = treelite.gtil.predict(built, rows.numbers.astype(np.float32))
        theirs = theirs.reshape(len(labels), -1) if objective == "multi:softprob" else theirs.reshape(-1)
        ours = (
            model.predict_proba(rows.numbers) if hasattr(model, "classes_") else model.predict(rows.numbers)
        )
        _hold(ours, theirs, _SINGLE, "predictions")
        _again(model, rows.numbers, folder)

    return {**params, "rounds": rounds}, compare


_SYSTEMS = (_xgboost, _lightgbm, _catboost, _scikit, _treelite)
