"""Small models of every family, and rows that are hard for exported ones; shared by the tests of formats."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import weald
from weald.data import read_table
from weald.exchange.model import Model, Trees, TreeValues

HOSTILE = '"); system("x'
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 1.0)


@dataclass(frozen=True)
class Case:
    """A fitted model, and whether its columns hold categories."""

    name: str
    estimator: Any
    model: Model


#: whether tables of numbers have a column of denormals, which some libraries take for zeros
_denormals: ContextVar[bool] = ContextVar("denormals", default=True)


def numbers(n_rows: int = 300, n_columns: int = 4, seed: int = 0) -> NDArray[np.float64]:
    """A table of numbers, some missing and, in a column, denormals, or small whole numbers."""
    random = np.random.default_rng(seed)
    table = random.normal(size=(n_rows, n_columns))
    table[:, 1] = np.round(table[:, 1], 1)
    table[:, 2] = table[:, 2] * 1e-310 if _denormals.get() else np.round(3 * table[:, 2])
    table[random.random(table.shape) < 0.1] = np.nan
    return table


def frame(n_rows: int = 400, seed: int = 1) -> pd.DataFrame:
    """A table of numbers and categories, whose names would do harm where they are not escaped."""
    random = np.random.default_rng(seed)
    colours = np.array([HOSTILE, "red", "blue's", "grün\\n", 'a"b', "<&>", "*/ --"], dtype=object)
    return pd.DataFrame(
        {
            HOSTILE: random.normal(size=n_rows).round(2),
            "colour": np.where(random.random(n_rows) < 0.1, None, random.choice(colours, n_rows)),
            "*/ int x; /* ' -- \\": np.where(random.random(n_rows) < 0.2, np.nan, random.normal(size=n_rows)),
            "size": random.choice([1.0, 2.0, 3.5, np.nan], n_rows),
            "shop": random.choice([f"s{number}" for number in range(12)], n_rows).astype(object),
        }
    )


def frame_score(table: pd.DataFrame) -> NDArray[np.float64]:
    """What the labels of `frame` depend on."""
    colour = table["colour"].map(lambda value: len(str(value)) % 3).to_numpy()
    shop = table["shop"].map(lambda value: int(value[1:]) % 4).to_numpy()
    return np.nan_to_num(table[HOSTILE].to_numpy()) + colour + 0.5 * shop * (colour > 0)


def _labels(scores: NDArray[np.float64], labels: list[Any]) -> NDArray[Any]:
    cuts = np.quantile(scores, np.arange(1, len(labels)) / len(labels))
    return np.array(labels, dtype=object if isinstance(labels[0], str) else None)[
        np.searchsorted(cuts, scores)
    ]


def _of_numbers(estimator: Any, labels: list[Any] | None) -> Any:
    table = numbers()
    scores = np.nan_to_num(table) @ np.array([1.0, 0.5, 1e300 if _denormals.get() else 0.3, -0.7])
    return estimator.fit(table, scores if labels is None else _labels(scores, labels))


def _of_frame(estimator: Any, labels: list[Any] | None) -> Any:
    table = frame()
    scores = frame_score(table)
    return estimator.fit(table, scores if labels is None else _labels(scores, labels))


_TWO, _THREE = ["no", HOSTILE], [3, 1, 2]
_SPLIT_BY_SETS = {"categories": "partition"}

CASES: dict[str, Callable[[], Any]] = {
    "regressor": lambda: _of_numbers(weald.BoostedTreesRegressor(n_estimators=12, max_leaves=8), None),
    "poisson": lambda: weald.BoostedTreesRegressor(n_estimators=8, loss="poisson").fit(
        numbers(), np.random.default_rng(2).poisson(2.0, 300)
    ),
    "two_classes": lambda: _of_numbers(
        weald.BoostedTreesClassifier(n_estimators=10, max_leaves=8), [False, True]
    ),
    "three_classes": lambda: _of_numbers(weald.BoostedTreesClassifier(n_estimators=5, max_leaves=8), _THREE),
    "one_vs_rest": lambda: _of_numbers(
        weald.BoostedTreesClassifier(n_estimators=4, loss="one_vs_rest", max_leaves=8), [0.0, 1.0, 2.0]
    ),
    "exponential": lambda: _of_numbers(
        weald.BoostedTreesClassifier(n_estimators=6, loss="exponential"), _TWO
    ),
    "quantiles": lambda: _of_numbers(
        weald.BoostedTreesRegressor(n_estimators=6, loss=weald.losses.Quantile([0.1, 0.9])), None
    ),
    "averaged": lambda: _of_numbers(
        weald.BoostedTreesRegressor(n_estimators=6, booster="averaging", subsample=0.7), None
    ),
    "oblivious": lambda: _of_numbers(
        weald.BoostedTreesRegressor(n_estimators=6, growth="oblivious", max_depth=4), None
    ),
    "oblivious_classes": lambda: _of_numbers(
        weald.BoostedTreesClassifier(n_estimators=4, growth="oblivious", max_depth=3), _THREE
    ),
    "linear": lambda: _of_numbers(weald.BoostedTreesRegressor(n_estimators=20, booster="linear"), None),
    "linear_classes": lambda: _of_numbers(
        weald.BoostedTreesClassifier(n_estimators=20, booster="linear"), _THREE
    ),
    "zeros_missing": lambda: _of_numbers(
        weald.BoostedTreesRegressor(n_estimators=5, bins=weald.Bins(zero_as_missing=True)), None
    ),
    "sets": lambda: _of_frame(weald.BoostedTreesClassifier(n_estimators=8, **_SPLIT_BY_SETS), _TWO),
    "sets_three": lambda: _of_frame(weald.BoostedTreesClassifier(n_estimators=4, **_SPLIT_BY_SETS), _THREE),
    "onehot": lambda: _of_frame(weald.BoostedTreesRegressor(n_estimators=8, categories="onehot"), None),
    "statistics": lambda: _of_frame(
        weald.BoostedTreesClassifier(n_estimators=8, categories=weald.TargetStatistics(max_combination=2)),
        _TWO,
    ),
    "tree": lambda: _of_numbers(weald.DecisionTreeRegressor(), None),
    "forest": lambda: _of_numbers(weald.RandomForestRegressor(6, random_state=1), None),
    "forest_classes": lambda: _of_frame(weald.RandomForestClassifier(6, random_state=1), _THREE),
    "forest_two": lambda: _of_frame(weald.ExtraTreesClassifier(6, random_state=1), _TWO),
    "bagging": lambda: _of_numbers(
        weald.BaggingClassifier(n_estimators=5, max_features=0.5, random_state=0), _THREE
    ),
    "bagged_boosting": lambda: _of_numbers(
        weald.BaggingRegressor(weald.BoostedTreesRegressor(n_estimators=3), n_estimators=3, max_features=0.5),
        None,
    ),
    "adaboost": lambda: _of_numbers(weald.AdaBoostClassifier(n_estimators=6), _TWO),
    "adaboost_three": lambda: _of_numbers(
        weald.AdaBoostClassifier(weald.DecisionTreeClassifier(max_depth=2), n_estimators=5), _THREE
    ),
    "adaboost_boosted": lambda: _of_numbers(
        weald.AdaBoostClassifier(weald.BoostedTreesClassifier(n_estimators=2, max_leaves=3), n_estimators=3),
        _THREE,
    ),
    "adaboost_values": lambda: _of_numbers(weald.AdaBoostRegressor(n_estimators=5), None),
    "gradient_boosting": lambda: _of_numbers(weald.GradientBoostingClassifier(n_estimators=5), _TWO),
    "voting_soft": lambda: _of_frame(
        weald.VotingClassifier(_members(), voting="soft", weights=[2, 1]), _THREE
    ),
    "voting_hard": lambda: _of_frame(weald.VotingClassifier(_members(), weights=[2, 1]), _TWO),
    "voting_majority": lambda: _of_frame(
        weald.VotingClassifier(_members(), voting="majority", refusal_label=-1), _THREE
    ),
    "voting_values": lambda: _of_numbers(
        weald.VotingRegressor(
            [("a", weald.BoostedTreesRegressor(n_estimators=3)), ("b", weald.RandomForestRegressor(3))]
        ),
        None,
    ),
    "stacking": lambda: _of_frame(
        weald.StackingClassifier(
            _members(), cv=2, final_estimator=weald.BoostedTreesClassifier(n_estimators=3)
        ),
        _THREE,
    ),
    "stacking_folds": lambda: _of_numbers(
        weald.StackingRegressor(
            [("a", weald.BoostedTreesRegressor(n_estimators=3)), ("b", weald.RandomForestRegressor(3))],
            cv=2,
            refit=False,
            passthrough=True,
            final_estimator=weald.BoostedTreesRegressor(n_estimators=3),
        ),
        None,
    ),
    "blending": lambda: _of_frame(weald.BlendingClassifier(_members(), LogisticRegression()), _TWO),
}


def _members() -> list[tuple[str, Any]]:
    return [
        ("boosted", weald.BoostedTreesClassifier(n_estimators=4, **_SPLIT_BY_SETS)),
        ("forest", weald.RandomForestClassifier(4, random_state=3)),
    ]


@cache
def case(name: str, denormals: bool = True) -> Case:
    """A fitted model by its name."""
    token = _denormals.set(denormals)
    try:
        estimator = CASES[name]()
    finally:
        _denormals.reset(token)
    return Case(name, estimator, estimator._exchanged())


def hard_rows(model: Model, n_rows: int = 200, seed: int = 0, single: bool = False) -> pd.DataFrame:
    """Rows with missing values, unknown categories, extremes, and values on and one ulp beside every threshold.

    ``single``: values are float32, and so are the neighbours.
    """
    random = np.random.default_rng(seed)
    kind = np.float32 if single else np.float64
    columns: dict[str, Any] = {}
    for place, column in enumerate(model.schema.columns):
        if column.kind == "categorical":
            strange = "unheard of" if all(isinstance(one, str) for one in column.categories) else -77
            cells = np.array([*column.categories, None, strange], dtype=object)
            columns[column.name] = random.choice(cells, n_rows)
            continue
        cuts = thresholds_of(model, place).astype(kind)
        cuts = cuts[np.isfinite(cuts)]
        with np.errstate(over="ignore"):
            beside = [np.nextafter(cuts, kind(end)) for end in (np.inf, -np.inf)]
            values = np.concatenate([cuts, *beside, np.array(SPECIAL).astype(kind)])
        order = random.permutation(len(values))
        columns[column.name] = values[order[np.arange(n_rows) % len(values)]]
    return pd.DataFrame(columns)


def thresholds_of(model: Model, slot: int) -> NDArray[np.float64]:
    """All thresholds that the slot is compared with."""
    found = [np.zeros(0)]
    for step in model.steps:
        if isinstance(step, Trees | TreeValues):
            reads = np.array(step.reads)[step.forest.feature]
            own = (step.forest.feature >= 0) & (reads == slot) & (step.forest.category_set < 0)
            found.append(step.forest.threshold[own])
    return np.unique(np.concatenate(found))


def table_for(model: Model, rows: pd.DataFrame) -> Any:
    """The rows as the estimator takes them."""
    return rows if model.schema.named else rows.to_numpy(dtype=np.float64)


def coded(model: Model, rows: pd.DataFrame) -> NDArray[np.float64]:
    """The rows as numbers and codes."""
    dataset = read_table(table_for(model, rows), schema=model.schema, owner="test", least_rows=0)
    return dataset.take(np.arange(dataset.n_rows)).astype(np.float64)


def scores_of(estimator: Any, table: Any) -> NDArray[np.float64] | None:
    """The numbers that a model says beside its labels: probabilities or predictions."""
    if hasattr(estimator, "classes_") and hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(table))
    return None if hasattr(estimator, "classes_") else np.asarray(estimator.predict(table))
