"""Small models of every kind as the bytes of their files, each with rows to predict and what reads it back."""

from __future__ import annotations

import functools
import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import weald
import weald.catboost as cb
import weald.lightgbm as lgb
import weald.xgboost as xgb

_ROWS = 60


@dataclass(frozen=True)
class Original:
    """A model file that is whole: its bytes, rows that its model predicts, and the way to load and ask it."""

    name: str
    data: bytes
    ask: Callable[[str], list[Any]]  # path -> what the model says of the rows


def _tables() -> tuple[Any, Any, Any, Any]:
    """Numbers, the same with text, labels of two and of three classes."""
    generator = np.random.default_rng(0)
    numbers = generator.standard_normal((_ROWS, 3))
    numbers[::7, 1] = np.nan
    text = {f"x{place}": column for place, column in enumerate(numbers.T)}
    text["color"] = np.array(["red", "blue", "green", "grey"], object)[generator.integers(0, 4, _ROWS)]
    text["place"] = np.array(["Ulm", "Linz", "Bern"], object)[generator.integers(0, 3, _ROWS)]
    two = (numbers[:, 0] + (text["color"] == "red") > 0).astype(np.int64)
    return numbers, text, two, two + (numbers[:, 2] > 0.5)


def _ask(X: Any) -> Callable[[str], list[Any]]:
    def ask(path: str) -> list[Any]:
        model = weald.load(path)
        answers = [getattr(model, name)(X) for name in ("predict", "predict_proba") if hasattr(model, name)]
        with tempfile.TemporaryDirectory() as folder:
            model.save(os.path.join(folder, "again.weald"))
        return answers

    return ask


def _saved(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.weald")
        (model.save if hasattr(model, "save") else model.save_model)(path)
        with open(path, "rb") as file:
            return file.read()


@functools.cache
def originals() -> tuple[Original, ...]:
    """All models; fitted once a process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (*_native(), *_dialects())


def _native() -> list[Original]:
    numbers, text, two, three = _tables()
    words = np.array(["no", "yes", "perhaps"])[three]
    boosted = functools.partial(weald.BoostedTreesClassifier, n_estimators=3, min_samples_leaf=2)
    few: dict[str, Any] = {"n_estimators": 3, "max_depth": 3}
    members = [("tree", weald.DecisionTreeClassifier(max_depth=2)), ("boosted", boosted())]
    values = [
        ("tree", weald.DecisionTreeRegressor(max_depth=2)),
        ("forest", weald.RandomForestRegressor(**few)),
    ]
    line = weald.BoostedTreesClassifier(n_estimators=2)
    models: list[tuple[Any, Any, Any]] = [
        (boosted(), numbers, two),
        (boosted(), text, words),
        (boosted(booster="dart", loss="one_vs_rest"), numbers, three),
        (boosted(booster="averaging", subsample=0.7), numbers, two),
        (boosted(categories=weald.Partition(max_onehot=1)), text, two),
        (boosted(categories="ordered", growth="oblivious", max_depth=3), text, two),
        (boosted(categories="greedy", growth="oblivious", max_depth=3), text, words),
        (boosted(booster="ordered", growth="oblivious", max_depth=2), text, two),
        (weald.BoostedTreesRegressor(n_estimators=3, booster="linear"), np.nan_to_num(numbers), numbers[:, 0]),
        (weald.BoostedTreesRegressor(n_estimators=3, loss=weald.losses.Quantile(alpha=[0.1, 0.9])), numbers, numbers[:, 0]),
        (weald.BoostedTreesRegressor(n_estimators=3, loss="poisson", bins=weald.Bins(max_bins=9)), numbers, two),
        (weald.DecisionTreeClassifier(max_depth=3), text, words),
        (weald.RandomForestClassifier(**few), numbers, words),
        (weald.ExtraTreesRegressor(**few), numbers, numbers[:, 0]),
        (weald.BaggingClassifier(n_estimators=2), numbers, three),
        (weald.AdaBoostClassifier(n_estimators=3), numbers, three),
        (weald.AdaBoostRegressor(n_estimators=3), numbers, numbers[:, 0]),
        (weald.GradientBoostingClassifier(n_estimators=3), numbers, three),
        (weald.VotingClassifier(members, voting="soft"), numbers, three),
        (weald.VotingRegressor(values), numbers, numbers[:, 0]),
        (weald.StackingClassifier(members, final_estimator=line, cv=2), numbers, two),
        (weald.BlendingRegressor(values, final_estimator=weald.BoostedTreesRegressor(n_estimators=2)), numbers, numbers[:, 0]),
    ]  # fmt: skip
    found = []
    for model, X, y in models:
        fitted = model.fit(X, y)
        found.append(Original(repr(model), _saved(fitted), _ask(X)))
    return found


def _dialects() -> list[Original]:
    numbers, _, two, three = _tables()
    data = xgb.DMatrix(numbers, two)
    boosters: list[tuple[str, Any, Callable[[str], Any]]] = [
        (
            "xgboost",
            xgb.train({"objective": "binary:logistic"}, data, 3),
            lambda path: xgb.Booster(model_file=path).predict(data),
        ),
        (
            "lightgbm",
            lgb.train({"objective": "multiclass", "num_class": 3, "verbosity": -1}, lgb.Dataset(numbers, three), 3),
            lambda path: lgb.Booster(model_file=path).predict(numbers),
        ),
        (
            "catboost",
            cb.CatBoostClassifier(iterations=3, verbose=False).fit(numbers, two),
            lambda path: cb.CatBoostClassifier().load_model(path).predict_proba(numbers),
        ),
    ]  # fmt: skip
    return [
        Original(name, _saved(model), lambda path, ask=ask: [ask(path)])  # type: ignore[misc]
        for name, model, ask in boosters
    ]
