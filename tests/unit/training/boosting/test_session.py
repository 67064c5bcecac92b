"""A session: one round at a time, all at once, and on by another plan; always the same bytes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from weald import (
    Averaging,
    Bayesian,
    BoostedTreesRegressor,
    Dart,
    Leaves,
    Linear,
    Ordered,
    Plain,
    Splits,
    Uniform,
)
from weald.data import read_table
from weald.forest.forest import Forest
from weald.forest.predict import raw_scores
from weald.linear.model import LinearModel
from weald.losses import make_loss, make_metric
from weald.runtime.errors import InputError
from weald.training.boosting.door import Facts, plan_of
from weald.training.boosting.opening import Rows, Start, open_session
from weald.training.boosting.parameters import BoostingParameters
from weald.training.boosting.plan import LinearPlan, Plan
from weald.training.boosting.session import Interruption, Session, run
from weald.training.boosting.starts import without_trees

ROUNDS = 6
RNG = np.random.default_rng(21)
X = np.round(RNG.standard_normal((240, 4)), 1)
Y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.2 * RNG.standard_normal(240)
WEIGHT = RNG.integers(0, 3, 240).astype(float)  # some rows are left out
TABLE = read_table(X)
LOSSES = {"numbers": make_loss("squared"), "classes": make_loss("softmax", n_classes=3)}
SMALL: dict[str, Any] = {"n_estimators": ROUNDS, "max_leaves": 6, "min_samples_leaf": 5, "n_jobs": 1}
BOOSTERS: dict[str, dict[str, Any]] = {
    "plain": {"subsample": 0.7, "colsample_bytree": 0.8},
    "parallel trees": {"booster": Plain(parallel_trees=2), "subsample": 0.7},
    "noise": {"splits": Splits(noise=1.0), "sampling": Bayesian(frequency=2)},
    "dart": {"booster": Dart(rate_drop=0.5), "learning_rate": 0.4},
    "averaging": {"booster": Averaging(), "subsample": 0.6},
    "ordered": {"booster": Ordered(permutations=2)},
    "linear": {"booster": Linear(selector="shuffle"), "learning_rate": 0.3},
}


def labels(task: str) -> Any:
    return Y if task == "numbers" else np.digitize(Y, [-0.5, 0.5]).astype(float)


def planned(task: str = "numbers", **changes: Any) -> Plan:
    own: dict[str, Any] = {**SMALL, **changes}
    if isinstance(own.get("booster"), Linear):
        own = {name: own[name] for name in own if name not in ("max_leaves", "min_samples_leaf")}
    loss = LOSSES[task]
    return plan_of(BoostingParameters(**own), TABLE.schema, Facts(loss, int((WEIGHT > 0).sum())))


def beginning(plan: Plan, task: str) -> Start:
    base = plan.loss.initial_score(labels(task)[WEIGHT > 0], WEIGHT[WEIGHT > 0])
    if isinstance(plan.kind, LinearPlan):
        return Start(LinearModel(base, np.zeros(len(base)), np.zeros((len(base), 4)), 0))
    return Start(without_trees(4, base, plan.trees.parallel_trees, plan.trees.averaged))


def opened(plan: Plan, task: str = "numbers", start: Start | None = None, evaluated: bool = True) -> Session:
    metric = make_metric(plan.loss.default_metric, plan.loss)
    sets = [Rows(TABLE, labels(task), None, name="all", metrics=[metric])] if evaluated else []
    train = Rows(TABLE, labels(task), WEIGHT)
    return open_session(plan, train, sets, beginning(plan, task) if start is None else start)


def same(first: Any, second: Any) -> bool:
    """Whether two models are equal to the last bit."""
    if isinstance(first, Forest):
        return first == second and first.value.tobytes() == second.value.tobytes()
    return all(
        np.asarray(getattr(first, name)).tobytes() == np.asarray(getattr(second, name)).tobytes()
        for name in ("base_score", "bias", "weights", "n_rounds")
    )


def steps(session: Session, rounds: int) -> Session:
    for _ in range(rounds):
        session.step()
    return session


@pytest.mark.parametrize("task", LOSSES)
@pytest.mark.parametrize("name", BOOSTERS)
def test_one_round_at_a_time_is_all_at_once(name: str, task: str) -> None:
    plan = planned(task, **BOOSTERS[name])
    whole, single, halves = (opened(plan, task) for _ in range(3))
    wanted = run(whole)
    for number in range(ROUNDS):
        assert single.n_rounds == number
        assert single.step().number == number
        state = halves.begin()
        assert halves.n_rounds == state.number == number  # nothing has been trained yet
        assert halves.complete(state) is state
    assert same(single.model(), wanted) and same(halves.model(), wanted)
    curves = [session.evaluations[0].history for session in (whole, single, halves)]
    assert curves[0] == curves[1] == curves[2]
    assert [len(curve) for curve in curves[0].values()] == [ROUNDS]


@pytest.mark.parametrize("name", BOOSTERS)
def test_looking_at_the_model_and_the_scores_on_the_way_changes_nothing(name: str) -> None:
    plan = planned(**BOOSTERS[name])
    wanted, curious = run(opened(plan)), opened(plan)
    for _ in range(ROUNDS):
        curious.settled()
        curious.step()
        at, model = curious.settled(), curious.model()
        if isinstance(model, Forest):
            kept = X[WEIGHT > 0]
            expected = raw_scores(model, [(0, kept)], len(kept))
            assert np.allclose(at.scores, expected, rtol=0.0, atol=1e-12)
        curious.interruption()
        curious.finished(model)
    assert same(curious.model(), wanted)


def test_run_goes_on_from_where_a_session_is_and_does_nothing_at_its_end() -> None:
    plan = planned()
    session = steps(opened(plan), 2)
    first = session.model()
    wanted = run(opened(plan))
    assert same(run(session), wanted)
    assert same(run(session), wanted) and session.n_rounds == ROUNDS
    assert first.n_rounds == 2  # a model that was handed out stays as it was


def test_a_session_trains_beyond_the_rounds_that_were_asked_for_when_it_is_told() -> None:
    session = opened(planned(n_estimators=3))
    run(session)
    steps(session, ROUNDS - 3)
    assert same(session.model(), run(opened(planned())))


CHANGES: dict[str, dict[str, Any]] = {
    "learning rate": {"learning_rate": 0.55},
    "tree limits": {"max_leaves": 3, "min_samples_leaf": 15, "reg_lambda": 4.0},
    "growth": {"growth": "oblivious", "max_leaves": None, "max_depth": 2},
    "sampling": {"subsample": 0.4, "colsample_bytree": 0.5, "colsample_bynode": 0.5},
    "other sampling": {"sampling": Bayesian(temperature=0.5), "subsample": 1.0},
    "rows drawn less often": {"sampling": Uniform(frequency=3), "subsample": 0.5},
    "precision": {"split_finder": "hist", "max_delta_step": 0.3},
    "leaves": {"leaves": Leaves(iterations=3)},
    "monotone": {"monotone_constraints": [1, 0, 0, -1]},
}


def has_meaning(name: str, changes: dict[str, Any]) -> bool:
    """Whether the door lets a booster have the changes."""
    if name == "linear":
        return set(changes) == {"learning_rate"}
    if name == "noise":  # whose rows are all there, with weights
        return changes is not CHANGES["sampling"]
    return name != "averaging" or "learning_rate" not in changes


@pytest.mark.parametrize(
    ("name", "changes"),
    [(name, change) for name in BOOSTERS for change in CHANGES if has_meaning(name, CHANGES[change])],
)
def test_another_plan_is_a_training_that_goes_on_from_the_model_so_far(name: str, changes: str) -> None:
    before = planned(**BOOSTERS[name])
    after = planned(**{**BOOSTERS[name], **CHANGES[changes]})
    session = steps(opened(before), 3)
    start = Start(session.model(), interruption=session.interruption())
    later = opened(after, start=start)
    session.change(after)
    assert session.plan is after
    assert same(run(session), run(later))
    assert not same(session.model(), run(opened(before)))
    last = [one.evaluations[0].history["rmse"][-3:] for one in (session, later)]
    assert last[0] == last[1]


def test_dropped_trees_follow_a_plan_of_other_rates_and_another_seed() -> None:
    before = planned(booster=Dart(rate_drop=0.2))
    after = planned(booster=Dart(rate_drop=0.9, normalize_type="forest"), random_state=7)
    session = steps(opened(before), 3)
    later = opened(after, start=Start(session.model()))
    session.change(after)
    assert same(run(session), run(later))


def test_a_linear_model_follows_a_plan_of_other_penalties() -> None:
    before = planned(booster=Linear())
    after = planned(
        booster=Linear(selector="greedy", top_k=2), reg_alpha=0.05, reg_lambda=0.2, max_delta_step=0.1
    )
    session = steps(opened(before), 3)
    later = opened(after, start=Start(session.model()))
    session.change(after)
    assert same(run(session), run(later))


def test_another_loss_is_followed_from_the_next_round_on() -> None:
    before, after = planned(), planned()
    after = replace(after, loss=make_loss("absolute"))
    session = steps(opened(before, evaluated=False), 3)
    later = opened(after, start=Start(session.model()), evaluated=False)
    session.change(after)
    assert same(run(session), run(later))


@pytest.mark.parametrize("name", BOOSTERS)
def test_the_same_plan_does_nothing(name: str) -> None:
    plan = planned(**BOOSTERS[name])
    session = steps(opened(plan), 2)
    learner = session.learner
    untouched = dict(vars(learner))

    def refuse(other: Plan) -> None:
        raise AssertionError("nothing was to be changed")

    learner.change = refuse  # type: ignore[method-assign]
    session.change(plan)
    session.change(replace(plan))
    session.change(planned(**BOOSTERS[name]))
    del learner.change
    assert session.plan is plan
    assert vars(learner).keys() == untouched.keys()
    assert all(vars(learner)[key] is value for key, value in untouched.items())
    assert same(run(session), run(opened(plan)))


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_plan_is_frozen_and_equal_plans_train_equal_models(name: str) -> None:
    plan, again = planned(**BOOSTERS[name]), planned(**BOOSTERS[name])
    assert plan == again and plan is not again
    assert same(run(opened(plan)), run(opened(again)))
    for owner, field in ((plan, "rate"), (plan, "loss"), (plan.kind, next(iter(vars(plan.kind))))):
        with pytest.raises(FrozenInstanceError):
            setattr(owner, field, 1)
    assert plan != planned(**{**BOOSTERS[name], "random_state": 9})
    if plan.booster != "averaging":
        assert plan != planned(**{**BOOSTERS[name], "learning_rate": 0.01})


def test_a_plan_stays_as_it_is_when_the_users_object_changes() -> None:
    sampling = Uniform(frequency=2)
    plan = planned(sampling=sampling, subsample=0.5)
    sampling.frequency = 5
    assert plan == planned(sampling=Uniform(frequency=2), subsample=0.5)


def test_numbers_of_numpys_make_the_plan_of_pythons_own() -> None:
    numpys = planned(
        n_estimators=np.int64(6),
        max_leaves=np.int32(6),
        learning_rate=np.float64(0.5),
        booster=Plain(parallel_trees=np.int64(2)),
        sampling=Uniform(frequency=np.int64(3)),
        subsample=np.float64(0.5),
    )
    own = planned(
        learning_rate=0.5, booster=Plain(parallel_trees=2), sampling=Uniform(frequency=3), subsample=0.5
    )
    assert numpys == own
    assert type(numpys.trees.parallel_trees) is type(numpys.trees.rules.max_leaves) is int
    assert same(run(opened(numpys)), run(opened(own)))


class Watcher:
    """Remembers every round that it is shown."""

    def __init__(self) -> None:
        self.before: list[Any] = []
        self.after: list[Any] = []

    def before_round(self, state: Any) -> None:
        assert state.n_rounds == ROUNDS and state.model().n_rounds == state.number
        self.before.append(state)

    def __call__(self, state: Any) -> None:
        assert state.model().n_rounds == state.number + 1
        self.after.append(state)


def test_callbacks_see_one_object_a_round_before_and_after_it() -> None:
    first, second = Watcher(), Watcher()
    plain: list[Any] = []
    run(opened(planned()), [first, plain.append, second])
    assert [state.number for state in plain] == list(range(ROUNDS))
    for seen in (first.before, first.after, second.before, second.after):
        assert len(seen) == ROUNDS and all(one is other for one, other in zip(seen, plain, strict=True))
    assert len({id(state) for state in plain}) == ROUNDS


def test_what_a_callback_sets_is_of_its_round_alone_and_seen_by_all() -> None:
    class Halved(Watcher):
        def before_round(self, state: Any) -> None:
            if state.number == 2:
                state.learning_rate = 0.05

    rates: list[float] = []
    session = opened(planned(learning_rate=0.4))
    run(session, [Halved(), lambda state: rates.append(state.learning_rate)])
    assert rates == [0.4, 0.4, 0.05, 0.4, 0.4, 0.4]
    by_hand = opened(planned(learning_rate=0.4))
    for number in range(ROUNDS):
        state = by_hand.begin()
        if number == 2:
            state.learning_rate = 0.05
        by_hand.complete(state)
    assert same(by_hand.model(), session.model())


@pytest.mark.parametrize("rate", [-1.0, np.nan, np.inf, "fast", True, None])
def test_a_rate_that_is_none_is_refused(rate: Any) -> None:
    state = opened(planned()).begin()
    with pytest.raises(InputError, match="the learning rate of round 0 must be a number of at least 0"):
        state.learning_rate = rate


def test_a_round_that_is_stopped_before_it_begins_is_left_out_and_one_after_it_is_the_last() -> None:
    class Before(Watcher):
        def before_round(self, state: Any) -> None:
            if state.number == 2:
                state.stop("enough")

    later = Watcher()
    assert run(opened(planned()), [Before()]).n_rounds == 2
    assert run(opened(planned()), [later, lambda state: state.stop("one will do")]).n_rounds == 1
    assert len(later.after) == 1 and later.after[0].reason == "one will do"


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_session_goes_on_after_an_exception_in_a_callback(name: str) -> None:
    plan = planned(**BOOSTERS[name])

    def interrupt(state: Any) -> None:
        if state.number == 2:
            raise KeyboardInterrupt

    session = opened(plan)
    with pytest.raises(KeyboardInterrupt):
        run(session, [interrupt])
    assert session.n_rounds == 3
    assert same(run(session), run(opened(plan)))


@pytest.mark.parametrize("task", LOSSES)
@pytest.mark.parametrize("name", BOOSTERS)
def test_a_session_opened_from_an_interruption_goes_on_to_the_same_bytes(name: str, task: str) -> None:
    plan = planned(task, **BOOSTERS[name])
    session = steps(opened(plan, task), 3)
    kept = session.interruption()
    assert (kept is not None) == (name == "ordered")
    assert kept is None or isinstance(kept, Interruption)
    later = opened(plan, task, Start(session.model(), interruption=kept))
    assert later.n_rounds == 3
    assert same(run(later), run(opened(plan, task)))


def test_the_estimator_trains_what_a_session_of_its_plan_does() -> None:
    own = {**SMALL, **BOOSTERS["dart"]}
    model = BoostedTreesRegressor(**own).fit(X, Y, sample_weight=WEIGHT)
    assert same(model.forest_, run(opened(planned(**BOOSTERS["dart"]))))


@pytest.mark.parametrize("name", BOOSTERS)
def test_the_number_of_threads_may_change_on_the_way(name: str) -> None:
    plan = planned(**BOOSTERS[name])
    session = opened(plan)
    for number in range(ROUNDS):
        session.change(replace(plan, n_jobs=1 + number % 3))
        session.step()
    assert same(session.model(), run(opened(plan)))
