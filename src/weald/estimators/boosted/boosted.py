"""Boosted trees with scikit-learn's interface: the native door to every choice of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from weald.estimators.boosted.base import BoostedTrees
from weald.estimators.shared.class_weights import class_factors
from weald.estimators.shared.tasks import ClassifierTask, RegressorTask
from weald.losses import Loss, make_loss
from weald.losses.elementary import exp_of
from weald.losses.parameters import LOSS_CHOICES, LossChoice
from weald.params.declare import anything, documented, number
from weald.runtime.errors import InputError, NotSupportedError


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BoostedTreesClassifier(ClassifierTask, BoostedTrees):
    """Gradient-boosted trees for classification.

    The same data, parameters and seed give the same model, byte for byte, on any number of threads.

    ``loss="auto"`` is logistic for two classes and softmax, with a tree per class and round, for more. "one_vs_rest" has as many
    trees, and a logistic loss for each class against all others. "exponential" is AdaBoost's, for two classes; "hinge" too is
    for two, and its probabilities are 0 and 1.

    Attributes
    ----------
    classes_ : the classes, sorted
    forest_ : the trees
    history_ : evaluation set -> metric -> one value per round
    best_iteration_ : the best round, from 0, by the first metric on the first evaluation set; the last one without

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("penguins")
    >>> model = weald.BoostedTreesClassifier(n_estimators=20).fit(data.data, data.target)
    >>> model.score(data.data, data.target) > 0.95
    True
    """

    class_weight: Annotated[
        str | Mapping[Any, float] | None,
        anything(
            "None, 'balanced', 'sqrt_balanced' (by the roots of the factors), "
            "'minority' (the lighter of two classes weighs as much as the other), or a weight for every class."
        ),
    ] = None
    scale_pos_weight: Annotated[
        float | None, number("Weight of the second of two classes.", 0, open_low=True, optional=True)
    ] = None

    def _make_loss(self, n_classes: int) -> Loss:
        binary = n_classes == 2
        if isinstance(self.loss, LossChoice):
            raise InputError(f"loss={self.loss!r} is for regression; use BoostedTreesRegressor.")
        if callable(self.loss):
            return make_loss(
                self.loss, n_outputs=1 if binary else n_classes, link="logit" if binary else "softmax"
            )
        name = ("logistic" if binary else "softmax") if self.loss == "auto" else self.loss
        several = name in ("softmax", "one_vs_rest")
        if name in ("logistic", "exponential", "hinge") and not binary:
            raise InputError(f"loss={name!r} is for two classes, but y has {n_classes}; use 'softmax'.")
        if several and binary:
            raise InputError(f"loss={name!r} is for three classes or more, but y has 2; use 'logistic'.")
        loss = make_loss(name, n_classes=n_classes) if several else make_loss(name)
        if loss.task == "regression":
            raise InputError(
                f"loss={name!r} is for regression; a classifier takes 'logistic', 'exponential', 'hinge', 'softmax', "
                "'one_vs_rest' or a function."
            )
        return loss

    def _class_factors(
        self, codes: NDArray[np.int64], classes: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Those that ``class_weight`` and ``scale_pos_weight`` ask for."""
        factors = class_factors(self.class_weight, codes, classes, weight)
        if self.scale_pos_weight is not None:
            if len(classes) != 2:
                raise InputError(
                    f"scale_pos_weight is for two classes, but y has {len(classes)}; use class_weight."
                )
            factors[1] *= self.scale_pos_weight
        return factors


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BoostedTreesRegressor(RegressorTask, BoostedTrees):
    """Gradient-boosted trees for regression.

    The same data, parameters and seed give the same model, byte for byte, on any number of threads.

    ``loss="auto"`` is the squared one; others are "absolute", "mape", "huber", "pseudo_huber", "fair", "log_cosh", "squared_log",
    "quantile", "normal" (mean and deviation), "cross_entropy" (labels from 0 to 1), "poisson", "gamma", "tweedie", an object
    such as ``weald.losses.Quantile([0.1, 0.9])`` that has parameters of its own, or a function.

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("diamonds")
    >>> model = weald.BoostedTreesRegressor(n_estimators=20).fit(data.data, data.target)
    >>> model.score(data.data, data.target) > 0.9
    True
    """

    def _make_loss(self) -> Loss:
        chosen = LOSS_CHOICES.resolve("squared" if self.loss == "auto" else self.loss)
        loss = chosen.make() if isinstance(chosen, LossChoice) else make_loss(chosen)
        if loss.task == "classification":
            raise InputError(f"loss={loss.name!r} is for classification; use BoostedTreesClassifier.")
        return loss

    def predict_deviation(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """The predicted standard deviation of every row's label, (rows,), of a model with loss="normal"."""
        scores = self._raw(X, n_rounds)
        if self._model.link != "normal":
            raise NotSupportedError(
                f"a model with loss={self._model.loss!r} predicts no deviation; fit one with loss='normal'."
            )
        return exp_of(scores[1])
