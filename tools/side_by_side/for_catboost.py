"""Scripts on the topics of CatBoost's documentation."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_pinball_loss,
    mean_poisson_deviance,
    roc_auc_score,
    root_mean_squared_error,
)

from tools.side_by_side import data

QUIET: dict[str, Any] = {
    "thread_count": 1,
    "random_seed": 0,
    "logging_level": "Silent",
    "allow_writing_files": False,
}
SMALL: dict[str, Any] = {"iterations": 40, "learning_rate": 0.2, "depth": 4, **QUIET}


def first_steps(cb: Any) -> dict[str, float]:
    """First steps: `Pool` with `cat_features`, `fit`, `predict`."""
    X_train, X_test, y_train, y_test = data.people_as_text()
    columns = list(X_train.select_dtypes(exclude="number"))
    train, test = (
        cb.Pool(X_train, y_train, cat_features=columns),
        cb.Pool(X_test, y_test, cat_features=columns),
    )
    model = cb.CatBoostClassifier(**SMALL).fit(train)
    chance = model.predict(test, prediction_type="Probability")[:, 1]
    return {"AUC": roc_auc_score(y_test, chance), "log loss": log_loss(y_test, chance)}


def one_hot_categories(cb: Any) -> dict[str, float]:
    """Categories of which each is apart: `one_hot_max_size`."""
    X_train, X_test, y_train, y_test = data.diamonds()
    model = cb.CatBoostRegressor(one_hot_max_size=10, **SMALL)
    model.fit(X_train, y_train, cat_features=["cut", "color", "clarity"])
    return {"RMSE": root_mean_squared_error(y_test, model.predict(X_test)), "R2": model.score(X_test, y_test)}


def ordered_boosting(cb: Any) -> dict[str, float]:
    """Ordered boosting beside plain."""
    X_train, X_test, y_train, y_test = data.people_as_text()
    X_train, X_test = X_train[:1500].drop(columns="fnlwgt"), X_test.drop(columns="fnlwgt")
    columns = list(X_train.select_dtypes(exclude="number"))
    result = {}
    for way in ("Ordered", "Plain"):
        model = cb.CatBoostClassifier(boosting_type=way, cat_features=columns, **SMALL)
        model.fit(X_train, y_train[:1500])
        result[f"AUC, {way}"] = roc_auc_score(y_test, model.predict_proba(X_test)[:, 1])
    return result


def early_stopping(cb: Any) -> dict[str, float]:
    """Early stopping by an `eval_metric`, and `get_evals_result`."""
    X_train, X_test, y_train, y_test = data.good_wine()
    model = cb.CatBoostClassifier(iterations=150, learning_rate=0.3, depth=5, eval_metric="AUC", **QUIET)
    model.fit(X_train, y_train, eval_set=(X_test, y_test), early_stopping_rounds=15)
    history = model.get_evals_result()["validation"]
    return {
        "first AUC": history["AUC"][0],
        "best AUC": model.get_best_score()["validation"]["AUC"],
        "least log loss": min(history["Logloss"]),
    }


def cross_validation(cb: Any) -> dict[str, float]:
    """Cross-validation: `cv`."""
    X_train, _, y_train, _ = data.wine()
    params = {"loss_function": "RMSE", **SMALL}
    table = cb.cv(cb.Pool(X_train, y_train), params, fold_count=3, partition_random_seed=1)
    last = table.iloc[-1]
    return {"RMSE, training": last["train-RMSE-mean"], "RMSE, left out": last["test-RMSE-mean"]}


def custom_objective_and_metric(cb: Any) -> dict[str, float]:
    """An objective and a metric of one's own: the logistic loss by hand."""

    class Logistic:
        def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> Any:
            derivatives = []
            for index in range(len(targets)):
                chance = 1 / (1 + np.exp(-approxes[index]))
                derivatives.append((targets[index] - chance, -chance * (1 - chance)))
            return derivatives

    class Mistakes:
        def is_max_optimal(self) -> bool:
            return False

        def evaluate(self, approxes: Any, target: Any, weight: Any) -> Any:
            wrong = 0.0
            for index in range(len(target)):
                wrong += (approxes[0][index] > 0) != (target[index] > 0.5)
            return wrong, len(target)

        def get_final_error(self, error: float, weight: float) -> float:
            return error / weight

    X_train, X_test, y_train, y_test = data.good_wine()
    model = cb.CatBoostClassifier(loss_function=Logistic(), eval_metric=Mistakes(), **SMALL)
    model.fit(X_train, y_train, eval_set=(X_test, y_test), use_best_model=False)
    scores = model.predict(X_test, prediction_type="RawFormulaVal")
    return {
        "mistakes": model.get_evals_result()["validation"]["Mistakes"][-1],
        "log loss": log_loss(y_test, 1 / (1 + np.exp(-scores))),
    }


def several_classes(cb: Any) -> dict[str, float]:
    """Several classes, missing values, and predictions of every stage."""
    X_train, X_test, y_train, y_test = data.penguins()
    model = cb.CatBoostClassifier(loss_function="MultiClass", **SMALL).fit(X_train, y_train)
    stages = list(model.staged_predict_proba(X_test, eval_period=10))
    return {
        "accuracy": accuracy_score(y_test, np.ravel(model.predict(X_test))),
        "log loss, 10 trees": log_loss(y_test, stages[0]),
        "log loss, 40 trees": log_loss(y_test, stages[-1]),
    }


def class_imbalance(cb: Any) -> dict[str, float]:
    """Imbalanced classes: `auto_class_weights`."""
    X_train, X_test, y_train, y_test = data.great_wine()
    result = {}
    for way in ("None", "Balanced", "SqrtBalanced"):
        model = cb.CatBoostClassifier(auto_class_weights=None if way == "None" else way, **SMALL)
        model.fit(X_train, y_train)
        result[f"AUC, {way}"] = roc_auc_score(y_test, model.predict_proba(X_test)[:, 1])
        result[f"share called great, {way}"] = float(np.mean(model.predict(X_test)))
    return result


def quantiles_and_counts(cb: Any) -> dict[str, float]:
    """Quantiles, Poisson and Tweedie."""
    X_train, X_test, y_train, y_test = data.bikes()
    y_train, y_test = y_train / 100, y_test / 100  # Poisson starts at a mean of 1

    def predicted(loss: str) -> Any:
        model = cb.CatBoostRegressor(loss_function=loss, **{**SMALL, "iterations": 60})
        return model.fit(X_train, y_train).predict(X_test)

    high = predicted("Quantile:alpha=0.9")
    return {
        "pinball loss at 0.9": mean_pinball_loss(y_test, high, alpha=0.9),
        "rows below the quantile": float(np.mean(y_test <= high)),
        "Poisson deviance": mean_poisson_deviance(y_test, predicted("Poisson")),
        "RMSE, Tweedie": root_mean_squared_error(y_test, predicted("Tweedie:variance_power=1.2")),
    }


def growth_and_constraints(cb: Any) -> dict[str, float]:
    """Ways to grow, and monotone constraints."""
    X_train, X_test, y_train, y_test = data.wine()
    result = {}
    for policy in ("SymmetricTree", "Depthwise", "Lossguide"):
        model = cb.CatBoostRegressor(grow_policy=policy, **SMALL).fit(X_train, y_train)
        result[f"RMSE, {policy}"] = root_mean_squared_error(y_test, model.predict(X_test))
    model = cb.CatBoostRegressor(monotone_constraints={"alcohol": 1}, **SMALL).fit(X_train, y_train)
    rise = model.predict(X_test.assign(alcohol=X_test["alcohol"] + 1)) - model.predict(X_test)
    return {
        **result,
        "RMSE, alcohol only rises": root_mean_squared_error(y_test, model.predict(X_test)),
        "mean rise by a degree more": float(rise.mean()),
        "rows that fall": float(np.sum(rise < -1e-9)),
    }


def neither_rows_nor_noise(cb: Any) -> dict[str, float]:
    """Neither rows nor noise drawn: `random_strength=0`, `bootstrap_type="No"`."""
    X_train, X_test, y_train, y_test = data.wine()
    still = {"random_strength": 0, "bootstrap_type": "No"}
    result = {}
    for score in ("Cosine", "L2"):
        model = cb.CatBoostRegressor(score_function=score, **still, **SMALL).fit(X_train, y_train)
        result[f"RMSE, training, {score}"] = root_mean_squared_error(y_train, model.predict(X_train))
        result[f"RMSE, {score}"] = root_mean_squared_error(y_test, model.predict(X_test))
    return result


def contributions(cb: Any) -> dict[str, float]:
    """Feature importances and SHAP values."""
    X_train, X_test, y_train, y_test = data.wine()
    model = cb.CatBoostRegressor(**SMALL).fit(X_train, y_train)
    place = model.feature_names_.index("alcohol")
    pool = cb.Pool(X_test, y_test)
    shares = model.get_feature_importance(pool, type="ShapValues")
    return {
        "alcohol, importance": float(model.get_feature_importance()[place]),
        "alcohol, mean of the absolute SHAP values": float(np.abs(shares[:, place]).mean()),
        "rows whose SHAP values are the prediction": float(
            np.mean(np.isclose(shares.sum(axis=1), model.predict(pool)))
        ),
    }


def files_and_continued_training(cb: Any) -> dict[str, float]:
    """A model in a file, and training that goes on from it."""
    X_train, X_test, y_train, y_test = data.wine()
    begun = cb.CatBoostRegressor(**SMALL).fit(X_train, y_train)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.cbm")
        begun.save_model(path)
        loaded = cb.CatBoostRegressor().load_model(path)
    finished = cb.CatBoostRegressor(**SMALL).fit(X_train, y_train, init_model=loaded)
    return {
        "RMSE, 40 trees": root_mean_squared_error(y_test, loaded.predict(X_test)),
        "RMSE, 40 trees more": root_mean_squared_error(y_test, finished.predict(X_test)),
        "trees": float(finished.tree_count_),
    }
