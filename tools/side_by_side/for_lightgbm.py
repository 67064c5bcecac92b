"""Scripts on the topics of LightGBM's documentation."""

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
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tools.side_by_side import data

QUIET = {"verbosity": -1, "num_threads": 1, "seed": 0}


def first_steps(lgb: Any) -> dict[str, float]:
    """First steps: `Dataset`, `train`, early stopping, `record_evaluation`."""
    X_train, X_test, y_train, y_test = data.wine()
    train = lgb.Dataset(X_train, y_train)
    valid = lgb.Dataset(X_test, y_test, reference=train)
    history: dict[str, Any] = {}
    gbm = lgb.train(
        {"objective": "regression", "metric": ["l2", "l1"], "learning_rate": 0.2, **QUIET},
        train,
        num_boost_round=100,
        valid_sets=[valid],
        callbacks=[
            lgb.early_stopping(stopping_rounds=10, first_metric_only=True, verbose=False),
            lgb.record_evaluation(history),
        ],
    )
    predicted = gbm.predict(X_test, num_iteration=gbm.best_iteration)
    return {"RMSE": root_mean_squared_error(y_test, predicted), "best MAE": min(history["valid_0"]["l1"])}


def estimators(lgb: Any) -> dict[str, float]:
    """Estimators of scikit-learn, several classes, missing values."""
    X_train, X_test, y_train, y_test = data.penguins()
    model = lgb.LGBMClassifier(n_estimators=20, learning_rate=0.2, n_jobs=1, verbosity=-1)
    model.fit(X_train, y_train)
    return {
        "accuracy": accuracy_score(y_test, model.predict(X_test)),
        "log loss": log_loss(y_test, model.predict_proba(X_test)),
    }


def cross_validation(lgb: Any) -> dict[str, float]:
    """Cross-validation: `cv`."""
    X_train, _, y_train, _ = data.good_wine()
    found = lgb.cv(
        {"objective": "binary", "metric": "auc", "num_leaves": 15, "learning_rate": 0.2, **QUIET},
        lgb.Dataset(X_train, y_train),
        num_boost_round=30,
        nfold=3,
        stratified=True,
        seed=1,
    )
    return {"AUC, 10 rounds": found["valid auc-mean"][9], "AUC, 30 rounds": found["valid auc-mean"][-1]}


def custom_objective_and_metric(lgb: Any) -> dict[str, float]:
    """An objective and a metric of one's own: the logistic loss by hand."""

    def logistic(scores: Any, dataset: Any) -> Any:
        chance = 1 / (1 + np.exp(-scores))
        return chance - dataset.get_label(), chance * (1 - chance)

    def mistakes(scores: Any, dataset: Any) -> Any:
        return "mistakes", float(np.mean((scores > 0) != dataset.get_label())), False

    X_train, X_test, y_train, y_test = data.good_wine()
    train = lgb.Dataset(X_train, y_train)
    valid = lgb.Dataset(X_test, y_test, reference=train)
    history: dict[str, Any] = {}
    gbm = lgb.train(
        {"objective": logistic, "metric": "None", "num_leaves": 15, "learning_rate": 0.2, **QUIET},
        train,
        num_boost_round=30,
        valid_sets=[valid],
        feval=mistakes,
        callbacks=[lgb.record_evaluation(history)],
    )
    return {
        "mistakes": history["valid_0"]["mistakes"][-1],
        "log loss": log_loss(y_test, 1 / (1 + np.exp(-gbm.predict(X_test)))),
    }


def categories_of_a_frame(lgb: Any) -> dict[str, float]:
    """Categories of a pandas frame, with `cat_smooth` and `max_cat_to_onehot`."""
    X_train, X_test, y_train, y_test = data.people()
    params = {"objective": "binary", "num_leaves": 15, "learning_rate": 0.2, **QUIET}
    result = {}
    for smooth in (1.0, 10.0):
        train = lgb.Dataset(X_train, y_train, categorical_feature="auto")
        gbm = lgb.train({**params, "cat_smooth": smooth, "max_cat_to_onehot": 5}, train, num_boost_round=30)
        result[f"AUC, cat_smooth {smooth:g}"] = roc_auc_score(y_test, gbm.predict(X_test))
    return result


def class_imbalance(lgb: Any) -> dict[str, float]:
    """Imbalanced classes: `class_weight`, and weights of rows."""
    X_train, X_test, y_train, y_test = data.great_wine()
    settings = {"n_estimators": 30, "num_leaves": 15, "n_jobs": 1, "verbosity": -1}
    balanced = lgb.LGBMClassifier(class_weight="balanced", **settings).fit(X_train, y_train)
    weighted = lgb.LGBMClassifier(**settings)
    weighted.fit(X_train, y_train, sample_weight=np.where(y_train, 2.0, 1.0))
    return {
        "AUC, balanced": roc_auc_score(y_test, balanced.predict_proba(X_test)[:, 1]),
        "share called great, balanced": float(np.mean(balanced.predict(X_test))),
        "log loss, weighted": log_loss(y_test, weighted.predict_proba(X_test)[:, 1]),
    }


def rows_and_columns_that_are_drawn(lgb: Any) -> dict[str, float]:
    """Bagging, columns for every tree, goss, dart."""
    X_train, X_test, y_train, y_test = data.wine()
    ways: dict[str, dict[str, Any]] = {
        "bagging": {"bagging_fraction": 0.7, "bagging_freq": 1, "feature_fraction": 0.8},
        "goss": {"data_sample_strategy": "goss", "top_rate": 0.3, "other_rate": 0.2},
        "dart": {"boosting": "dart", "drop_rate": 0.1},
    }
    result = {}
    for name, way in ways.items():
        params = {"objective": "regression", "num_leaves": 15, "learning_rate": 0.2, **way, **QUIET}
        gbm = lgb.train(params, lgb.Dataset(X_train, y_train), num_boost_round=40)
        result[f"RMSE, {name}"] = root_mean_squared_error(y_test, gbm.predict(X_test))
    mean = y_train.mean()
    gbm = lgb.train(params, lgb.Dataset(X_train, y_train - mean), num_boost_round=40)
    result["RMSE, dart of labels less their mean"] = root_mean_squared_error(
        y_test, mean + gbm.predict(X_test)
    )
    return result


def quantiles_and_counts(lgb: Any) -> dict[str, float]:
    """Quantiles, Poisson and Tweedie."""
    X_train, X_test, y_train, y_test = data.bikes()

    def predicted(**params: Any) -> Any:
        settings = {"num_leaves": 15, "learning_rate": 0.2, **QUIET, **params}
        return lgb.train(settings, lgb.Dataset(X_train, y_train), num_boost_round=40).predict(X_test)

    high = predicted(objective="quantile", alpha=0.9)
    tweedie = predicted(objective="tweedie", tweedie_variance_power=1.2)
    return {
        "pinball loss at 0.9": mean_pinball_loss(y_test, high, alpha=0.9),
        "rows below the quantile": float(np.mean(y_test <= high)),
        "Poisson deviance": mean_poisson_deviance(y_test, predicted(objective="poisson")),
        "RMSE, Tweedie": root_mean_squared_error(y_test, tweedie),
    }


def monotone_constraints(lgb: Any) -> dict[str, float]:
    """Monotone and interaction constraints."""
    X_train, X_test, y_train, y_test = data.wine()
    names = list(X_train)
    params = {
        "objective": "regression",
        "num_leaves": 15,
        "learning_rate": 0.2,
        "monotone_constraints": [int(name == "alcohol") for name in names],
        "interaction_constraints": [[names.index("alcohol"), names.index("density")], list(range(7))],
        **QUIET,
    }
    gbm = lgb.train(params, lgb.Dataset(X_train, y_train), num_boost_round=40)
    rise = gbm.predict(X_test.assign(alcohol=X_test["alcohol"] + 1)) - gbm.predict(X_test)
    return {
        "RMSE": root_mean_squared_error(y_test, gbm.predict(X_test)),
        "mean rise by a degree more": float(rise.mean()),
        "rows that fall": float(np.sum(rise < 0)),
    }


def contributions(lgb: Any) -> dict[str, float]:
    """Feature importances and SHAP contributions."""
    X_train, X_test, y_train, _ = data.wine()
    params = {"objective": "regression", "num_leaves": 15, "learning_rate": 0.2, **QUIET}
    gbm = lgb.train(params, lgb.Dataset(X_train, y_train), num_boost_round=30)
    place = gbm.feature_name().index("alcohol")
    gain = gbm.feature_importance(importance_type="gain")
    shares = gbm.predict(X_test, pred_contrib=True)
    return {
        "alcohol, share of gain": float(gain[place] / gain.sum()),
        "alcohol, mean of the absolute contributions": float(np.abs(shares[:, place]).mean()),
        "rows whose contributions are the prediction": float(
            np.mean(np.isclose(shares.sum(axis=1), gbm.predict(X_test)))
        ),
    }


def files_and_continued_training(lgb: Any) -> dict[str, float]:
    """A model in a file, training that goes on with a slower and slower rate, and `refit`."""
    X_train, X_test, y_train, y_test = data.wine()
    params = {"objective": "regression", "num_leaves": 15, "learning_rate": 0.2, **QUIET}
    train = lgb.Dataset(X_train, y_train, free_raw_data=False)
    begun = lgb.train(params, train, num_boost_round=15)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.txt"
        begun.save_model(path)
        loaded = lgb.Booster(model_file=path)
    slower = lgb.reset_parameter(learning_rate=lambda number: 0.2 * 0.95**number)
    finished = lgb.train(params, train, num_boost_round=15, init_model=loaded, callbacks=[slower])
    refitted = loaded.refit(X_train[:1000], y_train[:1000], decay_rate=0.5)
    return {
        "RMSE, 15 rounds": root_mean_squared_error(y_test, loaded.predict(X_test)),
        "RMSE, 15 rounds more": root_mean_squared_error(y_test, finished.predict(X_test)),
        "RMSE, refitted": root_mean_squared_error(y_test, refitted.predict(X_test)),
    }


def a_search_in_a_pipeline(lgb: Any) -> dict[str, float]:
    """A search over a pipeline of scikit-learn."""
    X_train, X_test, y_train, y_test = data.good_wine()
    model = lgb.LGBMClassifier(n_estimators=15, n_jobs=1, verbosity=-1, random_state=0)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), model)
    grid = {"lgbmclassifier__num_leaves": [4, 15], "lgbmclassifier__learning_rate": [0.02, 0.2]}
    search = GridSearchCV(pipeline, grid, cv=2, scoring="roc_auc").fit(X_train, y_train)
    return {
        "best AUC of the search": search.best_score_,
        "AUC": roc_auc_score(y_test, search.predict_proba(X_test)[:, 1]),
        "its leaves": float(search.best_params_["lgbmclassifier__num_leaves"]),
    }
