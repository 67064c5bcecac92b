"""The same script with CatBoost and with weald.catboost, at CatBoost's defaults, on data sets with categories.

`_dialect_quality` says how they are compared. A second table compares, on the same splits, greedy with ordered target
statistics, as the paper of Prokhorenkova et al. (2018) does. Run it as ``python -m benchmarks.versus.catboost_quality``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

import weald
from benchmarks.common import THREADS, print_table
from benchmarks.versus._dialect_quality import Options, main
from benchmarks.versus.quality import Problem, frames, split_rows
from weald.dialects.catboost.objectives import choose
from weald.dialects.catboost.translate import native_parameters, resolved_parameters
from weald.params.catboost import read_parameters
from weald.training.boosting.flat import from_flat

SETS = ("amazon_access", "internet_usage", "adult", "click_small", "telco_churn", "bank_additional")
OF_STATISTICS = ("amazon_access", "internet_usage")
SETTINGS: dict[str, dict[str, Any]] = {"defaults": {}, "Ordered": {"boosting_type": "Ordered"}}


class WithCategories:
    """A model of either module, told which columns hold categories; these become text, as CatBoost wants them."""

    def __init__(self, model: Any, categorical: list[str]) -> None:
        self.model = model
        self.categorical = categorical

    @property
    def classes_(self) -> Any:
        """The classes."""
        return self.model.classes_

    def fit(self, X: pd.DataFrame, y: Any, sample_weight: Any = None) -> WithCategories:
        """Train."""
        self.model.fit(
            as_text(X, self.categorical), y, cat_features=self.categorical, sample_weight=sample_weight
        )
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        """Probabilities of the classes."""
        return self.model.predict_proba(as_text(X, self.categorical))

    def predict(self, X: pd.DataFrame) -> Any:
        """Predictions."""
        return self.model.predict(as_text(X, self.categorical))


def as_text(X: pd.DataFrame, categorical: list[str]) -> pd.DataFrame:
    """The table with its categories as text, missing ones as "missing"."""
    text = {
        name: X[name].astype(object).where(X[name].notna(), "missing").astype(str) for name in categorical
    }
    return X.assign(**text)


def make(cb: Any, problem: Problem, settings: dict[str, Any], seed: int) -> Any:
    """What a CatBoost user writes; ``cb`` is one of the two modules."""
    kind = cb.CatBoostClassifier if problem.kind in ("binary", "multiclass") else cb.CatBoostRegressor
    loss = {"loss_function": "Poisson"} if problem.kind == "count" else {}
    model = kind(
        thread_count=THREADS, random_seed=seed, verbose=False, allow_writing_files=False, **loss, **settings
    )
    return WithCategories(model, problem.categorical)


def statistics_loss(problem: Problem, categories: str, seed: int, most: int) -> float:
    """The test log loss of CatBoost's defaults with one kind of target statistics."""
    train, test = split_rows(problem, seed, most)
    X_train, X_test = (as_text(part, problem.categorical) for part in frames(problem, train, test, None))
    several = len(np.unique(problem.y)) > 2
    chosen = choose("MultiClass" if several else "Logloss", len(np.unique(problem.y)))
    full = resolved_parameters(
        read_parameters({"random_seed": seed, "thread_count": THREADS}),
        chosen,
        n_rows=len(train),
        has_evals=False,
    )
    native = native_parameters(
        full,
        chosen,
        feature_names=list(X_train.columns),
        categorical=[list(X_train.columns).index(name) for name in problem.categorical],
        weight=None,
    )
    native |= {
        "categories": categories,
        "n_estimators": full["iterations"],
        "base_score": chosen.start(False),
    }
    if categories != "ordered":
        del native["permutations"]
    model = weald.BoostedTreesClassifier(**from_flat(native)).fit(X_train, problem.y[train])
    return float(log_loss(problem.y[test], model.predict_proba(X_test)))


def compare_statistics(options: Options) -> dict[str, Any]:
    """Greedy against ordered statistics on the sets that were asked for."""
    rows, results = [], {}
    for name, problem in options.problems(OF_STATISTICS):
        losses = {
            kind: [statistics_loss(problem, kind, seed, options.most) for seed in range(options.seeds)]
            for kind in ("ordered", "greedy")
        }
        means = {kind: float(np.mean(values)) for kind, values in losses.items()}
        worse = means["greedy"] / means["ordered"] - 1.0
        results[name] = {"logloss": losses, "mean": means, "greedy_is_worse_by": worse}
        rows.append(
            [name, *(f"{means[kind]:.5f}" for kind in ("ordered", "greedy")), f"{100 * worse:+.1f} %"]
        )
    if rows:
        print_table("target statistics, log loss", ["set", "ordered", "greedy", "greedy is worse by"], rows)
    return {"statistics": results}


if __name__ == "__main__":
    main("catboost", make, SETTINGS, __doc__, SETS, compare_statistics)
