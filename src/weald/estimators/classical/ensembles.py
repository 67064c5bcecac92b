"""What estimators made of members share: the table at the door, the members as a sequence, tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from weald.binning import wishes_of
from weald.data import Dataset, Schema, read_table
from weald.data.missing import Missing
from weald.estimators.shared.composite import MEMBER_PARAMETERS, Composite, Members
from weald.estimators.shared.plain import check_classes, parameters_to_json
from weald.forest.container import Container
from weald.forest.forest import Forest
from weald.params.declare import validate
from weald.params.settable import Settable
from weald.runtime.errors import InputError, ModelFileError
from weald.training.classical.members import indexable


class Ensemble(Composite, Settable):
    """An estimator with fitted members in ``estimators_``."""

    estimator: Any
    n_estimators: int
    n_jobs: int | None
    estimators_: list[Any]

    _of_fit = ("estimators_", "_joined", "_params_of_fit")
    _joined: Forest | None

    def _template(self) -> Any:
        """The unfitted estimator that members are copies of."""
        return self._default() if self.estimator is None else self.estimator

    def _default(self) -> Any:
        """The template where the user names none."""
        raise NotImplementedError

    def _join(self) -> Forest | None:
        """One forest for the votes of all members, where they are Weald's trees."""
        raise NotImplementedError

    def _read(self, X: Any) -> Dataset:
        """The training table; what is a category is for members to say that are Weald's."""
        wishes = wishes_of(self._template())
        return read_table(
            X, categorical="auto" if wishes is None else wishes.categorical, owner=type(self).__name__
        )

    def _remember(self, schema: Schema) -> None:
        self._schema = schema
        self._params_of_fit = parameters_to_json(self, MEMBER_PARAMETERS)
        self._set_names(schema)

    def _dataset(self, X: Any) -> Dataset:
        """A table of rows to predict, matched to the training table."""
        self._check_fitted()
        return read_table(X, schema=self._schema, owner=type(self).__name__, least_rows=0)

    def _table(self, X: Any) -> Any:
        """A table of rows to predict as the members take it, checked against the training table."""
        self._dataset(X)
        return indexable(X)

    def _exchanged_schema(self) -> Schema:
        return self._schema

    def _exchanged_missing(self) -> Missing:
        from weald.estimators.classical.lowering import missing_of  # when a model is exported

        return missing_of(self.estimators_)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the joined forest, which the members make again."""
        state = dict(super().__getstate__())
        state.pop("_joined", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.__sklearn_is_fitted__():
            self._joined = self._join()

    def __len__(self) -> int:
        """The number of members."""
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        """A member."""
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        """The members in their order."""
        return iter(self.estimators_)

    def _composite_parts(self) -> tuple[Members, dict[str, Any]]:
        """The members by number, the schema, and whether they are copies of the default estimator."""
        self._check_fitted()
        members = [(str(number), member) for number, member in enumerate(self.estimators_)]
        return members, {"schema": self._schema.to_json(), "default": self.estimator is None}

    @classmethod
    def _from_content(cls, content: Container) -> Any:
        model = super()._from_content(content)
        model._joined = model._join()
        return model

    @classmethod
    def _from_composite(
        cls, params: dict[str, Any], members: list[tuple[str, Any]], extra: dict[str, Any]
    ) -> Any:
        """An ensemble with the members and schema of a file; the first member, unfitted, stands for ``estimator``."""
        if not members or any(not hasattr(member, "predict") for _, member in members):
            raise ModelFileError(f"A {cls.__name__} must have members that predict.")
        ensemble = cls(**params)
        try:
            validate(ensemble)
        except InputError as error:
            raise ModelFileError(str(error)) from None
        if len(members) > ensemble.n_estimators:
            raise ModelFileError(
                f"The file has {len(members)} members, but n_estimators is {ensemble.n_estimators}."
            )
        ensemble.estimators_ = [member for _, member in members]
        ensemble._remember(Schema.from_json(extra.get("schema")))
        ensemble.estimator = None if extra.get("default") is True else clone(ensemble.estimators_[0])
        ensemble.estimator_ = ensemble._template()
        return ensemble

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        member = get_tags(self._template()).input_tags
        tags.input_tags.allow_nan = member.allow_nan
        tags.input_tags.sparse = member.sparse
        tags.input_tags.categorical = member.categorical
        return tags


class WithClasses(Ensemble):
    """An ensemble of classifiers, which has ``classes_``."""

    classes_: NDArray[Any]
    n_classes_: int

    def _set_classes(self, classes: NDArray[Any]) -> None:
        self.classes_, self.n_classes_ = classes, len(classes)

    def _composite_parts(self) -> tuple[Members, dict[str, Any]]:
        members, extra = super()._composite_parts()
        return members, {**extra, "classes": self.classes_}

    @classmethod
    def _from_composite(
        cls, params: dict[str, Any], members: list[tuple[str, Any]], extra: dict[str, Any]
    ) -> Any:
        check_classes(extra.get("classes"))
        model = super()._from_composite(params, members, extra)
        model._set_classes(extra["classes"])
        return model


def checked_numbers(extra: dict[str, Any], name: str, length: int) -> NDArray[np.float64]:
    """An array of so many finite numbers out of a model file."""
    numbers = extra.get(name)
    if not isinstance(numbers, np.ndarray) or numbers.dtype != np.float64 or numbers.shape != (length,):
        raise ModelFileError(f"The file's {name!r} must be {length} numbers.")
    if not np.isfinite(numbers).all():
        raise ModelFileError(f"The file's {name!r} must be finite.")
    return numbers.copy()


def checked_integer(extra: dict[str, Any], name: str, least: int | None) -> int:
    """A whole number out of a model file."""
    number = extra.get(name)
    if type(number) is not int or (least is not None and number < least):
        raise ModelFileError(f"The file's {name!r} must be a whole number, not {number!r}.")
    return number
