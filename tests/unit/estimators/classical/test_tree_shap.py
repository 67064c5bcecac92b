"""Shapley values of decision trees and forests: against the sum over all subsets, and adding up to predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference_explain
import weald
from weald.explain.shap import weighed_by_cover

rng = np.random.default_rng(5)
X = np.column_stack([rng.random((120, 3)), rng.integers(3, size=120)])
X[::7, 1] = np.nan
TARGETS = {
    "two": np.where(X[:, 0] > 0.5, "y", "n"),
    "three": np.digitize(X[:, 0] + X[:, 2], [0.6, 1.2]),
    "number": X[:, 0] + 0.5 * X[:, 3],
    "numbers": X[:, [0, 2]],
}
WEIGHTS = rng.random(120)


def fitted(family: str, target: str, **settings: Any) -> Any:
    kind = "Regressor" if target.startswith("number") else "Classifier"
    size = {} if family == "DecisionTree" else {"n_estimators": 3, "n_jobs": 1}
    model = getattr(weald, family + kind)(max_depth=4, categorical_features=[3], **size, **settings)
    return model.fit(X, TARGETS[target], sample_weight=WEIGHTS)


@pytest.mark.parametrize("family", ["DecisionTree", "RandomForest", "ExtraTrees"])
@pytest.mark.parametrize("target", TARGETS)
def test_values_are_the_sums_over_subsets_and_add_up_to_the_prediction(family: str, target: str) -> None:
    model = fitted(family, target)
    values, forest = model.shap_values(X[:8]), model.forest_
    wanted = reference_explain.shap_values(weighed_by_cover(forest), X[:8]) / forest.n_trees
    if target == "two":
        first = -wanted
        first[..., -1] += 1.0
        wanted = np.concatenate([first, wanted])
    np.testing.assert_allclose(values, wanted[0] if target == "number" else wanted.swapaxes(0, 1), atol=1e-10)
    predicted = model.predict(X[:8]) if target.startswith("number") else model.predict_proba(X[:8])
    np.testing.assert_allclose(values.sum(axis=-1), predicted, atol=1e-10)


def test_the_last_number_is_the_mean_of_what_the_trees_say_of_their_own_rows() -> None:
    for bootstrap in (False, True):
        model = fitted("RandomForest", "number", bootstrap=bootstrap)
        forest, means = model.forest_, []
        for begin, end in zip(forest.tree_offsets[:-1], forest.tree_offsets[1:], strict=True):
            leaves = begin + np.flatnonzero(forest.feature[begin:end] < 0)
            means.append(np.average(forest.value[leaves], weights=forest.cover[leaves]))
        np.testing.assert_allclose(model.shap_values(X[:1])[0, -1], np.mean(means), rtol=1e-9)
        if not bootstrap:
            np.testing.assert_allclose(means, np.average(TARGETS["number"], weights=WEIGHTS), rtol=1e-9)


def test_several_outputs_and_a_single_class() -> None:
    both = np.column_stack([X[:, 0] > 0.5, TARGETS["three"]])
    several = weald.ExtraTreesClassifier(3, n_jobs=1).fit(X, both)
    for values, probabilities in zip(several.shap_values(X), several.predict_proba(X), strict=True):
        np.testing.assert_allclose(values.sum(axis=-1), probabilities, atol=1e-10)
    single = weald.RandomForestClassifier(3, n_jobs=1).fit(X, np.zeros(120, int)).shap_values(X[:2])
    assert single.tolist() == [[[0.0, 0.0, 0.0, 0.0, 1.0]]] * 2


def test_rows_are_explained_alike_by_any_number_of_threads() -> None:
    model = fitted("RandomForest", "three")
    assert model.shap_values(X).tobytes() == model.set_params(n_jobs=3).shap_values(X).tobytes()
