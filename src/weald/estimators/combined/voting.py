"""Averaging and voting over named members, with scikit-learn's interface; the rules are in `weald.training.combining`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.metaestimators import available_if

from weald.data import read_classes, read_regression_target, read_table
from weald.data.targets import check_number_of_classes
from weald.estimators.combined.voting_base import Floats, Voting
from weald.params.declare import anything, documented, flag, one_of
from weald.runtime.errors import InputError
from weald.runtime.random import seed_of
from weald.training.classical.members import codes_of, indexable, probabilities_of
from weald.training.combining.ties import row_keys
from weald.training.combining.voting import majority, plurality, refused_as, vote_shares

if TYPE_CHECKING:
    from weald.exchange.model import Answer, Builder
    from weald.exchange.rows import Row


def _is_soft(self: VotingClassifier) -> bool:
    if self.voting != "soft":
        raise AttributeError(f"predict_proba is there for voting='soft', but voting is {self.voting!r}.")
    return True


def _is_majority(self: VotingClassifier) -> bool:
    if self.voting != "majority":
        raise AttributeError(f"refused is there for voting='majority', but voting is {self.voting!r}.")
    return True


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class VotingClassifier(ClassifierMixin, Voting):  # type: ignore[misc]
    """Several classifiers that vote.

    Attributes
    ----------
    classes_ : the labels, sorted
    estimators_, named_estimators_ : the fitted members; they know the labels by their positions in ``classes_``
    weights_ : the members' weights, of sum one
    le_ : the encoder of labels to positions

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("line", LogisticRegression(max_iter=1000)), ("bayes", GaussianNB()), ("near", KNeighborsClassifier())]
    >>> weald.VotingClassifier(members, voting="soft", weights=[2, 1, 1]).fit(X, y).score(X, y) > 0.95
    True
    >>> careful = weald.VotingClassifier(members, voting="majority", refusal_label=-1).fit(X, y)
    >>> int(careful.refused(X).sum())
    0
    """

    voting: Annotated[
        str,
        one_of(
            "'hard': every member has a vote, and the label with most of them wins. 'soft': the label with the largest mean "
            "probability wins. 'majority': a label wins with more than half of the votes; if none has them, the row is "
            "refused and gets the refusal_label.",
            "hard",
            "soft",
            "majority",
        ),
    ] = "hard"
    flatten_transform: Annotated[
        bool,
        flag(
            "transform of soft voting gives (rows, members · classes), or with False (members, rows, classes)."
        ),
    ] = True
    ties: Annotated[
        str,
        one_of(
            "Which of several labels with the same, largest share wins: the first in the order of classes_, or one by lot. "
            "The lot is a hash of random_state and of the row's values, so a row has one answer, whatever rows are beside it.",
            "first",
            "random",
        ),
    ] = "first"
    refusal_label: Annotated[
        Any,
        anything(
            "The label of refused rows, of the labels' kind and none of them; voting='majority' needs it."
        ),
    ] = None
    random_state: Annotated[
        Any, anything("Seed of the lots; None is 0, so that two fits agree. Members have their own.")
    ] = None

    def _check_choices(self) -> None:
        super()._check_choices()
        if self.voting == "majority" and self.refusal_label is None:
            raise InputError("voting='majority' needs a refusal_label, the label of rows without a majority.")
        if self.voting != "majority" and self.refusal_label is not None:
            raise InputError(
                f"refusal_label={self.refusal_label!r} is for voting='majority', but voting is {self.voting!r}."
            )

    def _read_target(self, y: Any, n_rows: int) -> NDArray[np.int64]:
        codes, classes = read_classes(y, n_rows, owner=type(self).__name__)
        check_number_of_classes(len(classes), n_rows)
        self.classes_: NDArray[Any] = classes
        self.le_ = LabelEncoder()
        self.le_.classes_ = self.classes_
        return codes

    def _check_target(self, table: Any) -> None:
        self._seed: int = seed_of(self.random_state)
        if self.ties == "random":
            # Rows that cannot be hashed are refused before the fit.
            read_table(table, owner=type(self).__name__)
        self._check_refusal()

    def _check_refusal(self) -> None:
        if self.voting == "majority":
            refused_as(self.refusal_label, self.classes_)

    def _method(self) -> str:
        return "predict_proba" if self.voting == "soft" else "predict"

    def _member_labels(self) -> NDArray[np.int64]:
        return np.arange(len(self.classes_))

    def _as_values(self, outputs: Any) -> Floats:
        # Of two classes, members give the probability of the second.
        if outputs.shape[1] > 1 or (self.voting == "soft" and len(self.classes_) == 2):
            return np.asarray(outputs, np.float64)
        return np.asarray(outputs == self._member_labels(), np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of every row that wins the vote; of refused rows the ``refusal_label``."""
        shares = self.predict_proba(X) if self.voting == "soft" else self._vote_shares(X)
        if self.voting == "majority":
            codes, refused = majority(shares)
            return np.where(refused, refused_as(self.refusal_label, self.classes_), self.classes_[codes])
        keys = None
        if self.ties == "random" and ((shares == shares.max(axis=1, keepdims=True)).sum(axis=1) > 1).any():
            keys = row_keys(indexable(X), self._seed, type(self).__name__)
        predicted: NDArray[Any] = self.classes_[plurality(shares, keys)]
        return predicted

    @available_if(_is_soft)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The members' probabilities, averaged: (rows, classes)."""
        return self._average(self._probabilities(X))

    @available_if(_is_majority)  # type: ignore[untyped-decorator]
    def refused(self, X: Any) -> NDArray[np.bool_]:
        """The rows that are refused, since no label has more than half of the votes: a mask."""
        return majority(self._vote_shares(X))[1]

    def transform(self, X: Any) -> Any:
        """What the members say: their labels as codes (rows, members), or probabilities (see ``flatten_transform``)."""
        if self.voting != "soft":
            return self._votes(X).T
        probabilities = self._probabilities(X)
        return np.hstack(probabilities) if self.flatten_transform else np.stack(probabilities)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of `transform`'s columns: the class, the member and, of probabilities, the label's position."""
        self._check_fitted()
        if self.voting != "soft":
            return self._names_out(input_features, [""])
        if not self.flatten_transform:
            raise InputError(
                "get_feature_names_out needs flatten_transform=True: with False, transform gives three dimensions."
            )
        return self._names_out(input_features, [str(code) for code in range(len(self.classes_))])

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.combined.lowering import lower_voted_classes  # when a model is exported

        return lower_voted_classes(self, builder, row)

    def _vote_shares(self, X: Any) -> Floats:
        return vote_shares(self._votes(X), self.weights_, len(self.classes_))

    def _votes(self, X: Any) -> NDArray[np.int64]:
        """(members, rows)"""
        self._check_fitted()
        table = indexable(X)
        return np.stack([codes_of(member, table, self._member_labels()) for member in self.estimators_])

    def _probabilities(self, X: Any) -> list[Floats]:
        self._check_fitted()
        table = indexable(X)
        return [probabilities_of(member, table, self._member_labels()) for member in self.estimators_]


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class VotingRegressor(RegressorMixin, Voting):  # type: ignore[misc]
    """The average of several regressors.

    Attributes
    ----------
    estimators_, named_estimators_ : the fitted members
    weights_ : the members' weights, of sum one

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("line", Ridge(0.1)), ("near", KNeighborsRegressor(20)), ("nearest", KNeighborsRegressor(1))]
    >>> model = weald.VotingRegressor(members, weights="fit").fit(X, y)
    >>> model.weights_.round(2)
    array([0.71, 0.16, 0.13])
    """

    def _read_target(self, y: Any, n_rows: int) -> Floats:
        return read_regression_target(y, n_rows, owner=type(self).__name__)

    def predict(self, X: Any) -> Floats:
        """The members' predictions, averaged."""
        return self._average(self._predictions(X))

    def transform(self, X: Any) -> Floats:
        """The members' predictions: (rows, members)."""
        return np.column_stack(self._predictions(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of `transform`'s columns: the class and the member."""
        return self._names_out(input_features, [""])

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.combined.lowering import lower_voted_values  # when a model is exported

        return lower_voted_values(self, builder, row)

    def _predictions(self, X: Any) -> list[Any]:
        self._check_fitted()
        table = indexable(X)
        return [member.predict(table) for member in self.estimators_]
