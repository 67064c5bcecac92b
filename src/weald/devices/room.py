"""The memory of a device that the rows of a block take, and which blocks stay in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.devices.found import FoundDevice
from weald.devices.program import Buffer, Program
from weald.runtime.errors import DeviceError

_FEWEST_ROWS = 256  # of a block that passes through
_MOST_ROWS = 2**24
_SPARE = 8  # bytes a row of the largest block, for rows that are moved


@dataclass
class Room:
    """Arrays of a block's rows, on a device."""

    codes: Buffer  # bins, (columns, rows)
    entries: Buffer
    gradient: Buffer
    hessian: Buffer
    leaves: Buffer
    n_rows: int
    wide: Buffer = None  # made when the first round asks for it

    def make_wide(self, program: Program) -> None:
        """Have memory for wide gradients."""
        if self.wide is None:
            self.wide = program.room(self.n_rows, np.uint64)


@dataclass(frozen=True)
class RoomPlan:
    """What rows of a table need of a device's memory."""

    n_columns: int
    codes: np.dtype[Any]
    leaves: np.dtype[Any]
    limit: int  # bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of a row: bins, entry, gradients, rounded as well, and leaf."""
        return self.n_columns * self.codes.itemsize + 8 + 8 + 4 + 4 + self.leaves.itemsize

    def room(self, program: Program, n_rows: int) -> Room:
        """Memory for so many rows."""
        return Room(
            program.room(n_rows * self.n_columns, self.codes),
            program.room(n_rows, np.uint64),
            program.room(n_rows, np.float32),
            program.room(n_rows, np.float32),
            program.room(n_rows, self.leaves),
            n_rows,
        )

    def most_rows(self, device: FoundDevice) -> int:
        """How many rows a block may have, so that one stays and another passes through."""
        by_limit = self.limit // (2 * self.row_bytes + _SPARE)
        by_buffer = device.largest_buffer // max(8, self.n_columns * self.codes.itemsize)
        return max(_FEWEST_ROWS, min(by_limit, by_buffer, _MOST_ROWS))

    def blocks_that_stay(self, device: FoundDevice, sizes: Sequence[int]) -> list[bool]:
        """Which blocks of so many rows stay on the device: all, or as many as leave room for one that passes through."""
        left = self.limit - _SPARE * max(sizes, default=0)
        if sum(sizes) * self.row_bytes <= left:
            return [True for _ in sizes]
        needed = max(sizes) * (self.row_bytes + _SPARE)
        if needed > self.limit and max(sizes) > _FEWEST_ROWS:
            raise DeviceError(
                f"{device.label} may take {self.limit / 2**20:.1f} MiB, but a block of {max(sizes):,} rows needs "
                f"{needed / 2**20:.1f}; set a larger memory_limit, or make smaller blocks."
            )
        left -= max(sizes) * self.row_bytes
        stay = []
        for size in sizes:
            stays = size * self.row_bytes <= left
            left -= size * self.row_bytes if stays else 0
            stay.append(stays)
        return stay
