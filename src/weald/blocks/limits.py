"""What a limit of memory leaves room for: the rows of a block, and of a batch on its way there."""

from __future__ import annotations

from typing import Final

from weald.binning.sharded import BLOCK_ROWS
from weald.runtime.errors import InputError
from weald.runtime.resident import INTERPRETER, resident_bytes, said_of

BATCH_ROWS: Final = 65_536
FEWEST_ROWS: Final = 2_048
_LEAST_ROOM: Final = 64 * 2**20  # beside the interpreter
_THREADS: Final = 2  # that a block's size is chosen for: each has three blocks, one in work, one read and one on its way
_BATCH_BYTES: Final = 64 * 2**20  # of a batch's floats, where no limit is given
_COPIES: Final = 32  # of a batch, from the columns of a file to the bins, and what Arrow keeps of those before


def check_limit(limit: int | None) -> None:
    """Refuse a limit below what the process takes in any case."""
    if limit is None:
        return
    if limit < INTERPRETER + _LEAST_ROOM:
        raise InputError(
            f"memory_limit={said_of(limit)} is too small: Python with the compiled kernels takes {said_of(INTERPRETER)}; give at "
            f"least {said_of(INTERPRETER + _LEAST_ROOM)}."
        )
    resident = resident_bytes() or 0
    if limit < resident:
        raise InputError(
            f"memory_limit={said_of(limit)} is too small: this process has {said_of(resident)} in memory already; give more, or "
            "begin in a new process."
        )


def block_rows_of(limit: int | None, n_columns: int, itemsize: int) -> int:
    """How many rows a block has.

    >>> block_rows_of(None, 28, 1), block_rows_of(512 * 2**20, 28, 1), block_rows_of(512 * 2**20, 2_000, 1)
    (131072, 131072, 9216)
    """
    if limit is None:
        return BLOCK_ROWS
    a_row = _THREADS * (3 * n_columns * itemsize + 16)
    rows = (limit - INTERPRETER) // 2 // a_row
    return max(FEWEST_ROWS, min(BLOCK_ROWS, rows - rows % 1024))


def batch_rows_of(limit: int | None, n_columns: int) -> int:
    """How many rows are read at a time."""
    room = _BATCH_BYTES if limit is None else (limit - INTERPRETER) // 2 // _COPIES
    return max(256, min(BATCH_ROWS, room // (8 * n_columns)))
