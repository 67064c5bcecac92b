"""What models of weald.catboost hold: a statistic for every class, those that their rounds use, and parameters in files."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald.catboost as cb

QUIET: dict[str, Any] = {"verbose": False, "thread_count": 1, "allow_writing_files": False}


@pytest.fixture(scope="module")
def five_classes() -> Any:
    """Five classes whose chances depend on one of 100 categories."""
    rng = np.random.default_rng(0)
    category = rng.integers(0, 100, 4000)
    chances = rng.dirichlet(np.full(5, 0.3), 100)
    y = (chances[category].cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    return pd.DataFrame({"category": category.astype(str), "x": rng.normal(size=4000)}), y


@pytest.fixture(scope="module")
def pairs() -> Any:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({name: rng.integers(0, 12, 900).astype(str) for name in "abc"})
    return table, (table["a"].astype(int) + table["b"].astype(int)) % 3 == 0


def test_every_class_has_a_statistic(five_classes: Any) -> None:
    X, y = five_classes
    model = cb.CatBoostClassifier(**QUIET, iterations=40, learning_rate=0.2, cat_features=["category"]).fit(
        X, y
    )
    (table,) = model._trained()._fitted().statistics.tables
    assert table.numbers == (0, 1, 2, 3, 4, 5)  # the last one is the counter
    codes = model._trained()._fitted().schema.columns[0].categories
    counts = pd.crosstab(X["category"], y).loc[list(codes)].to_numpy()
    means = (counts + counts.sum(axis=0) / counts.sum()) / (counts.sum(axis=1, keepdims=True) + 1.0)
    for number in range(5):
        # A model keeps cells as far as its trees tell them apart: larger means have no smaller cells.
        cells = table.cells[number][np.argsort(means[:, number])]
        assert len(np.unique(cells)) > 3
        assert (np.diff(cells[: len(codes)].astype(int)) >= 0).all()


def test_several_classes_are_told_as_well_as_by_catboost(five_classes: Any) -> None:
    theirs = pytest.importorskip("catboost", minversion="1.2")
    from sklearn.metrics import log_loss

    X, y = five_classes
    losses = []
    for module in (cb, theirs):
        model = module.CatBoostClassifier(
            **QUIET, iterations=150, learning_rate=0.1, cat_features=["category"]
        )
        model.fit(X[:2800], y[:2800])
        losses.append(log_loss(y[2800:], model.predict_proba(X[2800:])))
    assert losses[0] < 1.05 * losses[1]


def test_borders_of_labels_are_not_of_classes(five_classes: Any) -> None:
    X, y = five_classes
    params = {**QUIET, "iterations": 2, "cat_features": ["category"]}
    with pytest.raises(ValueError, match="each of the 5 classes has a statistic of its own"):
        cb.CatBoostClassifier(**params, ctr_target_border_count=2).fit(X, y)
    assert cb.CatBoostClassifier(**params, ctr_target_border_count=4).fit(X, y).tree_count_ == 2


def test_a_model_cut_short_keeps_only_the_statistics_of_its_rounds(pairs: Any) -> None:
    X, y = pairs
    params = {**QUIET, "learning_rate": 0.2, "depth": 3, "cat_features": ["a", "b", "c"]}
    alone = cb.CatBoostClassifier(**params, iterations=5).fit(X, y)
    long = cb.CatBoostClassifier(**params, iterations=40).fit(X, y)
    before = long.predict(X, prediction_type="RawFormulaVal", ntree_end=5)
    long.shrink(5)
    assert np.array_equal(long.predict(X, prediction_type="RawFormulaVal"), before)
    of_both = [model._trained()._fitted() for model in (alone, long)]
    assert of_both[0].forest == of_both[1].forest
    for one, other in zip(*(model.statistics.tables for model in of_both), strict=True):
        assert (one.projection, one.numbers) == (other.projection, other.numbers)
        assert np.array_equal(one.cells, other.cells)
    noisy = np.where(np.random.default_rng(2).random(900) < 0.3, ~y, y)
    best = cb.CatBoostClassifier(**params, iterations=60)
    best.fit(X[:600], noisy[:600], eval_set=(X[600:], noisy[600:]))
    again = cb.CatBoostClassifier(**params, iterations=best.tree_count_).fit(X[:600], noisy[:600])
    assert best.tree_count_ < 60
    sizes = [len(model._trained()._fitted().statistics.sources) for model in (best, again)]
    assert sizes[0] == sizes[1]
    best.shrink(best.tree_count_, 1)
    assert np.isfinite(best.predict(X, prediction_type="RawFormulaVal")).all()


class _Share:
    def get_final_error(self, error: float, weight: float) -> float:
        return error / weight

    def is_max_optimal(self) -> bool:
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> Any:
        right = (np.array(approxes[0]) > 0) == (np.array(target) > 0.5)
        return float(right.sum()), float(len(right))


@pytest.mark.parametrize(
    "more",
    [
        {"class_weights": {0: 1, 1: 2}},
        {"class_weights": np.array([1.0, 2.0])},
        {"class_weights": [np.float64(1.0), 2]},
        {"class_names": np.array([1, 0])},
        {"monotone_constraints": {2: 1}},
        {"monotone_constraints": np.array([0, 0, 1])},
        {"per_float_feature_quantization": {1: "border_count=9"}},
        {"custom_metric": [_Share(), "AUC"]},
        {"custom_metric": [_Share()]},
        {"eval_metric": _Share()},
    ],
)
def test_files_and_pickles_take_dicts_arrays_and_objects(more: dict[str, Any], tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    y = (X[:, 2] + 0.3 * rng.random(200) > 0.6).astype(int)
    model = cb.CatBoostClassifier(**QUIET, iterations=4, **more).fit(X, y)
    model.save_model(tmp_path / "model")
    again = cb.CatBoostClassifier().load_model(tmp_path / "model")
    again.save_model(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    for other in (again, pickle.loads(pickle.dumps(model)), joblib.load(buffer), model.copy()):
        assert np.array_equal(other.predict_proba(X), model.predict_proba(X))
        for name in ("class_weights", "monotone_constraints", "class_names"):
            assert other.get_all_params()[name] == model.get_all_params()[name]


def test_weights_of_classes_may_be_an_array() -> None:
    X = np.arange(120.0).reshape(-1, 2)
    y = (X[:, 0] > 80).astype(int)
    found = [
        cb.CatBoostClassifier(**QUIET, iterations=3, class_weights=weights).fit(X, y).predict_proba(X)
        for weights in ([1.0, 3.0], np.array([1.0, 3.0]), (1, 3), pd.Series([1.0, 3.0]), {1: 3})
    ]
    assert all(np.array_equal(found[0], other) for other in found)
    for weights, sentence in (
        (np.array([1.0, -2.0]), "not negative, not -2.0"),
        (2.0, "class_weights must be a list of weights, or a dict"),
        ([1.0], "class_weights has 1 weights, but there are 2 classes"),
        ({7: 1.0}, "class_weights has the class 7"),
    ):
        with pytest.raises(ValueError, match=sentence):
            cb.CatBoostClassifier(**QUIET, iterations=3, class_weights=weights).fit(X, y)


def test_stages_are_the_predictions_of_so_many_rounds_and_read_the_table_once(
    pairs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weald.dialects.shared.reader import Reader

    X, y = pairs
    sizes = X["c"].astype(float).to_numpy()
    model = cb.CatBoostClassifier(**QUIET, iterations=20, cat_features=["a", "b", "c"]).fit(X, y)
    plain = cb.CatBoostRegressor(**QUIET, iterations=9).fit(sizes[:, None], sizes % 5)
    several = cb.CatBoostClassifier(**QUIET, iterations=9).fit(sizes[:, None], sizes.astype(int) % 3)
    sparse = __import__("scipy.sparse").sparse.csr_matrix(sizes[:, None])
    for one, table in ((model, X), (plain, sizes[:, None]), (several, sizes[:, None]), (several, sparse)):
        stages = list(one.staged_predict(table, prediction_type="RawFormulaVal", eval_period=4))
        ends = [*range(4, one.tree_count_, 4), one.tree_count_]
        for end, scores in zip(ends, stages, strict=True):
            assert np.array_equal(scores, one.predict(table, prediction_type="RawFormulaVal", ntree_end=end))
        later = list(one.staged_predict(table, prediction_type="RawFormulaVal", ntree_start=3, ntree_end=5))
        assert len(later) == 2
        assert np.array_equal(
            later[1], one.predict(table, prediction_type="RawFormulaVal", ntree_start=3, ntree_end=5)
        )
    pool = cb.Pool(X, y, cat_features=["a", "b", "c"])
    every, some = (model.eval_metrics(pool, "Logloss", eval_period=period)["Logloss"] for period in (1, 6))
    assert some == [*every[0:19:6], every[19]]
    reads: list[Any] = []
    read = Reader._read
    monkeypatch.setattr(Reader, "_read", lambda self, table: reads.append(0) or read(self, table))
    assert len(list(model.staged_predict_proba(X))) == 20
    assert model.virtual_ensembles_predict(X, virtual_ensembles_count=5).shape == (900, 5, 1)
    assert len(reads) == 2
    for period in (0, 1.5, True):
        with pytest.raises(ValueError, match="eval_period must be a whole number of at least 1"):
            model.eval_metrics(pool, "Logloss", eval_period=period)
        with pytest.raises(ValueError, match="eval_period must be a whole number of at least 1"):
            model.staged_predict(X, eval_period=period)
