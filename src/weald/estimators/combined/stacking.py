"""Stacking with scikit-learn's interface, over any estimators, in one layer or several."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from weald.estimators.combined.final_estimator import FinalEstimator, Prepared, group_of_rows
from weald.estimators.combined.final_tasks import FinalClassifier, FinalRegressor
from weald.estimators.combined.named_members import is_layered
from weald.params.declare import anything, documented, flag
from weald.runtime.errors import InputError
from weald.training.combining.layers import fit_all, layer_of
from weald.training.combining.stacking import (
    OVERFITS,
    PREFIT,
    Stacked,
    folds_of,
    splitter_of,
    stack_folds,
    stack_outputs,
)


@dataclass(kw_only=True, repr=False, eq=False)
class Stacking(FinalEstimator):
    """What classifier and regressor share; use one of those."""

    _layered = True

    estimators: Annotated[
        Any,
        anything(
            "The members: a list of (name, estimator), or a list of such lists, which are layers: the first is fitted to the "
            "table, each other one to the out-of-fold outputs of the one before. 'drop' in place of an estimator leaves it out. "
            "Members of Weald's share one binned table in all folds."
        ),
    ] = field(kw_only=False)
    cv: Annotated[
        Any,
        anything(
            "The folds: a number (None: 5), a splitter, or a list of (train, test). A number is stratified folds of classes, "
            "else rows in their order; with groups, every group is in one fold. 'prefit': the members are fitted already and "
            "stay as they are; X should be rows that they have not seen. 'in_sample_overfits': the final estimator learns from "
            "predictions of the rows that the members were fitted to, and trusts those that remember best."
        ),
    ] = None
    refit: Annotated[
        bool,
        flag(
            "True: members are fitted again, to all rows, for the prediction of new rows. False: the folds' models are kept, and "
            "the mean of what they say is used (of labels the most frequent); it saves a fit of every member."
        ),
    ] = True

    def fit(self, X: Any, y: Any, groups: Any = None, **fit_params: Any) -> Any:
        """Fit members and final estimator.

        Parameters
        ----------
        X : table, whatever the members take
        y : labels, one a row
        groups : labels, one a row, for the splitter; with a number in ``cv``, every group is in one fold
        fit_params : ``sample_weight``, one a row
            Weights go to every member and to the final estimator, which must all take them. Where scikit-learn's metadata
            routing is on, they and other arguments go to those who ask for them.
        """
        named = self.cv if isinstance(self.cv, str) else None
        if named in (PREFIT, OVERFITS) and self.refit is False:
            raise InputError(f"refit=False keeps the folds' models, but cv={named!r} has no folds.")
        if named in (PREFIT, OVERFITS) and groups is not None:
            raise InputError(f"groups are for folds, but cv={named!r} has none.")
        prepared = self._prepare(X, y, fit_params, fits_members=named != PREFIT)
        stacked = self._stacked(prepared, None if groups is None else group_of_rows(groups, len(prepared.y)))
        self._fit_final(prepared.final, stacked.top, prepared.y, prepared.final_params)
        self._set_fitted(stacked.stack, stacked.widths, prepared.final)
        if stacked.out_of_fold is not None:
            several = is_layered(self.estimators)
            self.oof_predictions_ = list(stacked.out_of_fold) if several else stacked.out_of_fold[0]
        return self

    def _stacked(self, prepared: Prepared, groups: NDArray[Any] | None) -> Stacked:
        """The fitted layers, by what ``cv`` says."""
        X, y, layers = prepared.X, prepared.y, prepared.layers
        labels = self._member_labels()
        if isinstance(self.cv, str) and self.cv == PREFIT:
            for member in (member for layer in layers for member in layer):
                check_is_fitted(member.estimator)
            known = None if labels is None else self.classes_
            return stack_outputs(
                layers,
                X,
                self.passthrough,
                lambda members, _: layer_of(members, [[member.estimator] for member in members], known),
            )
        run = self._run()
        if isinstance(self.cv, str) and self.cv == OVERFITS:
            return stack_outputs(
                layers,
                X,
                self.passthrough,
                lambda members, inputs: fit_all(members, inputs, y, labels, run),
            )
        splitter = splitter_of(self.cv, y, is_classifier(self), groups is not None)
        folds = folds_of(splitter, X, y, groups)
        return stack_folds(layers, X, y, labels, folds, self.passthrough, self.refit, run)


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class StackingClassifier(FinalClassifier, Stacking):
    """Stacking for classification: members' out-of-fold predictions train a final classifier.

    Attributes
    ----------
    classes_ : the classes, sorted; where y has several columns, labels that a row has or has not, a list of them
    estimators_ : the fitted members, in lists as ``estimators`` has them, without dropped ones; with ``refit=False`` each
        is a list of the folds' models
    named_estimators_ : the same by name
    final_estimator_ : the fitted final estimator
    stack_method_ : what each member is asked for
    oof_predictions_ : (rows, columns) out-of-fold outputs, from which the final estimator learned; of layers, a list

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("trees", weald.BoostedTreesClassifier(n_estimators=5)), ("bayes", GaussianNB())]
    >>> model = weald.StackingClassifier(members, cv=3).fit(X, y)
    >>> model.oof_predictions_.shape, model.score(X, y) > 0.9
    ((150, 6), True)
    """


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class StackingRegressor(FinalRegressor, Stacking):
    """Stacking for regression: members' out-of-fold predictions train a final regressor.

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("trees", weald.BoostedTreesRegressor(n_estimators=5)), ("ridge", Ridge())]
    >>> model = weald.StackingRegressor(members, cv=3).fit(X, y)
    >>> model.oof_predictions_.shape, model.get_feature_names_out().tolist()
    ((442, 2), ['stackingregressor_trees', 'stackingregressor_ridge'])
    """
