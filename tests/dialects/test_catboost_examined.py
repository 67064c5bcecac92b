"""Single trees and columns of CatBoost's models, and the selection of columns, with CatBoost and with Weald."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald.catboost
from weald.runtime.errors import InputError, NotSupportedError

rng = np.random.default_rng(0)
X = rng.integers(0, 8, (300, 3)).astype(float)
Y = X[:, 0] * 2.0 + X[:, 1]
LABELS = Y > 9.0
QUIET: dict[str, Any] = {"iterations": 6, "depth": 2, "verbose": False, "allow_writing_files": False}


def test_leaves_are_numbered_by_the_sides_of_their_splits(cb: Any) -> None:
    model = cb.CatBoostRegressor(**QUIET).fit(X, Y)
    leaves, values = model.calc_leaf_indexes(X), model.get_leaf_values()
    assert leaves.dtype == np.uint32 and leaves.shape == (300, 6) and leaves.max() == 3
    offsets = np.concatenate(([0], np.cumsum(model.get_tree_leaf_counts())))[:-1]
    scale, bias = model.get_scale_and_bias()
    total = values[(offsets + leaves).astype(int)].sum(axis=1)
    assert model.predict(X) == pytest.approx(scale * total + bias)
    assert np.array_equal(np.array(list(model.iterate_leaf_indexes(X[:5]))), leaves[:5])


def test_leaves_can_have_other_values() -> None:
    model = weald.catboost.CatBoostRegressor(**QUIET).fit(X, Y)
    before = model.predict(X)
    values, (_, bias) = model.get_leaf_values(), model.get_scale_and_bias()
    model.set_leaf_values(2.0 * values)
    assert np.array_equal(model.get_leaf_values(), 2.0 * values)
    assert model.predict(X) - bias == pytest.approx(2.0 * (before - bias))


def test_borders_are_the_thresholds_that_trees_use(cb: Any, tmp_path: Path) -> None:
    model = cb.CatBoostRegressor(**QUIET).fit(X, Y)
    borders = model.get_borders()
    assert sorted(borders) == [0, 1, 2]
    assert all(
        values == sorted(values) and all(value % 1.0 == 0.5 for value in values)
        for values in borders.values()
    )
    model.save_borders(str(tmp_path / "borders.tsv"))
    lines = (tmp_path / "borders.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == [
        str(place) for place, values in borders.items() for _ in values
    ]
    model.drop_unused_features()
    assert model.get_borders()[0] == borders[0]


def test_statistics_of_a_column(cb: Any) -> None:
    model = cb.CatBoostRegressor(**QUIET).fit(X, Y)
    found = model.calc_feature_statistics(X, Y, feature=0, plot=False)
    borders, bins = found["borders"], found["binarized_feature"]
    assert np.array_equal(borders, np.float32(model.get_borders()[0]))
    assert np.array_equal(bins, (X[:, [0]] > borders).sum(axis=1))
    for place in range(len(borders) + 1):
        rows = bins == place
        assert found["objects_per_bin"][place] == rows.sum()
        assert found["mean_target"][place] == pytest.approx(Y[rows].mean(), rel=1e-5)
        assert found["mean_prediction"][place] == pytest.approx(model.predict(X)[rows].mean(), rel=1e-5)
    moved = X.copy()
    moved[:, 0] = -1.0
    assert found["predictions_on_varying_feature"][0] == pytest.approx(model.predict(moved).mean())
    assert sorted(model.calc_feature_statistics(X, Y, feature=[0, 1], plot=False)) == [0, 1]
    classifier = cb.CatBoostClassifier(**QUIET, loss_function="Logloss").fit(X, LABELS)
    found = classifier.calc_feature_statistics(X, LABELS.astype(int), feature=1, plot=False)
    assert np.all((found["mean_prediction"] >= 0.0) & (found["mean_prediction"] <= 1.0))


def test_columns_that_count_least_are_left_out(cb: Any) -> None:
    kinds = cb.EFeaturesSelectionAlgorithm
    for algorithm in ("RecursiveByPredictionValuesChange", kinds.RecursiveByShapValues, None):
        model = cb.CatBoostRegressor(**QUIET)
        found = model.select_features(
            cb.Pool(X, Y),
            eval_set=cb.Pool(X[:100], Y[:100]),
            features_for_select="0-2",
            num_features_to_select=1,
            steps=2,
            algorithm=algorithm,
            logging_level="Silent",
            train_final_model=True,
        )
        assert found["selected_features"] == [0] and found["eliminated_features"] == [2, 1]
        assert found["loss_graph"]["removed_features_count"] == [0, 1, 2]
        assert model.get_feature_importance().tolist() == [100.0, 0.0, 0.0]
        assert model.predict(X).shape == (300,)


def test_ignored_columns_are_not_used(cb: Any) -> None:
    for ignored in ([1], ["b"]):
        table: Any = X
        if ignored == ["b"]:
            pd = pytest.importorskip("pandas")
            table = pd.DataFrame(X, columns=["a", "b", "c"])
        model = cb.CatBoostRegressor(**QUIET, ignored_features=ignored).fit(table, X[:, 1] + 0.1 * X[:, 0])
        assert model.get_feature_importance()[1] == 0.0 and model.get_feature_importance()[0] > 0.0


def test_a_model_becomes_an_estimator_of_its_task(cb: Any) -> None:
    model = cb.CatBoost({**QUIET, "loss_function": "Logloss"}).fit(X, LABELS)
    classifier = cb.to_classifier(model)
    assert isinstance(classifier, cb.CatBoostClassifier)
    assert np.array_equal(classifier.predict_proba(X), model.predict(X, prediction_type="Probability"))
    with pytest.raises(cb.CatBoostError):
        cb.to_regressor(model)
    assert cb.to_regressor(cb.CatBoost(QUIET).fit(X, Y)).score(X, Y) > 0.5


def test_categories_have_statistics_too_and_can_be_ignored() -> None:
    pd = pytest.importorskip("pandas")
    cb = weald.catboost
    town = np.array(["Ulm", "Bonn", "Kiel"])[X[:, 2].astype(int) % 3]
    table = pd.DataFrame({"town": town, "size": X[:, 0]})
    y = Y + 5.0 * (town == "Ulm")
    model = cb.CatBoostRegressor(**QUIET, cat_features=["town"]).fit(table, y)
    found = model.calc_feature_statistics(table, y, feature="town", plot=False)
    assert found["cat_values"].tolist() == ["Bonn", "Kiel", "Ulm"]
    assert found["predictions_on_varying_feature"].argmax() == 2
    without = cb.CatBoostRegressor(**QUIET, cat_features=["town"], ignored_features=["town"]).fit(table, y)
    alone = cb.CatBoostRegressor(**QUIET).fit(table[["size"]], y)
    assert np.array_equal(without.predict(table), alone.predict(table[["size"]]))


def test_what_cannot_be_examined_is_refused_in_a_sentence() -> None:
    cb = weald.catboost
    model = cb.CatBoostRegressor(**QUIET).fit(X, Y)
    several = cb.CatBoostClassifier(**QUIET).fit(X, X[:, 0] % 3)
    for script, kind, sentence in (
        (lambda: model.calc_feature_statistics(X, Y, feature=0), NotSupportedError, "set plot=False"),
        (lambda: model.calc_feature_statistics(X, feature=0, plot=False), InputError, "needs labels"),
        (lambda: model.calc_feature_statistics(X, Y, feature="q", plot=False), InputError, "'q'"),
        (lambda: several.get_leaf_values(), NotSupportedError, "one score a row"),
        (lambda: model.set_leaf_values([1.0]), InputError, "must be 24 finite numbers"),
        (lambda: model.select_features(X, Y, features_for_select=[0]), InputError, "trained already"),
        (
            lambda: cb.CatBoostRegressor(**QUIET).select_features(
                X, Y, features_for_select=[0], num_features_to_select=2
            ),
            InputError,
            "features_for_select has 1 columns",
        ),
        (lambda: cb.to_classifier(model), InputError, "is not of classification"),
        (lambda: cb.Pool(X).set_group_id([1]), NotSupportedError, "ranking is not supported"),
        (lambda: model.plot_tree(0), NotSupportedError, "plot_tree"),
    ):
        with pytest.raises(kind, match=sentence):
            script()
