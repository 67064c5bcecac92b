"""First models of every kind, and which kernels had to be compiled for them; it fails if there was one.

Run it where kernels are found compiled: in an environment with a platform wheel, or after ``weald warmup``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import event

import weald
import weald.catboost as cb
import weald.lightgbm as lgb
import weald.xgboost as xgb


class Compiled(event.Listener):  # type: ignore[misc]
    """The names of the kernels that are compiled while it listens."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        self.names.append(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event: Any) -> None:
        """Nothing is left to do."""


def fit_all() -> None:
    """Fit, predict, explain, save and load."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000, 20))
    y = (X[:, 0] + rng.standard_normal(1_000) > 0).astype(np.int64)
    few: dict[str, Any] = {"n_estimators": 5}
    members = [
        ("trees", weald.BoostedTreesClassifier(**few)),
        ("forest", weald.RandomForestClassifier(**few)),
    ]
    models: list[Any] = [
        weald.BoostedTreesClassifier(n_estimators=100),
        weald.BoostedTreesRegressor(**few),
        weald.RandomForestClassifier(**few),
        weald.RandomForestRegressor(**few),
        weald.ExtraTreesClassifier(**few),
        weald.DecisionTreeClassifier(),
        weald.AdaBoostClassifier(**few),
        weald.AdaBoostRegressor(**few),
        weald.GradientBoostingClassifier(**few),
        weald.BaggingClassifier(**few),
        weald.VotingClassifier(members),
        weald.StackingClassifier(members),
        xgb.XGBClassifier(**few),
        lgb.LGBMClassifier(**few, verbosity=-1),
        cb.CatBoostClassifier(iterations=5, verbose=False, allow_writing_files=False),
    ]
    for model in models:
        model.fit(X, y).predict(X)
    models[0].predict_proba(X[:1])
    models[0].shap_values(X[:10])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.weald"
        models[0].save(file)
        assert (weald.load(file).predict(X) == models[0].predict(X)).all()


if __name__ == "__main__":
    with event.install_listener("numba:compile", Compiled()) as compiled:
        fit_all()
    print(f"{len(compiled.names)} kernels were compiled: {', '.join(compiled.names) or 'all were there'}")
    sys.exit(bool(compiled.names))
