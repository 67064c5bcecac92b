"""Bagging with scikit-learn's interface, over Weald's trees or any other estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if

from weald.data import read_regression_target, read_several_classes, split_outputs
from weald.estimators.classical.bags import Bagging, members_have
from weald.estimators.classical.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from weald.estimators.classical.ensembles import WithClasses
from weald.estimators.classical.out_of_bag import check_unseen
from weald.estimators.shared.labels import writeable
from weald.forest.forest import Forest
from weald.params.declare import documented, one_of
from weald.runtime.errors import InputError
from weald.training.classical.bagging import MemberBags
from weald.training.classical.joined import leaf_probabilities, leaf_values
from weald.training.classical.members import NO_PARAMS, Params, codes_of, probabilities_of, values_of
from weald.tree.cart import CartLabels

if TYPE_CHECKING:
    from weald.exchange.model import Answer, Builder
    from weald.exchange.rows import Row

Floats = NDArray[np.float64]


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BaggingClassifier(ClassifierMixin, WithClasses, Bagging):  # type: ignore[misc]
    """Bagging for classification: members fitted to rows drawn at random, and their vote.

    Drawing as many rows as there are, with replacement, leaves 36.8 % of them out of a member's bag. The out-of-bag
    rows are an honest test of the member, for free.

    Attributes
    ----------
    estimators_ : the fitted members
    estimators_features_ : the columns of each member
    estimators_samples_ : the rows of each member
    oob_score_ : accuracy of the out-of-bag predictions, with ``oob_score=True``
    oob_decision_function_ : (rows, classes) out-of-bag probabilities; NaN for rows that no member was without
    classes_, n_classes_ : the classes, sorted, and their number

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = weald.BaggingClassifier(n_estimators=20, oob_score=True).fit(X, y)
    >>> model.oob_score_ > 0.92
    True
    """

    voting: Annotated[
        str,
        one_of(
            "'soft': the mean of the members' probabilities, or of members without them the share of votes. "
            "'hard': the share of votes.",
            "soft",
            "hard",
        ),
    ] = "soft"

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        # Whether a class without weight can be done without is for the members to say.
        codes, classes = read_several_classes(y, n_rows, None, owner=type(self).__name__)
        self._set_classes(classes)
        target: NDArray[Any] = self.classes_[codes]
        return target

    def _continued(self, earlier: Mapping[str, Any], bags: MemberBags, schema: Any) -> MemberBags:
        before, now = earlier["classes_"].tolist(), self.classes_.tolist()
        if before != now:
            raise InputError(f"warm_start needs the classes of the earlier fit, {before}, but y has {now}.")
        return super()._continued(earlier, bags, schema)

    def _votes(self, member: Any, table: Any, params: Params = NO_PARAMS) -> Floats:
        """A member's share in `predict_proba`, (rows, classes)."""
        if self.voting == "soft" and hasattr(member, "predict_proba"):
            return probabilities_of(member, table, self.classes_, params)
        votes: Floats = np.eye(self.n_classes_)[codes_of(member, table, self.classes_, params)]
        return votes

    def _callees(self) -> Mapping[str, str]:
        has_probabilities = self.voting == "soft" and hasattr(self._template(), "predict_proba")
        asked = "predict_proba" if has_probabilities else "predict"
        callers = dict.fromkeys(("predict", "predict_proba", "predict_log_proba"), asked)
        return {"fit": "fit", **callers, "decision_function": "decision_function"}

    def _default(self) -> Any:
        return DecisionTreeClassifier()

    def _cart_labels(self, target: NDArray[Any]) -> CartLabels:
        return CartLabels.classification(np.searchsorted(self.classes_, target), (self.n_classes_,))

    def _join(self) -> Forest | None:
        binary = self.n_classes_ == 2

        def leaves(tree: Forest) -> Floats:
            votes = leaf_probabilities(tree)
            if self.voting == "hard":
                votes = np.eye(self.n_classes_)[votes.argmax(axis=1)]
            return votes[:, 1:] if binary else votes

        return self._joined_with(leaves, 1 if binary else self.n_classes_)

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.classical.lowering import lower_bagged_classes  # when a model is exported

        return lower_bagged_classes(self, builder, row)

    def predict_proba(self, X: Any, **params: Any) -> Floats:
        """The mean of the members' probabilities or their shares of votes, (rows, classes).

        ``params`` are for the members, by scikit-learn's metadata routing.
        """
        return self._probabilities(X, self._routed("predict_proba", params))

    def _probabilities(self, X: Any, params: Params) -> Floats:
        self._check_fitted()
        if self._joined is None or params:
            return self._mean_output(X, lambda member, table: self._votes(member, table, params))
        means = self._joined_means(X)
        return np.column_stack([1.0 - means[0], means[0]]) if self.n_classes_ == 2 else means.T

    def predict_log_proba(self, X: Any, **params: Any) -> Floats:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self._probabilities(X, self._routed("predict_log_proba", params)))
        return logarithms

    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
        """The class with the largest mean probability or the most votes; of equals the first."""
        probabilities = self._probabilities(X, self._routed("predict", params))
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    @available_if(members_have("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, **params: Any) -> Floats:
        """The mean of the members' decision functions; for members that have one."""
        if any(len(member.classes_) != self.n_classes_ for member in self.estimators_):
            raise InputError(
                "a member's rows did not have all classes, so that decision functions cannot be averaged; "
                "use predict_proba."
            )
        routed = self._routed("decision_function", params)
        return self._mean_output(X, lambda member, table: member.decision_function(table, **routed))

    def _score_out_of_bag(self, table: Any, target: NDArray[Any], weight: Floats | None) -> None:
        sums = np.zeros((len(target), self.n_classes_))
        for rows, votes in self._unseen_outputs(table, self._votes):
            sums[rows] += votes
        totals = sums.sum(axis=1)
        missing = totals == 0.0
        check_unseen(missing, "member", weight)
        self.oob_decision_function_ = np.full(sums.shape, np.nan)
        self.oob_decision_function_[~missing] = sums[~missing] / totals[~missing, None]
        predicted = self.classes_[sums[~missing].argmax(axis=1)]
        weights = None if weight is None else weight[~missing]
        self.oob_score_ = float(accuracy_score(target[~missing], predicted, sample_weight=weights))


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BaggingRegressor(RegressorMixin, Bagging):  # type: ignore[misc]
    """Bagging for regression: members fitted to rows drawn at random, and their mean.

    Labels may have several columns where members can learn them; predictions then have as many.

    Attributes
    ----------
    estimators_ : the fitted members
    estimators_features_ : the columns of each member
    estimators_samples_ : the rows of each member
    oob_score_ : R² of the out-of-bag predictions, with ``oob_score=True``
    oob_prediction_ : (rows,) or (rows, outputs) out-of-bag predictions; NaN for rows that no member was without

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = weald.BaggingRegressor(n_estimators=30, oob_score=True).fit(X, y)
    >>> model.oob_score_ > 0.3
    True
    """

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        columns = [
            writeable(read_regression_target(column, n_rows, owner=type(self).__name__))
            for column in split_outputs(y)
        ]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def _default(self) -> Any:
        return DecisionTreeRegressor()

    def _cart_labels(self, target: NDArray[Any]) -> CartLabels:
        return CartLabels.regression(target)

    def _join(self) -> Forest | None:
        return self._joined_with(leaf_values, getattr(self.estimators_[0], "n_outputs_", 1))

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.classical.lowering import lower_bagged_values  # when a model is exported

        return lower_bagged_values(self, builder, row)

    def predict(self, X: Any, **params: Any) -> Floats:
        """The mean of the members' predictions, (rows,) or (rows, outputs).

        ``params`` are for the members' ``predict``, by scikit-learn's metadata routing.
        """
        routed = self._routed("predict", params)
        self._check_fitted()
        if self._joined is None or routed:
            return self._mean_output(X, lambda member, table: values_of(member, table, routed))
        means = self._joined_means(X)
        return means[0] if len(means) == 1 else np.ascontiguousarray(means.T)

    def _score_out_of_bag(self, table: Any, target: NDArray[Any], weight: Floats | None) -> None:
        sums, counts = np.zeros(target.shape), np.zeros(len(target))
        for rows, values in self._unseen_outputs(table, values_of):
            sums[rows] += values
            counts[rows] += 1
        missing = counts == 0
        check_unseen(missing, "member", weight)
        sums[missing] = np.nan
        self.oob_prediction_ = (sums.T / np.maximum(counts, 1)).T
        weights = None if weight is None else weight[~missing]
        self.oob_score_ = float(
            r2_score(target[~missing], self.oob_prediction_[~missing], sample_weight=weights)
        )

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self._template()).target_tags.multi_output
        return tags
