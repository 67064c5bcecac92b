"""Statistics of the labels of several classes, and those that a model keeps when rounds are cut off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from weald.encoding.model import ModelStatistics
from weald.encoding.tables import StatisticTable
from weald.losses import make_loss
from weald.training.boosting.statistics import targets_of, used_statistics


def test_every_class_has_a_target_whoever_has_read_the_classes() -> None:
    y = np.array([0.0, 2.0, 1.0, 2.0])
    for n_classes in (0, 3):
        targets = targets_of(y, make_loss("softmax", n_classes=3), n_classes, 1)
        assert targets.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]]
    two = targets_of(np.array([0.0, 1.0, 1.0]), make_loss("softmax", n_classes=2), 0, 1)
    assert two.tolist() == [[0, 1, 1]]
    numbers = targets_of(y, make_loss("squared"), 0, 1)
    assert numbers.tolist() == [[0, 1, 0, 1]]


@pytest.fixture(scope="module")
def model() -> tuple[Any, pd.DataFrame]:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.integers(0, 9, 500).astype(str) for name in "abc"}).astype("category")
    y = ((table["a"].cat.codes + table["b"].cat.codes) % 2).to_numpy()
    fitted = weald.BoostedTreesClassifier(
        categories=weald.TargetStatistics(max_onehot=2),
        growth="oblivious",
        max_depth=3,
        n_estimators=25,
        min_samples_leaf=1,
    ).fit(table, y)
    return fitted, table


def test_the_first_rounds_keep_their_statistics_and_predictions(model: tuple[Any, pd.DataFrame]) -> None:
    fitted, table = model
    whole = fitted._fitted()
    for rounds in (1, 4, 25):
        forest, statistics = used_statistics(whole.forest.first(rounds), whole.statistics)
        assert (
            len(statistics.sources)
            == forest.n_features
            == 3 + len(np.unique(forest.feature[forest.feature > 2]))
        )
        rows = statistics.extend(_read(fitted, table))
        whole_rows = whole.statistics.extend(_read(fitted, table))
        assert np.array_equal(forest.raw_scores(rows), whole.forest.first(rounds).raw_scores(whole_rows))
    assert forest == whole.forest
    few = used_statistics(whole.forest.first(1), whole.statistics)[1]
    assert len(few.tables) < len(whole.statistics.tables)


def _read(fitted: Any, table: pd.DataFrame) -> Any:
    from weald.data import read_table

    return read_table(table, schema=fitted._fitted().schema)


@pytest.mark.parametrize(
    ("keys", "cells", "bits"),
    [
        (np.arange(8) * 500_000_000, np.full(8, 9), 32),  # of so few keys 33 bits would do
        (np.array([5, 5 + 3 * 10**9, 5 + 6 * 10**9, 5 + 2**33]), np.array([9, 0, 0, 9]), 34),  # two end alike
    ],
)
def test_keys_that_were_cut_do_not_become_longer(
    keys: Any, cells: Any, bits: int, model: tuple[Any, pd.DataFrame]
) -> None:
    whole = model[0]._fitted()
    table = StatisticTable(
        (0, 1),
        (0, 1),
        keys.astype(np.uint64),
        np.array([cells, cells], np.uint16),
        np.zeros(2, np.uint16),
        bits,
    )
    forest = whole.forest.first(1)
    splits = forest.feature >= 0
    one = replace(
        forest,
        n_features=5,
        feature=np.where(splits, 4, -1).astype(np.int32),
        threshold=np.where(splits, 3.5, 0.0),
    )
    forest, statistics = used_statistics(one, ModelStatistics(whole.schema, (table,)))
    made = statistics.tables[0]
    assert (made.numbers, made.bits, forest.n_features) == ((1,), bits, 4)
    assert made.keys.tolist() == keys.tolist()
    assert (made.cells[0] > 3).tolist() == (cells > 3).tolist()
