"""Forests of a table in blocks, and of a team that shares the trees out: the trees of the table in memory, to the byte."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import weald
import weald.mpi
from invariants.block_cases import N_ROWS, WEIGHT, X, target_of
from thread_team import run_team
from weald.binning.parts import Part, sharded_table_of
from weald.runtime.errors import NotSupportedError
from weald.runtime.team import ALONE, Team
from weald.workers.estimators import rows_of

ENDS = (0, 37, 38, 203, 331, N_ROWS)

CASES: dict[str, tuple[Any, str, bool]] = {
    "classes": (weald.RandomForestClassifier(7, oob_score=True, random_state=3, n_jobs=1), "three", False),
    "weights": (weald.RandomForestClassifier(5, class_weight="balanced_subsample", n_jobs=1), "two", True),
    "numbers": (weald.RandomForestRegressor(6, min_samples_leaf=3, oob_score=True, n_jobs=1), "squared", True),
    "medians": (weald.RandomForestRegressor(3, criterion="absolute_error", n_jobs=1), "squared", False),
    "random thresholds": (weald.ExtraTreesRegressor(5, random_state=1, n_jobs=1), "squared", False),
    "few rows": (weald.ExtraTreesClassifier(5, bootstrap=True, max_samples=0.3, n_jobs=2), "two", True),
    "one tree": (weald.DecisionTreeClassifier(max_depth=4), "two", False),
}


def part_of(target: str, weighted: bool, rows: slice) -> Part:
    y = target_of({"target": target})[rows]
    return Part({name: values[rows] for name, values in X.items()}, y, WEIGHT[rows] if weighted else None)


def unfitted(name: str) -> Any:
    model = CASES[name][0]
    return type(model)(**model.get_params(deep=False))


def outcome(model: Any, rows: Any = slice(None)) -> tuple[bytes, Any]:
    """The model file, and what is said of rows by trees that have not seen them."""
    names = ("oob_prediction_", "oob_decision_function_")
    told = [getattr(model, name)[rows].tolist() for name in names if hasattr(model, name)]
    return model._to_bytes(), str(told)  # NaN is not itself


def in_blocks(name: str, team: Team = ALONE) -> tuple[bytes, Any]:
    _, target, weighted = CASES[name]
    parts = [part_of(target, weighted, slice(*ends)) for ends in pairwise(ENDS)]
    own = np.array_split(np.arange(len(parts)), team.size)[team.rank]
    model = unfitted(name)
    table = sharded_table_of([parts[number] for number in own], model._bin_wishes(), "this model", team=team)
    return outcome(model.fit(table))


@pytest.mark.filterwarnings("ignore:.* rows are in the bag of every tree")
@pytest.mark.parametrize("name", CASES)
def test_forests_of_blocks_are_those_of_the_table_in_memory(name: str) -> None:
    whole = part_of(*CASES[name][1:], slice(0, N_ROWS))
    counting = slice(None) if whole.weight is None else whole.weight > 0
    expected = outcome(unfitted(name).fit(whole.X, whole.y, whole.weight), counting)
    assert in_blocks(name) == expected
    for size in (2, 3):
        assert run_team(size, lambda team: in_blocks(name, team)) == [expected] * size


@pytest.mark.filterwarnings("ignore:.* rows are in the bag of every tree")
def test_members_of_a_team_have_all_that_a_forest_has_in_memory() -> None:
    whole = part_of("three", False, slice(0, N_ROWS))
    alone = unfitted("classes").fit(whole.X, whole.y)

    def fit(team: Team) -> tuple[Any, Any, Any]:
        half = part_of("three", False, slice(0, 200) if team.rank == 0 else slice(200, N_ROWS))
        model = weald.mpi.RandomForestClassifier(**unfitted("classes").get_params(deep=False))
        model._fit_as_member(lambda: rows_of(half.X, half.y), team, {})
        samples = [rows.tolist() for rows in model.estimators_samples_]
        return model.alone()._to_bytes(), str(model.oob_decision_function_.tolist()), samples

    samples = [rows.tolist() for rows in alone.estimators_samples_]
    expected = alone._to_bytes(), str(alone.oob_decision_function_.tolist()), samples
    assert run_team(2, fit) == [expected] * 2


def test_random_thresholds_need_the_extremes_of_columns() -> None:
    wishes = weald.RandomForestRegressor()._bin_wishes()
    table = sharded_table_of([part_of("squared", False, slice(0, 99))], wishes, "this model")
    model = weald.ExtraTreesRegressor()
    model._bin_wishes = lambda: wishes
    with pytest.raises(NotSupportedError, match="extremes of columns, which this table in blocks does not keep"):
        model.fit(table)
