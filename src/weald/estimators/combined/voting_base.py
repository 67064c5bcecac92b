"""What voting classifiers and regressors share: members that are fitted side by side, and their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import TransformerMixin, is_classifier, is_regressor
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import UNUSED, process_routing
from sklearn.utils.parallel import Parallel

from weald.data import Schema, read_weights
from weald.data.missing import Missing
from weald.estimators.combined.named_members import DROP, NamedMembers, checked_layers, shared_weight
from weald.estimators.combined.voting_files import parts_of, voting_from_parts
from weald.estimators.shared.composite import Composite, Members
from weald.params.declare import anything, validate
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.classical.members import indexable
from weald.training.combining.averaging import check_weights, normalised, simple_average, weighted_average
from weald.training.combining.layers import Fold, Member, cross_fit, fit_all
from weald.training.combining.simplex import fit_weights
from weald.training.combining.stacking import folds_of, splitter_of

Floats = NDArray[np.float64]
FIT = "fit"


@dataclass(kw_only=True, repr=False, eq=False)
class Voting(Composite, TransformerMixin, NamedMembers):  # type: ignore[misc]
    """What classifier and regressor share; use one of those."""

    _of_fit = ("estimators_",)

    weights: Annotated[
        Any,
        anything(
            "None, a number of at least 0 for every member, of which only the shares of their sum matter, or 'fit': learned by "
            "least squares on rows that the members were not fitted to; of a classifier, so that the shares of votes, or the "
            "mean probabilities, come near the true labels (their Brier score is smallest)."
        ),
    ] = None
    n_jobs: Annotated[int | None, anything("Fits at a time; None: one. Never changes the model.")] = None
    verbose: Annotated[int | bool, anything("joblib's messages: False, True, or a whole number.")] = False
    cv: Annotated[
        Any,
        anything(
            "Folds for weights='fit', and not used otherwise: a number (None: 5), a splitter, or a list of (train, test)."
        ),
    ] = None

    # The rows' weights go to the members; voting itself requests none.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sample_weight": UNUSED}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit the members and, with ``weights="fit"``, learn their weights.

        Parameters
        ----------
        X : table, of any kind that all members take
        y : labels, one a row
        sample_weight : weights, one a row; every member's ``fit`` must take them
        fit_params : further arguments of the members' ``fit``, where scikit-learn's metadata routing is on and members
            request them
        """
        validate(self)
        pairs = self._checked_members()
        self._check_choices()
        self._forget()
        table = indexable(X)
        target = self._read_target(y, _n_rows(table))
        self._check_target(table)
        params = self._routed(sample_weight, fit_params, pairs, len(target))
        members = [Member(name, one, self._method(), params[name]) for name, one in pairs]
        run = Parallel(n_jobs=self.n_jobs, verbose=int(self.verbose))
        learned = None
        if self._learns():
            folds = self._folds(table, target)
            layer, outputs = cross_fit(members, table, target, self._member_labels(), folds, True, run)
            asked = np.concatenate([test for _, test in folds])
            row_weight = read_weights(sample_weight, len(target))
            learned = fit_weights(
                np.stack([self._as_values(output) for output in outputs]),
                self._as_values(target[asked, None]),
                None if row_weight is None else row_weight[asked],
            )
        else:
            layer = fit_all(members, table, target, self._member_labels(), run)
        self._set_fitted([models[0] for models in layer.models], learned)
        return self

    # What the task decides.

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        """The labels as members get them; a classifier remembers its classes."""
        raise NotImplementedError

    def _check_target(self, table: Any) -> None:
        """Refuse parameters that do not fit the data; called when the labels are known."""

    def _method(self) -> str:
        """The method by which members are asked."""
        return "predict"

    def _member_labels(self) -> NDArray[np.int64] | None:
        """The labels as members know them: codes; None for numbers."""
        return None

    def _as_values(self, outputs: Any) -> Floats:
        """(rows, values): outputs, or the labels, as numbers whose squared distances are to be small."""
        return np.asarray(outputs, np.float64)

    # Fitting.

    def _checked_members(self) -> list[tuple[str, Any]]:
        own = self._get_param_names()
        (pairs,) = checked_layers(self.estimators, own, layered=False)
        kind, fits = ("classifier", is_classifier) if is_classifier(self) else ("regressor", is_regressor)
        for name, member in pairs:
            if not fits(member):
                raise InputError(f"member {name!r} must be a {kind}, not {member!r}.")
            if not hasattr(member, self._method()):
                raise InputError(
                    f"voting='soft' needs probabilities, but member {name!r} is a {type(member).__name__}, which has "
                    "no predict_proba; use voting='hard'."
                )
        return pairs

    def _check_choices(self) -> None:
        """Refuse parameters that cannot be together."""
        if not isinstance(self.verbose, int | np.integer) or self.verbose < 0:
            raise InputError(f"verbose must be True, False or a whole number from 0, not {self.verbose!r}.")
        if not self._learns():
            self._resolved([member != DROP for _, member in self.estimators], None)

    def _learns(self) -> bool:
        return isinstance(self.weights, str) and self.weights == FIT

    def _folds(self, table: Any, target: NDArray[Any]) -> list[Fold]:
        if isinstance(self.cv, str):
            raise InputError(
                f"cv must be a number of folds, a splitter or a list of (train, test), not {self.cv!r}."
            )
        if isinstance(table, Mapping):
            raise NotSupportedError(
                "weights='fit' cuts X into folds, which a dict of columns cannot be; pass a data frame."
            )
        return folds_of(splitter_of(self.cv, target, is_classifier(self), grouped=False), table, target, None)

    def _routed(
        self, sample_weight: Any, fit_params: Mapping[str, Any], members: Members, n_rows: int
    ) -> Mapping[str, Mapping[str, Any]]:
        """The arguments of each member's fit."""
        given = dict(fit_params) if sample_weight is None else {**fit_params, "sample_weight": sample_weight}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given)
            return {name: routed[name].fit for name, _ in members}
        shared = shared_weight(given, members, n_rows)
        return {name: shared for name, _ in members}

    def _set_fitted(self, members: list[Any], learned: Floats | None) -> None:
        # Every member's name, and whether it was fitted or dropped; and weights, if they were to be learned.
        self._kept: Sequence[tuple[str, bool]] = [(name, member != DROP) for name, member in self.estimators]
        self._learned = learned
        fitted = iter(members)
        self.named_estimators_ = Bunch(**{name: next(fitted) if kept else DROP for name, kept in self._kept})
        self._set_columns(members)
        self.estimators_: list[Any] = members

    # Using.

    @property
    def weights_(self) -> Floats:
        """The weights of the fitted members, not negative and of sum one."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"This {type(self).__name__} is not fitted yet and has no weights_.")
        return self._resolved([kept for _, kept in self._kept], self._learned)

    def _resolved(self, kept: Sequence[bool], learned: Floats | None) -> Floats:
        """What the parameter ``weights`` stands for."""
        if self._learns():
            if learned is None:
                raise InputError("weights='fit' was set after the fit; call fit again.")
            return learned
        if isinstance(self.weights, str):
            raise InputError(f"weights must be None, numbers or {FIT!r}, not {self.weights!r}.")
        if self.weights is None:
            return np.full(sum(kept), 1.0 / sum(kept))
        weights = check_weights(self.weights, len(kept))[np.asarray(kept)]
        if not weights.any():
            raise InputError(
                "weights are zero for all estimators that are not dropped; one must be positive."
            )
        return normalised(weights)

    def _average(self, outputs: Sequence[Any]) -> Floats:
        """The members' outputs, averaged."""
        stacked = np.stack([np.asarray(output, np.float64) for output in outputs])
        return simple_average(stacked) if self.weights is None else weighted_average(stacked, self.weights_)

    def _names_out(self, input_features: Any, suffixes: Sequence[str]) -> NDArray[np.object_]:
        self._check_fitted()
        self._input_names(input_features)
        owner = type(self).__name__.lower()
        names = [name for name, kept in self._kept if kept]
        return np.array([f"{owner}_{name}{suffix}" for name in names for suffix in suffixes], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _exchanged_schema(self) -> Schema:
        from weald.estimators.combined.lowering import schema_of_members  # when a model is exported

        return schema_of_members(self.estimators_)

    def _exchanged_missing(self) -> Missing:
        from weald.estimators.combined.lowering import missing_of_members  # when a model is exported

        return missing_of_members(self.estimators_)

    def _composite_parts(self) -> tuple[Members, dict[str, Any]]:
        self._check_fitted()
        return parts_of(self)

    @classmethod
    def _from_composite(
        cls, params: dict[str, Any], members: list[tuple[str, Any]], extra: dict[str, Any]
    ) -> Any:
        return voting_from_parts(cls, params, members, extra)


def _n_rows(table: Any) -> int:
    if isinstance(table, Mapping):
        return len(next(iter(table.values()), ()))
    if not table.shape or table.shape[0] == 0:
        raise InputError(f"X must be a table with at least one row, not {table!r}.")
    return int(table.shape[0])
