"""Trees that are averaged: against a naive twin, in every round, over interruptions, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference_averaging
import weald
from weald import Averaging, BoostedTreesClassifier, BoostedTreesRegressor, Checkpoint, LearningRateScheduler
from weald.binning import fit_bins
from weald.data import read_table
from weald.estimators.shared.persistence import to_bytes
from weald.forest.file import dumps, loads
from weald.forest.forest import Forest
from weald.forest.predict import raw_scores
from weald.losses import make_loss
from weald.runtime.errors import InputError, NotSupportedError
from weald.sampling.parameters import Uniform
from weald.training.boosting.plan import Plan, RowPlan, TreePlan
from weald.training.boosting.trees import TrainingRows
from weald.tree.tree import TreeRules

FOREST: dict[str, Any] = {
    "booster": "averaging",
    "subsample": 0.7,
    "colsample_bytree": 0.8,
    "max_leaves": 6,
    "min_samples_leaf": 5,
    "random_state": 5,
    "n_jobs": 1,
}


def table(n_classes: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(11)
    X = np.round(rng.standard_normal((300, 4)), 2)
    y = X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.2 * rng.standard_normal(300)
    return X, y if n_classes == 0 else np.digitize(y, [-0.5, 0.5])


def make(n_classes: int, **parameters: Any) -> Any:
    kind: Any = BoostedTreesClassifier if n_classes else BoostedTreesRegressor
    return kind(**{**FOREST, **parameters})


@pytest.mark.parametrize("n_classes", [0, 3])
def test_the_model_is_the_start_and_the_mean_of_the_twins_trees(n_classes: int) -> None:
    X, y = table(n_classes)
    model = make(n_classes, n_estimators=7).fit(X, y)
    loss = make_loss("softmax", n_classes=3) if n_classes else make_loss("squared")
    data = read_table(X)
    train = TrainingRows(fit_bins(data, None).transform(data, tasks=1), y.astype(float), None)
    base = loss.initial_score(train.y, None)
    limits = TreeRules(max_leaves=6, min_samples_leaf=5, reg_lambda=1.0)
    trees = TreePlan(limits, rows=RowPlan(Uniform(), 0.7), column_share=0.8, averaged=True)
    said = reference_averaging.forest(train, Plan(loss, trees, rounds=7, rate=1.0, seed=5), base)
    for output in range(loss.n_outputs):
        total = np.zeros(len(y))
        for values in said[output :: loss.n_outputs]:
            total = total + values
        expected = total / 7 + base[output]
        assert model._raw(X)[output].tolist() == expected.tolist()


@pytest.mark.parametrize(("n_classes", "parallel"), [(0, 1), (3, 2)])
def test_scores_are_the_predictions_to_the_last_bit_after_every_round(n_classes: int, parallel: int) -> None:
    X, y = table(n_classes)
    seen = []

    def look(state: Any) -> None:
        seen.append((state.at.scores.copy(), state.evaluations[0].scores.copy(), state.forest()))

    model = make(n_classes, n_estimators=6, booster=Averaging(parallel_trees=parallel))
    model.fit(X, y, eval_set=[(X[::-1], y[::-1])], callbacks=[look])
    for number, (scores, evaluated, forest) in enumerate(seen):
        expected = raw_scores(forest, [(0, X)], len(X))
        assert forest.averaged
        assert forest.n_rounds == number + 1
        assert scores.tolist() == expected.tolist()
        assert evaluated.tolist() == expected[:, ::-1].tolist()
        assert expected.tolist() == raw_scores(model.forest_, [(0, X)], len(X), 1, 0, number + 1).tolist()


@pytest.mark.parametrize("loss", ["absolute", "mape", "quantile", "fair"])
def test_a_leaf_of_any_loss_is_fitted_to_the_start(loss: str) -> None:
    X, y = table()
    model = make(0, loss=loss, n_estimators=25).fit(X, 5.0 + y, eval_set=[(X, 5.0 + y)])
    (curve,) = model.history_["valid_0"].values()
    constant = make_loss(loss).initial_score(5.0 + y, None)
    single = make(0, loss=loss, n_estimators=1).fit(X, 5.0 + y)
    assert np.array_equal(single.forest_.base_score, constant)
    assert curve[-1] < curve[0]


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("given", [False, True])
def test_training_goes_on_to_the_bytes_of_training_in_one_go(
    n_classes: int, given: bool, tmp_path: Path
) -> None:
    X, y = table(n_classes)
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 3, len(y)).astype(float)
    fit: dict[str, Any] = {"sample_weight": weight}
    if given:
        fit["init_score"] = rng.standard_normal((len(y), 3) if n_classes else len(y))
    whole = make(n_classes, n_estimators=9, booster=Averaging(parallel_trees=2)).fit(X, y, **fit)
    halves = make(n_classes, n_estimators=4, booster=Averaging(parallel_trees=2), warm_start=True).fit(
        X, y, **fit
    )
    halves.set_params(n_estimators=9).fit(X, y, **fit)
    assert to_bytes(halves, halves._model) == to_bytes(whole, whole._model)
    path = tmp_path / "half.weald"
    checkpoint = [Checkpoint(path, every=4)]
    make(n_classes, n_estimators=5, booster=Averaging(parallel_trees=2)).fit(
        X, y, callbacks=checkpoint, **fit
    )
    resumed = make(n_classes, n_estimators=9, booster=Averaging(parallel_trees=2)).fit(
        X, y, resume_from=path, **fit
    )
    assert to_bytes(resumed, resumed._model) == to_bytes(whole, whole._model)


def test_early_stopping_keeps_the_mean_of_the_best_round() -> None:
    X, y = table()
    model = make(0, n_estimators=60, early_stopping_rounds=3)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])])
    errors = model.history_["valid_0"]["rmse"]
    assert len(errors) < 60
    assert model.forest_.n_rounds == model.best_iteration_ + 1
    left = float(np.sqrt(np.mean((model.predict(X[200:]) - y[200:]) ** 2)))
    assert left == pytest.approx(min(errors), rel=1e-12)


def test_an_averaged_forest_survives_its_file_and_is_cut_and_joined_as_one(tmp_path: Path) -> None:
    X, y = table()
    model = make(0, n_estimators=6).fit(X, y)
    model.save(tmp_path / "model.weald")
    assert np.array_equal(weald.load(tmp_path / "model.weald").predict(X), model.predict(X))
    forest = model.forest_
    assert loads(dumps(forest, {}))[0] == forest
    joined = Forest.concatenate(forest.first(2), forest.trees(2, 6))
    assert joined == forest
    with pytest.raises(InputError, match="averaged True and False cannot be joined"):
        Forest.concatenate(forest, Forest(**{**_arrays(forest), "averaged": False}))


def _arrays(forest: Forest) -> dict[str, Any]:
    return {name: getattr(forest, name) for name in forest.__dataclass_fields__}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"learning_rate": 0.3}, "learning_rate=0.3 has no meaning with booster='averaging'"),
        (
            {"subsample": 1.0, "colsample_bytree": 1.0},
            "would grow the same tree in every round; set subsample",
        ),
    ],
)
def test_what_has_no_meaning_for_a_forest_is_refused(parameters: dict[str, Any], message: str) -> None:
    X, y = table()
    with pytest.raises(NotSupportedError, match=message):
        make(0, **parameters).fit(X, y)


def test_a_learning_rate_and_another_booster_on_the_way_are_refused() -> None:
    X, y = table()
    with pytest.raises(NotSupportedError, match="booster='averaging' averages whole trees"):
        make(0).fit(X, y, callbacks=[LearningRateScheduler(lambda number: 0.5)])
    model = make(0, n_estimators=2, warm_start=True).fit(X, y)
    with pytest.raises(
        InputError, match="warm_start needs the booster of the earlier fit, which was 'averaging'"
    ):
        model.set_params(n_estimators=3, booster="plain").fit(X, y)
