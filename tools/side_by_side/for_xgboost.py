"""Scripts on the topics of XGBoost's documentation."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_pinball_loss,
    roc_auc_score,
    root_mean_squared_error,
)

from tools.side_by_side import data

ONE_THREAD = {"nthread": 1, "seed": 0}


def first_steps(xgb: Any) -> dict[str, float]:
    """First steps: `DMatrix`, `train`, `predict`."""
    X_train, X_test, y_train, y_test = data.good_wine()
    dtrain, dtest = xgb.DMatrix(X_train, label=y_train), xgb.DMatrix(X_test, label=y_test)
    params = {"objective": "binary:logistic", "max_depth": 4, "eta": 0.2, **ONE_THREAD}
    bst = xgb.train(params, dtrain, num_boost_round=40)
    chance = bst.predict(dtest)
    return {"AUC": roc_auc_score(y_test, chance), "log loss": log_loss(y_test, chance)}


def estimators(xgb: Any) -> dict[str, float]:
    """Estimators of scikit-learn, several classes, missing values."""
    X_train, X_test, y_train, y_test = data.penguins()
    model = xgb.XGBClassifier(n_estimators=20, max_depth=3, learning_rate=0.3, n_jobs=1)
    model.fit(X_train, y_train)
    return {
        "accuracy": accuracy_score(y_test, model.predict(X_test)),
        "log loss": log_loss(y_test, model.predict_proba(X_test)),
    }


def early_stopping(xgb: Any) -> dict[str, float]:
    """Early stopping and `evals_result`."""
    X_train, X_test, y_train, y_test = data.good_wine()
    dtrain, dtest = xgb.DMatrix(X_train, y_train), xgb.DMatrix(X_test, y_test)
    params = {"objective": "binary:logistic", "eval_metric": ["auc", "logloss"], "eta": 0.3, **ONE_THREAD}
    history: dict[str, Any] = {}
    bst = xgb.train(
        params,
        dtrain,
        num_boost_round=100,
        evals=[(dtrain, "train"), (dtest, "test")],
        evals_result=history,
        early_stopping_rounds=10,
        verbose_eval=False,
    )
    return {
        "first log loss": history["test"]["logloss"][0],
        "best log loss": bst.best_score,
        "best AUC": max(history["test"]["auc"]),
    }


def cross_validation(xgb: Any) -> dict[str, float]:
    """Cross-validation: `cv`."""
    X_train, _, y_train, _ = data.wine()
    params = {"objective": "reg:squarederror", "max_depth": 5, "eta": 0.2, **ONE_THREAD}
    table = xgb.cv(params, xgb.DMatrix(X_train, y_train), num_boost_round=30, nfold=3, metrics="rmse", seed=1)
    last = table.iloc[-1]
    return {"RMSE, training": last["train-rmse-mean"], "RMSE, left out": last["test-rmse-mean"]}


def custom_objective_and_metric(xgb: Any) -> dict[str, float]:
    """An objective and a metric of one's own: squared error of logarithms."""

    def squared_log_error(predicted: Any, dtrain: Any) -> Any:
        shifted = np.maximum(predicted, -1 + 1e-6) + 1
        distance = np.log(shifted) - np.log1p(dtrain.get_label())
        return distance / shifted, np.maximum((1 - distance) / shifted**2, 1e-6)

    def rmsle(predicted: Any, dtrain: Any) -> Any:
        logarithms = np.log1p(np.maximum(predicted, -1 + 1e-6))
        return "rmsle", float(np.sqrt(np.mean((logarithms - np.log1p(dtrain.get_label())) ** 2)))

    X_train, X_test, y_train, y_test = data.wine()
    dtrain, dtest = xgb.DMatrix(X_train, y_train), xgb.DMatrix(X_test, y_test)
    history: dict[str, Any] = {}
    xgb.train(
        {"tree_method": "hist", "max_depth": 4, "disable_default_eval_metric": 1, **ONE_THREAD},
        dtrain,
        num_boost_round=40,
        obj=squared_log_error,
        custom_metric=rmsle,
        evals=[(dtest, "test")],
        evals_result=history,
        verbose_eval=False,
    )
    return {"RMSLE, 10 rounds": history["test"]["rmsle"][9], "RMSLE, 40 rounds": history["test"]["rmsle"][-1]}


def categories_of_a_frame(xgb: Any) -> dict[str, float]:
    """Categories of a pandas frame."""
    X_train, X_test, y_train, y_test = data.people()
    model = xgb.XGBClassifier(
        tree_method="hist", enable_categorical=True, n_estimators=40, max_depth=5, learning_rate=0.2, n_jobs=1
    )
    chance = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    return {"AUC": roc_auc_score(y_test, chance), "log loss": log_loss(y_test, chance)}


def class_imbalance(xgb: Any) -> dict[str, float]:
    """Imbalanced classes: `scale_pos_weight`, and the same as weights of rows."""
    X_train, X_test, y_train, y_test = data.great_wine()
    ratio = float(np.sum(y_train == 0) / np.sum(y_train == 1))
    settings: dict[str, Any] = {"n_estimators": 30, "max_depth": 4, "n_jobs": 1}
    scaled = xgb.XGBClassifier(scale_pos_weight=ratio, **settings).fit(X_train, y_train)
    weighted = xgb.XGBClassifier(**settings).fit(
        X_train, y_train, sample_weight=np.where(y_train, ratio, 1.0)
    )
    return {
        "AUC, scaled": roc_auc_score(y_test, scaled.predict_proba(X_test)[:, 1]),
        "share called great, scaled": float(np.mean(scaled.predict(X_test))),
        "AUC, weighted": roc_auc_score(y_test, weighted.predict_proba(X_test)[:, 1]),
    }


def constraints(xgb: Any) -> dict[str, float]:
    """Monotone and interaction constraints."""
    X_train, X_test, y_train, y_test = data.wine()
    params = {
        "max_depth": 4,
        "eta": 0.2,
        "monotone_constraints": {"alcohol": 1, "volatile_acidity": -1},
        "interaction_constraints": [["alcohol", "density", "residual_sugar"], ["pH", "volatile_acidity"]],
        **ONE_THREAD,
    }
    bst = xgb.train(params, xgb.DMatrix(X_train, y_train), num_boost_round=40)
    stronger = X_test.assign(alcohol=X_test["alcohol"] + 1)
    rise = bst.predict(xgb.DMatrix(stronger)) - bst.predict(xgb.DMatrix(X_test))
    return {
        "RMSE": root_mean_squared_error(y_test, bst.predict(xgb.DMatrix(X_test))),
        "mean rise by a degree more": float(rise.mean()),
        "rows that fall": float(np.sum(rise < 0)),
    }


def contributions(xgb: Any) -> dict[str, float]:
    """Feature importances and SHAP contributions."""
    X_train, X_test, y_train, _ = data.wine()
    bst = xgb.train({"max_depth": 3, "eta": 0.2, **ONE_THREAD}, xgb.DMatrix(X_train, y_train), 30)
    gain = bst.get_score(importance_type="total_gain")
    dtest = xgb.DMatrix(X_test)
    shares = bst.predict(dtest, pred_contribs=True)
    mean = np.abs(shares).mean(axis=0)
    return {
        "alcohol, share of gain": gain["alcohol"] / sum(gain.values()),
        "alcohol, mean of the absolute contributions": float(mean[list(X_test).index("alcohol")]),
        "rows whose contributions are the prediction": float(
            np.mean(np.isclose(shares.sum(axis=1), bst.predict(dtest), atol=1e-3))
        ),
    }


def files_and_continued_training(xgb: Any) -> dict[str, float]:
    """A model in a file, and training that goes on from it."""
    X_train, X_test, y_train, y_test = data.wine()
    dtrain, dtest = xgb.DMatrix(X_train, y_train), xgb.DMatrix(X_test, y_test)
    params = {"max_depth": 4, "eta": 0.1, **ONE_THREAD}
    begun = xgb.train(params, dtrain, num_boost_round=20)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        begun.save_model(path)
        loaded = xgb.Booster(model_file=path)
        finished = xgb.train(params, dtrain, num_boost_round=20, xgb_model=path)
    return {
        "RMSE, 20 rounds": root_mean_squared_error(y_test, loaded.predict(dtest)),
        "RMSE, 20 rounds more": root_mean_squared_error(y_test, finished.predict(dtest)),
        "rounds": float(finished.num_boosted_rounds()),
    }


def dart_and_a_schedule(xgb: Any) -> dict[str, float]:
    """The booster dart, and a learning rate for every round."""
    X_train, X_test, y_train, y_test = data.wine()
    dtrain, dtest = xgb.DMatrix(X_train, y_train), xgb.DMatrix(X_test)
    params = {"booster": "dart", "rate_drop": 0.1, "skip_drop": 0.5, "eta": 0.3, **ONE_THREAD}
    dropped = xgb.train(params, dtrain, num_boost_round=30)
    schedule = xgb.callback.LearningRateScheduler(lambda round_number: 0.4 * 0.95**round_number)
    slowed = xgb.train({"max_depth": 5, **ONE_THREAD}, dtrain, num_boost_round=30, callbacks=[schedule])
    return {
        "RMSE, dart": root_mean_squared_error(y_test, dropped.predict(dtest)),
        "RMSE, slower and slower": root_mean_squared_error(y_test, slowed.predict(dtest)),
    }


def quantiles(xgb: Any) -> dict[str, float]:
    """Quantiles: `reg:quantileerror` with several at once."""
    X_train, X_test, y_train, y_test = data.bikes()
    model = xgb.XGBRegressor(
        objective="reg:quantileerror",
        quantile_alpha=[0.1, 0.9],
        n_estimators=60,
        max_depth=5,
        learning_rate=0.2,
        n_jobs=1,
    )
    low, high = model.fit(X_train, y_train).predict(X_test).T
    return {
        "pinball loss at 0.1": mean_pinball_loss(y_test, low, alpha=0.1),
        "pinball loss at 0.9": mean_pinball_loss(y_test, high, alpha=0.9),
        "rows between": float(np.mean((y_test >= low) & (y_test <= high))),
    }
