"""Dropout of trees against a naive twin, and the draws by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference_dart
from weald import BoostedTreesClassifier, BoostedTreesRegressor, Dart
from weald.binning import fit_bins
from weald.data import read_table
from weald.forest.predict import raw_scores
from weald.losses import make_loss
from weald.sampling.parameters import Uniform
from weald.training.boosting import dart
from weald.training.boosting.dart import DropRules, draw_drops
from weald.training.boosting.plan import Plan, RowPlan, TreePlan
from weald.training.boosting.trees import TrainingRows
from weald.tree.tree import TreeRules

RULES = [
    {"rate_drop": 0.3},
    {"rate_drop": 0.1, "one_drop": True},
    {"rate_drop": 0.4, "skip_drop": 0.3, "normalize_type": "forest"},
    {"rate_drop": 0.3, "sample_type": "weighted"},
    {"rate_drop": 0.02, "one_drop": True, "sample_type": "weighted"},
]


def table(n_classes: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(11)
    X = np.round(rng.standard_normal((300, 4)), 2)
    y = X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.2 * rng.standard_normal(300)
    return X, y if n_classes == 0 else np.digitize(y, [-0.5, 0.5])


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize(("n_classes", "parallel"), [(0, 1), (3, 1), (3, 2), (0, 3)])
def test_boosting_with_dropped_trees_is_that_of_the_twin(
    rules: dict[str, Any], n_classes: int, parallel: int
) -> None:
    X, y = table(n_classes)
    settings: dict[str, Any] = {
        "n_estimators": 12,
        "learning_rate": 0.4,
        "subsample": 0.7,
        "colsample_bytree": 0.8,
        "random_state": 5,
    }
    kind: Any = BoostedTreesClassifier if n_classes else BoostedTreesRegressor
    booster = Dart(**rules, parallel_trees=parallel)
    model = kind(**settings, booster=booster, max_leaves=6, min_samples_leaf=5).fit(X, y)
    loss = make_loss("softmax", n_classes=3) if n_classes else make_loss("squared")
    data = read_table(X)
    train = TrainingRows(fit_bins(data, None).transform(data, tasks=1), y.astype(float), None)
    base = loss.initial_score(train.y, None)
    limits = TreeRules(max_leaves=6, min_samples_leaf=5, reg_lambda=1.0)
    trees = TreePlan(
        limits,
        rows=RowPlan(Uniform(), 0.7),
        column_share=0.8,
        parallel_trees=parallel,
        drops=DropRules(**rules),
    )
    added, weights = reference_dart.boost(train, Plan(loss, trees, rounds=12, rate=0.4, seed=5), base)
    forest = model.forest_
    assert forest.tree_weights.tolist() == weights
    assert min(weights) < 1.0
    assert forest.n_rounds == 12
    for tree in range(forest.n_trees):
        values = forest.tree(tree).value[model.apply(X)[:, tree]]
        assert values.tolist() == added[tree].tolist()


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_draws_are_those_of_the_twin(rules: dict[str, Any], n_outputs: int) -> None:
    weights = np.random.default_rng(0).uniform(0.05, 1.0, 30)
    some = DropRules(**rules)
    for key in range(200):
        for n_trees in (0, n_outputs, 30):
            own = weights[:n_trees]
            expected = reference_dart.drops(own.tolist(), n_outputs, some, key)
            assert draw_drops(own, n_outputs, some, key).tolist() == expected


def test_trees_are_dropped_as_often_as_the_rates_say() -> None:
    weights = np.linspace(0.1, 1.0, 50)
    keys = range(4_000)

    def share(**rules: Any) -> Any:
        return np.mean([draw_drops(weights, 1, DropRules(**rules), key) for key in keys], axis=0)

    assert share(rate_drop=0.2) == pytest.approx(np.full(50, 0.2), abs=0.03)
    assert share(rate_drop=0.2, skip_drop=0.5) == pytest.approx(np.full(50, 0.1), abs=0.03)
    weighted = share(rate_drop=0.2, sample_type="weighted")
    assert weighted == pytest.approx(0.2 * 50 * weights / weights.sum(), abs=0.03)
    assert share(rate_drop=0.0, one_drop=True) == pytest.approx(np.full(50, 0.02), abs=0.01)
    single = share(rate_drop=0.0, one_drop=True, sample_type="weighted")
    assert single == pytest.approx(weights / weights.sum(), abs=0.012)
    assert share(rate_drop=1.0).all()
    assert not share(rate_drop=1.0, skip_drop=1.0).any()


def test_the_factors_are_those_of_xgboost() -> None:
    assert DropRules(0.1).factors(2.0, 0.3) == (1.0 / 2.3, 2.0 / 2.3)
    assert DropRules(0.1, normalize_type="forest").factors(2.0, 0.3) == (1.0 / 1.3, 1.0 / 1.3)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_training_scores_are_the_predictions_to_the_last_bit_after_every_round(n_classes: int) -> None:
    X, y = table(n_classes)
    kind: Any = BoostedTreesClassifier if n_classes else BoostedTreesRegressor
    seen = []

    def look(state: Any) -> None:
        evaluation = state.evaluations[0]
        seen.append((state.at.scores.copy(), evaluation.scores.copy(), state.forest()))

    kind(n_estimators=20, booster=Dart(rate_drop=0.2, skip_drop=0.3)).fit(
        X, y, eval_set=[(X[::-1], y[::-1])], callbacks=[look]
    )
    for scores, evaluated, forest in seen:
        expected = raw_scores(forest, [(0, X)], len(X))
        assert scores.tolist() == expected.tolist()
        assert evaluated.tolist() == expected[:, ::-1].tolist()


@pytest.mark.parametrize("remembered", [0, 3_000])
def test_trees_beyond_the_memory_are_walked_to_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch, remembered: int
) -> None:
    X, y = table(3)
    weight = (np.arange(len(y)) % 7 > 0).astype(float)

    def forest() -> Any:
        model = BoostedTreesClassifier(
            n_estimators=8, booster=Dart(rate_drop=0.3, parallel_trees=2), subsample=0.8
        )
        model.fit(X, y, sample_weight=weight, eval_set=[(X[:50], y[:50])])
        return model.forest_, model.history_

    kept = forest()
    monkeypatch.setattr(dart, "REMEMBERED_BYTES", remembered)
    assert forest() == kept


def test_dart_that_drops_nothing_is_plain_boosting() -> None:
    X, y = table()
    plain = BoostedTreesRegressor(n_estimators=8, subsample=0.5).fit(X, y).forest_
    for booster in (Dart(rate_drop=0.0), Dart(rate_drop=0.5, skip_drop=1.0)):
        dropped = BoostedTreesRegressor(n_estimators=8, subsample=0.5, booster=booster)
        assert dropped.fit(X, y).forest_ == plain


def test_the_papers_factors_and_a_limit_of_dropped_trees() -> None:
    rules = DropRules(rate_drop=0.9, normalize_type="paper", max_drop=3)
    assert rules.factors(3.0, 0.1) == (0.25, 0.75)
    for key in range(20):
        dropped = draw_drops(np.ones(200), 2, rules, key)
        assert dropped[0::2].sum() <= 3
        assert dropped[1::2].sum() <= 3
    drawn = [draw_drops(np.ones(200), 1, rules, key).sum() for key in range(200)]
    assert 2.0 < np.mean(drawn) < 3.0  # the rate is lowered to 3 / 200 before the limit is applied
