"""Drawing of rows through the estimators: GOSS, rounds that share rows, shares of classes, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import reference_sampling
import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.estimators.shared.class_weights import class_factors
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.random import ROWS, stream_key
from weald.training.boosting.rounds import Round

N_ROWS = 1_200
RNG = np.random.default_rng(1)
X = RNG.standard_normal((N_ROWS, 4))
X[::9, 2] = np.nan
TARGET = X[:, 0] + np.abs(X[:, 1]) + 0.3 * RNG.standard_normal(N_ROWS)
LABELS = (TARGET > 0.8).astype(np.int64)
GOSS: dict[str, Any] = {
    "sampling": "goss",
    "learning_rate": 0.5,
    "n_estimators": 6,
    "max_leaves": 6,
    "n_jobs": 1,
}


class Rows:
    """Remembers every round's rows."""

    def __init__(self) -> None:
        self.found: list[np.ndarray] = []

    def __call__(self, state: Round) -> None:
        self.found.append(state.rows.copy())


def rows_of(model: Any, y: Any = LABELS) -> list[np.ndarray]:
    rows = Rows()
    model.fit(X, y, callbacks=[rows])
    return rows.found


def test_goss_begins_after_one_over_the_learning_rate_rounds_and_keeps_its_share() -> None:
    found = rows_of(BoostedTreesClassifier(**GOSS))
    assert [len(rows) for rows in found] == [0, 0, 360, 360, 360, 360]
    assert len({rows.tobytes() for rows in found[2:]}) == 4


def test_rows_of_a_round_are_those_of_the_pseudocode() -> None:
    before = BoostedTreesClassifier(**GOSS | {"n_estimators": 2}).fit(X, LABELS)
    probability = before.predict_proba(X)[:, 1]
    gradient = (probability - LABELS).astype(np.float32)[None]
    hessian = (probability * (1.0 - probability)).astype(np.float32)[None]
    expected, _ = reference_sampling.goss(gradient, hessian, 0.2, 0.1, stream_key(0, 2, 0, ROWS))
    assert rows_of(BoostedTreesClassifier(**GOSS))[2].tolist() == expected


def test_the_cover_of_a_tree_stands_for_all_rows() -> None:
    forest = (
        BoostedTreesRegressor(**GOSS | {"split_finder": weald.Histogram(precision="wide")})
        .fit(X, TARGET)
        .forest_
    )
    last = forest.tree(5)
    assert last.count[0] == 360
    assert last.cover[0] == pytest.approx(N_ROWS, rel=1e-6)  # squared loss: a hessian of 1 a row


@pytest.mark.parametrize(
    "settings",
    [
        {"growth": "depthwise", "split_finder": "approx"},
        {"growth": "oblivious", "max_leaves": None, "max_depth": 3},
        {"split_finder": "exact"},
        {"booster": weald.Dart(rate_drop=0.5)},
        {"booster": weald.Plain(parallel_trees=2)},
    ],
    ids=str,
)
def test_goss_learns_with_every_kind_of_tree(settings: dict[str, Any]) -> None:
    model = BoostedTreesRegressor(**GOSS | {"n_estimators": 12} | settings)
    assert all(len(rows) == 360 for rows in rows_of(model, TARGET)[2:])
    assert model.score(X, TARGET) > 0.7


def test_goss_takes_several_classes_and_sparse_tables() -> None:
    three = np.digitize(TARGET, [0.3, 1.2])
    dense = np.where(np.isnan(X) | (X < 0), 0.0, X)
    model = BoostedTreesClassifier(**GOSS).fit(dense, three)
    sparse = BoostedTreesClassifier(**GOSS).fit(scipy.sparse.csr_array(dense), three)
    assert np.array_equal(model.predict_proba(dense), sparse.predict_proba(dense))
    assert model.score(dense, three) > 0.7


@pytest.mark.parametrize("loss", ["absolute", "quantile"])
def test_leaves_are_refitted_with_all_their_rows(loss: str) -> None:
    model = BoostedTreesRegressor(loss, **GOSS | {"n_estimators": 3}).fit(X, TARGET)
    before = BoostedTreesRegressor(loss, **GOSS | {"n_estimators": 2}).fit(X, TARGET)
    leaf, residual = model.apply(X)[:, 2], TARGET - before.predict(X)
    tree = model.forest_.tree(2)
    assert len(np.unique(leaf)) > 3
    for node in np.unique(leaf):
        own = np.sort(residual[leaf == node])
        value = tree.value[node] / 0.5
        assert own[(len(own) - 1) // 2] - 1e-9 <= value <= own[len(own) // 2] + 1e-9


@pytest.mark.parametrize(
    "settings",
    [GOSS, {"subsample": 0.5, "sampling": weald.Uniform(frequency=4), "n_estimators": 6, "max_leaves": 6}],
    ids=["goss", "every 4 rounds"],
)
def test_a_training_that_goes_on_gives_the_bytes_of_one_training(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    whole = BoostedTreesClassifier(**settings).fit(X, LABELS)
    for first in (1, 3, 5):
        model = BoostedTreesClassifier(**settings, warm_start=True).set_params(n_estimators=first)
        model.fit(X, LABELS).set_params(n_estimators=6).fit(X, LABELS)
        assert np.array_equal(model.decision_function(X), whole.decision_function(X))
    BoostedTreesClassifier(**settings).fit(
        X,
        LABELS,
        callbacks=[
            weald.Checkpoint(tmp_path / "part.weald", every=3),
            lambda state: state.stop("enough") if state.number == 3 else None,
        ],
    )
    resumed = BoostedTreesClassifier(**settings).fit(X, LABELS, resume_from=tmp_path / "part.weald")
    assert resumed._to_bytes() == whole._to_bytes()


def test_rows_are_drawn_every_few_rounds() -> None:
    found = rows_of(
        BoostedTreesClassifier(n_estimators=5, subsample=0.5, sampling=weald.Uniform(frequency=2))
    )
    assert [np.array_equal(found[0], rows) for rows in found[1:3]] == [True, False]
    assert np.array_equal(found[2], found[3])


def test_classes_are_drawn_with_their_own_shares() -> None:
    (rows,) = rows_of(BoostedTreesClassifier(n_estimators=1, sampling=weald.ByClass(negative=0.25)))
    assert np.isin(np.flatnonzero(LABELS == 1), rows).all()
    negatives = int((LABELS == 0).sum())
    assert 0.15 * negatives < len(rows) - (LABELS == 1).sum() < 0.35 * negatives
    (rows,) = rows_of(
        BoostedTreesClassifier(n_estimators=1, sampling=weald.ByClass(positive=0.25, negative=1.0))
    )
    assert np.isin(np.flatnonzero(LABELS == 0), rows).all()
    assert len(rows) < N_ROWS


def test_the_lighter_class_is_multiplied_to_weigh_as_much() -> None:
    codes, classes = np.array([1, 1, 1, 0]), np.array([0, 1])
    assert class_factors("minority", codes, classes, None).tolist() == [3.0, 1.0]
    assert class_factors("minority", codes, classes, np.array([1.0, 1.0, 1.0, 6.0])).tolist() == [1.0, 2.0]
    assert class_factors("minority", np.array([0, 1]), classes, None).tolist() == [1.0, 1.0]
    rare = (TARGET > 2.0).astype(np.int64)
    ratio = float((rare == 0).sum() / (rare == 1).sum())
    small: dict[str, Any] = {"n_estimators": 2, "n_jobs": 1}
    model = BoostedTreesClassifier(class_weight="minority", **small).fit(X, rare)
    named = BoostedTreesClassifier(class_weight={1: ratio}, **small).fit(X, rare)
    assert np.array_equal(model.decision_function(X), named.decision_function(X))
    with pytest.raises(InputError, match="'minority' is for two classes, but y has 3"):
        class_factors("minority", np.array([0, 1, 2]), np.arange(3), None)


@pytest.mark.parametrize("sampling", [weald.Goss(), weald.Bayesian(), weald.ByClass(positive=0.5)], ids=repr)
def test_a_share_of_all_rows_is_refused_by_ways_that_draw_no_such_share(sampling: Any) -> None:
    with pytest.raises(NotSupportedError) as refused:
        BoostedTreesClassifier(sampling=sampling, subsample=0.5).fit(X, LABELS)
    assert str(refused.value) == (
        f"subsample=0.5 has no meaning with sampling={sampling!r}; leave subsample at 1.0."
    )


@pytest.mark.parametrize("name", ["frequency", "negative", "temperature", "reg"])
def test_fields_of_another_way_to_draw_are_unknown(name: str) -> None:
    with pytest.raises(TypeError, match=f"has no parameter '{name}'; "):
        weald.Goss(**{name: 0.5})
    with pytest.raises(ValueError, match=f"^Goss has no parameter '{name}'; "):
        BoostedTreesClassifier(sampling="goss").set_params(**{f"sampling__{name}": 0.5})


def test_shares_that_are_more_than_all_rows_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"sampling\.top_rate=0\.8 and sampling\.other_rate=0\.3 .* at most 1"
    ):
        BoostedTreesClassifier(sampling=weald.Goss(top_rate=0.8, other_rate=0.3)).fit(X, LABELS)
    BoostedTreesClassifier(sampling=weald.Goss(top_rate=0.7, other_rate=0.3), n_estimators=1).fit(X, LABELS)


def test_shares_of_classes_are_refused_without_two_classes() -> None:
    with pytest.raises(
        NotSupportedError, match=r"ByClass\(positive=0\.5\) is for two classes, but this is regression"
    ):
        BoostedTreesRegressor(sampling=weald.ByClass(positive=0.5)).fit(X, TARGET)
    with pytest.raises(NotSupportedError, match="is for two classes, but y has 3; use sampling='uniform'"):
        BoostedTreesClassifier(sampling=weald.ByClass(negative=0.5)).fit(X, np.digitize(TARGET, [0.3, 1.2]))
