"""Metrics of the user's own: functions and scikit-learn's scorers, their direction, and early stopping by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sk

import weald
from weald.runtime.errors import InputError

rng = np.random.default_rng(7)
X = rng.random((300, 4))
BINARY = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.2 * rng.standard_normal(300) > 0.75, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.1 * rng.standard_normal(300), [0.3, 0.6])]
TRAIN, VALID = slice(0, 200), slice(200, None)


def fitted(y: Any, metric: Any, weight: Any = None, **settings: Any) -> Any:
    kind = weald.BoostedTreesRegressor if y.dtype.kind == "f" else weald.BoostedTreesClassifier
    model = kind(n_estimators=20, early_stopping_rounds=5, eval_metric=metric, n_jobs=1, **settings)
    held_out = (X[VALID], y[VALID]) if weight is None else (X[VALID], y[VALID], weight)
    return model.fit(X[TRAIN], y[TRAIN], eval_set=[held_out])


def test_a_function_that_is_to_grow_keeps_the_rounds_of_the_metric_that_it_is() -> None:
    def area(y: Any, probability: Any) -> float:
        return float(sk.roc_auc_score(y, probability))

    with pytest.raises(InputError, match="eval_metric 'area' does not say whether larger values are better"):
        fitted(BINARY, area)
    area.greater_is_better = True  # type: ignore[attr-defined]
    ours, theirs = fitted(BINARY, "auc"), fitted(BINARY, area)
    assert ours.forest_.n_rounds == theirs.forest_.n_rounds > 1
    np.testing.assert_allclose(
        theirs.history_["valid_0"]["area"], ours.history_["valid_0"]["auc"], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("scorer", "name", "greater"),
    [
        (sk.make_scorer(sk.accuracy_score), "accuracy_score", True),
        (sk.make_scorer(sk.f1_score, pos_label="yes"), "f1_score", True),
        (sk.make_scorer(sk.f1_score, pos_label="no"), "f1_score", True),
        (
            sk.make_scorer(sk.roc_auc_score, response_method=("decision_function", "predict_proba")),
            "roc_auc_score",
            True,
        ),
        (sk.get_scorer("neg_log_loss"), "log_loss", False),
        (
            sk.make_scorer(sk.hinge_loss, greater_is_better=False, response_method="decision_function"),
            "hinge_loss",
            False,
        ),
    ],
)
def test_a_scorer_sees_the_classes_and_says_its_direction(scorer: Any, name: str, greater: bool) -> None:
    weight = rng.random(100)
    model = fitted(BINARY, scorer, weight)
    values = model.history_["valid_0"][name]
    best = int(np.argmax(values) if greater else np.argmin(values))
    assert model.best_iteration_ == best
    expected = scorer(model, X[VALID], BINARY[VALID], sample_weight=weight)
    assert values[best] == pytest.approx(expected if greater else -expected, rel=1e-12)


def test_scorers_of_several_classes_and_of_numbers() -> None:
    areas = sk.make_scorer(sk.roc_auc_score, response_method="predict_proba", multi_class="ovr")
    model = fitted(THREE, [areas, sk.make_scorer(sk.balanced_accuracy_score)])
    best = model.best_iteration_
    assert model.history_["valid_0"]["roc_auc_score"][best] == pytest.approx(
        areas(model, X[VALID], THREE[VALID])
    )
    assert set(model.history_["valid_0"]) == {"roc_auc_score", "balanced_accuracy_score"}
    numbers = fitted(X[:, 0] + X[:, 1], sk.make_scorer(sk.mean_absolute_error, greater_is_better=False))
    assert numbers.best_iteration_ == int(np.argmin(numbers.history_["valid_0"]["mean_absolute_error"]))


def test_a_scorer_without_weights_is_refused_on_rows_with_weights() -> None:
    def median(y: Any, prediction: Any) -> float:
        return float(np.median(np.abs(y - prediction)))

    scorer = sk.make_scorer(median, greater_is_better=False)
    assert fitted(X[:, 0], scorer).history_["valid_0"]["median"]
    with pytest.raises(InputError, match="eval_metric 'median' takes no weights"):
        fitted(X[:, 0], scorer, np.ones(100))


def test_the_change_of_a_metric_of_ones_own_has_its_direction() -> None:
    model = weald.BoostedTreesClassifier(
        n_estimators=5, eval_metric=sk.make_scorer(sk.accuracy_score), n_jobs=1
    )
    assert model.fit(X, BINARY).loss_function_change(X, BINARY).argmax() == 0
