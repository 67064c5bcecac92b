from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import weald
from exchange_models import CASES, case, coded, hard_rows, scores_of, table_for
from weald.exchange.evaluate import evaluate
from weald.exchange.model import Constant

# Its final estimator is scikit-learn's, whose sums are BLAS's.
INEXACT = {"blending"}


@pytest.mark.parametrize("name", CASES)
def test_the_program_of_a_model_predicts_the_same_bits_as_the_model(name: str) -> None:
    model, estimator = case(name).model, case(name).estimator
    rows = hard_rows(model)
    table = table_for(model, rows)
    with np.errstate(invalid="ignore", over="ignore"):
        found, expected = evaluate(model, coded(model, rows)), scores_of(estimator, table)
        labels = estimator.predict(table)
    if expected is not None:
        values = found.values[0].reshape(expected.shape)
        if name in INEXACT:
            assert np.allclose(values, expected, rtol=1e-12, atol=0, equal_nan=True)
        else:
            assert np.array_equal(values, expected, equal_nan=True)
    if hasattr(estimator, "classes_"):
        assert (found.labels[0] == labels).all()
    if hasattr(estimator, "decision_function") and model.answer.scores:
        decided = estimator.decision_function(table)
        assert np.allclose(found.scores.reshape(decided.shape), decided, rtol=1e-12, atol=0, equal_nan=True)


def test_several_labels_a_row_are_several_outputs() -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    Y = np.column_stack([X[:, 0] > 0, np.digitize(X[:, 1], [-0.5, 0.5])])
    estimator = weald.RandomForestClassifier(4).fit(X, Y)
    found = evaluate(estimator._exchanged(), X)
    for output, expected in enumerate(estimator.predict_proba(X)):
        assert np.array_equal(found.values[output], expected)
    assert np.array_equal(np.column_stack(found.labels), estimator.predict(X))


def test_one_class_alone_is_certain() -> None:
    estimator = weald.DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"])
    model = estimator._exchanged()
    assert any(isinstance(step, Constant) for step in model.steps)
    assert evaluate(model, np.array([[5.0]])).labels[0].tolist() == ["a"]


def test_members_of_others_are_refused_by_name() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    members = [("trees", weald.BoostedTreesClassifier(n_estimators=2)), ("bayes", GaussianNB())]
    estimator = weald.VotingClassifier(members).fit(X, X[:, 0] > 0)
    with pytest.raises(weald.NotSupportedError, match="GaussianNB"):
        estimator.export("never.json", format="json")


def test_lots_and_starts_of_other_models_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    estimator = weald.VotingClassifier([("a", weald.DecisionTreeClassifier())], ties="random").fit(
        X, X[:, 0] > 0
    )
    with pytest.raises(weald.NotSupportedError, match="ties"):
        estimator._exchanged()
    started = weald.GradientBoostingRegressor(n_estimators=2, init=weald.DecisionTreeRegressor()).fit(
        X, X[:, 0]
    )
    with pytest.raises(weald.NotSupportedError, match="init"):
        started._exchanged()
