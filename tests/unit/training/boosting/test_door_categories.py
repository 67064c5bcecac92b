"""Which way categories="auto" chooses for every column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from weald.data import Column, Schema
from weald.encoding.parameters import Partition, TargetStatistics
from weald.losses import make_loss
from weald.training.boosting.door import Facts, plan_of
from weald.training.boosting.parameters import BoostingParameters
from weald.training.boosting.plan import TreePlan


def schema(*sizes: int) -> Schema:
    """A number, then a column of so many categories each."""
    columns = [
        Column(f"c{place}", "categorical", tuple(f"v{code}" for code in range(size)))
        for place, size in enumerate(sizes)
    ]
    return Schema((Column("x", "numeric"), *columns), named=True)


def plan(sizes: tuple[int, ...], loss: str = "squared", n_rows: int = 1_000, **params: Any) -> TreePlan:
    return plan_of(BoostingParameters(**params), schema(*sizes), Facts(make_loss(loss), n_rows)).trees


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "logistic", "poisson"])
def test_few_categories_are_split_one_from_the_rest_and_cost_no_statistics(loss: str) -> None:
    made = plan((2, 4), loss)
    assert made.categories == ("onehot", "onehot")
    assert made.statistics is None and made.permutations == 0


@pytest.mark.parametrize("loss", ["logistic", "poisson", "gamma", "tweedie", "exponential"])
def test_losses_with_a_link_have_statistics_of_all_other_columns(loss: str) -> None:
    made = plan((3, 5, 900), loss, n_rows=10**6)
    assert made.categories == ("onehot", "ordered", "ordered")
    assert made.statistics is not None
    assert made.statistics.columns == made.statistics.alone == ((1,), (2,))
    assert made.rules.max_cat_to_onehot is None


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_losses_of_numbers_have_sets_beside_statistics_where_categories_have_fifty_rows(loss: str) -> None:
    made = plan((3, 20, 21), loss, n_rows=1_000)
    assert made.categories == ("onehot", "partition+ordered", "ordered")
    assert made.statistics is not None
    assert made.statistics.columns == ((1,), (2,)) and made.statistics.alone == ((2,),)
    assert made.rules.max_cat_to_onehot == 4


def test_the_number_of_threads_does_not_change_what_is_chosen() -> None:
    assert plan((3, 20, 300), n_jobs=1) == plan((3, 20, 300), n_jobs=3)


@pytest.mark.parametrize(
    "params",
    [
        {"booster": "dart"},
        {"booster": "averaging", "subsample": 0.5},
        {"split_finder": "approx"},
        {"interaction_constraints": [["x", "c1"]]},
        {"splits": {"forced": {"feature": "x", "threshold": 1.0}}},
        {"leaves": {"path_smooth": 1.0}},
    ],
    ids=str,
)
def test_what_goes_with_no_statistics_gets_sets_for_numbers_and_one_from_the_rest_otherwise(
    params: dict[str, Any],
) -> None:
    kinds = {"splits": weald.Splits, "leaves": weald.Leaves}
    given = {name: kinds[name](**value) if name in kinds else value for name, value in params.items()}
    for loss, way in (("squared", "partition"), ("logistic", "onehot")):
        made = plan((3, 20), loss, **given)
        assert made.categories == ("onehot", way)
        assert made.statistics is None


@pytest.mark.parametrize("finder", ["exact", "local"])
def test_finders_that_split_one_from_the_rest_alone_get_that(finder: str) -> None:
    chosen = weald.Approximate(proposals="local") if finder == "local" else finder
    assert plan((3, 20), split_finder=chosen).categories == ("onehot", "onehot")


def test_ordered_boosting_has_statistics_too() -> None:
    assert plan((20,), "logistic", booster="ordered").categories == ("ordered",)


@pytest.mark.parametrize(
    ("asked", "ways"),
    [
        ("onehot", ("onehot", "onehot")),
        (Partition(max_onehot=10), ("onehot", "partition")),
        (TargetStatistics(kind="greedy", max_onehot=10), ("onehot", "greedy")),
    ],
)
def test_what_was_asked_for_is_what_every_column_gets(asked: Any, ways: tuple[str, ...]) -> None:
    assert plan((8, 20), "logistic", categories=asked).categories == ways


def test_columns_with_sets_beside_statistics_are_split_both_ways() -> None:
    """The label is a number of every category, and another of every pair."""
    rng = np.random.default_rng(0)
    shop, ware = rng.integers(0, 8, 4_000), rng.integers(0, 8, 4_000)
    y = rng.normal(size=8)[shop] + rng.normal(size=8)[ware] + 3 * rng.normal(size=(8, 8))[shop, ware]
    X = {"shop": shop.astype(str), "ware": ware.astype(str), "x": rng.normal(size=4_000)}
    model = weald.BoostedTreesRegressor(n_estimators=30, n_jobs=1).fit(X, y)
    used = set(model.forest_.feature[model.forest_.feature >= 0].tolist())
    assert used & {0, 1} and max(used) > 2
