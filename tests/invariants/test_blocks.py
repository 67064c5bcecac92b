"""Tables in blocks, and teams that share the rows, come to the model of one table in memory on one thread: the same bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from invariants.block_cases import N_OTHER, N_ROWS, TABLE, WEIGHT, X, case_of, make_model, target_of
from thread_team import run_team
from weald.binning.parts import Part, sharded_table_of
from weald.binning.sharded_table import ShardedTable
from weald.estimators.shared.persistence import to_bytes
from weald.runtime.row_memory import IN_MEMORY, MappedFiles
from weald.runtime.team import ALONE, Team

ENDS = (0, 37, 38, 203, 331, N_ROWS)  # rows of the blocks: odd, one of a single row
OTHER = np.arange(N_ROWS, N_ROWS + N_OTHER)

Outcome = tuple[bytes, dict[str, Any]]


def rows_of(rows: Any) -> dict[str, Any]:
    return {name: values[rows] for name, values in X.items()}


def outcome(model: Any) -> Outcome:
    return to_bytes(model, model._model), model.history_


def sets_of(case: dict[str, str]) -> list[Any]:
    """Rows of the evaluation sets."""
    return {"none": [], "one": [OTHER], "stopping": [OTHER[::2], OTHER[1::2]]}[case["sets"]]


def part_of(case: dict[str, str], rows: Any) -> Part:
    weight = WEIGHT[rows] if case["weight"] == "some" else None
    return Part(rows_of(rows), target_of(case)[rows], weight)


def in_memory(case: dict[str, str]) -> Outcome:
    model = make_model(case)[0]
    sets = [part_of(case, rows) for rows in sets_of(case)]
    train = part_of(case, slice(0, N_ROWS))
    model.fit(train.X, train.y, train.weight, eval_set=[(one.X, one.y, one.weight) for one in sets] or None)
    return outcome(model)


def in_blocks(
    case: dict[str, str], team: Team = ALONE, memory: Any = None, reads_ahead: bool = False, tasks: int = 1
) -> Outcome:
    """The same from this member's share of the blocks."""
    model = make_model(case, n_jobs=tasks)[0]
    wishes = model._bin_wishes()

    def table(ranges: Iterable[Any], like: ShardedTable | None = None) -> ShardedTable:
        parts = [part_of(case, rows) for rows in ranges]
        made = sharded_table_of(parts, wishes, "this model", seed=5, team=team, like=like)
        bins = replace(made.bins, reads_ahead=reads_ahead)
        return replace(made, bins=bins if memory is None else replace(bins, memory=memory))

    blocks = [slice(*ends) for ends in pairwise(ENDS)]
    own = np.array_split(np.arange(len(blocks)), team.size)[team.rank]
    train = table([blocks[number] for number in own])
    sets = [table([np.array_split(rows, team.size)[team.rank]], train) for rows in sets_of(case)]
    return outcome(model.fit(train, eval_set=sets or None))


@pytest.mark.parametrize("line", TABLE)
def test_blocks_and_teams_train_the_model_of_the_table_in_memory(line: str, tmp_path: Path) -> None:
    case, number = case_of(line), TABLE.index(line)
    expected = in_memory(case)
    assert in_blocks(case, memory=MappedFiles(tmp_path), reads_ahead=number % 2 == 0) == expected
    size = 2 + number % 2
    found = run_team(size, lambda team: in_blocks(case, team, reads_ahead=number % 3 == 0))
    assert [one == expected for one in found] == [True] * size


@pytest.mark.parametrize("categories", ["partition", "ordered"])
def test_threads_and_several_blocks_at_work_change_nothing(categories: str, tmp_path: Path) -> None:
    n = 70_000  # enough for every kernel to be shared among threads
    generator = np.random.default_rng(1)
    names = np.array(list("abcdefghi"))[generator.integers(0, 9, n)]
    columns = {"a": generator.normal(size=n), "b": generator.normal(size=n), "c": names}
    y = columns["a"] * columns["b"] > 0.1

    def make(tasks: int) -> Any:
        return weald.BoostedTreesClassifier(
            n_estimators=3, max_leaves=15, sampling="goss", learning_rate=0.9, categories=categories, n_jobs=tasks
        )

    expected = outcome(make(1).fit(columns, y))
    ends = np.linspace(0, n, 8).astype(np.int64).tolist()
    parts = [
        Part({name: values[begin:end] for name, values in columns.items()}, y[begin:end])
        for begin, end in pairwise(ends)
    ]
    table = sharded_table_of(parts, make(1)._bin_wishes(), "this model")
    for memory in (IN_MEMORY, MappedFiles(tmp_path)):
        bins = replace(table.bins, reads_ahead=True, memory=memory)
        assert outcome(make(2).fit(replace(table, bins=bins))) == expected
