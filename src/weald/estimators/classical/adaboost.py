"""AdaBoost with scikit-learn's interface, over Weald's trees or any other estimator."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from weald.data import read_regression_target, read_several_classes, read_weights
from weald.estimators.classical.adaboost_base import AdaBoost, Floats
from weald.estimators.classical.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from weald.estimators.classical.ensembles import WithClasses
from weald.estimators.classical.tree_members import staged_forest_scores, values_of_trees
from weald.estimators.classical.tree_models import forest_scores
from weald.estimators.shared.labels import writeable
from weald.forest.forest import Forest
from weald.params.declare import documented, one_of
from weald.runtime.errors import NotSupportedError
from weald.training.classical.adaboost import (
    Boosted,
    boost_labels,
    boost_probabilities,
    boost_values,
    label_votes,
    real_votes,
    vote_probabilities,
    weighted_median,
)
from weald.training.classical.joined import leaf_probabilities
from weald.training.classical.members import codes_of, outputs_in_order, probabilities_of, values_of
from weald.tree.cart import CartLabels

if TYPE_CHECKING:
    from weald.exchange.model import Answer, Builder
    from weald.exchange.rows import Row


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class AdaBoostClassifier(ClassifierMixin, WithClasses, AdaBoost):  # type: ignore[misc]
    """AdaBoost for classification.

    Every round fits a member to the rows, weighted so that those which the members before it got wrong count for more;
    the members vote with weights that grow as their errors fall. Boosting stops early when a member makes no error, or
    when one is no better than guessing, which is an error of 1/2 for two classes; that member is dropped.

    Attributes
    ----------
    estimators_ : the fitted members
    estimator_weights_ : the members' votes
        learning_rate x (ln((1 - e)/e) + ln(K - 1)) for K classes, as in scikit-learn; for two classes that is twice the
        alpha = 1/2 ln((1 - e)/e) of the textbooks, which changes no prediction. 1 with "SAMME.R" and for a member without
        error. There is an entry for every round asked for, 0 after the last one that took place.
    estimator_errors_ : the members' weighted errors; 1 after the last round that took place
    classes_, n_classes_ : the classes, sorted, and their number
    feature_importances_ : the members' importances, averaged by their weights

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = weald.AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> len(model), model.score(X, y) > 0.97
    (20, True)
    """

    algorithm: Annotated[
        str,
        one_of(
            "'SAMME': members vote for labels; for two classes, Freund and Schapire's AdaBoost. "
            "'SAMME.R': members vote by the logarithms of their probabilities, and all weigh the same.",
            "SAMME",
            "SAMME.R",
        ),
    ] = "SAMME"

    def _check(self) -> None:
        super()._check()
        if self.algorithm == "SAMME.R" and not hasattr(self._template(), "predict_proba"):
            name = type(self._template()).__name__
            raise NotSupportedError(
                f"algorithm='SAMME.R' needs predict_proba, which {name} does not have; use 'SAMME'."
            )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaBoostClassifier:
        """Boost on a table; a row of weight 0 is as if it were not there."""
        self._check()
        self._forget()
        dataset = self._read(X)
        n_rows = dataset.n_rows
        weight = read_weights(sample_weight, n_rows)
        codes, classes = read_several_classes(y, n_rows, weight, owner=type(self).__name__)
        start = np.ones(n_rows) if weight is None else weight
        boosted = self._boost(
            lambda learner: self._loop()(
                learner, codes, len(classes), start, self.n_estimators, self.learning_rate
            ),
            X,
            classes[codes],
            CartLabels.classification(codes, (len(classes),)),
            start,
            partial(self._output(), classes=classes),
        )
        self._remember(dataset.schema)
        self._set_classes(classes)
        self._set_boosted(boosted)
        return self

    def _default(self) -> Any:
        return DecisionTreeClassifier(max_depth=1)

    def _loop(self) -> Callable[..., Boosted]:
        return boost_labels if self.algorithm == "SAMME" else boost_probabilities

    def _output(self) -> Callable[..., NDArray[Any]]:
        """What a member says of a table: codes, or probabilities."""
        return codes_of if self.algorithm == "SAMME" else probabilities_of

    def _votes(self, said: NDArray[Any]) -> Floats:
        """(rows, classes) votes, before their weight, of codes or probabilities."""
        return label_votes(said, self.n_classes_) if self.algorithm == "SAMME" else real_votes(said)

    def _join(self) -> Forest | None:
        binary = self.n_classes_ == 2

        def leaves(number: int, tree: Forest) -> Floats:
            probabilities = leaf_probabilities(tree)
            votes = self._votes(probabilities.argmax(axis=1) if self.algorithm == "SAMME" else probabilities)
            votes = float(self.estimator_weights_[number]) * votes
            return votes[:, 1:] - votes[:, :1] if binary else votes

        return self._joined_with(leaves, 1 if binary else self.n_classes_)

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.classical.lowering import lower_boosted_classes  # when a model is exported

        return lower_boosted_classes(self, builder, row)

    def _staged_sums(self, X: Any) -> Iterator[Floats]:
        """The sum of the weighted votes after every round: (classes, rows), for two classes (1, rows)."""
        if self._joined is not None:
            yield from staged_forest_scores(self._joined, self._dataset(X))
            return
        table, output, classes = self._table(X), self._output(), self.classes_
        outputs = outputs_in_order(
            lambda member: output(member, table, classes), self.estimators_, self.n_jobs
        )
        sums = np.zeros((1, 1))
        for alpha, said in zip(self.estimator_weights_, outputs, strict=False):
            votes = alpha * self._votes(said).T
            sums = sums + (votes[1:] - votes[:1] if self.n_classes_ == 2 else votes)
            yield sums

    def _decision(self, sums: Floats, rounds: int) -> Floats:
        decision: Floats = sums / self.estimator_weights_[:rounds].sum()
        return decision[0] if self.n_classes_ == 2 else decision.T

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """`decision_function` after every round."""
        self._check_fitted()
        for number, sums in enumerate(self._staged_sums(X)):
            yield self._decision(sums, number + 1)

    def decision_function(self, X: Any) -> Floats:
        """The weighted votes over the sum of the weights.

        (rows, classes); for two classes (rows,), the second's votes minus the first's.
        """
        self._check_fitted()
        if self._joined is not None:
            sums = forest_scores(self._joined, self._dataset(X), self.n_jobs)
        else:
            (sums,) = deque(self._staged_sums(X), maxlen=1)
        return self._decision(sums, len(self.estimators_))

    def _labels(self, decision: Floats) -> NDArray[Any]:
        chosen = (decision > 0).astype(np.int64) if self.n_classes_ == 2 else decision.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the most votes; for two classes, the sign of the weighted vote."""
        return self._labels(self.decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """`predict` after every round."""
        return map(self._labels, self.staged_decision_function(X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities, (rows, classes): the softmax of decision/(K - 1), equation 15 of Zhu et al. (2009).

        They rank the rows as the votes do; as probabilities they are timid, since the votes are divided by their sum.
        """
        return vote_probabilities(self.decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """`predict_proba` after every round."""
        return map(vote_probabilities, self.staged_decision_function(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of `predict_proba`."""
        logarithms: Floats = np.log(self.predict_proba(X))
        return logarithms


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class AdaBoostRegressor(RegressorMixin, AdaBoost):  # type: ignore[misc]
    """AdaBoost for regression: Drucker's AdaBoost.R2.

    Every round fits a member to rows drawn by their weights, which fall the more, the smaller a row's error is beside the
    largest error. The prediction is the weighted median of the members. Boosting stops early when a member makes no error or
    when the average loss reaches 1/2; that member is dropped.

    Attributes
    ----------
    estimators_ : the fitted members
    estimator_weights_ : their weights in the median, learning_rate x ln((1 - e)/e); 0 after the last round that took place
    estimator_errors_ : their average losses; 1 after the last round that took place
    feature_importances_ : the members' importances, averaged by their weights

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> weald.AdaBoostRegressor(n_estimators=20).fit(X, y).score(X, y) > 0.5
    True
    """

    loss: Annotated[
        str,
        one_of("A row's loss, of its error's share of the largest error.", "linear", "square", "exponential"),
    ] = "linear"
    reweight: str = "resample"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaBoostRegressor:
        """Boost on a table; a row of weight 0 is as if it were not there."""
        self._check()
        self._forget()
        dataset = self._read(X)
        weight = read_weights(sample_weight, dataset.n_rows)
        target = writeable(read_regression_target(y, dataset.n_rows, owner=type(self).__name__))
        start = np.ones(dataset.n_rows) if weight is None else weight
        boosted = self._boost(
            lambda learner: boost_values(
                learner, target, start, self.n_estimators, self.learning_rate, self.loss
            ),
            X,
            target,
            CartLabels.regression(target),
            start,
            values_of,
        )
        self._remember(dataset.schema)
        self._set_boosted(boosted)
        return self

    def _default(self) -> Any:
        return DecisionTreeRegressor(max_depth=3)

    def _join(self) -> Forest | None:
        return self._joined_with(lambda number, tree: tree.value[tree.feature < 0][:, None], 1)

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.classical.lowering import lower_boosted_values  # when a model is exported

        return lower_boosted_values(self, builder, row)

    def _values(self, X: Any) -> Floats:
        """The members' predictions, (rows, members)."""
        self._check_fitted()
        if self._joined is not None:
            return values_of_trees(self._joined, self._dataset(X), self.n_jobs)
        table = self._table(X)
        outputs = outputs_in_order(lambda member: values_of(member, table), self.estimators_, self.n_jobs)
        return np.column_stack(list(outputs))

    def predict(self, X: Any) -> Floats:
        """The weighted median of the members' predictions."""
        values = self._values(X)
        return weighted_median(values, self.estimator_weights_[: values.shape[1]])

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """`predict` after every round."""
        values = self._values(X)
        for rounds in range(1, values.shape[1] + 1):
            yield weighted_median(values[:, :rounds], self.estimator_weights_[:rounds])
