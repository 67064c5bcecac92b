"""scikit-learn's scorers, as `make_scorer` makes them, as metrics of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.estimators.shared.tasks import ClassifierTask, RegressorTask
from weald.losses import Loss, Metric
from weald.losses.choosing import name_of, weights_refused
from weald.runtime.sklearn_bases import BaseEstimator


def is_scorer(metric: Any) -> bool:
    """Whether something is a scorer: scikit-learn gives no public way to ask."""
    return all(hasattr(metric, name) for name in ("_score_func", "_sign", "_response_method"))


def scorer_metric(scorer: Any, loss: Loss, classes: NDArray[Any] | None) -> Metric:
    """A scorer as a metric. Its values have the sign of the function in it, and its name; a smaller log_loss is better."""
    name, sign = name_of(scorer._score_func), float(scorer._sign)
    takes_weights = scorer._accept_sample_weight()

    def evaluate(
        y: NDArray[np.float64], scores: NDArray[np.float64], weight: NDArray[np.float64] | None
    ) -> float:
        if weight is not None and not takes_weights:
            raise weights_refused(name)
        answers: Any = _Values(scores, loss.link) if classes is None else _Classes(scores, loss.link, classes)
        truth = y if classes is None else classes[y.astype(np.int64)]
        given = {} if weight is None else {"sample_weight": weight}
        return sign * float(scorer(answers, np.empty((len(y), 1)), truth, **given))

    return Metric(name, evaluate, greater_is_better=sign > 0.0, of_scores=True)


@dataclass(repr=False, eq=False)
class _Answers(BaseEstimator):  # type: ignore[misc]
    """Raw scores, (outputs, rows), behind the methods that a scorer asks for its predictions."""

    scores: NDArray[np.float64]
    link: str

    @property
    def _model(self) -> Any:
        return SimpleNamespace(link=self.link)

    def _raw(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        return self.scores

    def __sklearn_is_fitted__(self) -> bool:
        return True


@dataclass(repr=False, eq=False)
class _Values(RegressorTask, _Answers):
    """Predictions of a regressor."""


@dataclass(repr=False, eq=False)
class _Classes(ClassifierTask, _Answers):
    """Predictions of a classifier."""

    classes_: NDArray[Any]
