"""What stacking and blending share: members below, a final estimator on top that learns from what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import TransformerMixin, clone
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    MetadataRequest,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel

from weald.data import Schema
from weald.data.missing import Missing
from weald.estimators.combined.final_files import stack_from_parts, stack_parts
from weald.estimators.combined.named_members import (
    NamedMembers,
    checked_layers,
    flat,
    is_layered,
    shared_weight,
)
from weald.estimators.shared.composite import Composite, Members
from weald.params.declare import anything, flag, validate, whole
from weald.runtime.errors import InputError
from weald.training.classical.members import NO_PARAMS, Params, indexable, refuse_mapping
from weald.training.combining.layers import Member, Stack

if TYPE_CHECKING:
    from weald.exchange.model import Answer, Builder
    from weald.exchange.rows import Row


@dataclass(frozen=True)
class Prepared:
    """The arguments of ``fit``, checked: a table that can be cut, labels as numbers, members, who gets what."""

    X: Any
    y: NDArray[Any]
    layers: list[list[Member]]
    final: Any
    final_params: Params


def final_has(method: str) -> Any:
    def check(self: FinalEstimator) -> bool:
        getattr(self._known_final(), method)
        return True  # otherwise the final estimator's own AttributeError is the reason that is told

    return check


@dataclass(kw_only=True, repr=False, eq=False)
class FinalEstimator(Composite, TransformerMixin, NamedMembers):  # type: ignore[misc]
    """A meta-estimator whose final estimator is fitted to its members' outputs; use stacking or blending."""

    _layered: ClassVar[bool]
    _of_fit = ("final_estimator_", "_stack", "_widths")

    final_estimator: Annotated[
        Any,
        anything(
            "Learns from the members' outputs; None: scikit-learn's logistic regression, or RidgeCV for regression."
        ),
    ] = field(default=None, kw_only=False)
    n_jobs: Annotated[int | None, anything("Fits at a time; None: one. Never changes the model.")] = None
    passthrough: Annotated[
        bool, flag("The table itself goes to later layers and the final estimator too.")
    ] = False
    verbose: Annotated[int, whole("0: silent, more: joblib's messages.", 0)] = 0

    # What the task decides.

    def _default_final(self) -> Any:
        raise NotImplementedError

    def _check_final(self, final: Any) -> None:
        raise NotImplementedError

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        """The labels as numbers; a classifier remembers its classes."""
        raise NotImplementedError

    def _check_weight(self, target: NDArray[Any], weight: Any) -> None:
        """Refuse weights with which there is nothing to learn."""

    def _method(self, name: str, member: Any) -> str:
        """The method by which a member is asked."""
        raise NotImplementedError

    def _member_labels(self) -> NDArray[Any] | None:
        """The labels as members know them: codes; None for numbers, and for several labels a row."""
        return None

    # Fitting.

    def _prepare(self, X: Any, y: Any, fit_params: dict[str, Any], fits_members: bool = True) -> Prepared:
        """Check everything that can be checked before the first member is fitted."""
        validate(self)
        reserved = {*self._get_param_names(), "final_estimator_"}
        layers = checked_layers(self.estimators, reserved, self._layered)
        final = self._final_template()
        self._check_final(final)
        self._forget()
        table = indexable(X)
        refuse_mapping(table)
        if len(table.shape) == 0 or table.shape[0] == 0:
            raise InputError(f"X must be a table with at least one row, not {X!r}.")
        target = self._read_target(y, table.shape[0])
        pairs = [pair for layer in layers for pair in layer] if fits_members else []
        by_name, final_params = self._routed(fit_params, pairs, final, len(target))
        self._check_weight(target, final_params.get("sample_weight"))
        members = [
            [Member(name, one, self._method(name, one), by_name.get(name, {})) for name, one in layer]
            for layer in layers
        ]
        return Prepared(table, target, members, clone(final), final_params)

    def _final_template(self) -> Any:
        return self._default_final() if self.final_estimator is None else self.final_estimator

    def _known_final(self) -> Any:
        """The final estimator: fitted, if it is."""
        fitted = self.__dict__.get("final_estimator_")
        return self._final_template() if fitted is None else fitted

    def _run(self) -> Parallel:
        return Parallel(n_jobs=self.n_jobs, verbose=self.verbose)

    def _routed(
        self, fit_params: dict[str, Any], members: Sequence[tuple[str, Any]], final: Any, n_rows: int
    ) -> tuple[Mapping[str, Params], Params]:
        """Arguments of each member's fit, and of the final estimator's."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **fit_params)
            by_name = {name: routed[name].fit for name, _ in members}
            return by_name, routed["final_estimator_"].fit
        shared = shared_weight(fit_params, [*members, ("final_estimator", final)], n_rows)
        return {name: shared for name, _ in members}, shared

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit`` takes itself, and what it passes on to the members and the final estimator.

        The final estimator's ``fit`` gets what is given to this one, unless it requests otherwise.
        """
        router = super().get_metadata_routing().add_self_request(self)
        final = get_routing_for_object(self._known_final())
        if isinstance(final, MetadataRequest):
            for name, request in dict(final.fit.requests).items():
                final.fit.add_request(param=name, alias=True if request is None else request)
        both = MethodMapping().add(caller="fit", callee="fit").add(caller="predict", callee="predict")
        router.add(final_estimator_=final, method_mapping=both)
        return router

    def _fit_final(self, final: Any, top: Any, y: NDArray[Any], params: Params) -> None:
        """Fit the final estimator to what is below it."""
        if self.final_estimator is None and not _is_finite(top):
            wanted = "the default final estimator takes finite numbers only"
            below = "X as passthrough gives it" if self.passthrough else "what members say"
            raise InputError(
                f"{wanted}, but {below} is text, missing or infinite in some rows; set final_estimator, for example to "
                f"weald.BoostedTrees{'Classifier' if hasattr(self, 'classes_') else 'Regressor'}()."
            )
        try:
            final.fit(top, y, **params)
        except np.linalg.LinAlgError:
            if self.final_estimator is not None:
                raise
            raise self._too_wide() from None
        if self.final_estimator is None and not np.isfinite(final.coef_).all():
            raise self._too_wide()

    def _too_wide(self) -> InputError:
        """The error of a linear model that cannot be solved for."""
        below = ", or X as passthrough gives it," if self.passthrough else ""
        return InputError(
            f"the default final estimator cannot be fitted: what members say{below} is too large, or too different in size, "
            f"for a linear model; set final_estimator, for example to weald.BoostedTrees"
            f"{'Classifier' if hasattr(self, 'classes_') else 'Regressor'}()."
        )

    def _set_fitted(self, stack: Stack, widths: Sequence[int], final: Any) -> None:
        self._stack, self._widths = stack, widths  # the latter: columns of each member of the last layer
        self._set_columns([model for models in stack.layers[0].models for model in models])
        models = [[_one_or_all(models) for models in layer.models] for layer in stack.layers]
        methods = [list(layer.methods) for layer in stack.layers]
        several = is_layered(self.estimators)
        self.estimators_ = models if several else models[0]
        self.stack_method_ = methods if several else methods[0]
        self.named_estimators_ = Bunch(**dict(flat(self.estimators)))
        for layer, fitted in zip(stack.layers, models, strict=True):
            self.named_estimators_.update(zip(layer.names, fitted, strict=True))
        self.final_estimator_: Any = final

    # Using.

    def _top(self, X: Any) -> Any:
        self._check_fitted()
        return self._stack.top(indexable(X))

    def transform(self, X: Any) -> Any:
        """What the members say of every row: the final estimator's input, (rows, columns).

        For rows that the members were fitted to it is better than for new ones: what the final estimator learned from is
        kept apart, out of fold.
        """
        return self._top(X)

    @available_if(final_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any, **predict_params: Any) -> NDArray[Any]:
        """The final estimator's prediction of every row; further arguments go to its ``predict``."""
        if get_config()["enable_metadata_routing"]:
            predict_params = process_routing(self, "predict", **predict_params)["final_estimator_"].predict
        answer: NDArray[Any] = self._answer(self._final("predict", X, predict_params))
        return answer

    def _final(self, method: str, X: Any, params: Params = NO_PARAMS) -> Any:
        """What a method of the final estimator says of a table, which may have no rows."""
        top = self._top(X)
        ask = getattr(self.final_estimator_, method)
        if top.shape[0] > 0 or top.dtype.kind not in "biuf":
            return ask(top, **params)
        # scikit-learn's refuse to be asked about no rows: one of zeros stands in, and is taken out of the answer.
        row = np.zeros((1, top.shape[1]), top.dtype)
        return _without_rows(ask(type(top)(row) if scipy.sparse.issparse(top) else row, **params))

    def _answer(self, predicted: Any) -> Any:
        return predicted

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[np.object_]:
        """The names of `transform`'s columns: the class, the member and, where it has several outputs, a number."""
        self._check_fitted()
        layer, owner = self._stack.layers[-1], type(self).__name__.lower()
        names: list[str] = []
        for name, width in zip(layer.names, self._widths, strict=True):
            names += [f"{owner}_{name}{'' if width == 1 else number}" for number in range(width)]
        return np.array(names + (self._input_names(input_features) if self.passthrough else []), dtype=object)

    def _readers(self) -> list[Any]:
        return super()._readers() + ([self._final_template()] if self.passthrough else [])

    # Files.

    def _exchanged_schema(self) -> Schema:
        from weald.estimators.combined.lowering import (  # when a model is exported
            first_models,
            schema_of_members,
        )

        return schema_of_members(first_models(self))

    def _exchanged_missing(self) -> Missing:
        from weald.estimators.combined.lowering import (  # when a model is exported
            first_models,
            missing_of_members,
        )

        return missing_of_members(first_models(self))

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.combined.lowering import lower_stack  # when a model is exported

        return lower_stack(self, builder, row)

    def _composite_parts(self) -> tuple[Members, dict[str, Any]]:
        self._check_fitted()
        return stack_parts(self)

    @classmethod
    def _from_composite(
        cls, params: dict[str, Any], members: list[tuple[str, Any]], extra: dict[str, Any]
    ) -> Any:
        return stack_from_parts(cls, params, members, extra)


def _is_finite(table: Any) -> bool:
    """Whether all cells are finite numbers."""
    values = table.data if scipy.sparse.issparse(table) else table
    try:
        return bool(np.isfinite(np.asarray(values, dtype=np.float64)).all())
    except (TypeError, ValueError):
        return False


def _without_rows(answer: Any) -> Any:
    """An answer, or each of several, cut to no rows."""
    if isinstance(answer, list | tuple):
        return type(answer)(_without_rows(part) for part in answer)
    return answer[:0]


def _one_or_all(models: Sequence[Any]) -> Any:
    return models[0] if len(models) == 1 else list(models)


def group_of_rows(groups: Any, n_rows: int) -> NDArray[Any]:
    """Groups as an array."""
    array = np.asarray(groups)
    if array.shape != (n_rows,):
        raise InputError(f"groups must be one label a row, {n_rows} in all, but has the shape {array.shape}.")
    return array
