"""A table with labels, weights and first scores: what the data sets of other systems' interfaces share."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from weald.data import read_weights
from weald.dialects.shared.run import GivenRows
from weald.dialects.shared.tables import Float64s, one_a_row, open_data, scores_a_row, take_rows
from weald.runtime.errors import InputError

Rows = TypeVar("Rows", bound="LabelledRows")


class LabelledRows:
    """What training and prediction read of a data set. Arrays are replaced, never changed, so that they tell what is new."""

    #: what the interface calls the data set, and the scores that its rows start from
    _title: ClassVar[str]
    _start_name: ClassVar[str]
    #: "F": flat scores of several outputs are output after output
    _start_order: ClassVar[Literal["C", "F"]] = "C"

    _label: NDArray[Any] | None = None
    _weight: Float64s | None = None
    _start: Float64s | None = None

    def _open(self, data: Any, text: bool = False) -> None:
        """Take a table; ``text``: it may hold text, too."""
        #: the table as it was given, by whose identity bins are kept for it
        self.source = open_data(data, self._title, text)
        self._shape = (int(self.source.shape[0]), int(self.source.shape[1]))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._shape[0]

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self._shape[1]

    @property
    def table(self) -> Any:
        """The table as Weald's own estimators read it."""
        return self.source

    @property
    def labels(self) -> NDArray[Any]:
        """The labels; they must be there."""
        if self._label is None:
            raise InputError(f"a {self._title} needs labels for training and evaluation; give it label.")
        return self._label

    @property
    def weights(self) -> Float64s | None:
        """The weights in double precision."""
        return self._weight

    @property
    def start(self) -> Float64s | None:
        """The scores that rows start from, (rows,) or (rows, outputs)."""
        return self._start

    def starts(self, n_outputs: int) -> Float64s:
        """The scores that rows start from as (rows, outputs), zeros where there are none."""
        if self._start is None:
            return np.zeros((self.n_rows, n_outputs))
        if self._start.size != self.n_rows * n_outputs:
            raise InputError(
                f"{self._start_name} must have {n_outputs} numbers a row, but its shape is {self._start.shape}."
            )
        return self._start.reshape(self.n_rows, n_outputs)

    def _field(self, name: str) -> Any:
        """The labels, weights or first scores, as the method that is named after them gives them."""
        known = ("label", "weight", self._start_name)
        if name not in known:
            raise InputError(f"a {self._title} has no field {name!r}; it has {', '.join(known)}.")
        return getattr(self, f"get_{name}")()

    def given(self, start: Float64s | None, name: str = "") -> GivenRows:
        """As the engine is given them; ``start``: the scores that rows start from, (rows, outputs)."""
        return GivenRows(self.table, self.labels, self.weights, start, name)

    def parts(self) -> tuple[Any, ...]:
        """What tells whether it was given other rows, labels, weights or scores since."""
        return self.source, self._label, self._weight, self._start

    def _read_label(self, label: Any) -> Float64s | None:
        return None if label is None else one_a_row("label", label, self.n_rows)

    def _read_weight(self, weight: Any) -> Float64s | None:
        return None if weight is None else read_weights(one_a_row("weight", weight, self.n_rows), self.n_rows)

    def _read_start(self, start: Any) -> Float64s | None:
        if start is None:
            return None
        return scores_a_row(self._start_name, start, self.n_rows, self._start_order)

    def _take(self: Rows, rows: NDArray[np.int64]) -> Rows:
        """Some of the rows as a data set of their own."""
        part = copy.copy(self)
        part.source = take_rows(self.source, rows)
        part._shape = (len(rows), self.n_columns)
        part._label, part._weight, part._start = (
            None if values is None else values[rows] for values in (self._label, self._weight, self._start)
        )
        return part
