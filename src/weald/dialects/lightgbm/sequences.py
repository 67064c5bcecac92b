"""Rows that a `Dataset` reads batch by batch: `Sequence`."""

from __future__ import annotations

import abc
import tempfile
from collections.abc import Sequence as Listed
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError
from weald.runtime.row_memory import MappedFiles


class Sequence(abc.ABC):
    """Rows that are read some at a time: subclass it, with ``__len__`` and ``__getitem__`` for numbers and slices of rows.

    ``batch_size``: rows that a `Dataset` asks for at a time.

    >>> class Squares(Sequence):
    ...     def __len__(self) -> int:
    ...         return 10
    ...     def __getitem__(self, idx):
    ...         return np.arange(10.0).reshape(-1, 1)[idx] ** 2
    >>> import weald.lightgbm as lgb
    >>> lgb.Dataset(Squares(), label=range(10)).num_data()
    10
    """

    batch_size: ClassVar[int] = 4096

    @abc.abstractmethod
    def __getitem__(self, idx: int | slice | list[int]) -> NDArray[Any]:
        """One row, or the rows of a slice as (rows, columns)."""

    @abc.abstractmethod
    def __len__(self) -> int:
        """The number of rows."""


def sequences_of(data: Any) -> list[Sequence]:
    """The sequences that data is or holds, one behind the other; none where it is anything else."""
    several = data if isinstance(data, list | tuple) else [data]
    found = [one for one in several if isinstance(one, Sequence)]
    if found and len(found) < len(several):
        raise InputError("data is a list of Sequences and of other things; it must be one or the other.")
    return found


def rows_of(sequences: Listed[Sequence]) -> NDArray[Any]:
    """Their rows, in a file of the temporary folder that no name leads to: the system keeps in memory what there is room for."""
    n_rows = sum(map(len, sequences))
    first, table, memory = 0, np.empty((0, 0)), MappedFiles(tempfile.gettempdir())
    for sequence in sequences:
        step = int(getattr(sequence, "batch_size", None) or Sequence.batch_size)
        for begin in range(0, len(sequence), step):
            end = min(begin + step, len(sequence))
            batch = np.asarray(sequence[begin:end])
            if batch.ndim != 2 or len(batch) != end - begin or batch.dtype.kind not in "biuf":
                raise InputError(
                    f"a Sequence must give numbers of shape ({end - begin}, columns) for its rows {begin} to {end}, not "
                    f"{batch.shape} of type {batch.dtype}."
                )
            if table.size == 0:
                kind = batch.dtype if batch.dtype in (np.float32, np.float64) else np.float64
                table = memory.zeros((n_rows, batch.shape[1]), kind)
            if batch.shape[1] != table.shape[1]:
                raise InputError(
                    f"a Sequence gives rows of {batch.shape[1]} columns and of {table.shape[1]}; all must have the same."
                )
            table[first : first + len(batch)] = batch
            memory.release(table[first : first + len(batch)].reshape(-1))
            first += len(batch)
    return table
