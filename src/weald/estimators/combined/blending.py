"""Blending with scikit-learn's interface: stacking with one hold-out part instead of folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from weald.data import read_weights, split_outputs
from weald.estimators.combined.final_estimator import FinalEstimator, Prepared, group_of_rows
from weald.estimators.combined.final_tasks import FinalClassifier, FinalRegressor
from weald.estimators.shared.labels import known_codes
from weald.params.declare import anything, documented, flag, number
from weald.runtime.errors import InputError
from weald.runtime.random import seed_of
from weald.training.classical.members import indexable, params_of_rows, refuse_mapping, take_rows
from weald.training.combining.layers import Floats, Layer, Stack, cross_fit, fit_all, join
from weald.training.combining.stacking import split_off


@dataclass(kw_only=True, repr=False, eq=False)
class Blending(FinalEstimator):
    """What classifier and regressor share; use one of those."""

    _layered = False

    holdout: Annotated[
        float,
        number(
            "Share of rows that the final estimator learns from, with the classes in their shares; the members are fitted to the "
            "others. fit also takes a hold-out of its own, holdout_set.",
            0,
            1,
            open_low=True,
        ),
    ] = 0.2
    refit: Annotated[bool, flag("Members are fitted again, to all rows, for the prediction of new rows.")] = (
        False
    )
    random_state: Annotated[
        Any, anything("Seed of the rows that are held out; None is 0, so that two fits agree.")
    ] = None

    def fit(self, X: Any, y: Any, holdout_set: Any = None, groups: Any = None, **fit_params: Any) -> Any:
        """Fit members and final estimator.

        Parameters
        ----------
        X : table, whatever the members take
        y : labels, one a row
        holdout_set : (X, y) or (X, y, sample_weight)
            Rows for the final estimator alone; ``holdout`` is then not used, and all rows of X are for the members.
        groups : labels, one a row of X; whole groups are held out
        fit_params : ``sample_weight``, one a row of X
            Weights go to every member and to the final estimator, which must all take them. Where scikit-learn's metadata
            routing is on, they and other arguments go to those who ask for them.
        """
        prepared = self._prepare(X, y, fit_params)
        if holdout_set is None:
            return self._fit_share(
                prepared, None if groups is None else group_of_rows(groups, len(prepared.y))
            )
        if groups is not None:
            raise InputError("groups say which rows are held out, but holdout_set gives the hold-out.")
        if self.refit:
            raise InputError(
                "refit=True needs all rows in one table; join holdout_set to X, or leave refit at False."
            )
        return self._fit_set(prepared, holdout_set)

    def _fit_share(self, prepared: Prepared, groups: NDArray[Any] | None) -> Any:
        X, y, n_rows = prepared.X, prepared.y, len(prepared.y)
        if self.holdout >= 1:
            raise InputError("holdout must be below 1: the members need rows too.")
        fold = split_off(y, self.holdout, is_classifier(self), groups, seed_of(self.random_state))
        held_out = fold[1]
        self._check_classes(y[held_out])
        layer, outputs = cross_fit(
            prepared.layers[0], X, y, self._member_labels(), [fold], self.refit, self._run()
        )
        params = params_of_rows(prepared.final_params, held_out, n_rows)
        self._finish(prepared, layer, outputs, take_rows(X, held_out), y[held_out], params)
        self.holdout_rows_ = held_out
        return self

    def _fit_set(self, prepared: Prepared, holdout_set: Any) -> Any:
        if not isinstance(holdout_set, tuple | list) or len(holdout_set) not in (2, 3):
            raise InputError("holdout_set must be a pair (X, y) or a triple (X, y, sample_weight).")
        table = indexable(holdout_set[0])
        refuse_mapping(table)
        target = self._held_out_target(holdout_set[1], table.shape[0])
        self._check_classes(target)
        params = {name: value for name, value in prepared.final_params.items() if name != "sample_weight"}
        weight = read_weights(holdout_set[2] if len(holdout_set) == 3 else None, len(target))
        if weight is not None:
            params["sample_weight"] = weight
        layer = fit_all(prepared.layers[0], prepared.X, prepared.y, self._member_labels(), self._run())
        return self._finish(prepared, layer, layer.outputs(table), table, target, params)

    def _held_out_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        """The labels of a hold-out set as numbers, by the classes of the training set."""
        raise NotImplementedError

    def _check_classes(self, target: NDArray[Any]) -> None:
        """The final estimator must see every class."""

    def _finish(
        self,
        prepared: Prepared,
        layer: Layer,
        outputs: list[Floats],
        table: Any,
        target: NDArray[Any],
        params: dict[str, Any],
    ) -> Any:
        """Fit the final estimator to what the members say of the hold-out."""
        weight = params.get("sample_weight")
        if weight is not None and not np.asarray(weight).any():
            raise InputError("sample_weight is zero in all rows that are held out; hold more rows out.")
        self._check_weight(target, weight)
        top = join(outputs, table if self.passthrough else None)
        self._fit_final(prepared.final, top, target, params)
        self._set_fitted(
            Stack([layer], self.passthrough), [output.shape[1] for output in outputs], prepared.final
        )
        self.holdout_predictions_ = np.hstack(outputs)
        return self


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BlendingClassifier(FinalClassifier, Blending):
    """Blending for classification: members' predictions of a hold-out train a final classifier.

    Quicker than stacking, as every member is fitted once, but members and final estimator learn from fewer rows each.
    Members of Weald's share one binned table.

    Attributes
    ----------
    classes_ : the classes, sorted
    estimators_, named_estimators_ : the fitted members, without dropped ones, and the same by name
    final_estimator_ : the fitted final estimator
    stack_method_ : what each member is asked for
    holdout_rows_ : the rows of X that were held out; not with a ``holdout_set``
    holdout_predictions_ : (rows held out, columns) outputs, from which the final estimator learned

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("trees", weald.BoostedTreesClassifier(n_estimators=5)), ("bayes", GaussianNB())]
    >>> model = weald.BlendingClassifier(members, holdout=0.3).fit(X, y)
    >>> model.holdout_predictions_.shape, model.score(X, y) > 0.9
    ((45, 6), True)
    """

    def _held_out_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        columns, known = split_outputs(y), self._known_classes()
        if len(columns) != len(known):
            raise InputError(f"holdout_set has {len(columns)} columns of labels, but y has {len(known)}.")
        codes = [
            known_codes(column, n_rows, classes, type(self).__name__, "holdout_set has").astype(np.int64)
            for column, classes in zip(columns, known, strict=True)
        ]
        return codes[0] if len(codes) == 1 else np.column_stack(codes)

    def _check_classes(self, target: NDArray[Any]) -> None:
        columns = target.reshape(len(target), -1).T
        for classes, column in zip(self._known_classes(), columns, strict=True):
            missing = np.setdiff1d(np.arange(len(classes)), column)
            if len(missing):
                raise InputError(
                    f"no row of the class {classes[missing[0]]!r} is held out, but the final estimator must see every "
                    "class; hold more rows out."
                )

    def _known_classes(self) -> list[NDArray[Any]]:
        """The classes of every label."""
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_]


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BlendingRegressor(FinalRegressor, Blending):
    """Blending for regression: members' predictions of a hold-out train a final regressor.

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("trees", weald.BoostedTreesRegressor(n_estimators=5)), ("ridge", Ridge())]
    >>> model = weald.BlendingRegressor(members).fit(X[:300], y[:300], holdout_set=(X[300:], y[300:]))
    >>> model.holdout_predictions_.shape
    (142, 2)
    """

    def _held_out_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        return self._read_target(y, n_rows)
