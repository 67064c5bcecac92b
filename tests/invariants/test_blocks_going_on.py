"""Trainings on tables in blocks that are interrupted, go on, or start from scores: the same bytes as in memory."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from invariants.block_cases import N_ROWS, target_of
from invariants.test_blocks import outcome, rows_of
from thread_team import run_team
from weald.binning import bin_once
from weald.binning.parts import Part, sharded_table_of
from weald.binning.sharded_table import ShardedTable
from weald.runtime.team import ALONE, Team
from weald.workers.estimators import fit_member
from weald.workers.tables import MemberRows

ENDS = (0, 37, 203, 331, N_ROWS)

CASES: dict[str, dict[str, Any]] = {
    "plain": {"categories": "partition", "subsample": 0.7},
    "dart": {"booster": weald.Dart(rate_drop=0.5), "categories": "onehot"},
    "averaging": {"booster": "averaging", "subsample": 0.5, "categories": "onehot"},
    "statistics": {"categories": weald.TargetStatistics("ordered", max_combination=2)},
    "holdout": {"categories": weald.TargetStatistics("holdout")},
    "ordered boosting": {"booster": "ordered", "categories": "ordered", "growth": "oblivious", "max_depth": 3},
    "ordered medians": {"booster": "ordered", "loss": "absolute", "categories": "onehot"},
}


def make(name: str, rounds: int = 5, **more: Any) -> Any:
    settings = {"n_estimators": rounds, "max_leaves": 7, "n_jobs": 1, "random_state": 2, **CASES[name], **more}
    if settings.get("growth") == "oblivious":
        del settings["max_leaves"]
    return weald.BoostedTreesRegressor(**settings)


def table_of(model: Any, team: Team = ALONE, target: str = "squared") -> ShardedTable:
    y = target_of({"target": target})
    parts = [Part(rows_of(slice(*ends)), y[slice(*ends)]) for ends in pairwise(ENDS)]
    own = np.array_split(np.arange(len(parts)), team.size)[team.rank]
    return sharded_table_of([parts[number] for number in own], model._bin_wishes(), "this model", seed=2, team=team)


def whole_table(target: str = "squared") -> tuple[Any, Any]:
    return rows_of(slice(0, N_ROWS)), target_of({"target": target})[:N_ROWS]


class Interruption(Exception):
    """What ends a training in these tests."""


def interrupt(state: Any) -> None:
    if state.number == 2:
        raise Interruption


def interrupted(model: Any, path: Path, *table: Any) -> None:
    with pytest.raises(Interruption):
        model.fit(*table, callbacks=[weald.Checkpoint(path, every=2), interrupt])


@pytest.mark.parametrize("name", CASES)
def test_a_training_goes_on_from_a_checkpoint_in_any_place(name: str, tmp_path: Path) -> None:
    expected = outcome(make(name).fit(*whole_table()))
    in_memory, in_blocks = tmp_path / "memory.weald", tmp_path / "blocks.weald"
    interrupted(make(name), in_memory, *whole_table())
    interrupted(make(name), in_blocks, table_of(make(name)))
    assert in_memory.read_bytes() == in_blocks.read_bytes()

    def stopped(team: Team) -> bytes:
        path = tmp_path / f"member{team.rank}.weald"
        try:
            make(name).fit(table_of(make(name), team), callbacks=[weald.Checkpoint(path, every=2), interrupt])
        except Interruption:
            return path.read_bytes()
        raise AssertionError

    first, second = run_team(2, stopped)
    assert first == second

    def resumed(team: Team) -> Any:
        model = make(name)
        return outcome(model.fit(table_of(model, team), resume_from=tmp_path / "member0.weald"))

    assert run_team(3, resumed) == [expected] * 3
    model = make(name)
    assert outcome(model.fit(table_of(model), resume_from=in_memory)) == expected
    assert outcome(make(name).fit(*whole_table(), resume_from=in_blocks)) == expected


@pytest.mark.parametrize("name", ["plain", "dart", "averaging", "statistics", "holdout"])
def test_a_warm_start_adds_the_same_rounds(name: str) -> None:
    def grown(*table: Any) -> Any:
        model = make(name, rounds=2, warm_start=True).fit(*table)
        model.n_estimators = 4
        return outcome(model.fit(*table))

    expected = grown(*whole_table())
    assert grown(table_of(make(name))) == expected
    assert run_team(2, lambda team: grown(table_of(make(name), team))) == [expected] * 2


def test_rows_may_start_from_scores_of_their_own() -> None:
    scores = np.random.default_rng(4).normal(size=N_ROWS)
    expected = outcome(make("plain").fit(*whole_table(), init_score=scores))

    def fit(team: Team) -> Any:
        table = table_of(make("plain"), team)
        first = table.bins.first
        return outcome(make("plain").fit(table, init_score=scores[first : first + table.n_rows]))

    assert fit(ALONE) == expected
    assert run_team(3, fit) == [expected] * 3


def test_members_that_share_out_the_columns_have_statistics() -> None:
    expected = outcome(make("statistics", 2).fit(*whole_table()))
    rows = MemberRows([Part(*whole_table())])
    found = run_team(2, lambda team: outcome(fit_member(make("statistics", 2), rows, team, "feature")))
    assert found == [expected] * 2


@pytest.mark.parametrize("weights", ["balanced", {"no": 3.0}, {"no": 0.0, "yes": 2.0}])
def test_weights_of_classes_leave_the_cuts_as_those_of_a_table_that_was_binned_before(weights: Any) -> None:
    def make_one() -> Any:
        return weald.BoostedTreesClassifier(n_estimators=3, class_weight=weights, random_state=2, loss="logistic")

    X, y = whole_table("two")
    if weights == {"no": 0.0, "yes": 2.0}:
        y = np.where(np.arange(N_ROWS) >= 203, "yes", y)  # all rows of a member have a weight
    expected = outcome(make_one().fit(bin_once(X, [make_one()], seed=2), y))

    def fit(team: Team) -> Any:
        parts = [Part(rows_of(slice(*ends)), y[slice(*ends)]) for ends in pairwise(ENDS)]
        own = np.array_split(np.arange(len(parts)), team.size)[team.rank]
        wishes = make_one()._bin_wishes()
        some = [parts[number] for number in own]
        return outcome(make_one().fit(sharded_table_of(some, wishes, "this model", seed=2, team=team)))

    assert run_team(2, fit) == [expected] * 2


def test_a_column_of_many_categories_has_statistics_of_each() -> None:
    n = 900
    code = np.random.default_rng(8).integers(0, 400, n)
    columns = {"a": np.random.default_rng(9).normal(size=n), "many": np.array([f"kind {one}" for one in code])}
    y = np.sin(code) + columns["a"]
    model = weald.BoostedTreesRegressor(n_estimators=3, categories="ordered", bins=60)
    wishes = model._bin_wishes()
    parts = [
        Part({name: values[begin:end] for name, values in columns.items()}, y[begin:end])
        for begin, end in ((0, 500), (500, n))
    ]
    expected = outcome(model.fit(columns, y))
    assert outcome(model.fit(sharded_table_of(parts, wishes, "this model"))) == expected


