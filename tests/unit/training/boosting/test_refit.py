"""Leaves refitted to other rows: against a naive twin, and what must stay as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import reference_averaging
import weald
from weald import (
    Bins,
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    Dart,
    Leaves,
    Partition,
    Plain,
)
from weald.estimators.boosted.set_splits import splits_into_sets
from weald.losses import make_loss
from weald.losses.parameters import Quantile
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting import refit as refitting

rng = np.random.default_rng(8)
X = np.round(rng.standard_normal((400, 4)), 2)
Y = X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.2 * rng.standard_normal(400)
CLASSES = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.5, 0.5])]
SMALL: dict[str, Any] = {"n_estimators": 6, "max_leaves": 6, "min_samples_leaf": 5, "n_jobs": 1}


def leaves(model: Any) -> Any:
    return model.forest_.value[model.forest_.feature < 0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_leaves_are_those_of_the_twin(several: bool, weighted: bool) -> None:
    kind: Any = BoostedTreesClassifier if several else BoostedTreesRegressor
    y: Any = CLASSES if several else Y
    model = kind(learning_rate=0.3, **SMALL).fit(X[:300], y[:300])
    weight = rng.uniform(0.5, 2.0, 200) if weighted else None
    new_X, new_y = X[200:] + 0.1, y[200:][::-1]
    later = model.refit(new_X, new_y, sample_weight=weight, decay_rate=0.6)
    loss = make_loss("softmax", n_classes=3) if several else make_loss("squared")
    target = np.searchsorted(model.classes_, new_y).astype(float) if several else new_y
    nodes = model.apply(new_X)
    expected = reference_averaging.refitted(
        model.forest_, nodes, target, weight, loss, rate=0.3, decay=0.6, reg_lambda=1.0
    )
    for number, values in enumerate(expected):
        tree, old = later.forest_.tree(number), model.forest_.tree(number)
        for leaf in np.flatnonzero(tree.feature < 0).tolist():
            assert tree.value[leaf] == pytest.approx(values.get(leaf, old.value[leaf]), rel=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"loss": "absolute"},
        {"loss": "huber"},
        {"loss": "mape"},
        {"loss": "fair"},
        {"loss": Quantile([0.2, 0.7])},
        {"booster": Plain(parallel_trees=2)},
        {"leaves": Leaves(path_smooth=7.0)},
        {"leaves": Leaves(path_smooth=7.0), "loss": "absolute"},
        {"growth": "oblivious", "max_depth": 4, "max_leaves": None},
        {"growth": "depthwise", "max_depth": 3, "gamma": 0.1, "reg_alpha": 0.1, "max_delta_step": 0.2},
    ],
    ids=str,
)
def test_the_rows_of_the_fit_give_the_leaves_of_the_fit_to_the_last_bit(parameters: dict[str, Any]) -> None:
    weight = rng.integers(0, 3, 400).astype(float)
    model = BoostedTreesRegressor(**{**SMALL, **parameters}).fit(X, Y, sample_weight=weight)
    again = model.refit(X, Y, sample_weight=weight, decay_rate=0.0)
    assert leaves(again).tobytes() == leaves(model).tobytes()
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("loss", ["softmax", "one_vs_rest"])
def test_the_rows_of_a_fit_of_several_classes_give_its_leaves(loss: str) -> None:
    model = BoostedTreesClassifier(loss, class_weight="balanced", **SMALL).fit(X, CLASSES)
    assert leaves(model.refit(X, CLASSES, decay_rate=0.0)).tobytes() == leaves(model).tobytes()
    start = rng.standard_normal((400, 3))
    model = BoostedTreesClassifier(loss, **SMALL).fit(X, CLASSES, init_score=start)
    again = model.refit(X, CLASSES, decay_rate=0.0, init_score=start)
    assert leaves(again).tobytes() == leaves(model).tobytes()


def test_trees_are_looked_up_in_parts_to_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    model = BoostedTreesClassifier(**SMALL).fit(X, CLASSES)
    whole = model.refit(X[:100], CLASSES[:100])
    monkeypatch.setattr(refitting, "NODES_AT_ONCE", 700)
    assert model.refit(X[:100], CLASSES[:100]).forest_ == whole.forest_


def test_a_share_of_one_keeps_everything_and_the_model_itself_never_changes(tmp_path: Path) -> None:
    model = BoostedTreesRegressor(**SMALL).fit(X, Y, eval_set=[(X, Y)])
    before, history = model.forest_, dict(model.history_)
    assert model.refit(X[:50], -Y[:50], decay_rate=1.0).forest_ == before
    later = model.refit(X, Y + 100.0, decay_rate=0.5)
    assert model.forest_ is before
    assert model.history_ == history
    assert later.history_ == {}
    assert later.best_iteration_ == 5
    assert later.get_params() == model.get_params()
    assert np.array_equal(later.forest_.threshold, before.threshold)
    assert later.predict(X).mean() > model.predict(X).mean() + 5.0
    later.save(tmp_path / "later.weald")
    assert np.array_equal(weald.load(tmp_path / "later.weald").predict(X), later.predict(X))


def test_a_leaf_that_no_row_reaches_keeps_its_value() -> None:
    model = BoostedTreesRegressor(**SMALL).fit(X, Y)
    few = X[:3]
    later = model.refit(few, Y[:3] + 10.0, decay_rate=0.0)
    reached = model.apply(few)
    for number in range(model.forest_.n_trees):
        tree, old = later.forest_.tree(number), model.forest_.tree(number)
        for leaf in np.flatnonzero(tree.feature < 0).tolist():
            assert (tree.value[leaf] == old.value[leaf]) == (leaf not in reached[:, number])


def test_sparse_tables_and_unknown_categories_are_refitted_as_they_are_predicted() -> None:
    X0 = np.where(np.abs(X) < 0.7, 0.0, X)
    sparse = BoostedTreesRegressor(**SMALL).fit(sp.csr_matrix(X0), Y)
    assert sparse.refit(sp.csr_matrix(X0[:90]), Y[:90]).forest_ == sparse.refit(X0[:90], Y[:90]).forest_
    towns = {"town": np.array(["ulm", "bonn", "kiel"])[np.arange(400) % 3], "x": X[:, 0]}
    model = BoostedTreesRegressor(**SMALL).fit(towns, Y)
    sets = BoostedTreesRegressor(categories=Partition(max_onehot=1, l2=5.0), **SMALL).fit(towns, Y)
    assert leaves(sets.refit(towns, Y, decay_rate=0.0)).tobytes() == leaves(sets).tobytes()
    other = {"town": np.array(["oslo", "bonn"])[np.arange(50) % 2], "x": X[:50, 0]}
    later = model.refit(other, Y[:50] + 5.0, decay_rate=0.0)
    assert later.predict(other).mean() > model.predict(other).mean() + 1.0


COUNTS = (160, 120, 60, 20, 15, 10, 8, 7)  # rows of every town
TOWN = np.repeat(np.arange(len(COUNTS)), COUNTS)
TOWNS = {"town": np.array([f"town {k}" for k in range(len(COUNTS))])[TOWN], "x": X[:, 0]}
TOWN_Y = np.array([3.0, -2.0, 1.0, 5.5, 9.0, 6.0, 7.0, 8.0])[TOWN] + 0.1 * X[:, 0]


def columns_into_sets(model: Any, table: Any) -> Any:
    return splits_into_sets(model.resolved(), 4, model.forest_, model._read(table), None).tolist()


@pytest.mark.parametrize(
    ("parameters", "into_sets"),
    [
        ({"bins": Bins(max_categories=3)}, False),
        ({"bins": Bins(by_column={"town": 3})}, False),
        ({"bins": Bins(rare_categories=0.2)}, False),
        ({"bins": Bins(min_samples=50)}, False),
        ({"bins": 3, "split_finder": "approx"}, False),
        ({"bins": Bins(max_bins=3, max_categories=6)}, True),
        ({"bins": Bins(rare_categories=0.02)}, True),
        ({"bins": Bins(min_samples=9)}, True),
        ({"bins": 6, "split_finder": "approx"}, True),
    ],
    ids=str,
)
def test_only_splits_into_sets_are_penalised_for_being_such(
    parameters: dict[str, Any], into_sets: bool
) -> None:
    given = {**SMALL, **parameters}
    model = BoostedTreesRegressor(categories=Partition(l2=25.0), **given).fit(TOWNS, TOWN_Y)
    without = BoostedTreesRegressor(categories="partition", **given).fit(TOWNS, TOWN_Y)
    assert (model.forest_ != without.forest_) == into_sets  # the fit did penalise, or did not
    assert leaves(model.refit(TOWNS, TOWN_Y, decay_rate=0.0)).tobytes() == leaves(model).tobytes()
    assert columns_into_sets(model, TOWNS) == [into_sets, False]


@pytest.mark.parametrize(("rare_categories", "into_sets"), [(0.2, False), (0.02, True)])
def test_splits_say_what_they_are_where_the_towns_of_other_rows_are_otherwise_frequent(
    rare_categories: float, into_sets: bool
) -> None:
    model = BoostedTreesRegressor(
        categories=Partition(l2=25.0),
        bins=Bins(max_categories=6, rare_categories=rare_categories),
        **{**SMALL, "n_estimators": 20},
    ).fit(TOWNS, TOWN_Y)
    chosen = np.flatnonzero(TOWN < 2 if into_sets else TOWN > 1)
    other = {name: values[chosen] for name, values in TOWNS.items()}
    other["town"][:3] = "oslo"
    assert columns_into_sets(model, other) == [into_sets, False]


def test_dropped_and_averaged_trees_keep_their_weights() -> None:
    dart = BoostedTreesRegressor(booster=Dart(rate_drop=0.5), **{**SMALL, "n_estimators": 12}).fit(X, Y)
    later = dart.refit(X, Y, decay_rate=0.0)
    assert np.array_equal(later.forest_.tree_weights, dart.forest_.tree_weights)
    steps = np.abs(leaves(later)).max()
    assert steps < 1.5 * np.abs(leaves(dart)).max()
    forest = BoostedTreesRegressor(booster="averaging", subsample=0.6, **SMALL).fit(X, Y)
    all_rows = forest.refit(X, Y, decay_rate=0.0)
    assert all_rows.forest_.averaged
    assert all_rows.predict(X) == pytest.approx(forest.predict(X), abs=0.5)


def test_monotone_predictions_stay_monotone() -> None:
    y = X[:, 0] + 0.3 * rng.standard_normal(400)
    for loss in ("squared", "absolute"):
        model = BoostedTreesRegressor(loss, monotone_constraints=[1, 0, 0, 0], **SMALL).fit(X, y)
        later = model.refit(X, -2.0 * y, decay_rate=0.2)  # falls where the model must rise
        grid = np.repeat(X[:20], 60, axis=0)
        grid[:, 0] = np.tile(np.linspace(-3.0, 3.0, 60), 20)
        steps = np.diff(later.predict(grid).reshape(20, 60), axis=1)
        assert (steps >= -1e-12).all()


@pytest.mark.parametrize("decay_rate", [-0.1, 1.5, "half", True, None])
def test_a_share_that_is_none_is_refused(decay_rate: Any) -> None:
    model = BoostedTreesRegressor(**SMALL).fit(X, Y)
    with pytest.raises(InputError, match=f"decay_rate must be a number from 0 to 1, not {decay_rate!r}"):
        model.refit(X, Y, decay_rate=decay_rate)


def test_what_cannot_be_refitted_is_refused() -> None:
    with pytest.raises(NotFittedError):
        BoostedTreesRegressor().refit(X, Y)
    with pytest.raises(NotSupportedError, match="booster='linear' has none"):
        BoostedTreesRegressor(booster="linear").fit(X, Y).refit(X, Y)
    model = BoostedTreesClassifier(**SMALL).fit(X, CLASSES)
    with pytest.raises(InputError, match="y has the class 'huge', which the model does not have"):
        model.refit(X, np.where(CLASSES == "high", "huge", CLASSES))
    with pytest.raises(InputError, match="refit needs the loss of the fit, 'softmax'"):
        model.set_params(loss="one_vs_rest").refit(X, CLASSES)
