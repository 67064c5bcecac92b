"""The first step of compiled prediction: rows become integer codes, a line of `ROWS` codes per channel.

Every test of every tree reads `code <= threshold`: missing values and categories are settled here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import types

from weald.runtime.arrays import Float32s, Float64s, Int32s, Uint32s
from weald.runtime.far import far, returns
from weald.runtime.jit import bare_inner_kernel, inlined

if TYPE_CHECKING:
    from weald.forest.packed import PackedForest

# Rows of a block: codes of some 60 channels fit in a first-level cache of 32 KB.
ROWS = 128
# What a channel holds.
FLOAT, RANK, SLOT, SET = 0, 1, 2, 3
# `ROWS` as an unsigned number: with a signed one Numba would look for negative indices at each load.
LINE = np.uint64(ROWS)

_MAGNITUDE = np.int32(2**31 - 1)
_ONE = np.uint64(1)


class Channel(NamedTuple):
    """One line of the code matrix, as a row of `PackedForest.channels`."""

    kind: int
    source: int  # the feature; for SET the channel that holds the feature's slots
    start: int  # RANK and SLOT: first entry of the sorted `table`; SET: first entry of `bits`
    size: int  # RANK and SLOT: entries of the table
    missing: int  # the code of NaN (not used by SET)


class Block(NamedTuple):
    """A float32 or float64 matrix in C or Fortran order, without a signature of its own for each.

    Attributes:
        singles: float32, the matrix's memory as it is; empty when it holds float64.
        doubles: float64, the same for float64.
        is_double: whether it holds float64.
        row_stride: from a row to the next, in floats.
        column_stride: from a column to the next, in floats.
        n_rows: number of rows.
        first_row: where the block's rows begin in the output.
    """

    singles: Float32s
    doubles: Float64s
    is_double: bool
    row_stride: int
    column_stride: int
    n_rows: int
    first_row: int


@inlined
def _load_column(block: Block, feature: int, first_row: int, rows: int, column: Float64s) -> None:
    """OUT column[:rows]: the numbers of a feature in the `rows` rows from `first_row` on."""
    at = np.uint64(first_row * block.row_stride + feature * block.column_stride)
    step = np.uint64(block.row_stride)
    if block.is_double:
        for i in range(rows):
            column[i] = block.doubles[at]
            at += step
    else:
        for i in range(rows):
            column[i] = block.singles[at]
            at += step


@inlined
def _float_codes(column: Float64s, missing: np.int32, rows: int, line: np.uint64, codes: Int32s) -> None:
    """OUT codes[line:]: int32 that order as the smallest float32 that is at least the number.

    Against a threshold that is a float32 this decides as the number itself. 0.0 and -0.0 have one code. Those
    of all numbers lie within ± 2139095041, so the extreme int32 are free for NaN.
    """
    for i in range(rows):
        value = column[i]
        single = np.float32(np.float32(value) + np.float32(0.0))
        bits = single.view(np.int32)
        code = bits ^ ((bits >> np.int32(31)) & _MAGNITUDE)
        # The next float32 upwards has the next code.
        code = np.int32(code + np.int32(np.float64(single) < value))
        codes[line + np.uint64(i)] = code if value == value else missing


@inlined
def _rank_codes(
    column: Float64s, table: Float64s, start: int, size: int, rows: int, line: np.uint64, codes: Int32s
) -> None:
    """OUT codes[line:]: how many of the sorted numbers table[start : start + size] are below the number.

    All rows make a step of their binary searches together: no step waits for the one before, none branches.
    """
    for i in range(rows):
        codes[line + np.uint64(i)] = 0
    first, rest = np.uint64(start), np.uint64(size)
    while rest > 0:
        half = (rest + _ONE) >> _ONE
        for i in range(rows):
            at = line + np.uint64(i)
            probe = first + np.uint64(np.uint32(codes[at])) + half - _ONE
            codes[at] += np.int32(half) if table[probe] < column[i] else np.int32(0)
        rest -= half


@returns(types.none)
@bare_inner_kernel
def _slot_codes(
    column: Float64s, table: Float64s, start: int, size: int, rows: int, line: np.uint64, codes: Int32s
) -> None:
    """OUT codes[line:]: of ranks make slots; a number that is not in the table has slot `size`."""
    for i in range(rows):
        at = line + np.uint64(i)
        found = codes[at] < size and table[np.uint64(start + codes[at])] == column[i]
        codes[at] = codes[at] if found else np.int32(size)


@returns(types.none)
@bare_inner_kernel
def _set_codes(
    bits: Uint32s, start: int, slots: np.uint64, rows: int, line: np.uint64, codes: Int32s
) -> None:
    """OUT codes[line:]: the bit of each row's slot; the slots of its feature are the line at `slots`."""
    first = np.uint64(start)
    for i in range(rows):
        slot = np.uint32(codes[slots + np.uint64(i)])
        word = bits[first + np.uint64(slot >> np.uint32(5))]
        codes[line + np.uint64(i)] = np.int32((word >> (slot & np.uint32(31))) & np.uint32(1))


@inlined
def encode(
    packed: PackedForest,
    block: Block,
    first_row: int,
    rows: int,
    column: Float64s,
    base: np.uint64,
    codes: Int32s,
) -> None:
    """OUT codes[base + channel * ROWS + i] of the `rows` rows from `first_row` on."""
    channels, table, bits = packed.channels, packed.table, packed.bits
    loaded = np.int64(-1)
    for c in range(channels.shape[0]):
        kind, source, start, size = channels[c, 0], channels[c, 1], channels[c, 2], channels[c, 3]
        line = base + np.uint64(c) * LINE
        if kind == SET:
            far(_set_codes, (bits, start, base + np.uint64(source) * LINE, rows, line, codes))
            continue
        if source != loaded:
            _load_column(block, source, first_row, rows, column)
            loaded = source
        missing = np.int32(channels[c, 4])
        if kind == FLOAT:
            _float_codes(column, missing, rows, line, codes)
            continue
        _rank_codes(column, table, start, size, rows, line, codes)
        if kind == SLOT:
            far(_slot_codes, (column, table, start, size, rows, line, codes))
        for i in range(rows):
            at = line + np.uint64(i)
            codes[at] = codes[at] if column[i] == column[i] else missing


@returns(types.none)
@bare_inner_kernel
def encode_all(
    packed: PackedForest, block: Block, begin: int, end: int, column: Float64s, codes: Int32s
) -> None:
    """OUT the codes of the rows `begin` to `end`, block after block."""
    base = np.uint64(0)
    for row in range(begin, end, ROWS):
        encode(packed, block, row, min(ROWS, end - row), column, base, codes)
        base += np.uint64(packed.channels.shape[0]) * LINE
