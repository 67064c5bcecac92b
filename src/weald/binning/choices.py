"""What shapes the bins of a table: an estimator's choices as one value, so that a table binned for one can serve another."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema, column_positions
from weald.data.missing import Missing
from weald.runtime.errors import InputError

MOST_BINS = 65_535  # and one for missing values, which two bytes can tell apart
BY_COLUMN, FORCED = "bins.by_column", "bins.forced"
_MISSING_SAID = {
    "nan": "use_missing=True and zero_as_missing=False",
    "zero": "zero_as_missing=True",
    "none": "use_missing=False",
}


@dataclass(frozen=True)
class BinChoices:
    """How a table is binned; `Bins.choices` makes them.

    max_bins: of a column, missing values apart; None: every value is its own bin.
    max_categories: bins of a categorical column; None: as many as a numeric one may have.
    rare_categories: share of the rows whose rarest categories share a bin.
    min_samples_bin: rows, by weight, of a bin; 1: no limit.
    sample_rows: rows that the bins are found from.
    border_type: the rule that numeric columns are cut by; see `fit_bins`.
    by_column: bins of single columns, by name or position; they go before all other limits.
    forced: cuts that single columns have in any case.
    missing: which numbers are missing; `read_table` makes them so.

    >>> from weald.data import Column, Schema
    >>> schema = Schema((Column("age", "numeric"), Column("city", "categorical", ("Ulm",))), named=True)
    >>> BinChoices(max_categories=1000, by_column=(("age", 15),)).limits(schema).tolist()
    [15, 1000]
    """

    max_bins: int | None = 255
    max_categories: int | None = None
    rare_categories: float = 0.0
    min_samples_bin: int = 1
    sample_rows: int = 200_000
    by_column: tuple[tuple[str | int, int], ...] = ()
    forced: tuple[tuple[str | int, tuple[float, ...]], ...] = ()
    missing: Missing = "nan"
    border_type: str = "quantiles"

    @property
    def least_weight(self) -> float:
        """What the rows of a bin must weigh; a limit of one row is none, also where rows weigh less."""
        return float(self.min_samples_bin) if self.min_samples_bin > 1 else 0.0

    @property
    def counts_categories(self) -> bool:
        """Whether the bins of categories depend on how frequent they are."""
        return self.rare_categories > 0.0 or self.min_samples_bin > 1

    def limits(self, schema: Schema) -> NDArray[np.int64]:
        """The most bins of every column, int64 (columns,)."""
        assert self.max_bins is not None
        categories = self.max_bins if self.max_categories is None else self.max_categories
        limits = np.where(schema.categorical_mask, categories, self.max_bins).astype(np.int64)
        for position, most in zip(_positions(self.by_column, schema, BY_COLUMN), self.by_column, strict=True):
            limits[position] = most[1]
        return limits

    def forced_cuts(self, schema: Schema, limits: NDArray[np.int64]) -> dict[int, NDArray[np.float64]]:
        """The forced cuts by position, ascending."""
        found = {}
        for position, (_, cuts) in zip(_positions(self.forced, schema, FORCED), self.forced, strict=True):
            column = schema.columns[position]
            if column.kind == "categorical":
                raise InputError(
                    f"{FORCED} names the column {column.name!r}, which is categorical and has no cuts."
                )
            if len(cuts) >= limits[position]:
                raise InputError(
                    f"{FORCED} has {len(cuts)} cuts of the column {column.name!r}, which may have at most "
                    f"{limits[position]} bins, and so {limits[position] - 1} cuts."
                )
            if cuts:
                found[position] = np.array(cuts, np.float64)
        return found


def missing_of(use_missing: bool, zero_as_missing: bool) -> Missing:
    """What the two parameters say together."""
    if zero_as_missing:
        return "zero"
    return "nan" if use_missing else "none"


def describe_difference(first: BinChoices, second: BinChoices) -> tuple[str, str]:
    """How two choices differ, each in the words of an estimator's parameters; of several differences the first."""
    if first.missing != second.missing:
        return _MISSING_SAID[first.missing], _MISSING_SAID[second.missing]
    if (first.max_bins is None) != (second.max_bins is None):
        return _said(first), _said(second)
    parameters = {
        "max_bins": "max_bins",
        "max_categories": "max_categories",
        "rare_categories": "rare_categories",
        "min_samples_bin": "min_samples",
        "sample_rows": "sample",
        "border_type": "borders",
        "by_column": BY_COLUMN,
        "forced": FORCED,
    }
    for field, name in parameters.items():
        values = getattr(first, field), getattr(second, field)
        if values[0] != values[1]:
            as_given = [dict(value) if isinstance(value, tuple) else value for value in values]
            return f"{name}={as_given[0]!r}", f"{name}={as_given[1]!r}"
    raise AssertionError("the choices are the same")


def _said(choices: BinChoices) -> str:
    return "split_finder='exact' or 'approx'" if choices.max_bins is None else f"max_bins={choices.max_bins}"


def _positions(pairs: tuple[tuple[str | int, Any], ...], schema: Schema, argument: str) -> list[int]:
    if argument == BY_COLUMN and len(pairs) > schema.n_columns:
        raise InputError(f"{argument} has {len(pairs)} numbers, but X has {schema.n_columns} columns.")
    positions = column_positions([column for column, _ in pairs], schema.names, argument)
    for position in positions:
        if positions.count(position) > 1:
            name = schema.names[position]
            raise InputError(f"{argument} has the column {name!r} twice, by name and by position.")
    return positions


def read_by_column(given: Any) -> tuple[tuple[str | int, int], ...]:
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{BY_COLUMN} must be a list or a dict from columns to numbers, not {given!r}.")
    pairs = given.items() if isinstance(given, Mapping) else enumerate(given)
    found = []
    for column, most in pairs:
        if (
            isinstance(most, bool)
            or not isinstance(most, numbers.Integral)
            or not 2 <= int(most) <= MOST_BINS
        ):
            raise InputError(
                f"{BY_COLUMN} of the column {column!r} must be a whole number of at least 2 and at most {MOST_BINS}, "
                f"not {most!r}."
            )
        found.append((column, int(most)))
    return tuple(found)


def read_forced(given: Any) -> tuple[tuple[str | int, tuple[float, ...]], ...]:
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise InputError(f"{FORCED} must be a dict from columns to lists of cuts, not {given!r}.")
    found = []
    for column, cuts in given.items():
        listed = [] if isinstance(cuts, str) or not isinstance(cuts, Iterable) else list(cuts)
        if not isinstance(cuts, Iterable) or isinstance(cuts, str):
            raise InputError(f"{FORCED} of the column {column!r} must be a list of cuts, not {cuts!r}.")
        for cut in listed:
            if isinstance(cut, bool) or not isinstance(cut, numbers.Real) or not math.isfinite(cut):
                raise InputError(f"{FORCED} of the column {column!r} must hold finite numbers, not {cut!r}.")
        found.append((column, tuple(sorted({float(cut) + 0.0 for cut in listed}))))
    return tuple(found)
