"""Shapley values, importances and virtual ensembles of a forest: what they add up to, and what their naive twins say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference_explain as reference
from weald import BoostedTreesClassifier, BoostedTreesRegressor, RandomForestClassifier, load
from weald.data import read_table
from weald.explain.importances import by_source, loss_function_change, prediction_values_change
from weald.explain.kernels import MOST_TESTS
from weald.explain.shap import shap_values
from weald.explain.virtual import virtual_ensembles, virtual_rounds
from weald.forest.forest import Forest
from weald.runtime.errors import InputError, NotSupportedError


def table(n_rows: int = 400) -> tuple[Any, Any]:
    """Numbers, some missing, and a column of categories."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 6))
    X[:, 5] = rng.integers(0, 7, n_rows)
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + (X[:, 5] % 3 == 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


OPTIONS: dict[str, dict[str, Any]] = {
    "leafwise": {"categories": "onehot", "max_leaves": 16},
    "oblivious": {"categories": "onehot", "growth": "oblivious", "max_leaves": None, "max_depth": 4},
    "sets": {"categories": "partition", "max_leaves": 8},
    "averaging": {"booster": "averaging", "subsample": 0.5, "max_leaves": 6},
}


def fitted(name: str) -> tuple[BoostedTreesRegressor, NDArray[Any]]:
    X, y = table()
    model = BoostedTreesRegressor(
        n_estimators=4, categorical_features=[5], min_samples_leaf=5, n_jobs=1, **OPTIONS[name]
    )
    return model.fit(X, y), X


@pytest.mark.parametrize("name", list(OPTIONS))
def test_shap_values_are_those_of_all_subsets(name: str) -> None:
    model, X = fitted(name)
    dataset = model._read(X[:12])
    codes = next(iter(dataset.blocks()))[1]
    found = shap_values(model.forest_, dataset.blocks(), 12)
    assert np.allclose(found, reference.shap_values(model.forest_, codes), rtol=0.0, atol=1e-12)
    assert np.allclose(found.sum(axis=2)[0], model.predict(X[:12]), rtol=0.0, atol=1e-12)
    assert model.shap_values(X[:12]).tobytes() == found[0].tobytes()


def test_trees_of_many_tests_and_few_are_both_explained() -> None:
    def different(forest: Forest, tree: int) -> int:
        view = forest.tree(tree)
        return len(set(zip(view.feature[view.feature >= 0], view.threshold[view.feature >= 0], strict=True)))

    many, few = fitted("leafwise")[0].forest_, fitted("oblivious")[0].forest_
    assert different(many, 0) > MOST_TESTS >= different(few, 0)


def test_leaves_of_several_numbers_are_explained_output_by_output() -> None:
    X, y = table(120)
    forest = (
        RandomForestClassifier(3, max_depth=3, n_jobs=1, random_state=0)
        .fit(X, (y * 3).astype(int) % 3)
        .forest_
    )
    rows = np.ascontiguousarray(X[:5])
    assert forest.has_vectors
    found = shap_values(forest, [(0, rows)], 5)
    assert np.allclose(found, reference.shap_values(forest, rows), rtol=0.0, atol=1e-12)
    assert np.allclose(prediction_values_change(forest), reference.prediction_values_change(forest))


def test_several_classes_have_values_of_their_own() -> None:
    X, y = table()
    model = BoostedTreesClassifier(n_estimators=3, n_jobs=1).fit(X, np.digitize(y, [0.0, 1.0]))
    values = model.shap_values(X[:9])
    assert values.shape == (9, 3, 7)
    assert np.allclose(values.sum(axis=2), model.decision_function(X[:9]), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", list(OPTIONS))
def test_prediction_values_change_is_that_of_the_pairs(name: str) -> None:
    model, _ = fitted(name)
    assert np.allclose(
        prediction_values_change(model.forest_), reference.prediction_values_change(model.forest_)
    )
    model.set_params(importance_type="prediction")
    assert np.allclose(model.feature_importances_.sum(), 1.0)


def test_a_forest_without_a_split_explains_nothing() -> None:
    X, _ = table()
    model = BoostedTreesRegressor(n_estimators=2, n_jobs=1).fit(X, np.full(len(X), 3.0))
    assert model.shap_values(X[:2]).tolist() == [[0.0] * 6 + [3.0]] * 2
    assert prediction_values_change(model.forest_).tolist() == [0.0] * 6


def test_the_metric_loses_most_without_the_column_that_matters() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((500, 4))
    y = X[:, 2] > 0.3 * rng.standard_normal(500)
    model = BoostedTreesClassifier(n_estimators=20, eval_metric="auc", n_jobs=1).fit(X, y)
    changes = model.loss_function_change(X, y)
    assert changes.argmax() == 2 and changes[2] > 0.1
    parts, scores = model.shap_values(X), model.decision_function(X)

    def error(raw: NDArray[np.float64]) -> float:
        return float(np.mean((raw[0] > 0) != y))

    dataset = read_table(X)
    by_column = loss_function_change(model.forest_, dataset.blocks(), 500, error)
    assert by_column[2] == error((scores - parts[:, 2])[None]) - error(scores[None])
    joined = loss_function_change(
        model.forest_, dataset.blocks(), 500, error, sources=[(0,), (0,), (1,), (1,)]
    )
    assert joined.shape == (2,) and joined[1] > joined[0]


def test_a_metric_of_raw_scores_loses_most_without_the_column_that_matters() -> None:
    X, y = table()
    model = BoostedTreesRegressor(loss="normal", n_estimators=10, n_jobs=1).fit(X, y)
    changes = model.loss_function_change(X, y)
    parts = model.shap_values(X)  # (rows, mean and log of the deviation, columns + 1)
    whole = parts.sum(axis=2)

    def surprise(scores: NDArray[np.float64]) -> float:
        mean, log_deviation = scores.T
        errors = 0.5 * ((y - mean) * np.exp(-log_deviation)) ** 2
        return float(np.mean(errors + log_deviation + 0.5 * np.log(2.0 * np.pi)))

    expected = [surprise(whole - parts[:, :, column]) - surprise(whole) for column in range(X.shape[1])]
    assert changes == pytest.approx(expected) and changes.max() > 0.1


def test_features_share_their_numbers_among_their_sources() -> None:
    values = np.array([[1.0, 2.0, 6.0], [0.0, 1.0, 3.0]])
    assert by_source(values, [(0,), (0,), (1, 2)], 4).tolist() == [[3.0, 3.0, 3.0, 0.0], [1.0, 1.5, 1.5, 0.0]]


def test_virtual_models_are_the_model_cut_short() -> None:
    X, y = table()
    model = BoostedTreesRegressor(n_estimators=23, n_jobs=1).fit(X, y)
    assert virtual_rounds(23, 5) == [15, 17, 19, 21, 23]
    found = model.virtual_ensembles_predict(X, count=5)
    assert found.shape == (len(X), 5) and found[:, -1].tobytes() == model.predict(X).tobytes()
    dataset = read_table(X)
    scores = virtual_ensembles(model.forest_, dataset.blocks(), len(X), 5)
    assert scores[1].tobytes() == model.forest_.first(17).raw_scores(dataset).tobytes()
    classes = BoostedTreesClassifier(n_estimators=8, n_jobs=1).fit(X, y > 0)
    probabilities = classes.virtual_ensembles_predict(X[:3], count=2)
    assert probabilities.shape == (3, 2, 2) and np.array_equal(
        probabilities[:, 1], classes.predict_proba(X[:3])
    )


@pytest.mark.parametrize("count", [0, -1, 12])
def test_too_many_virtual_models_are_refused(count: int) -> None:
    X, y = table(100)
    model = BoostedTreesRegressor(n_estimators=23, n_jobs=1).fit(X, y)
    with pytest.raises(InputError, match="count must be at least 1 and at most 11, half of the 23 rounds"):
        model.virtual_ensembles_predict(X, count=count)


def test_a_linear_model_has_no_trees_to_explain() -> None:
    X, y = table(100)
    model = BoostedTreesRegressor(booster="linear", n_estimators=2).fit(np.nan_to_num(X), y)
    with pytest.raises(NotSupportedError, match="has no trees"):
        model.shap_values(X)


def test_a_saved_model_gives_the_same_values(tmp_path: Any) -> None:
    model, X = fitted("sets")
    model.save(tmp_path / "model.weald")
    assert load(tmp_path / "model.weald").shap_values(X[:5]).tobytes() == model.shap_values(X[:5]).tobytes()
