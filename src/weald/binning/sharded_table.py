"""A table in blocks, with its labels: what training reads in place of X and y where rows are elsewhere than in one memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.binning.choices import describe_difference
from weald.binning.sharded import Block, Codes, ShardedBins
from weald.binning.shared import BinnedTable, BinWishes, read_training_table
from weald.data import Dataset, Schema
from weald.runtime.errors import InputError, NotSupportedError


@dataclass(frozen=True)
class ShardedTable:
    """The rows of a table that this process holds, binned, with their labels; ``bins.team`` has the others.

    Schema and cuts are those of the whole table. Rows of weight 0 are not among the rows.
    """

    schema: Schema
    bins: ShardedBins
    wishes: BinWishes  # what the bins were made for
    labels: NDArray[np.float64]  # of the rows here: numbers, or places in ``classes``
    classes: NDArray[Any] | None = None  # sorted, of all rows wherever they are; None: labels are numbers
    label_type: str = "float64"  # that numbers had in the user's table
    weight: NDArray[np.float64] | None = None  # of the rows here; None for every member of the team, or for none
    #: of every block the codes of its categorical columns, uint32, what is missing behind the last; None: as bins tell them
    codes: Sequence[Block] | None = None

    @property
    def n_rows(self) -> int:
        """How many rows are here."""
        return self.bins.n_rows

    def table(self) -> ShardedTable:
        """The table itself, as every `TableSource` has one."""
        return self

    def sharded_table(self, wishes: BinWishes, owner: str) -> ShardedTable:
        """The table, for an estimator that wants the bins that it has."""
        if self.wishes.choices != wishes.choices:
            own, wanted = describe_difference(self.wishes.choices, wishes.choices)
            raise InputError(f"X was binned with {own}, but {owner} has {wanted}.")
        return self

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """(first row here, floats (rows, columns)): of each cell a value that lies in its bin, NaN for a missing one.

        Trees whose thresholds are cuts of these bins predict from them what they predict from the values themselves.
        """
        first = 0
        for number, block in enumerate(self.bins.blocks):
            values = self.values_of(block)
            if self.codes is not None:
                self._name_categories(self.codes[number].read(), values)
            yield first, values
            first += block.n_rows

    def values_of(self, block: Block) -> NDArray[np.float64]:
        """The same of one block, (rows, columns); of categories that share a bin the first."""
        codes = block.read()
        values = np.empty((codes.shape[1], len(codes)))
        for column, own in enumerate(codes):
            np.take(self._value_of_bin[column], own, out=values[:, column])
        return values

    def _name_categories(self, codes: Codes, values: NDArray[np.float64]) -> None:
        for place, column in enumerate(self._categorical):
            own, known = codes[place], len(self.schema.columns[column].categories)
            values[:, column] = np.where(own < known, own, np.nan)

    @property
    def _categorical(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.schema.categorical_mask)

    def category_codes(self) -> NDArray[np.uint32]:
        """The codes of the categorical columns, (columns, rows here), what is missing behind the last category."""
        mapper, columns = self.bins.mapper, self._categorical
        for column in columns if self.codes is None else ():
            if mapper.n_categories[column] > mapper.n_bins[column]:
                raise NotSupportedError(
                    f"the {mapper.n_categories[column]} categories of the column {self.schema.columns[column].name!r} have "
                    f"{mapper.n_bins[column]} bins, and this table in blocks keeps no more of them, which target statistics "
                    "need; use categories='partition'."
                )
        codes: NDArray[np.uint32] = self.bins.memory.zeros((len(columns), self.n_rows), np.uint32)
        first = 0
        for number, block in enumerate(self.bins.blocks):
            here = codes[:, first : first + block.n_rows]
            own = block.read(columns) if self.codes is None else self.codes[number].read()
            np.minimum(own, mapper.n_categories[columns, None], out=here, casting="unsafe")
            self.bins.memory.release(here)
            first += block.n_rows
        return codes

    @cached_property
    def _value_of_bin(self) -> list[NDArray[np.float64]]:
        """By column: a value of every bin, the greatest where there is one, and of the bin of missing values."""
        mapper = self.bins.mapper
        found = []
        for column, n_bins in enumerate(mapper.n_bins.tolist()):
            if mapper.categorical[column]:
                own = np.arange(n_bins, dtype=np.float64)
            else:
                own = np.append(mapper.cuts[column], np.inf)
            found.append(np.append(own, np.nan))
        return found


class TableSource(Protocol):
    """What knows how to make a `ShardedTable`: a store of blocks, for one. ``fit`` takes it in place of X and y."""

    def table(self) -> ShardedTable:
        """The table as it was binned, whoever asks."""

    def sharded_table(self, wishes: BinWishes, owner: str) -> ShardedTable:
        """The table, where it was binned as ``wishes`` say; otherwise an `InputError` says for ``owner`` what differs."""


def in_blocks(X: Any) -> ShardedTable | None:
    """The table of a `TableSource`; None for a table of any other kind."""
    return X.table() if hasattr(X, "sharded_table") else None


def read_training_rows(
    X: Any, wishes: BinWishes, owner: str, earlier: Schema | None = None
) -> Dataset | BinnedTable | ShardedTable:
    """`read_training_table`, or a table in blocks; a `TableSource` is asked for its own."""
    if hasattr(X, "sharded_table"):
        table: ShardedTable = X.sharded_table(wishes, owner)
        return table
    return read_training_table(X, wishes, owner, earlier)
