"""A team of threads fits the model of one process, byte for byte, and what one member cannot do stops all."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from thread_team import ThreadTeam, run_team
from weald.estimators.shared.persistence import to_bytes
from weald.runtime.errors import InputError
from weald.runtime.team import ALONE
from weald.training.boosting.flat import from_flat
from weald.workers.estimators import fit_member, rows_of
from weald.workers.tables import MemberRows
from weald.workers.watched import MemberFailedError

N = 1200
ENDS = {1: [0, N], 2: [0, 700, N], 4: [0, 100, 100, 900, N]}  # one of four members has no rows


def table() -> tuple[pd.DataFrame, dict[str, Any]]:
    generator = np.random.default_rng(3)
    values = generator.normal(size=(N, 3))
    values[generator.random(N) < 0.1, 1] = np.nan
    city = generator.choice(["Ulm", "Linz", "Graz"], N, p=[0.2, 0.5, 0.3])
    number = values[:, 0] * 2.0 + values[:, 2] ** 2 + (city == "Linz") + generator.normal(size=N) * 0.1
    frame = pd.DataFrame({"a": values[:, 0], "b": values[:, 1], "c": values[:, 2], "city": city})
    two = np.where(number > 1.0, "high", "low").astype(object)
    return frame, {
        "number": number,
        "two": two,
        "three": np.digitize(number, [0.0, 2.0]),
        "count": np.abs(number // 1),
    }


X, TARGETS = table()
WEIGHT = np.random.default_rng(4).integers(0, 3, N).astype(float)

CASES: dict[str, dict[str, Any]] = {
    "squared": {},
    "two classes": {"target": "two"},
    "three classes": {"target": "three"},
    "weights": {"weighted": True},
    "weights of classes": {"target": "two", "class_weight": {"high": 3.0, "low": 1.0}, "weighted": True},
    "balanced classes": {"target": "three", "class_weight": "balanced"},
    "poisson": {"target": "count", "loss": "poisson"},
    "absolute": {"loss": "absolute"},
    "sampled": {"subsample": 0.6, "colsample_bytree": 0.7},
    "goss": {"sampling": "goss"},
    "oblivious": {"growth": "oblivious", "max_leaves": None, "max_depth": 3},
    "early stopping": {"early_stopping_rounds": 2, "n_estimators": 40, "learning_rate": 0.9, "target": "two"},
    "dart": {"booster": "dart"},
}


def model_of(target: str = "number", weighted: bool = False, **settings: Any) -> Any:
    kind = weald.BoostedTreesClassifier if target in ("two", "three") else weald.BoostedTreesRegressor
    given = {"n_estimators": 5, "max_leaves": 7, "categories": "partition", "n_jobs": 1, **settings}
    classes = {name: given.pop(name) for name in ("class_weight",) if name in given}
    return kind(**from_flat(given), **classes)


def share(values: Any, size: int, rank: int) -> Any:
    begin, end = list(pairwise(ENDS[size]))[rank]
    return None if values is None else values[begin:end]


def whole(target: str = "number", weighted: bool = False, **settings: Any) -> bytes:
    model, y = model_of(target, weighted, **settings), TARGETS[target]
    weight = WEIGHT if weighted else None
    valid = [(X[:333], y[:333], None if weight is None else weight[:333])]
    model.fit(X, y, weight, eval_set=valid, eval_names=["valid"])
    return to_bytes(model, model._model)


def together(size: int, target: str = "number", weighted: bool = False, **settings: Any) -> list[bytes]:
    y, weight = TARGETS[target], WEIGHT if weighted else None

    def job(team: ThreadTeam) -> bytes:
        def own(values: Any) -> Any:
            return share(values, size, team.rank)

        sets = [
            (
                own(X)[own(X).index < 333],
                own(y)[own(X).index < 333],
                own(weight) if weight is None else own(weight)[own(X).index < 333],
            )
        ]
        rows = rows_of(own(X), own(y), own(weight), sets)
        model = fit_member(model_of(target, weighted, **settings), rows, team, eval_names=["valid"])
        return to_bytes(model, model._model)

    return run_team(size, job)


@pytest.mark.parametrize("name", CASES)
def test_a_team_fits_the_model_of_one_process(name: str) -> None:
    expected = whole(**CASES[name])
    for size in ENDS:
        assert together(size, **CASES[name]) == [expected] * size


def test_a_team_fits_the_forest_of_one_process_with_weights_of_classes() -> None:
    y = TARGETS["two"]

    def forest() -> Any:
        return weald.RandomForestClassifier(3, max_depth=4, class_weight={"high": 5.0, "low": 1.0}, n_jobs=1)

    def job(team: ThreadTeam) -> bytes:
        own = [share(values, 2, team.rank) for values in (X, y, WEIGHT)]
        return bytes(fit_member(forest(), rows_of(*own), team)._to_bytes())

    assert run_team(2, job) == [forest().fit(X, y, WEIGHT)._to_bytes()] * 2


def test_a_member_may_have_no_rows_at_all() -> None:
    def job(team: ThreadTeam) -> int:
        rows = rows_of(X[:300], TARGETS["number"][:300]) if team.rank == 1 else MemberRows([])
        return int(fit_member(model_of(), rows, team).n_features_in_)

    assert run_team(3, job) == [4, 4, 4]


def test_another_number_of_members_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    y, path = TARGETS["number"], tmp_path / "half"

    def fit(size: int, rounds: int, resume_from: Path | None = None) -> list[bytes]:
        def job(team: ThreadTeam) -> bytes:
            rows = rows_of(share(X, size, team.rank), share(y, size, team.rank))
            model, saves = model_of(subsample=0.7, n_estimators=rounds), [weald.Checkpoint(path, every=3)]
            fit_member(model, rows, team, callbacks=saves, resume_from=resume_from)
            return to_bytes(model, model._model)

        return run_team(size, job)

    fit(2, rounds=3)
    expected = model_of(subsample=0.7, n_estimators=6).fit(X, y)
    assert fit(4, rounds=6, resume_from=path) == [to_bytes(expected, expected._model)] * 4


def all_say(size: int, job: Any) -> list[str]:
    """The messages that the members of a team raise."""

    def told(team: ThreadTeam) -> str:
        try:
            job(team)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    return run_team(size, told)


def test_a_refusal_of_one_member_is_one_of_all_and_names_it() -> None:
    def job(team: ThreadTeam) -> None:
        y = TARGETS["number"] if team.rank != 1 else np.full(N, np.nan)
        fit_member(model_of(), rows_of(X, y), team)

    said = all_say(3, job)
    assert all(one.startswith("InputError: thread 1: Input y contains NaN") for one in said)


def test_labels_that_a_loss_cannot_take_are_refused_by_all() -> None:
    def job(team: ThreadTeam) -> None:
        sign = -1.0 if team.rank == 2 else 1.0
        fit_member(model_of(loss="poisson"), rows_of(X, sign * (TARGETS["count"] + 1.0)), team)

    said = all_say(3, job)
    assert all(one.startswith("InputError: y must") for one in said)


def test_what_all_refuse_is_said_once_by_each() -> None:
    def job(team: ThreadTeam) -> None:
        fit_member(model_of(max_depth=-3), rows_of(X, TARGETS["number"]), team)

    said = all_say(2, job)
    assert said[0] == said[1] and said[0].startswith("InputError: max_depth")


@pytest.mark.parametrize("round_number", [0, 3, 4])
def test_a_member_that_fails_in_the_middle_leaves_nobody_waiting(round_number: int) -> None:
    def job(team: ThreadTeam) -> None:
        def fail(state: Any) -> None:
            if team.rank == 1 and state.number == round_number:
                raise ZeroDivisionError("by nought")

        fit_member(model_of(), rows_of(X, TARGETS["number"]), team, callbacks=[fail])

    first, second = all_say(2, job)
    assert first == second == "MemberFailedError: thread 1 failed: ZeroDivisionError: by nought"
    assert issubclass(MemberFailedError, RuntimeError)


def test_a_linear_booster_is_refused() -> None:
    def job(team: ThreadTeam) -> None:
        fit_member(
            model_of(booster="linear", categories="auto"), rows_of(X[["a", "b"]], TARGETS["number"]), team
        )

    assert all("booster='linear'" in one for one in all_say(2, job))


def test_members_give_as_many_evaluation_sets() -> None:
    def job(team: ThreadTeam) -> None:
        sets = [(X, TARGETS["number"])] if team.rank else None
        fit_member(model_of(), rows_of(X, TARGETS["number"], None, sets), team)

    assert all("eval_set must have as many sets" in one for one in all_say(2, job))


def test_classes_of_an_evaluation_set_that_training_does_not_have_are_refused() -> None:
    strange = np.array(["strange"] * 5, object)

    def job(team: ThreadTeam) -> None:
        sets = [(X[:5], strange)]
        fit_member(model_of("two"), rows_of(X, TARGETS["two"], None, sets), team)

    assert all("'strange', which y does not have" in one for one in all_say(2, job))
    with pytest.raises(InputError, match="but y holds numbers"):
        fit_member(model_of(), rows_of(X, TARGETS["number"], None, [(X[:5], strange)]), ALONE)
