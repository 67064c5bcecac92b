"""Ordered boosting against its definition: models of prefixes that have not seen the row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference_ordered
import weald
from weald.losses import make_loss
from weald.runtime.random import permutation
from weald.training.boosting.descent import Position
from weald.training.boosting.leaf_steps import LeafSteps
from weald.training.boosting.ordered import Prefixes, prefix_ends


class _Rows:
    def __init__(self, y: np.ndarray) -> None:
        self.y, self.weight, self.n_rows = y, None, len(y)


class _Stump:
    """A tree whose structure is given: the leaf of every row."""

    n_leaves = 2

    def bound(self, values: np.ndarray) -> None:
        """No bounds."""


def _follower(y: np.ndarray, growth: float, order: np.ndarray) -> tuple[Prefixes, Position]:
    loss = make_loss("squared")
    scores = np.zeros((1, len(y)))
    at = Position.of(_Rows(y), loss, scores)
    return Prefixes(at, LeafSteps(), order, growth), at


def _scores(y: np.ndarray, leaf_of_row: np.ndarray, order: np.ndarray, growth: float, rounds: int) -> Any:
    follower, at = _follower(y, growth, order)
    for _ in range(rounds):
        follower.step(_Stump(), leaf_of_row, 0, 0.5)  # type: ignore[arg-type]
        follower.finish()
    follower.show(at.scores)
    return at.scores[0]


def _table(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.normal(size=n), rng.integers(2, size=n).astype(np.uint8), permutation(n, key=n)


@pytest.mark.parametrize("n", [2, 3, 33, 200])
def test_prefix_models_follow_their_own_rows(n: int) -> None:
    y, leaf_of_row, order = _table(n)
    for rounds in (1, 3):
        expected = reference_ordered.prefix_scores(y, leaf_of_row, order, prefix_ends(n, 2.0), 0.5, rounds)
        np.testing.assert_allclose(_scores(y, leaf_of_row, order, 2.0, rounds), expected, atol=1e-6)


def test_one_round_is_that_of_a_model_for_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a prefix of every length, the first round is the algorithm of n models to the letter."""
    n = 24
    y, leaf_of_row, order = _table(n)
    monkeypatch.setattr(
        "weald.training.boosting.ordered.prefix_ends", lambda n_rows, growth: list(range(1, n_rows + 1))
    )
    expected = reference_ordered.naive_scores(y, leaf_of_row, order, 0.5, rounds=1)
    np.testing.assert_allclose(_scores(y, leaf_of_row, order, 2.0, 1), expected, atol=1e-6)


def test_no_score_knows_the_label_of_its_row() -> None:
    """In the algorithm of n models, and in that of prefixes, whatever the number of rounds."""
    n, rounds = 40, 4
    y, leaf_of_row, order = _table(n)
    ordered = _scores(y, leaf_of_row, order, 2.0, rounds)
    naive = reference_ordered.naive_scores(y, leaf_of_row, order, 0.5, rounds)
    plain = reference_ordered.plain_scores(y, leaf_of_row, 0.5, rounds)
    for row in range(n):
        other = y.copy()
        other[row] += 10.0
        assert _scores(other, leaf_of_row, order, 2.0, rounds)[row] == ordered[row]
        assert reference_ordered.naive_scores(other, leaf_of_row, order, 0.5, rounds)[row] == naive[row]
        assert reference_ordered.plain_scores(other, leaf_of_row, 0.5, rounds)[row] != plain[row]


@pytest.mark.parametrize("growth", ["oblivious", "depthwise", "leafwise"])
def test_ordered_boosting_goes_with_every_growth(growth: str) -> None:
    data = weald.datasets.load("penguins")
    model = weald.BoostedTreesClassifier(
        booster="ordered", growth=growth, n_estimators=10, min_samples_leaf=3
    )
    assert model.fit(data.data, data.target).score(data.data, data.target) > 0.9


@pytest.mark.parametrize(("parallel", "subsample"), [(1, 1.0), (2, 0.7)], ids=["one", "parallel"])
def test_the_scores_of_several_outputs_are_those_of_the_model(parallel: int, subsample: float) -> None:
    """Trees of a round share memory: the leaves of the first must still be known when the round is over."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 4)), rng.integers(3, size=300)
    seen: list[np.ndarray] = []
    model = weald.BoostedTreesClassifier(
        booster=weald.Ordered(parallel_trees=parallel),
        growth="oblivious",
        max_depth=3,
        n_estimators=6,
        min_samples_leaf=1,
        subsample=subsample,
    )
    model.fit(X, y, callbacks=[lambda state: seen.append(state.at.scores.copy())])
    np.testing.assert_allclose(seen[-1], model._raw(X), rtol=1e-12)
