"""Boosted trees on target statistics and their combinations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from weald.data import read_table
from weald.encoding.model import category_codes
from weald.encoding.targets import target_borders
from weald.runtime.errors import InputError, NotSupportedError

KINDS = ["ordered", "greedy", "holdout", "leave_one_out"]


def _table(n: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Labels that depend on a pair of columns, beside a column that is different in every row and a number."""
    rng = np.random.default_rng(seed)
    a, b, x = rng.integers(6, size=n), rng.integers(5, size=n), rng.normal(size=n)
    chance = 1 / (1 + np.exp(-(3.0 * ((a + b) % 2) - 1.5 + 0.5 * x)))
    table = pd.DataFrame({"a": a, "x": x, "b": b, "id": np.arange(n)})
    for name in ("a", "b", "id"):
        table[name] = table[name].map(lambda code, name=name: f"{name}{code}").astype("category")
    return table, (rng.random(n) < chance).astype(int)


def _statistics(kind: str = "ordered", **changes: Any) -> weald.TargetStatistics:
    return weald.TargetStatistics(kind=kind, max_onehot=2, **changes)


def _classifier(**changes: Any) -> Any:
    chosen: dict[str, Any] = {
        "categories": _statistics(),
        "growth": "oblivious",
        "max_depth": 3,
        "n_estimators": 30,
        "min_samples_leaf": 1,
    }
    return weald.BoostedTreesClassifier(**(chosen | changes))


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_of_columns_is_found(kind: str) -> None:
    X, y = _table(600)
    X = X.drop(columns="id")
    model = _classifier(categories=_statistics(kind)).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > (0.55 if kind == "leave_one_out" else 0.65)  # which leaks
    alone = _classifier(categories=_statistics(kind, max_combination=1)).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) >= alone.score(X[400:], y[400:])
    assert any(len(table.projection) == 2 for table in model._model.statistics.tables)


def test_greedy_statistics_leak_and_ordered_ones_do_not() -> None:
    X, y = _table(600)
    train, test = slice(0, 400), slice(400, 600)
    scores = {
        kind: _classifier(categories=_statistics(kind, max_combination=1)).fit(X[train], y[train])
        for kind in KINDS[:2]
    }
    assert scores["greedy"].score(X[train], y[train]) == 1.0  # by the column that is different in every row
    assert scores["ordered"].score(X[test], y[test]) > scores["greedy"].score(X[test], y[test]) + 0.05


@pytest.mark.parametrize("growth", ["oblivious", "leafwise", "depthwise"])
@pytest.mark.parametrize("booster", ["plain", "ordered"])
def test_a_file_gives_the_model_back(growth: str, booster: str, tmp_path: Path) -> None:
    X, y = _table(200)
    model = _classifier(growth=growth, booster=booster, n_estimators=12).fit(X, y)
    path = tmp_path / "model.weald"
    model.save(path)
    loaded = weald.load(path)
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    loaded.save(tmp_path / "again.weald")
    assert path.read_bytes() == (tmp_path / "again.weald").read_bytes()


def test_a_model_keeps_only_the_statistics_that_its_trees_use() -> None:
    X, y = _table(300)
    model = _classifier(n_estimators=6).fit(X, y)
    used = set(model.forest_.feature[model.forest_.feature >= 0].tolist())
    n_derived = model.forest_.n_features - X.shape[1]
    assert set(range(X.shape[1], model.forest_.n_features)) <= used
    assert sum(len(table.numbers) for table in model._model.statistics.tables) == n_derived > 0


def _statistics_in_use(model: Any, X: pd.DataFrame, targets: np.ndarray) -> set[int]:
    """The numbers of the statistics that a model's trees test: first those of ``targets``, (targets, rows), then the counter.

    Each is held to its formula for the rows that the model was trained on: as far as the trees tell its cells apart.
    """
    statistics, forest = model._model.statistics, model.forest_
    codes = category_codes(read_table(X, schema=statistics.schema))
    names = X.columns[statistics.categorical]
    feature, found = X.shape[1], set()
    for table in statistics.tables:
        groups = X.groupby(list(names[list(table.projection)]), observed=True).ngroup().to_numpy()
        counts = np.bincount(groups)
        for number, cells in zip(table.numbers, table.look_up(codes), strict=True):
            if number == len(targets):
                shares = np.log1p(counts) / np.log1p(len(X))
            else:
                sums = np.bincount(groups, targets[number])
                shares = (sums + targets[number].mean()) / (counts + 1.0)
            expected = np.minimum(np.floor(1024 * shares), 1023)[groups]
            thresholds = forest.threshold[forest.feature == feature]
            assert len(thresholds) > 0
            assert ((cells > thresholds[:, None]) == (expected > thresholds[:, None])).all()
            found.add(number)
            feature += 1
    assert feature == forest.n_features
    return found


@pytest.mark.parametrize("growth", ["oblivious", "leafwise"])
def test_several_classes_have_a_statistic_each(growth: str) -> None:
    X, y = _table(300)
    classes = (y + (X["x"] > 0.8)).to_numpy()
    model = _classifier(n_estimators=8, growth=growth).fit(X, classes)
    assert _statistics_in_use(model, X, np.array([classes == one for one in range(3)])) == {0, 1, 2, 3}
    assert model.score(X, classes) > 0.6


def test_labels_have_a_statistic_for_every_border() -> None:
    X, y = _table(300)
    model = weald.BoostedTreesRegressor(
        categories=weald.TargetStatistics(target_borders=3, max_onehot=2), n_estimators=20, min_samples_leaf=5
    )
    target = (3.0 * y + X["x"]).to_numpy()
    model.fit(X[:200], target[:200])
    above = target[:200] > target_borders(target[:200], 3)[:, None]
    assert _statistics_in_use(model, X[:200], above) == {0, 1, 2, 3}
    assert model.score(X[200:], target[200:]) > 0.4


def test_missing_and_unknown_categories_have_predictions() -> None:
    X, y = _table(200)
    X["a"] = X["a"].where(np.arange(200) % 7 > 0)
    model = _classifier(n_estimators=8).fit(X, y)
    new = pd.DataFrame(
        {"a": ["never", None], "x": [0.0, np.nan], "b": ["b1", "other"], "id": ["id3", "none"]}
    )
    assert np.isfinite(model.predict_proba(new)).all()


def test_an_evaluation_set_follows_the_model() -> None:
    X, y = _table(400)
    model = _classifier(n_estimators=40, early_stopping_rounds=5)
    model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])])
    recorded = model.history_["valid_0"]["logloss"][model.best_iteration_]
    probability = model.predict_proba(X[300:])[np.arange(100), y[300:]]
    assert recorded == pytest.approx(-np.log(probability).mean(), rel=1e-6)


@pytest.mark.parametrize("booster", ["plain", "ordered"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_weight_are_not_there(kind: str, booster: str) -> None:
    X, y = _table(300)
    weight = np.where(np.arange(300) % 3 > 0, 1.0, 0.0)
    kept = weight > 0
    settings: dict[str, Any] = {"n_estimators": 6, "categories": _statistics(kind), "booster": booster}
    first = _classifier(**settings).fit(X, y, sample_weight=weight)
    second = _classifier(**settings).fit(X[kept], y[kept])
    assert first.forest_ == second.forest_ and first.forest_.n_features > X.shape[1]
    # Also for the rows without weight, whose own categories both models have never seen.
    assert (first.predict_proba(X) == second.predict_proba(X)).all()


def test_importances_and_shapley_values_are_those_of_the_users_columns() -> None:
    X, y = _table(200)
    model = _classifier(n_estimators=10).fit(X, y)
    assert model.feature_importances_.shape == (4,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    values = model.shap_values(X[:20])
    assert values.shape == (20, 5)
    probability = model.predict_proba(X[:20])[:, 1]
    assert values.sum(axis=1) == pytest.approx(np.log(probability / (1 - probability)))


def test_priors_and_counters() -> None:
    X, y = _table(200)
    categories = _statistics(prior=[0.0, 0.5, 1.0], counters=False, prior_weight=2.0)
    model = _classifier(n_estimators=5, categories=categories).fit(X, y)
    assert max(max(table.numbers) for table in model._model.statistics.tables) <= 2
    with pytest.raises(InputError, match=r"^categories\.prior must be 'mean'"):
        _classifier(categories=_statistics(prior=2.0)).fit(X, y)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"booster": weald.Dart(rate_drop=0.2)}, r"does not go with booster=Dart\(rate_drop=0\.2\)"),
        ({"split_finder": "exact"}, "is not there with split_finder='exact'"),
        ({"split_finder": "approx"}, r"needs bins that stay the same, not split_finder=Approximate\(\)"),
        ({"leaves": weald.Leaves(path_smooth=1.0), "min_samples_leaf": 2}, r"^leaves\.path_smooth=1\.0 does not go"),
        (
            {"splits": weald.Splits(forced={"feature": "x", "threshold": 0.0}), "growth": "leafwise"},
            r"^splits\.forced=.* does not go",
        ),
        ({"interaction_constraints": [["a", "x"]]}, "^interaction_constraints=.* does not go"),
        ({"categories": _statistics("greedy", permutations=2)}, r"^categories\.permutations=2 belongs to kind='ordered'"),
        ({"booster": weald.Ordered(permutations=0)}, r"^booster\.permutations must be"),
        (
            {"booster": weald.Ordered(permutations=2), "categories": _statistics(permutations=4)},
            r"^categories\.permutations=4 and booster\.permutations=2 are the same orders",
        ),
    ],
)  # fmt: skip
def test_what_makes_no_sense_together_is_refused(changes: dict[str, Any], said: str) -> None:
    X, y = _table(60)
    with pytest.raises((NotSupportedError, InputError), match=said):
        _classifier(n_estimators=2, **changes).fit(X, y)


@pytest.mark.parametrize("booster", ["plain", weald.Ordered(permutations=2)], ids=["plain", "ordered"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_training_goes_on_to_the_same_bytes(kind: str, booster: Any, tmp_path: Path) -> None:
    X, y = _table(150)
    settings: dict[str, Any] = {"categories": _statistics(kind), "booster": booster, "subsample": 0.8}
    fit: dict[str, Any] = {"sample_weight": np.where(np.arange(150) % 5 > 0, 1.0, 0.0), "eval_set": [(X, y)]}
    whole = _classifier(n_estimators=6, **settings).fit(X, y, **fit)
    path = tmp_path / "part.weald"
    # Four rounds are made, of which three are in the file.
    _classifier(n_estimators=4, **settings).fit(X, y, callbacks=[weald.Checkpoint(path, every=3)], **fit)
    resumed = _classifier(n_estimators=6, **settings).fit(X, y, resume_from=path, **fit)
    assert resumed._to_bytes() == whole._to_bytes()
    assert resumed.history_ == whole.history_


@pytest.mark.parametrize("booster", ["plain", "ordered"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_later_fit_goes_on_from_the_trees_and_their_statistics(kind: str, booster: str) -> None:
    X, y = _table(200)
    model = _classifier(n_estimators=3, warm_start=True, booster=booster, categories=_statistics(kind))
    fit: dict[str, Any] = {"eval_set": [(X[150:], y[150:])]}
    first = model.fit(X[:150], y[:150], **fit).forest_
    history = model.history_["valid_0"]["logloss"]
    later = model.set_params(n_estimators=6).fit(X[:150], y[:150], **fit).forest_
    assert (first.n_rounds, later.n_rounds) == (3, 6)
    for name in ("threshold", "value", "left"):
        start = getattr(later, name)[: len(getattr(first, name))]
        assert start.tolist() == getattr(first, name).tolist(), name
    # What the rounds told of the set is what the model says of it: all trees find their own statistics.
    assert model.history_["valid_0"]["logloss"][:3] == history[:3]
    probability = model.predict_proba(X[150:])[np.arange(50), y[150:]]
    assert model.history_["valid_0"]["logloss"][-1] == pytest.approx(-np.log(probability).mean(), rel=1e-9)


def test_leaves_are_refitted_to_other_rows() -> None:
    X, y = _table(200)
    model = _classifier(n_estimators=5).fit(X, y)
    flipped = model.refit(X, 1 - y, decay_rate=0.0)
    assert flipped.score(X, y) < 0.5 < model.score(X, y)
    assert (flipped.forest_.feature == model.forest_.feature).all()


@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_and_equal_labels(kind: str) -> None:
    X, _ = _table(30)
    for n_rows in (1, 2, 30):
        model = weald.BoostedTreesRegressor(n_estimators=2, categories=kind, min_samples_leaf=1)
        assert model.fit(X[:n_rows], np.full(n_rows, 2.5)).predict(X) == pytest.approx(2.5)


def test_a_table_without_categories_is_as_without_statistics() -> None:
    X, y = _table(200)
    numbers = X[["x"]]
    first = weald.BoostedTreesClassifier(n_estimators=5, categories="ordered").fit(numbers, y)
    second = weald.BoostedTreesClassifier(n_estimators=5).fit(numbers, y)
    assert first.forest_ == second.forest_


def test_monotone_columns_stay_monotone() -> None:
    X, y = _table(400)
    model = _classifier(monotone_constraints={"x": 1}).fit(X, y)
    grid = X[:1].loc[np.zeros(50, int)].copy()
    grid["x"] = np.linspace(-3, 3, 50)
    assert (np.diff(model.predict_proba(grid)[:, 1]) >= 0).all()
