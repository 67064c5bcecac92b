"""categories="auto" in estimators: what was chosen is told, is in the file, and gives the same model in all circumstances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from weald.binning import bin_once
from weald.estimators.shared.persistence import from_bytes, to_bytes
from weald.runtime.errors import ModelFileError

RNG = np.random.default_rng(3)
ROWS = 600
TOWN, SHOP = RNG.integers(0, 40, ROWS), RNG.integers(0, 9, ROWS)
X = pd.DataFrame(
    {
        "size": RNG.normal(size=ROWS),
        "town": pd.Categorical([f"town {number}" for number in TOWN]),
        "shop": pd.Categorical([f"shop {number}" for number in SHOP]),
        "open": pd.Categorical(RNG.choice(["yes", "no"], ROWS)),
    }
)
Y = X["size"].to_numpy() + RNG.normal(size=40)[TOWN] + RNG.normal(size=9)[SHOP]
WAYS = {"town": "ordered", "shop": "partition+ordered", "open": "onehot"}


def regressor(**params: Any) -> weald.BoostedTreesRegressor:
    return weald.BoostedTreesRegressor(**{"n_estimators": 8, "n_jobs": 1, **params})


def test_a_fitted_model_says_how_every_column_is_split() -> None:
    assert regressor().fit(X, Y).category_ways_ == WAYS
    model = weald.BoostedTreesClassifier(n_estimators=3, n_jobs=1).fit(X, Y > 0)
    assert model.category_ways_ == WAYS | {"shop": "ordered"}
    assert regressor(categories="onehot").fit(X, Y).category_ways_ == dict.fromkeys(WAYS, "onehot")
    assert regressor().fit(X[["size"]], Y).category_ways_ == {}


def test_rows_without_weight_count_for_nothing() -> None:
    weight = np.ones(ROWS)
    weight[400:] = 0.0
    assert regressor().fit(X, Y, sample_weight=weight).category_ways_["shop"] == "ordered"


def test_files_keep_what_was_chosen(tmp_path: Path) -> None:
    model = regressor().fit(X, Y)
    model.save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald")
    assert loaded.category_ways_ == WAYS
    assert loaded.categories == "auto"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "ways", ["onehot", ["onehot"], ["onehot", "onehot", "by name"], [1, 2, 3], [[], "onehot", "onehot"]]
)
def test_a_file_with_other_ways_is_refused(ways: Any) -> None:
    model = regressor(categories="onehot").fit(X, Y)
    damaged = to_bytes(model, replace(model._model, category_ways=ways))
    with pytest.raises(ModelFileError, match=r"^The file's ways of splitting categories are "):
        from_bytes(damaged)


def test_an_interrupted_fit_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.weald"
    regressor(n_estimators=4).fit(X, Y, callbacks=[weald.Checkpoint(path, every=2)])
    whole, resumed = regressor().fit(X, Y), regressor().fit(X, Y, resume_from=path)
    assert to_bytes(resumed, resumed._model) == to_bytes(whole, whole._model)


@pytest.mark.parametrize("target", [Y, Y > 0], ids=["numbers", "two classes"])
def test_the_number_of_threads_changes_nothing(target: Any) -> None:
    kind = weald.BoostedTreesRegressor if target.dtype == float else weald.BoostedTreesClassifier
    models = [kind(n_estimators=5, n_jobs=jobs).fit(X, target) for jobs in (1, 2, 3)]
    assert len({to_bytes(model, model._model) for model in models}) == 1


def test_auto_of_a_table_without_wide_columns_is_one_category_from_the_rest() -> None:
    table = X[["size", "open"]]
    one, other = regressor().fit(table, Y), regressor(categories="onehot").fit(table, Y)
    np.testing.assert_array_equal(one.predict(table), other.predict(table))


def test_amounts_of_pairs_of_categories_are_found() -> None:
    """Sales of twenty stores' eighty departments, of all sizes: sets see amounts, and combinations the pairs."""
    rng = np.random.default_rng(1)
    store, department = rng.integers(0, 20, 6_000), rng.integers(0, 80, 6_000)
    sales = np.exp(rng.normal(0.0, 1.5, 80))[department] * np.exp(rng.normal(0.0, 0.5, 20))[store]
    table = {"department": department.astype(str), "store": store.astype(str)}
    train = {name: values[:4_500] for name, values in table.items()}
    test = {name: values[4_500:] for name, values in table.items()}
    scores = {
        categories: weald.BoostedTreesRegressor(n_estimators=20, n_jobs=1, categories=categories)
        .fit(train, sales[:4_500])
        .score(test, sales[4_500:])
        for categories in ("auto", "onehot", "partition", "ordered")
    }
    assert max(scores, key=lambda name: scores[name]) == "auto"
    assert scores["auto"] - 0.05 > scores["partition"]


def test_bins_that_are_shared_and_bundled_are_good_for_statistics_too() -> None:
    rare = {f"rare {number}": (np.arange(ROWS) % 40 == number).astype(float) for number in range(20)}
    table = X.assign(**rare)
    shared = bin_once(table, [regressor()])
    expected, found = regressor().fit(table, Y), regressor().fit(shared, Y, eval_set=[(table, Y)])
    np.testing.assert_array_equal(found.predict(table), expected.predict(table))
    members = [("one", regressor()), ("other", regressor(n_estimators=4))]
    assert len(weald.VotingRegressor(members).fit(table, Y).predict(table)) == ROWS
