"""Feature- and voting-parallel teams: the same model, or one that says what it depends on; and what travels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from thread_team import ThreadTeam, run_team
from unit.workers.test_estimators import ENDS, TARGETS, WEIGHT, X, all_say, model_of, share, whole
from weald.estimators.shared.persistence import to_bytes
from weald.tree.shards.sharing import add_shortened
from weald.workers.estimators import fit_member, rows_of
from weald.workers.parameters import VotingParallel

FEATURE_CASES: dict[str, dict[str, Any]] = {
    "squared": {},
    "two classes": {"target": "two"},
    "three classes and weights": {"target": "three", "weighted": True},
    "absolute": {"loss": "absolute"},
    "depthwise": {"growth": "depthwise", "max_depth": 4},
    "columns by tree, level and node": {
        "colsample_bytree": 0.8,
        "colsample_bylevel": 0.8,
        "colsample_bynode": 0.7,
        "growth": "depthwise",
    },
    "drawn thresholds": {"extra_trees": True},
    "noise": {"random_strength": 1.0, "growth": "depthwise", "max_leaves": 9},
    "oblivious": {"growth": "oblivious", "max_leaves": None, "max_depth": 3},
    "oblivious with noise": {
        "growth": "oblivious",
        "max_leaves": None,
        "max_depth": 3,
        "random_strength": 1.0,
    },
    "monotone": {"monotone_constraints": [1, -1, 0, 0]},
    "least gain": {"gamma": 2.0},
    "early stopping": {"early_stopping_rounds": 2, "n_estimators": 40, "learning_rate": 0.9, "target": "two"},
}


def fit_with_all_rows(
    size: int, target: str = "number", weighted: bool = False, **settings: Any
) -> list[bytes]:
    y, weight = TARGETS[target], WEIGHT if weighted else None

    def job(team: ThreadTeam) -> bytes:
        valid = [(X[:333], y[:333], None if weight is None else weight[:333])]
        rows = rows_of(X, y, weight, valid)
        model = fit_member(
            model_of(target, weighted, **settings), rows, team, "feature", eval_names=["valid"]
        )
        return to_bytes(model, model._model)

    return run_team(size, job)


@pytest.mark.parametrize("name", FEATURE_CASES)
def test_searching_some_columns_each_gives_the_model_of_one_process(name: str) -> None:
    expected = whole(**FEATURE_CASES[name])
    for size in (2, 6):  # six members and four columns: some have none
        assert fit_with_all_rows(size, **FEATURE_CASES[name]) == [expected] * size


def test_members_with_other_rows_are_refused() -> None:
    def job(team: ThreadTeam) -> None:
        fit_member(model_of(), rows_of(X[team.rank :], TARGETS["number"][team.rank :]), team, "feature")

    assert all("thread 1 has others than thread 0" in one for one in all_say(2, job))


def test_a_callback_of_one_member_stops_all_that_have_all_rows() -> None:
    def job(team: ThreadTeam) -> int:
        def stop(state: Any) -> None:
            if team.rank == 1 and state.number == 2:
                state.stop("enough")

        rows = rows_of(X, TARGETS["number"])
        return int(fit_member(model_of(), rows, team, "feature", callbacks=[stop]).forest_.n_rounds)

    assert run_team(2, job) == [3, 3]


@pytest.mark.parametrize("cells", [6, 7])
def test_sums_in_halves_of_words_add_up_as_whole_ones_do(cells: int) -> None:
    most = 2**31 // 3 - 1
    generator = np.random.default_rng(cells)
    sums = generator.integers(0, most, (3, 4, 3, cells))
    sums[:, :, 0] = generator.integers(-most, most, sums[:, :, 0].shape)
    sums[:, 0, 0], sums[:, 1] = -most, most
    found = run_team(3, lambda team: add_shortened(team, sums[team.rank].copy()))
    assert all((one == sums.sum(axis=0)).all() for one in found)


class Counting(ThreadTeam):
    """A member that counts the bytes of what it gives."""

    def __init__(self, team: ThreadTeam) -> None:
        super().__init__(team.rank, team._meeting)
        self.added: list[int] = []

    def add(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        self.added.append(numbers.nbytes)
        return super().add(numbers)


def voting(size: int, top_k: int, target: str = "number", **settings: Any) -> list[tuple[bytes, float, int]]:
    """The bytes of every member's model, its score, and the bytes of its longest message."""
    y = TARGETS[target]

    def job(team: ThreadTeam) -> tuple[bytes, float, int]:
        own = Counting(team)
        rows = rows_of(share(X, size, team.rank), share(y, size, team.rank))
        model = fit_member(model_of(target, **settings), rows, own, VotingParallel(top_k=top_k))
        return to_bytes(model, model._model), float(model.score(X, y)), max(own.added)

    return run_team(size, job)


@pytest.mark.parametrize("target", ["number", "three"])
@pytest.mark.parametrize("settings", [{}, {"growth": "depthwise", "max_depth": 5}, {"max_leaves": 60}])
def test_where_all_columns_are_elected_voting_gives_the_model_of_one_process(
    target: str, settings: dict[str, Any]
) -> None:
    y, model = TARGETS[target], model_of(target, **settings)
    model.fit(X, y)
    for size in (1, 2):
        found = voting(size, 4, target, min_samples_leaf=20, **settings)
        model = model_of(target, min_samples_leaf=20, **settings).fit(X, y)
        assert len({one for one, _, _ in found}) == 1
        assert found[0][1] == pytest.approx(model.score(X, y), abs=0.02)
        if size == 1:
            assert found[0][0] == to_bytes(model, model._model)


def test_fewer_votes_are_shorter_messages_and_nearly_as_good_a_model() -> None:
    (first, score, few), (second, _, _) = voting(2, 1)
    (_, whole_score, all_of_them), _ = voting(2, 4)
    assert first == second
    assert few < all_of_them
    assert score > 0.9 * whole_score


def test_members_without_rows_vote_for_nothing() -> None:
    assert len({one for one, _, _ in voting(4, 2)}) == 1 and 4 in ENDS


def test_a_common_split_of_a_level_is_not_voted_for() -> None:
    def job(team: ThreadTeam) -> None:
        model = model_of(growth="oblivious", max_leaves=None, max_depth=3)
        fit_member(model, rows_of(X, TARGETS["number"]), team, "voting")

    assert all("parallel='voting' elects columns node by node" in one for one in all_say(2, job))
