"""Cells of a histogram: words of packed sums, and how they are read.

A node of at most one block of rows keeps its cells as they were accumulated: one word a cell when packed, two when wide. A
larger node has three: gradient, hessian, count. Which it is follows from the number of rows alone (``cell_words``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Index, Int, Int64s
from weald.runtime.jit import inlined, inner_kernel, kernel
from weald.tree.state import PACKED_BLOCK, WIDE_BLOCK

LOW = np.uint64(0xFFFFFFFF)
COUNT_BITS = 13
_HESSIAN_BITS = 25
GRADIENT_SHIFT = 38
WIDE_SHIFT = 20


@kernel
def cell_words(packed: bool, n_rows: Int) -> int:
    """Words a cell in the histogram of a node with so many rows."""
    if packed:
        return 1 if n_rows <= PACKED_BLOCK else 3
    return 2 if n_rows <= WIDE_BLOCK else 3


@inner_kernel
def spread_packed(entry: np.uint64) -> Int:
    """The 64-bit cell increment of a packed entry: gradient << 38 | hessian << 13 | 1."""
    word = np.int64(np.int32(entry & LOW))
    return ((word >> 12) << GRADIENT_SHIFT) + ((word & 4095) << COUNT_BITS) + 1


@inner_kernel
def packed_gradient(word: Int) -> Int:
    """The gradient sum of a packed cell; a logical shift, as AVX2 has no arithmetic one for 64 bits."""
    return np.int64((np.uint64(word) ^ np.uint64(1 << 63)) >> np.uint64(GRADIENT_SHIFT)) - (1 << 25)


@inner_kernel
def packed_hessian(word: Int) -> Int:
    """The hessian sum of a packed cell."""
    return (word >> COUNT_BITS) & ((1 << _HESSIAN_BITS) - 1)


@inner_kernel
def packed_count(word: int) -> int:
    """The count of a packed cell."""
    return word & ((1 << COUNT_BITS) - 1)


@kernel
def read_cell(histogram: NDArray[np.int64], words: Int, cell: Index) -> tuple[Int, Int, Int]:
    """Gradient, hessian and count of one cell."""
    if words == 1:
        word = histogram[0, cell]
        return packed_gradient(word), packed_hessian(word), packed_count(word)
    if words == 2:
        word = histogram[1, cell]
        # The hessian sum may reach the top bit: a logical shift.
        hessian = np.int64(np.uint64(word) >> np.uint64(WIDE_SHIFT))
        return histogram[0, cell], hessian, word & ((1 << WIDE_SHIFT) - 1)
    return histogram[0, cell], histogram[1, cell], histogram[2, cell]


@inlined
def pack_cell(histogram: Int64s, words: int, cell: int, gradient: int, hessian: int, count: int) -> None:
    """Write one cell, so that `read_cell` reads these sums; they are those of at most one block where words are fewer than 3."""
    if words == 1:
        histogram[0, cell] = (gradient << GRADIENT_SHIFT) + (hessian << COUNT_BITS) + count
    elif words == 2:
        histogram[0, cell] = gradient
        histogram[1, cell] = (hessian << WIDE_SHIFT) + count
    else:
        histogram[0, cell], histogram[1, cell], histogram[2, cell] = gradient, hessian, count
