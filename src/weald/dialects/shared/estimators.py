"""What the scikit-learn estimators of other systems' interfaces share."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from weald.data import Dataset, read_regression_target, read_several_classes, read_table, read_weights
from weald.data.read import open_table
from weald.dialects.shared.booster import ModelHolder
from weald.dialects.shared.tables import array_of_rows, is_frame
from weald.estimators.shared.labels import known_codes
from weald.losses import LINKS
from weald.runtime.errors import InputError


class DialectEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that passes further keywords on to a booster, which it holds as ``_Booster`` once it is fitted."""

    kwargs: dict[str, Any]

    def _set_parameters(self, arguments: Mapping[str, Any]) -> None:
        """Keep the arguments of a constructor, ``self`` among them; ``kwargs`` where there are any."""
        for name, value in arguments.items():
            if name != "self" and (name != "kwargs" or value):
                setattr(self, name, value)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters; of a class that passes keywords on, those of the classes that they go to as well."""
        found: set[str] = set()
        for kind in cls.__mro__:
            if kind is object or "__init__" not in kind.__dict__:
                continue
            given = list(inspect.signature(kind.__dict__["__init__"]).parameters.values())[1:]
            found |= {one.name for one in given if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
            if not any(one.kind == one.VAR_KEYWORD for one in given):
                break
        return sorted(found)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, those that came as further keywords too."""
        params: dict[str, Any] = super().get_params(deep)
        return {**params, **self.__dict__.get("kwargs", {})}

    def set_params(self, **params: Any) -> Any:
        """Set parameters; one that is not in the signature is kept among the further keywords."""
        known = self._get_param_names()
        for name, value in params.items():
            if name in known:
                setattr(self, name, value)
            else:
                self.kwargs = {**self.__dict__.get("kwargs", {}), name: value}
        return self

    def _labels_and_weights(self, X: Any, y: Any, sample_weight: Any) -> tuple[NDArray[np.float64], Any]:
        """The training labels as numbers, and the rows' weights."""
        n_rows = open_table(as_table(X)).n_rows
        weight = read_weights(sample_weight, n_rows)
        return self._target(y, n_rows, weight), weight

    def _target(self, y: Any, n_rows: int, weight: Any) -> NDArray[np.float64]:
        """The training labels as numbers."""
        return read_regression_target(y, n_rows, owner=type(self).__name__)

    def _eval_target(self, y: Any, n_rows: int) -> NDArray[np.float64]:
        """The labels of another set as numbers."""
        return read_regression_target(y, n_rows, owner=type(self).__name__)

    def _forget(self) -> None:
        """Become unfitted, so that a fit that fails leaves nothing of the one before."""
        for name in [name for name in self.__dict__ if name.endswith("_") and not name.startswith("__")]:
            del self.__dict__[name]
        self.__dict__.pop("_Booster", None)

    def __sklearn_is_fitted__(self) -> bool:
        return "_Booster" in self.__dict__

    def _holder(self) -> Any:
        """The booster."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet; call 'fit' first.")
        return self._Booster

    def export(self, path: str | os.PathLike[str], format: str, **options: Any) -> None:
        """Write the fitted model for another program; see `weald.BoostedTreesClassifier.export`."""
        self._holder().export(path, format, **options)

    def _readable(self, table: Any) -> Any:
        """A table to predict, with categories as the training table had them."""
        return table

    def _check_table(self, X: Any) -> Dataset:
        """The table to predict, read; Weald's own sentences for what does not fit the training's, in scikit-learn's words."""
        holder: ModelHolder = self._holder()
        fitted, table, owner = holder._fitted(), self._readable(as_table(X)), type(self).__name__
        if holder._by_position and fitted.schema.named and not is_frame(X):
            warnings.warn(
                f"X does not have valid feature names, but {owner} was fitted with feature names",
                UserWarning,
                stacklevel=5,
            )
        return read_table(
            table,
            schema=fitted.schema,
            owner=owner,
            unstored=fitted.unstored,
            missing=fitted.missing,
            by_position=holder._by_position,
            least_rows=0,
        )

    @property
    def n_features_in_(self) -> int:
        """How many columns X had."""
        return int(self._holder()._fitted().schema.n_columns)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns' names, where X had some."""
        schema = self._holder()._fitted().schema if self.__sklearn_is_fitted__() else None
        if schema is None or not schema.named:
            raise AttributeError(
                "feature_names_in_ is defined only when X has names of columns that are all strings"
            )
        return np.array(schema.names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class ClassLabels:
    """The classes of a classifier's labels."""

    classes_: NDArray[Any]
    n_classes_: int

    def _target(self, y: Any, n_rows: int, weight: Any) -> NDArray[np.float64]:
        """The training labels as codes 0, 1, …; their classes are kept."""
        codes, classes = read_several_classes(y, n_rows, weight, owner=type(self).__name__)
        self.classes_, self.n_classes_ = classes, len(classes)
        return codes.astype(np.float64)

    def _eval_target(self, y: Any, n_rows: int) -> NDArray[np.float64]:
        """Other labels as the codes of the classes that are known."""
        return known_codes(y, n_rows, self.classes_, type(self).__name__, "eval_set has")


def sets_of(eval_set: Any, **per_set: Sequence[Any] | None) -> list[tuple[Any, ...]]:
    """The pairs (X, y) of an eval_set, checked, each with its entries of ``per_set``, or None where there are none."""
    sets = list(eval_set or ())
    for name, values in per_set.items():
        if values is not None and len(values) != len(sets):
            raise InputError(f"{name} has {len(values)} entries, but eval_set has {len(sets)} sets.")
    for pair in sets:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError("eval_set must be a list of pairs (X, y).")
    return [
        (X, y, *(None if values is None else values[place] for values in per_set.values()))
        for place, (X, y) in enumerate(sets)
    ]


def as_table(X: Any) -> Any:
    """Lists of rows as an array, so that they are read once."""
    return array_of_rows(X) if isinstance(X, list | tuple) else X


def class_probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rows, classes) from raw scores (rows,) of two classes, or (rows, classes)."""
    if scores.ndim == 2:
        return LINKS["softmax"](np.ascontiguousarray(scores.T))
    return both_classes(LINKS["logit"](scores[None]))


def both_classes(positive: NDArray[Any]) -> NDArray[Any]:
    """(rows, 2) from the probability of the second class."""
    return np.column_stack((1.0 - positive, positive))
