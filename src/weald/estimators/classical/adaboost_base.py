"""What the AdaBoost of classifiers and of regressors share: the weak learner, the members and their weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from weald.binning import bin_once
from weald.estimators.classical.ensembles import Ensemble, checked_numbers
from weald.estimators.classical.tree_members import TreeTraining, is_own_tree, joined_members
from weald.estimators.shared.composite import Members
from weald.forest.forest import Forest
from weald.params.declare import anything, number, one_of, validate, whole
from weald.runtime.errors import ModelFileError, NotSupportedError
from weald.runtime.random import seed_of
from weald.runtime.threads import hire
from weald.training.classical.adaboost import Boosted, WeakLearner
from weald.training.classical.learners import EstimatorLearner
from weald.training.classical.members import check_member, indexable, takes_sample_weight
from weald.tree.cart import CartLabels

Floats = NDArray[np.float64]


@dataclass(kw_only=True, repr=False, eq=False)
class AdaBoost(Ensemble):
    """What classifier and regressor share; use one of those."""

    estimator: Annotated[
        Any,
        anything(
            "What is boosted; None: a decision stump, a tree with one split, and for regression a tree of depth 3. "
            "Weald's own trees are grown on bins that are computed once."
        ),
    ] = field(default=None, kw_only=False)
    n_estimators: Annotated[int, whole("Rounds of boosting at most.", 1, 10_000_000)] = 50
    learning_rate: Annotated[
        float,
        number(
            "Factor of every member's weight; for regression also the exponent of the change of the rows' weights.",
            0,
            open_low=True,
        ),
    ] = 1.0
    reweight: Annotated[
        str,
        one_of(
            "Members are fitted to weighted rows, or to as many rows drawn by their weights, as Drucker does. A member "
            "whose fit takes no sample_weight needs 'resample'.",
            "weights",
            "resample",
        ),
    ] = "weights"
    n_jobs: Annotated[
        int | None,
        anything(
            "Threads of Weald's trees (None: all cores), or for the predictions of other members. Never changes the model."
        ),
    ] = None
    random_state: Annotated[
        Any, anything("Seed of the draws and of the members; None is 0, so that two fits agree.")
    ] = None

    def _check(self) -> None:
        validate(self)
        template = self._template()
        check_member(template)
        if self.reweight == "weights" and not takes_sample_weight(template):
            raise NotSupportedError(
                f"estimator is a {type(template).__name__}, whose fit does not take sample_weight; "
                "use reweight='resample', which draws rows by their weights."
            )

    def _boost(
        self,
        loop: Callable[[WeakLearner], Boosted],
        X: Any,
        target: NDArray[Any],
        labels: CartLabels,
        weight: Floats,
        output: Callable[[Any, Any], NDArray[Any]],
    ) -> Boosted:
        """Run the loop over the weak learner that the template makes."""
        template, seed, draws = self._template(), seed_of(self.random_state), self.reweight == "resample"
        total = float(weight.sum())
        if not is_own_tree(template):
            binned = bin_once(X, [template], weight=weight, seed=seed, n_jobs=self.n_jobs)
            learner = EstimatorLearner(template, indexable(X), binned, target, output, seed, draws, total)
            return loop(learner)
        classes = np.unique(target) if labels.n_classes else None
        training = TreeTraining(template, X, labels, classes, weight, seed, self.n_jobs)
        real = getattr(self, "algorithm", None) == "SAMME.R"
        tasks = hire(self.n_jobs)
        boosted = loop(training.learner(real, draws, total, tasks))
        return Boosted(training.estimators(boosted.members), boosted.weights, boosted.errors)

    def _set_boosted(self, boosted: Boosted) -> None:
        """Members, and their weights and errors for all rounds asked for: 0 and 1 for those that did not take place."""
        self.estimator_ = self._template()
        self.estimators_ = boosted.members
        rounds = len(boosted.members)
        self.estimator_weights_ = np.zeros(self.n_estimators)
        self.estimator_weights_[:rounds] = boosted.weights
        self.estimator_errors_ = np.ones(self.n_estimators)
        self.estimator_errors_[:rounds] = boosted.errors
        self._joined = self._join()

    def _joined_with(self, leaves: Callable[[int, Forest], Floats], n_outputs: int) -> Forest | None:
        columns = [np.arange(self.n_features_in_)] * len(self.estimators_)
        return joined_members(self.estimators_, columns, leaves, self.n_features_in_, n_outputs)

    def _composite_parts(self) -> tuple[Members, dict[str, Any]]:
        members, extra = super()._composite_parts()
        return members, {**extra, "weights": self.estimator_weights_, "errors": self.estimator_errors_}

    @classmethod
    def _from_composite(
        cls, params: dict[str, Any], members: list[tuple[str, Any]], extra: dict[str, Any]
    ) -> Any:
        model = super()._from_composite(params, members, extra)
        model.estimator_weights_ = checked_numbers(extra, "weights", model.n_estimators)
        model.estimator_errors_ = checked_numbers(extra, "errors", model.n_estimators)
        for _, member in members:
            if member.n_features_in_ != model.n_features_in_:
                raise ModelFileError(
                    f"A member has {member.n_features_in_} columns, the model {model.n_features_in_}."
                )
        return model

    @property
    def feature_importances_(self) -> Floats:
        """The members' importances, averaged by the members' weights; where members have them."""
        self._check_fitted()
        try:
            importances = np.array([member.feature_importances_ for member in self.estimators_])
        except AttributeError:
            raise AttributeError(
                f"{type(self.estimator_).__name__} has no feature_importances_, so its boosting has none either."
            ) from None
        weights = self.estimator_weights_[: len(self.estimators_)]
        shares: Floats = (weights[:, None] * importances).sum(axis=0) / weights.sum()
        return shares

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The score after every round, as ``score`` gives it after the last."""
        from sklearn.metrics import accuracy_score, r2_score

        metric = accuracy_score if isinstance(self, ClassifierMixin) else r2_score
        for predicted in self.staged_predict(X):
            yield float(metric(y, predicted, sample_weight=sample_weight))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The prediction after every round."""
        raise NotImplementedError
