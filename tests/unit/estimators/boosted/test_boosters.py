"""Dart, parallel trees, first scores and learning rates through the estimators: what they promise and what they refuse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import weald
from weald import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    Checkpoint,
    EarlyStopping,
    LearningRateScheduler,
    TimeBudget,
)
from weald.estimators.shared.persistence import to_bytes
from weald.forest.predict import raw_scores
from weald.losses.lightgbm import lightgbm_loss
from weald.runtime.errors import InputError
from weald.training.boosting.starts import base_scores

X, Y = load_breast_cancer(return_X_y=True)
RX, RY = load_diabetes(return_X_y=True)
IX, IY = load_iris(return_X_y=True)
DART: dict[str, Any] = {"booster": weald.Dart(rate_drop=0.3)}
PARALLEL: dict[str, Any] = {"booster": weald.Plain(parallel_trees=2)}


def file_bytes(model: Any) -> bytes:
    return to_bytes(model, model._model)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rate_drop": 1.1}, "booster.rate_drop must be a number of at least 0 and at most 1, not 1.1"),
        ({"skip_drop": -0.5}, "booster.skip_drop must be a number of at least 0 and at most 1, not -0.5"),
        ({"one_drop": 1}, "booster.one_drop must be True or False, not 1"),
        ({"sample_type": "all"}, "booster.sample_type must be one of 'uniform', 'weighted', not 'all'"),
        (
            {"normalize_type": "trees"},
            "booster.normalize_type must be one of 'tree', 'forest', 'paper', not 'trees'",
        ),
        ({"max_drop": -1}, "booster.max_drop must be a whole number of at least 0"),
        ({"parallel_trees": 0}, "booster.parallel_trees must be a whole number of at least 1"),
    ],
)
def test_fields_of_dart_out_of_their_ranges_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        BoostedTreesRegressor(booster=weald.Dart(**parameters)).fit(RX, RY)


@pytest.mark.parametrize(
    "name", ["rate_drop", "skip_drop", "one_drop", "sample_type", "normalize_type", "max_drop"]
)
def test_the_fields_of_dart_are_no_parameters_of_anything_else(name: str) -> None:
    value = weald.Dart().get_params()[name]
    for owner in (BoostedTreesRegressor, BoostedTreesClassifier, weald.Plain, weald.Ordered):
        with pytest.raises(TypeError, match=f"has no parameter '{name}'; "):
            owner(**{name: value})
    with pytest.raises(ValueError, match=f"^Plain has no parameter '{name}'; "):
        BoostedTreesRegressor().set_params(**{f"booster__{name}": value})


@pytest.mark.parametrize(
    ("loss", "base_score", "message"),
    [
        ("squared", "high", "base_score must be a number, not 'high'"),
        ("squared", [1.0, 2.0], "base_score must be a number"),
        ("squared", float("nan"), "base_score must be a number"),
        ("poisson", 0.0, "base_score must be a number above 0, not 0.0"),
        ("gamma", -1.0, "base_score must be a number above 0"),
    ],
)
def test_a_first_prediction_outside_its_range_is_refused(loss: str, base_score: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BoostedTreesRegressor(loss, base_score=base_score).fit(RX, RY)


@pytest.mark.parametrize(
    ("labels", "base_score", "message"),
    [
        (IY > 0, 1.0, "base_score must be a probability between 0 and 1, both excluded, not 1.0"),
        (IY, 0.5, "base_score must be probabilities between 0 and 1"),
        (IY, [0.5, 0.4, 0.2], "that add up to 1, one for each class"),
        (IY, [0.5, 0.5], "one for each class"),
    ],
)
def test_first_probabilities_that_are_none_are_refused(labels: Any, base_score: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BoostedTreesClassifier(base_score=base_score).fit(IX, labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init_score": np.zeros(3)}, r"init_score must have the shape \(442,\), not \(3,\)"),
        ({"init_score": ["x"] * 442}, "init_score must be numbers"),
        ({"init_score": np.full(442, np.inf)}, "init_score must be finite, but row 0"),
        (
            {"init_score": np.zeros(442), "eval_set": [(RX, RY)]},
            "init_score and eval_init_scores go together",
        ),
        (
            {"eval_init_scores": [np.zeros(442)], "eval_set": [(RX, RY)]},
            "init_score and eval_init_scores go together",
        ),
        (
            {"init_score": np.zeros(442), "eval_init_scores": [None], "eval_set": [(RX, RY)]},
            "one for each of the 1 eval sets",
        ),
        (
            {"init_score": np.zeros(442), "eval_init_scores": [np.zeros(5)], "eval_set": [(RX, RY)]},
            r"eval_init_scores\[0\] must have the shape",
        ),
    ],
)
def test_scores_to_start_from_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BoostedTreesRegressor(n_estimators=2).fit(RX, RY, **options)


def test_two_starts_are_refused() -> None:
    with pytest.raises(InputError, match="both say where to start"):
        BoostedTreesRegressor(base_score=1.0).fit(RX, RY, init_score=np.zeros(len(RY)))


# --- dart -----------------------------------------------------------------------------------------


def test_early_stopping_gives_the_model_as_it_was_at_the_best_round() -> None:
    settings: dict[str, Any] = {"learning_rate": 0.5, "random_state": 1, **DART}
    stopped = BoostedTreesRegressor(n_estimators=200, early_stopping_rounds=5, **settings)
    stopped.fit(RX[:300], RY[:300], eval_set=[(RX[300:], RY[300:])])
    best = stopped.best_iteration_
    assert 0 < best < len(stopped.history_["valid_0"]["rmse"]) - 1
    shorter = BoostedTreesRegressor(n_estimators=best + 1, **settings).fit(RX[:300], RY[:300])
    assert stopped.forest_ == shorter.forest_
    error = np.sqrt(np.mean((stopped.predict(RX[300:]) - RY[300:]) ** 2))
    assert error == pytest.approx(min(stopped.history_["valid_0"]["rmse"]), rel=1e-12)


@pytest.mark.parametrize("sample_type", ["uniform", "weighted"])
@pytest.mark.parametrize("parallel", [1, 2])
def test_dart_goes_on_from_a_checkpoint_to_the_same_bytes(
    tmp_path: Path, sample_type: str, parallel: int
) -> None:
    settings: dict[str, Any] = {
        "booster": weald.Dart(rate_drop=0.3, sample_type=sample_type, parallel_trees=parallel),
        "subsample": 0.7,
        "n_jobs": 1,
    }
    data: dict[str, Any] = {"eval_set": [(IX[::2], IY[::2])], "sample_weight": (np.arange(150) % 5 > 0) + 0.0}
    whole = BoostedTreesClassifier(n_estimators=15, **settings).fit(IX, IY, **data)
    path = tmp_path / "checkpoint.weald"
    BoostedTreesClassifier(n_estimators=7, **settings).fit(IX, IY, callbacks=[Checkpoint(path, 7)], **data)
    resumed = BoostedTreesClassifier(n_estimators=15, **settings).fit(IX, IY, resume_from=path, **data)
    assert file_bytes(resumed) == file_bytes(whole)
    assert whole.forest_.tree_weights.size == 15 * 3 * parallel
    warm = BoostedTreesClassifier(n_estimators=7, warm_start=True, **settings).fit(IX, IY, **data)
    assert warm.set_params(n_estimators=15).fit(IX, IY, **data).forest_ == whole.forest_
    loaded = tmp_path / "model.weald"
    whole.save(loaded)
    assert weald.load(loaded).forest_ == whole.forest_


def test_a_best_round_that_is_lost_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.weald"
    settings: dict[str, Any] = {"learning_rate": 0.5, "early_stopping_rounds": 20, **DART}
    # The labels of the set turn against the model, so that its first round is its best.
    data: dict[str, Any] = {"eval_set": [(RX, -RY)]}
    model = BoostedTreesRegressor(n_estimators=5, **settings)
    model.fit(RX, RY, callbacks=[Checkpoint(path, 5)], **data)
    assert model.best_iteration_ < 4
    with pytest.raises(InputError, match=r"has changed .*round 0.* the best of the earlier fit"):
        BoostedTreesRegressor(n_estimators=9, **settings).fit(RX, RY, resume_from=path, **data)
    # The model that was kept ends with its best round, and goes on from there.
    model.set_params(warm_start=True, n_estimators=9).fit(RX, RY, **data)
    assert model.forest_.n_rounds == model.best_iteration_ + 1


def test_plain_and_dart_training_go_on_from_each_other() -> None:
    model = BoostedTreesRegressor(n_estimators=5, warm_start=True).fit(RX, RY)
    plain = model.forest_
    model.set_params(n_estimators=10, **DART).fit(RX, RY)
    weights = model.forest_.tree_weights
    assert (weights[:5] < 1.0).any()
    model.set_params(n_estimators=12, booster="plain").fit(RX, RY)
    assert model.forest_.tree_weights.tolist() == [*weights, 1.0, 1.0]
    assert plain.n_rounds == 5


def test_dart_stops_in_time_and_is_heard_by_callbacks() -> None:
    numbers: list[int] = []
    model = BoostedTreesClassifier(n_estimators=10_000, **DART)
    model.fit(X, Y, callbacks=[TimeBudget(0.3), lambda state: numbers.append(state.number)])
    assert numbers == list(range(model.forest_.n_rounds))
    assert len(numbers) < 10_000


# --- parallel trees -------------------------------------------------------------------------------


def test_parallel_trees_are_a_mean_of_trees_with_their_own_rows_and_columns() -> None:
    settings: dict[str, Any] = {
        "n_estimators": 1,
        "learning_rate": 1.0,
        "subsample": 0.6,
        "split_finder": weald.Histogram(precision="wide"),
    }
    forest = BoostedTreesClassifier(booster=weald.Plain(parallel_trees=8), **settings).fit(IX, IY).forest_
    assert (forest.n_rounds, forest.n_trees, forest.parallel_trees) == (1, 24, 8)
    single = BoostedTreesClassifier(**settings).fit(IX, IY).forest_
    for output in range(3):
        first = forest.tree(output)
        assert first.value.tolist() == (single.tree(output).value * (1.0 / 8)).tolist()
    assert len({forest.tree(place).count.tobytes() for place in range(0, 24, 3)}) == 8


def test_parallel_trees_of_a_loss_that_refits_leaves_see_the_same_scores() -> None:
    # With all rows and columns the trees of a round are the same, and so is their mean.
    settings: dict[str, Any] = {
        "loss": "absolute",
        "n_estimators": 5,
        "split_finder": weald.Histogram(precision="wide"),
    }
    one = BoostedTreesRegressor(**settings).fit(RX, RY).predict(RX)
    four = BoostedTreesRegressor(booster=weald.Plain(parallel_trees=4), **settings).fit(RX, RY).predict(RX)
    assert four == pytest.approx(one, rel=1e-12)


def test_rounds_of_parallel_trees_are_counted_stopped_and_continued_whole(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "booster": weald.Plain(parallel_trees=3),
        "subsample": 0.5,
        "learning_rate": 0.5,
    }
    data: dict[str, Any] = {"eval_set": [(RX[300:], RY[300:])]}
    model = BoostedTreesRegressor(n_estimators=60, early_stopping_rounds=3, **settings)
    model.fit(RX[:300], RY[:300], **data)
    assert model.forest_.n_trees == 3 * (model.best_iteration_ + 1)
    assert len(model.history_["valid_0"]["rmse"]) < 60
    whole = BoostedTreesRegressor(n_estimators=6, **settings).fit(RX, RY)
    path = tmp_path / "checkpoint.weald"
    BoostedTreesRegressor(n_estimators=4, **settings).fit(RX, RY, callbacks=[Checkpoint(path, 2)])
    resumed = BoostedTreesRegressor(n_estimators=6, **settings).fit(RX, RY, resume_from=path)
    assert file_bytes(resumed) == file_bytes(whole)
    scores = raw_scores(whole.forest_, [(0, RX)], len(RY), last_round=4)
    assert scores.tolist() == raw_scores(whole.forest_.first(4), [(0, RX)], len(RY)).tolist()
    warm = BoostedTreesRegressor(n_estimators=2, warm_start=True).fit(RX, RY)
    with pytest.raises(InputError, match=r"needs booster\.parallel_trees=1 of the earlier fit, not 3"):
        warm.set_params(n_estimators=4, booster__parallel_trees=3).fit(RX, RY)


# --- where boosting starts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "value"),
    [("squared", 3.0), ("absolute", -2.0), ("poisson", 100.0), ("gamma", 7.5), ("tweedie", 1.0)],
)
def test_boosting_starts_from_the_prediction_that_is_asked_for(loss: str, value: float) -> None:
    model = BoostedTreesRegressor(loss, base_score=value, n_estimators=1, learning_rate=1e-12).fit(RX, RY)
    assert model.predict(RX) == pytest.approx(np.full(len(RY), value), rel=1e-9)


@pytest.mark.parametrize(
    ("objective", "value"),
    [
        ("regression", 0.0),
        ("binary", 0.5),
        ("poisson", 1.0),
        ("multiclass", [1 / 3] * 3),
        ("multiclassova", 0.5),
    ],
)
def test_a_first_prediction_can_be_a_raw_score_of_zero(objective: str, value: Any) -> None:
    assert base_scores(value, lightgbm_loss(objective, num_class=3)) == pytest.approx(0.0, abs=1e-15)


def test_boosting_starts_from_the_probabilities_that_are_asked_for() -> None:
    tiny: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1e-12}
    for loss in ("logistic", "exponential"):
        two = BoostedTreesClassifier(loss, base_score=0.2, **tiny).fit(X, Y)
        assert two.predict_proba(X)[:, 1] == pytest.approx(np.full(len(Y), 0.2), rel=1e-9)
    rest = BoostedTreesClassifier("one_vs_rest", base_score=[0.5, 0.3, 0.2], **tiny).fit(IX, IY)
    assert rest.predict_proba(IX) == pytest.approx(np.tile([0.5, 0.3, 0.2], (150, 1)), rel=1e-9)
    three = BoostedTreesClassifier(base_score=[0.5, 0.3, 0.2], **tiny).fit(IX, IY)
    assert three.predict_proba(IX) == pytest.approx(np.tile([0.5, 0.3, 0.2], (150, 1)), rel=1e-9)
    again = BoostedTreesClassifier(base_score=np.array([0.5, 0.3, 0.2]), **tiny).fit(IX, IY)
    assert again.forest_ == three.forest_


def test_a_tree_of_one_leaf_moves_a_first_prediction_that_was_not_the_best() -> None:
    model = BoostedTreesRegressor(
        base_score=0.0, n_estimators=1, learning_rate=1.0, reg_lambda=0.0, min_samples_leaf=300
    ).fit(RX, RY)
    assert model.forest_.n_leaves == 1
    assert model.predict(RX[:1]) == pytest.approx([RY.mean()])


def test_the_first_prediction_is_saved_and_kept_by_going_on(tmp_path: Path) -> None:
    path = tmp_path / "model.weald"
    model = BoostedTreesClassifier(base_score=[0.5, 0.3, 0.2], n_estimators=3).fit(
        IX, IY, callbacks=[Checkpoint(path, 3)]
    )
    assert weald.load(path).get_params()["base_score"] == [0.5, 0.3, 0.2]
    whole = BoostedTreesClassifier(base_score=[0.5, 0.3, 0.2], n_estimators=6).fit(IX, IY)
    resumed = BoostedTreesClassifier(base_score=[0.5, 0.3, 0.2], n_estimators=6)
    assert resumed.fit(IX, IY, resume_from=path).forest_ == whole.forest_
    with pytest.raises(InputError, match="is not what the earlier fit of a warm_start began with"):
        model.set_params(warm_start=True, n_estimators=6, base_score=[0.2, 0.3, 0.5]).fit(IX, IY)


@pytest.mark.parametrize("booster", [{}, DART, {**PARALLEL, "subsample": 0.6}])
def test_scores_to_start_from_take_the_place_of_an_earlier_model(booster: dict[str, Any]) -> None:
    # Rounds of the first half are given as scores: the second half is what boosting goes on with.
    first = BoostedTreesRegressor(n_estimators=5, learning_rate=0.5).fit(RX, RY)
    margin, weight = first.predict(RX), (np.arange(len(RY)) % 4 > 0).astype(float)
    second = BoostedTreesRegressor(n_estimators=12, **booster)
    second.fit(
        RX,
        RY,
        sample_weight=weight,
        init_score=margin,
        eval_set=[(RX, RY)],
        eval_init_scores=[margin],
    )
    assert second.forest_.base_score.tolist() == [0.0]
    both = margin + second.predict(RX)
    assert second.history_["valid_0"]["rmse"][-1] == pytest.approx(np.sqrt(np.mean((both - RY) ** 2)))
    assert np.mean((both - RY) ** 2) < 0.95 * np.mean((margin - RY) ** 2)
    halves = BoostedTreesRegressor(n_estimators=6, warm_start=True, **booster)
    halves.fit(RX, RY, sample_weight=weight, init_score=margin)
    halves.set_params(n_estimators=12).fit(RX, RY, sample_weight=weight, init_score=margin)
    assert halves.forest_ == second.forest_


def test_scores_to_start_from_have_a_column_per_class() -> None:
    constant = BoostedTreesClassifier(n_estimators=5).fit(IX, IY)
    margin = np.tile(constant.forest_.base_score, (150, 1))
    given = BoostedTreesClassifier(n_estimators=5).fit(IX, IY, init_score=margin)
    assert given.decision_function(IX) + margin == pytest.approx(constant.decision_function(IX))
    with pytest.raises(InputError, match=r"init_score must have the shape \(150, 3\), not \(150,\)"):
        BoostedTreesClassifier(n_estimators=5).fit(IX, IY, init_score=margin[:, 0])


@pytest.mark.parametrize("booster", [{}, DART, {"loss": "one_vs_rest", **PARALLEL}], ids=str)
def test_classes_with_scores_to_start_from_go_on_to_the_same_bytes(
    booster: dict[str, Any], tmp_path: Path
) -> None:
    margin = np.random.default_rng(6).standard_normal((150, 3))
    weight = (np.arange(150) % 4 > 0).astype(float)
    fit: dict[str, Any] = {
        "sample_weight": weight,
        "init_score": margin,
        "eval_set": [(IX[:40], IY[:40])],
        "eval_init_scores": [margin[:40]],
    }
    whole = BoostedTreesClassifier(n_estimators=8, **booster).fit(IX, IY, **fit)
    scores = (whole.decision_function(IX[:40]) + margin[:40]).T
    expected = whole._make_loss(3).respond(scores)[np.arange(40), IY[:40]]
    assert whole.history_["valid_0"]["logloss"][-1] == pytest.approx(-np.mean(np.log(expected)))
    halves = BoostedTreesClassifier(n_estimators=3, warm_start=True, **booster).fit(IX, IY, **fit)
    halves.set_params(n_estimators=8).fit(IX, IY, **fit)
    assert halves.forest_ == whole.forest_
    assert halves.history_ == whole.history_
    path = tmp_path / "half.weald"
    BoostedTreesClassifier(n_estimators=3, **booster).fit(
        IX, IY, callbacks=[Checkpoint(path, every=3)], **fit
    )
    resumed = BoostedTreesClassifier(n_estimators=8, **booster).fit(IX, IY, resume_from=path, **fit)
    assert resumed.forest_ == whole.forest_


# --- before a round -------------------------------------------------------------------------------


def test_a_schedule_sets_the_rate_of_every_round() -> None:
    rates = [0.5, 0.25, 0.1, 0.05]
    expected = None
    for number, rate in enumerate(rates):
        model = BoostedTreesRegressor(n_estimators=number + 1, learning_rate=rate, warm_start=True)
        if expected is not None:
            model._set_model(expected._model)
        expected = model.fit(RX, RY)
    assert expected is not None
    for schedule in (rates, np.array(rates), lambda number: rates[number]):
        model = BoostedTreesRegressor(n_estimators=4)
        model.fit(RX, RY, callbacks=[LearningRateScheduler(schedule)])
        assert model.forest_ == expected.forest_


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ([0.1], "rates has 1 learning rates, but there are 3 rounds"),
        ([0.1, -0.1, 0.1], "the learning rate of round 1 must be a number of at least 0, not -0.1"),
        (lambda number: "fast", "the learning rate of round 0 must be a number of at least 0, not 'fast'"),
    ],
)
def test_a_schedule_that_has_no_rate_is_refused(rates: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BoostedTreesRegressor(n_estimators=3).fit(RX, RY, callbacks=[LearningRateScheduler(rates)])


def test_a_callback_can_look_at_a_round_and_stop_before_it_begins() -> None:
    class Careful:
        def __init__(self) -> None:
            self.before: list[tuple[int, int, int, float]] = []

        def before_round(self, state: Any) -> None:
            rounds = len(state.history["valid_0"].get("rmse", []))
            self.before.append((state.number, rounds, state.forest().n_rounds, state.learning_rate))
            if state.number == 3:
                state.stop("enough")

        def __call__(self, state: Any) -> None:
            assert len(state.history["valid_0"]["rmse"]) == state.number + 1

    careful = Careful()
    model = BoostedTreesRegressor(n_estimators=10).fit(RX, RY, eval_set=[(RX, RY)], callbacks=[careful])
    assert model.forest_.n_rounds == 3
    assert careful.before == [(number, number, number, 0.1) for number in range(4)]


def test_dart_normalises_by_the_rate_of_the_round() -> None:
    model = BoostedTreesRegressor(n_estimators=2, booster=weald.Dart(rate_drop=1.0))
    model.fit(RX, RY, callbacks=[LearningRateScheduler([0.1, 0.5])])
    assert model.forest_.tree_weights.tolist() == [1.0 / 1.5, 1.0 / 1.5]


def test_early_stopping_as_a_callback_also_keeps_the_best_model_of_dart() -> None:
    data: dict[str, Any] = {"eval_set": [(RX[300:], RY[300:])]}
    settings: dict[str, Any] = {
        "n_estimators": 60,
        "learning_rate": 0.5,
        "eval_metric": ["rmse", "mae"],
        **DART,
    }
    model = BoostedTreesRegressor(**settings)
    model.fit(RX[:300], RY[:300], callbacks=[EarlyStopping(4, metric="mae")], **data)
    error = np.mean(np.abs(model.predict(RX[300:]) - RY[300:]))
    assert error == pytest.approx(min(model.history_["valid_0"]["mae"]), rel=1e-12)
