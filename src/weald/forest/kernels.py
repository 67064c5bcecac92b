"""Compiled prediction: rows become integer codes, codes become leaves, leaves become scores.

Rows are taken in blocks of `ROWS`. A block is encoded once into a matrix of int32 codes, one line of `ROWS`
codes per *channel*, such that every test of every tree reads `code <= threshold`: missing values and
categories are settled while encoding. Three ways lead from codes to leaves:

- *symmetric* trees (every node of a level asks the same) add up the bits of their answers;
- *masked* trees, with few leaves, keep one bit per leaf and clear, for each test that a row fails, the leaves on
  the test's left; the lowest bit that is left marks the leaf (Lucchese et al., "QuickScorer", SIGIR 2015).
  All tests are made for all rows, without a branch or a dependent load, so both ways run on vectors of rows;
- *walked* trees, and few rows, follow the nodes: one 64-bit word a node, eight rows side by side, and a fixed
  number of steps, because a leaf points to itself.

Codes decide exactly as the forest's own comparisons do, and a row's score is a sum in the order of the trees,
so the result depends neither on the way nor on the number of tasks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from weald.runtime.jit import kernel, parallel_kernel

# Rows of a block: codes of some 60 channels fit in a first-level cache of 32 KB.
ROWS = 128
# Rows that walk a tree side by side; more would not fit in the registers.
SIDE_BY_SIDE = 8
# Fewer rows than this walk every tree: a masked tree costs as much for one row as for a whole block.
FEWEST_ROWS = 24
# Leaves in a mask; a tree with more of them has several masks.
MASK_LEAVES = 32
# A masked tree makes its tests in groups of four, a symmetric one in groups of two: one pass over the rows each.
MASK_GROUP, SYMMETRIC_GROUP = 4, 2

# What a channel holds.
FLOAT, RANK, SLOT, SET = 0, 1, 2, 3
# How a tree is evaluated.
WALKED, MASKED, SYMMETRIC = 0, 1, 2

_LARGEST = np.int32(2**31 - 1)
_MAGNITUDE = np.int32(2**31 - 1)
_EXPONENT_SHIFT = np.int32(23)
_EXPONENT_MASK = np.int32(255)
_EXPONENT_BIAS = np.int32(127)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_HALF_WORD = np.uint64(32)
_ONE = np.uint64(1)


class Channel(NamedTuple):
    """One line of the code matrix, as a row of `PackedForest.channels`."""

    kind: int
    source: int  # the feature; for SET the channel that holds the feature's slots
    start: int  # RANK and SLOT: first entry of the sorted `table`; SET: first entry of `bits`
    size: int  # RANK and SLOT: entries of the table
    missing: int  # the code of NaN (not used by SET)


class PackedForest(NamedTuple):
    """A forest in the form that the kernels read; `weald.forest.packing` makes it.

    Attributes:
        channels: int64[C, 5], a `Channel` per line.
        table: float64, sorted thresholds of RANK and sorted category codes of SLOT channels.
        bits: uint32, for SET channels a bit per slot: 0 goes left.
        words: uint64[N], a node: threshold (int32) in the high half; channel, then left child in the low half.
        left_bits: how many of the low bits are the left child's index within the tree.
        value: float64[N], value of each node.
        trees: int64[T, 6]: first node, depth, way, first pass, last pass + 1, first leaf.
        passes: int64[P, 3]: first test, last test + 1, first leaf of the mask.
        tests: int32[M, 3]: channel, threshold, and the leaves that stay after going right (MASKED) or the
            weight of going right (SYMMETRIC).
        leaf_value: float64, values of the leaves of MASKED and SYMMETRIC trees in the order of their numbers.
        base_score: float64[K].
    """

    channels: NDArray[np.int64]
    table: NDArray[np.float64]
    bits: NDArray[np.uint32]
    words: NDArray[np.uint64]
    left_bits: int
    value: NDArray[np.float64]
    trees: NDArray[np.int64]
    passes: NDArray[np.int64]
    tests: NDArray[np.int32]
    leaf_value: NDArray[np.float64]
    base_score: NDArray[np.float64]


class Block(NamedTuple):
    """A float32 or float64 matrix in C or Fortran order, without a signature of its own for each.

    Attributes:
        memory: int32, the matrix's memory as it is.
        is_double: whether it holds float64.
        row_stride: from a row to the next, in floats.
        column_stride: from a column to the next, in floats.
        n_rows: number of rows.
        first_row: where the block's rows begin in the output.
    """

    memory: NDArray[np.int32]
    is_double: bool
    row_stride: int
    column_stride: int
    n_rows: int
    first_row: int


@kernel
def _float_code(value: Any, missing: Any) -> Any:
    """An int32 that orders as the smallest float32 that is at least `value`; -0.0 and 0.0 share one.

    The float32 codes of numbers lie within ± 2139095041, so the extreme int32 are free for NaN.
    """
    single = np.float32(np.float32(value) + np.float32(0.0))
    bits = single.view(np.int32)
    code = np.int32(bits ^ ((bits >> np.int32(31)) & _MAGNITUDE))
    # The next float32 upwards has the next code.
    code = np.int32(code + np.int32(single < value))
    return code if value == value else missing


@kernel
def _count_below(table: Any, start: Any, size: Any, value: Any) -> Any:
    """How many of the sorted numbers table[start : start + size] are below `value`; 0 for NaN."""
    low = np.uint64(start)
    rest = np.uint64(size)
    while rest > _ONE:
        half = rest >> _ONE
        low += half * np.uint64(table[low + half - _ONE] < value)
        rest -= half
    if size > 0:
        low += np.uint64(table[low] < value)
    return np.int32(low - np.uint64(start))


@kernel
def _encode_column(channel: Any, table: Any, values: Any, first: Any, stride: Any, rows: Any, codes: Any) -> None:
    """OUT codes[:rows] of a FLOAT, RANK or SLOT channel; values[first + i * stride] is the number of row i."""
    kind, start, size, missing = channel[0], channel[2], channel[3], np.int32(channel[4])
    at, step = np.uint64(first), np.uint64(stride)
    if kind == FLOAT:
        for i in range(rows):
            codes[i] = _float_code(values[at], missing)
            at += step
        return
    for i in range(rows):
        value = values[at]
        below = _count_below(table, start, size, value)
        if kind == SLOT and not (below < size and table[np.uint64(start) + np.uint64(below)] == value):
            below = np.int32(size)
        codes[i] = below if value == value else missing
        at += step


@kernel
def _encode_set(bits: Any, start: Any, slots: Any, rows: Any, codes: Any) -> None:
    """OUT codes[:rows] of a SET channel from the slots of its feature: 0 in the set, 1 outside."""
    for i in range(rows):
        slot = np.uint32(slots[i])
        word = bits[np.uint64(start) + np.uint64(slot >> np.uint32(5))]
        codes[i] = np.int32((word >> (slot & np.uint32(31))) & np.uint32(1))


@kernel
def _encode(packed: Any, block: Any, first_row: Any, rows: Any, codes: Any) -> None:
    """OUT codes[channel * ROWS + i] for the `rows` rows from `first_row` on."""
    singles = block.memory.view(np.float32)
    for c in range(packed.channels.shape[0]):
        channel = packed.channels[c]
        line = codes[c * ROWS : c * ROWS + rows]
        first = first_row * block.row_stride + channel[1] * block.column_stride
        if channel[0] == SET:
            slots = codes[channel[1] * ROWS : channel[1] * ROWS + rows]
            _encode_set(packed.bits, channel[2], slots, rows, line)
        elif block.is_double:
            doubles = block.memory.view(np.float64)
            _encode_column(channel, packed.table, doubles, first, block.row_stride, rows, line)
        else:
            _encode_column(channel, packed.table, singles, first, block.row_stride, rows, line)


@kernel
def _symmetric_leaves(tests: Any, start: Any, stop: Any, codes: Any, leaf: Any) -> None:
    """OUT leaf[i] = sum of the weights of the tests whose answer is right."""
    leaf[:] = np.uint32(0)
    for t in range(start, stop, SYMMETRIC_GROUP):
        at0, at1 = np.uint64(tests[t, 0]) * ROWS, np.uint64(tests[t + 1, 0]) * ROWS
        threshold0, threshold1 = tests[t, 1], tests[t + 1, 1]
        weight0, weight1 = np.uint32(tests[t, 2]), np.uint32(tests[t + 1, 2])
        for i in range(ROWS):
            row = np.uint64(i)
            right0 = weight0 if codes[at0 + row] > threshold0 else np.uint32(0)
            right1 = weight1 if codes[at1 + row] > threshold1 else np.uint32(0)
            leaf[row] |= right0 | right1


@kernel
def _keep_leaves(tests: Any, start: Any, stop: Any, codes: Any, mask: Any) -> None:
    """OUT mask[i]: the bits of the leaves that no test has ruled out."""
    mask[:] = np.int32(-1)
    for t in range(start, stop, MASK_GROUP):
        at0, at1 = np.uint64(tests[t, 0]) * ROWS, np.uint64(tests[t + 1, 0]) * ROWS
        at2, at3 = np.uint64(tests[t + 2, 0]) * ROWS, np.uint64(tests[t + 3, 0]) * ROWS
        threshold0, threshold1, threshold2, threshold3 = tests[t, 1], tests[t + 1, 1], tests[t + 2, 1], tests[t + 3, 1]
        keep0, keep1, keep2, keep3 = tests[t, 2], tests[t + 1, 2], tests[t + 2, 2], tests[t + 3, 2]
        for i in range(ROWS):
            row = np.uint64(i)
            kept0 = keep0 if codes[at0 + row] > threshold0 else np.int32(-1)
            kept1 = keep1 if codes[at1 + row] > threshold1 else np.int32(-1)
            kept2 = keep2 if codes[at2 + row] > threshold2 else np.int32(-1)
            kept3 = keep3 if codes[at3 + row] > threshold3 else np.int32(-1)
            mask[row] &= (kept0 & kept1) & (kept2 & kept3)


@kernel
def _lowest_leaves(mask: Any, first_leaf: Any, leaf: Any) -> None:
    """OUT leaf[i] = first_leaf + number of the lowest bit of mask[i]; unchanged where no bit is set."""
    base = np.int32(first_leaf) - _EXPONENT_BIAS
    for i in range(ROWS):
        lowest = np.int32(mask[i] & -mask[i])
        # A single bit becomes a power of two, whose exponent is its number; unlike a count of zeros this is
        # done on vectors. The highest bit is a negative power, its sign is masked away.
        exponent = (np.float32(lowest).view(np.int32) >> _EXPONENT_SHIFT) & _EXPONENT_MASK
        leaf[i] = leaf[i] if lowest == 0 else np.uint32(base + exponent)


@kernel
def _step(words: Any, left_bits: Any, left_mask: Any, codes: Any, row: Any, node: Any) -> Any:
    """The child of a node that a row goes to; a leaf leads to itself."""
    word = words[node]
    channel = (word & _LOW_WORD) >> left_bits
    goes_right = codes[channel * np.uint64(ROWS) + row] > np.int32(word >> _HALF_WORD)
    return (word & left_mask) + np.uint64(goes_right)


@kernel
def _walk_one(words: Any, left_bits: Any, depth: Any, codes: Any, row: Any) -> Any:
    """The node of a tree, given by its words, that one row reaches."""
    left_mask = (_ONE << left_bits) - _ONE
    node = np.uint64(0)
    for _ in range(depth):
        node = _step(words, left_bits, left_mask, codes, row, node)
    return node


@kernel
def _walk(words: Any, left_bits: Any, depth: Any, codes: Any, rows: Any, leaf: Any) -> None:
    """OUT leaf[:rows]: the nodes of a tree, given by its words, that the rows reach."""
    left_mask = (_ONE << left_bits) - _ONE
    together = rows - rows % SIDE_BY_SIDE
    for first in range(0, together, SIDE_BY_SIDE):
        r0 = np.uint64(first)
        r1, r2, r3, r4 = r0 + np.uint64(1), r0 + np.uint64(2), r0 + np.uint64(3), r0 + np.uint64(4)
        r5, r6, r7 = r0 + np.uint64(5), r0 + np.uint64(6), r0 + np.uint64(7)
        n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = np.uint64(0)
        for _ in range(depth):
            n0 = _step(words, left_bits, left_mask, codes, r0, n0)
            n1 = _step(words, left_bits, left_mask, codes, r1, n1)
            n2 = _step(words, left_bits, left_mask, codes, r2, n2)
            n3 = _step(words, left_bits, left_mask, codes, r3, n3)
            n4 = _step(words, left_bits, left_mask, codes, r4, n4)
            n5 = _step(words, left_bits, left_mask, codes, r5, n5)
            n6 = _step(words, left_bits, left_mask, codes, r6, n6)
            n7 = _step(words, left_bits, left_mask, codes, r7, n7)
        leaf[r0], leaf[r1], leaf[r2], leaf[r3] = n0, n1, n2, n3
        leaf[r4], leaf[r5], leaf[r6], leaf[r7] = n4, n5, n6, n7
    for i in range(together, rows):
        leaf[i] = _walk_one(words, left_bits, depth, codes, np.uint64(i))


@kernel
def _add_values(values: Any, first: Any, leaf: Any, rows: Any, scores: Any) -> None:
    """OUT scores[i] += values[first + leaf[i]] for the first `rows` rows."""
    start = np.uint64(first)
    for i in range(rows):
        scores[i] += values[start + np.uint64(leaf[i])]


@kernel
def _add_tree(packed: Any, tree: Any, codes: Any, rows: Any, mask: Any, leaf: Any, scores: Any) -> None:
    """OUT scores[:rows] += what a tree gives to the rows of a block."""
    first_node, depth, way, first_pass, last_pass, first_leaf = packed.trees[tree]
    if way == WALKED or rows < FEWEST_ROWS:
        _walk(packed.words[first_node:], np.uint64(packed.left_bits), depth, codes, rows, leaf)
        _add_values(packed.value, first_node, leaf, rows, scores)
        return
    for p in range(first_pass, last_pass):
        start, stop, mask_leaf = packed.passes[p]
        if way == SYMMETRIC:
            _symmetric_leaves(packed.tests, start, stop, codes, leaf)
        else:
            _keep_leaves(packed.tests, start, stop, codes, mask)
            _lowest_leaves(mask, mask_leaf, leaf)
    _add_values(packed.leaf_value, first_leaf, leaf, rows, scores)


@kernel
def score_range(packed: Any, block: Any, trees: Any, begin: Any, end: Any, scores: Any) -> None:
    """OUT scores[K, n] for the rows `begin` to `end` of a block, with the trees `trees[0]` to `trees[1]`."""
    n_outputs = packed.base_score.shape[0]
    codes = np.empty(packed.channels.shape[0] * ROWS, np.int32)
    mask = np.empty(ROWS, np.int32)
    leaf = np.zeros(ROWS, np.uint32)
    for first_row in range(begin, end, ROWS):
        rows = min(ROWS, end - first_row)
        _encode(packed, block, first_row, rows, codes)
        start = block.first_row + first_row
        for output in range(n_outputs):
            scores[output, start : start + rows] = packed.base_score[output]
        for tree in range(trees[0], trees[1]):
            part = scores[tree % n_outputs, start : start + rows]
            _add_tree(packed, tree, codes, rows, mask, leaf, part)


@parallel_kernel
def score_range_parallel(packed: Any, block: Any, trees: Any, tasks: Any, scores: Any) -> None:
    """`score_range` of all rows on several threads."""
    blocks = (block.n_rows + ROWS - 1) // ROWS
    for task in prange(tasks):
        k = np.int64(task)
        begin = k * blocks // tasks * ROWS
        end = min((k + 1) * blocks // tasks * ROWS, block.n_rows)
        score_range(packed, block, trees, begin, end, scores)


@kernel
def leaf_range(packed: Any, block: Any, begin: Any, end: Any, leaves: Any) -> None:
    """OUT leaves[n, T]: for the rows `begin` to `end`, the node within its tree that each row reaches."""
    codes = np.empty(packed.channels.shape[0] * ROWS, np.int32)
    leaf = np.zeros(ROWS, np.uint32)
    for first_row in range(begin, end, ROWS):
        rows = min(ROWS, end - first_row)
        _encode(packed, block, first_row, rows, codes)
        for tree in range(packed.trees.shape[0]):
            words = packed.words[packed.trees[tree, 0] :]
            _walk(words, np.uint64(packed.left_bits), packed.trees[tree, 1], codes, rows, leaf)
            for i in range(rows):
                leaves[block.first_row + first_row + i, tree] = leaf[i]


@parallel_kernel
def leaf_range_parallel(packed: Any, block: Any, tasks: Any, leaves: Any) -> None:
    """`leaf_range` of all rows on several threads."""
    blocks = (block.n_rows + ROWS - 1) // ROWS
    for task in prange(tasks):
        k = np.int64(task)
        begin = k * blocks // tasks * ROWS
        end = min((k + 1) * blocks // tasks * ROWS, block.n_rows)
        leaf_range(packed, block, begin, end, leaves)
