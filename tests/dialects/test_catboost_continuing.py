"""`init_model` of weald.catboost: training goes on with ordered boosting and statistics, whatever the model itself has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald.catboost as cb

QUIET: dict[str, Any] = {
    "learning_rate": 0.3,
    "depth": 3,
    "verbose": False,
    "thread_count": 1,
    "random_seed": 4,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"boosting_type": "Plain", "one_hot_max_size": 99, "max_ctr_complexity": 1},
    "ordered": {"boosting_type": "Ordered", "one_hot_max_size": 99, "max_ctr_complexity": 1},
    "categories": {"boosting_type": "Plain", "one_hot_max_size": 2},
    "ordered categories": {"boosting_type": "Ordered", "one_hot_max_size": 2},
    "combinations": {"boosting_type": "Plain", "one_hot_max_size": 2, "max_ctr_complexity": 3},
    "depthwise": {"grow_policy": "Depthwise", "one_hot_max_size": 2, "boosting_type": "Plain"},
}
KINDS = ("numbers", "two classes", "three classes")
CATEGORIES = ["town", "shop"]


def table(seed: int = 0, towns: range = range(8), shops: range = range(25)) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    town, shop, x = rng.choice(towns, 400), rng.choice(shops, 400), rng.random(400)
    y = town * 0.3 + shop % 5 + (shop + town) % 2 + x
    return pd.DataFrame({"x": x, "town": town.astype(str), "shop": shop.astype(str)}), y


def labelled(kind: str, y: Any) -> Any:
    return y if kind == "numbers" else np.digitize(y, [3.5] if kind == "two classes" else [2.5, 4.5])


def made(kind: str, name: str, rounds: int, **more: Any) -> Any:
    maker = cb.CatBoostRegressor if kind == "numbers" else cb.CatBoostClassifier
    return maker(**{**QUIET, **SETTINGS[name], "iterations": rounds, "cat_features": CATEGORIES, **more})


def raw(model: Any, X: Any, **more: Any) -> Any:
    return model.predict(X, prediction_type="RawFormulaVal", **more)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETTINGS)
def test_training_goes_on_from_a_model_of_the_same_kind(name: str, kind: str, tmp_path: Path) -> None:
    X, y = table()
    y = labelled(kind, y)
    first = made(kind, name, 4).fit(X, y)
    file = tmp_path / "first.cbm"
    first.save_model(str(file))
    more = made(kind, name, 6).fit(X, y, init_model=first)
    assert more.tree_count_ == 10
    assert first.tree_count_ == 4  # which stays as it was
    assert np.array_equal(raw(more, X, ntree_end=4), raw(first, X))
    short = made(kind, name, 2).fit(X, y)
    assert more.score(X, y) > short.score(X, y)
    by_file = made(kind, name, 6).fit(X, y, init_model=str(file))
    assert np.array_equal(raw(by_file, X), raw(more, X))
    more.save_model(str(tmp_path / "more.cbm"))
    read = (cb.CatBoostRegressor if kind == "numbers" else cb.CatBoostClassifier)().load_model(
        str(tmp_path / "more.cbm")
    )
    other, _ = table(1, range(12), range(40))
    assert np.array_equal(raw(read, other), raw(more, other))


@pytest.mark.parametrize("after", SETTINGS)
@pytest.mark.parametrize("before", SETTINGS)
def test_training_goes_on_from_a_model_of_another_kind(before: str, after: str, tmp_path: Path) -> None:
    X, y = table()
    first = made("numbers", before, 3).fit(X, y)
    more = made("numbers", after, 3).fit(X, y, init_model=first)
    assert more.tree_count_ == 6
    assert np.array_equal(raw(more, X, ntree_end=3), raw(first, X))
    assert np.mean((more.predict(X) - y) ** 2) < np.mean((first.predict(X) - y) ** 2)
    more.save_model(str(tmp_path / "more.cbm"))
    assert np.array_equal(
        cb.CatBoostRegressor().load_model(str(tmp_path / "more.cbm")).predict(X), more.predict(X)
    )


@pytest.mark.parametrize("name", SETTINGS)
def test_training_goes_on_with_another_batch_and_other_categories(name: str) -> None:
    first_X, first_y = table(0, range(5), range(15))
    X, y = table(1, range(3, 9), range(10, 30))
    first = made("numbers", name, 4).fit(first_X, first_y)
    more = made("numbers", name, 12).fit(X, y, init_model=first, eval_set=(first_X, first_y))
    assert np.array_equal(raw(more, first_X, ntree_end=4), raw(first, first_X))
    assert np.mean((more.predict(X) - y) ** 2) < np.mean((first.predict(X) - y) ** 2)


def test_a_learning_curve_goes_on_with_its_evaluation_set() -> None:
    X, y = table()
    other = table(3)
    first = made("numbers", "ordered categories", 4, use_best_model=False).fit(X, y, eval_set=other)
    more = made("numbers", "ordered categories", 5, use_best_model=False)
    more.fit(X, y, init_model=first, eval_set=other)
    curve = more.get_evals_result()["validation"]["RMSE"]
    assert len(curve) == 5
    last = float(np.sqrt(np.mean((more.predict(other[0]) - other[1]) ** 2)))
    assert curve[-1] == pytest.approx(last, rel=1e-9)
