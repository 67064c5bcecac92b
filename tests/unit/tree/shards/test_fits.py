"""Whole fits on shards: the boosting loop does not know, and the model is the same to the byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unit.tree.shards.with_shards import with_shards
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.binning.parts import Part, sharded_table_of
from weald.estimators.shared.persistence import to_bytes
from weald.runtime.errors import InputError
from weald.training.boosting.flat import from_flat

N_ROWS = 700

CASES: dict[str, dict[str, Any]] = {
    "squared": {},
    "two classes": {"target": "two"},
    "three classes": {"target": "three", "max_leaves": 7},
    "weights": {"weighted": True},
    "two outputs": {"loss": "normal", "max_leaves": 7},
    "absolute": {"loss": "absolute"},
    "absolute, pruned": {"loss": "absolute", "growth": "depthwise", "gamma": 20.0, "max_depth": 5},
    "quantile, smoothed": {"loss": "quantile", "path_smooth": 5.0, "subsample": 0.7},
    "poisson": {"loss": "poisson", "target": "count"},
    "depthwise": {"growth": "depthwise", "max_depth": 4, "gamma": 0.5},
    "oblivious": {"growth": "oblivious", "max_leaves": None, "max_depth": 4, "target": "two"},
    "sampled": {"subsample": 0.6, "colsample_bytree": 0.7, "colsample_bylevel": 0.8, "random_state": 4},
    "columns by node": {"colsample_bynode": 0.6, "target": "three", "max_leaves": 7},
    "large gradients": {"sampling": "goss", "learning_rate": 0.5},
    "bayesian": {"sampling": "bayesian", "target": "two"},
    "minimal variance": {"sampling": "mvs", "subsample": 0.5},
    "by class": {"target": "two", "positive_subsample": 0.9, "negative_subsample": 0.4},
    "sets": {"categories": "partition", "growth": "depthwise"},
    "one-hot": {"categories": "onehot", "growth": "oblivious", "max_leaves": None, "max_depth": 3},
    "monotone": {"monotone_constraints": [1, -1, 0, 0], "max_leaves": 20},
    "groups": {"interaction_constraints": [[0, 1], [1, 2, 3]]},
    "extra trees": {"extra_trees": True},
    "noise": {"random_strength": 1.0, "growth": "oblivious", "max_leaves": None, "max_depth": 4},
    "cosine": {"split_score": "cosine", "growth": "oblivious", "max_leaves": None, "max_depth": 4},
    "l2": {"split_score": "l2"},
    "dart": {"booster": "dart", "rate_drop": 0.5, "n_estimators": 6},
    "averaging": {"booster": "forest", "subsample": 0.6, "learning_rate": 0.1},
    "ordered": {"booster": "ordered", "growth": "oblivious", "max_leaves": None, "max_depth": 4},
    "parallel trees": {"num_parallel_tree": 3, "subsample": 0.6, "learning_rate": 1.0},
    "leaf steps": {"leaf_estimation": "newton", "leaf_iterations": 3, "target": "two"},
    "wide": {"precision": "wide"},
    "packed": {"precision": "packed_always", "target": "two"},
    "threads": {"n_jobs": 2},
}


def table() -> tuple[dict[str, Any], dict[str, Any]]:
    generator = np.random.default_rng(11)
    numbers = generator.normal(size=(N_ROWS, 3))
    city = generator.integers(0, 9, N_ROWS)
    score = numbers[:, 0] * numbers[:, 1] + numbers[:, 0] + np.sin(2.0 * city)
    score += 0.3 * generator.normal(size=N_ROWS)
    numbers[generator.random(N_ROWS) < 0.1, 2] = np.nan
    columns: dict[str, Any] = {f"x{j}": numbers[:, j] for j in range(3)}
    columns["city"] = np.array([f"city {code}" for code in city])
    targets = {
        "number": score,
        "count": np.floor(np.abs(score) * 2.0),
        "two": (score > 0.4).astype(np.int64),
        "three": np.digitize(score, [-0.5, 0.9]),
    }
    return columns, targets


X, TARGETS = table()
WEIGHT = np.random.default_rng(2).integers(0, 4, N_ROWS) / 2.0


def fit(target: str = "number", weighted: bool = False, **settings: Any) -> Any:
    """A small fit with an evaluation set: the only place that knows how estimators are told their parameters."""
    kind = BoostedTreesClassifier if target in ("two", "three") else BoostedTreesRegressor
    y = TARGETS[target]
    rows = slice(0, 120)
    evaluation = ({name: values[rows] for name, values in X.items()}, y[rows])
    model = kind(**from_flat({"n_estimators": 4, "n_jobs": 1, "learning_rate": 0.3, **settings}))
    return model.fit(X, y, sample_weight=WEIGHT if weighted else None, eval_set=[evaluation])


def outcome(model: Any) -> tuple[bytes, Any]:
    return to_bytes(model, model._model), model.history_


@pytest.mark.parametrize("name", CASES)
def test_a_fit_on_shards_gives_the_same_model(name: str) -> None:
    expected = outcome(fit(**CASES[name]))
    for n_shards in (2, 5):
        with with_shards(n_shards) as made:
            found = outcome(fit(**CASES[name]))
        assert found == expected
        assert len(made) == 1 and len(made[0].bins.blocks) == n_shards and made[0].growing.n_passes > 0


def test_the_compiled_grower_is_back_after_the_block() -> None:
    with with_shards(2) as made:
        pass
    fit()
    assert made == []


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "exact": ("X was binned with .* split_finder='exact'", {"split_finder": "exact"}),
    "approx": ("X was binned with .* split_finder='exact' or 'approx'", {"split_finder": "approx"}),
    "linear": ("booster='linear' .*blocks", {"booster": "linear"}),
    "forced splits": ("splits.forced .*blocks", {"forced_splits": {"feature": 0, "threshold": 0.0}}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_shards_cannot_do_is_refused_by_name(name: str) -> None:
    named, settings = REFUSED[name]
    wishes = BoostedTreesRegressor()._bin_wishes()
    assert wishes is not None
    blocks = sharded_table_of([Part(X, TARGETS["number"])], wishes, "this model")
    with pytest.raises(InputError, match=f"^{named}"):
        BoostedTreesRegressor(**from_flat({"n_estimators": 1, **settings})).fit(blocks)
