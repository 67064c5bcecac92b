"""Compiled prediction: rows become integer codes, codes become leaves, leaves become scores.

Rows are taken in blocks of `ROWS`. A block is encoded once into a matrix of int32 codes, one line of `ROWS`
codes per *channel*, such that every test of every tree reads `code <= threshold`: missing values and
categories are settled while encoding. Three ways lead from codes to leaves:

- *symmetric* trees (every node of a level asks the same) add up the bits of their answers;
- *masked* trees, with few leaves, keep one bit per leaf and clear, for each test that a row fails, the leaves
  to the left of the test; the lowest bit that stays marks the leaf (Lucchese et al., "QuickScorer", SIGIR
  2015). All rows make all tests, without a branch or a dependent load, so both ways run on vectors of rows;
- *walked* trees, and few rows, follow the nodes: one 64-bit word a node, eight rows side by side. A leaf points to
  itself, so that rows which have arrived need no branch; a look now and then ends the walk when all have. Where
  the trees do not fit in the caches together, many blocks of rows walk a tree before they go on to the next. Walked
  trees with sets of categories look the row's category up in the node's set: nearly every node has a set of its own, so
  that codes of their answers would be as many as nodes.

Codes decide exactly as the forest's own comparisons do, and a row's score is a sum in the order of the trees,
so the result depends neither on the way nor on the number of tasks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from weald.forest.codes import LINE, ROWS, SLOT, Block, encode_all
from weald.forest.packed import (
    DEPTH,
    FIRST_LEAF,
    FIRST_NODE,
    FIRST_PASS,
    FIRST_VECTOR,
    LAST_PASS,
    SYMMETRIC,
    WALKED,
    WALKED_SETS,
    WAY,
    PackedForest,
)
from weald.runtime.arrays import Float64s, Int32s, Uint32s, Uint64s
from weald.runtime.far import far, returns
from weald.runtime.jit import bare_inner_kernel, inlined
from weald.runtime.references import refer
from weald.runtime.tasks import shared_kernel

# Rows that walk a tree side by side; more would not fit in the registers.
SIDE_BY_SIDE = 8
# Steps between two looks whether all rows that walk side by side have reached their leaves.
STEPS = 4
# Trees that one row walks side by side.
TREES_SIDE_BY_SIDE = 4
# Fewer rows than this walk every tree: a masked tree costs as much for one row as for a whole block.
FEWEST_ROWS = 12
# Leaves in a mask; a tree with more of them has several masks.
MASK_LEAVES = 32
# Tests that a masked and a symmetric tree make in one loop over the rows.
MASK_GROUP, SYMMETRIC_GROUP = 4, 2

_MAGNITUDE = np.int32(2**31 - 1)
_EXPONENT_SHIFT = np.int32(23)
_EXPONENT_MASK = np.int32(255)
_EXPONENT_BIAS = np.int32(127)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_HALF_WORD = np.uint64(32)
_ONE = np.uint64(1)


class Buffers(NamedTuple):
    """Where a task works: `codes` for the rows that take a tree together, the others for ROWS rows."""

    codes: Int32s
    column: Float64s
    mask: Int32s
    leaf: Uint32s


@returns(types.none)
@bare_inner_kernel
def _symmetric_leaves(packed: PackedForest, number: int, buffers: Buffers, base: np.uint64) -> None:
    """OUT buffers.leaf[i] = sum of the weights of the pass's tests whose answer is right; the row's first code is at `base`."""
    tests, codes, leaf = packed.tests, buffers.codes, buffers.leaf
    leaf[:] = np.uint32(0)
    for t in range(packed.passes[number, 0], packed.passes[number, 1], SYMMETRIC_GROUP):
        at0 = base + np.uint64(tests[t, 0]) * LINE
        at1 = base + np.uint64(tests[t + 1, 0]) * LINE
        limit0, limit1 = tests[t, 1], tests[t + 1, 1]
        weight0, weight1 = np.uint32(tests[t, 2]), np.uint32(tests[t + 1, 2])
        for i in range(ROWS):
            row = np.uint64(i)
            right0 = np.uint32(0) if codes[at0 + row] < limit0 else weight0
            right1 = np.uint32(0) if codes[at1 + row] < limit1 else weight1
            leaf[row] |= right0 | right1


@inlined
def _keep_leaves(tests: Int32s, start: int, stop: int, codes: Int32s, base: np.uint64, mask: Int32s) -> None:
    """OUT mask[i]: the bits of the leaves that no test has ruled out."""
    mask[:] = np.int32(-1)
    for t in range(start, stop, MASK_GROUP):
        at0 = base + np.uint64(tests[t, 0]) * LINE
        at1 = base + np.uint64(tests[t + 1, 0]) * LINE
        at2 = base + np.uint64(tests[t + 2, 0]) * LINE
        at3 = base + np.uint64(tests[t + 3, 0]) * LINE
        limit0, limit1, limit2, limit3 = tests[t, 1], tests[t + 1, 1], tests[t + 2, 1], tests[t + 3, 1]
        keep0, keep1, keep2, keep3 = tests[t, 2], tests[t + 1, 2], tests[t + 2, 2], tests[t + 3, 2]
        for i in range(ROWS):
            row = np.uint64(i)
            kept0 = np.int32(-1) if codes[at0 + row] < limit0 else keep0
            kept1 = np.int32(-1) if codes[at1 + row] < limit1 else keep1
            kept2 = np.int32(-1) if codes[at2 + row] < limit2 else keep2
            kept3 = np.int32(-1) if codes[at3 + row] < limit3 else keep3
            mask[row] &= (kept0 & kept1) & (kept2 & kept3)


@inlined
def _lowest_leaves(mask: Int32s, first_leaf: int, leaf: Uint32s) -> None:
    """OUT leaf[i] = first_leaf + number of the lowest bit of mask[i]; unchanged where no bit is set."""
    base = np.int32(first_leaf) - _EXPONENT_BIAS
    for i in range(ROWS):
        lowest = np.int32(mask[i] & -mask[i])
        # A single bit becomes a power of two, whose exponent is its number; unlike a count of zeros this is
        # done on vectors. The highest bit is a negative power, its sign is masked away.
        exponent = (np.float32(lowest).view(np.int32) >> _EXPONENT_SHIFT) & _EXPONENT_MASK
        leaf[i] = leaf[i] if lowest == 0 else np.uint32(base + exponent)


@returns(types.none)
@bare_inner_kernel
def _masked_leaves(packed: PackedForest, number: int, buffers: Buffers, base: np.uint64) -> None:
    """OUT buffers.leaf[i]: the leaf that a row reaches, where it is of the pass's mask; the row's first code is at `base`."""
    start, stop, first_leaf = packed.passes[number, 0], packed.passes[number, 1], packed.passes[number, 2]
    _keep_leaves(packed.tests, start, stop, buffers.codes, base, buffers.mask)
    _lowest_leaves(buffers.mask, first_leaf, buffers.leaf)


@inlined
def _step(
    words: Uint64s, first: np.uint64, left_bits: np.uint64, codes: Int32s, row: np.uint64, node: np.uint64
) -> np.uint64:
    """The child of a node that a row goes to, whose first code is codes[row]; a leaf leads to itself."""
    word = words[first + node]
    channel = (word & _LOW_WORD) >> left_bits
    goes_right = codes[channel * LINE + row] > np.int32(word >> _HALF_WORD)
    return (word & ((_ONE << left_bits) - _ONE)) + np.uint64(goes_right)


@returns(types.none)
@bare_inner_kernel
def _walk(
    words: Uint64s,
    first: np.uint64,
    left_bits: np.uint64,
    depth: int,
    codes: Int32s,
    base: np.uint64,
    rows: int,
    leaf: Uint32s,
) -> None:
    """OUT leaf[:rows]: the nodes, within the tree whose first node is `first`, that the rows reach."""
    together = rows - rows % SIDE_BY_SIDE
    for i in range(0, together, SIDE_BY_SIDE):
        at = np.uint64(i)
        r0 = base + at
        r1, r2, r3, r4 = r0 + np.uint64(1), r0 + np.uint64(2), r0 + np.uint64(3), r0 + np.uint64(4)
        r5, r6, r7 = r0 + np.uint64(5), r0 + np.uint64(6), r0 + np.uint64(7)
        n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = np.uint64(0)
        left, moved = depth, True
        while moved and left > 0:
            o0, o1, o2, o3, o4, o5, o6, o7 = n0, n1, n2, n3, n4, n5, n6, n7
            for _ in range(min(left, STEPS)):
                o0, o1, o2, o3, o4, o5, o6, o7 = n0, n1, n2, n3, n4, n5, n6, n7
                n0 = _step(words, first, left_bits, codes, r0, n0)
                n1 = _step(words, first, left_bits, codes, r1, n1)
                n2 = _step(words, first, left_bits, codes, r2, n2)
                n3 = _step(words, first, left_bits, codes, r3, n3)
                n4 = _step(words, first, left_bits, codes, r4, n4)
                n5 = _step(words, first, left_bits, codes, r5, n5)
                n6 = _step(words, first, left_bits, codes, r6, n6)
                n7 = _step(words, first, left_bits, codes, r7, n7)
            left -= STEPS
            moved = (n0 ^ o0 | n1 ^ o1 | n2 ^ o2 | n3 ^ o3 | n4 ^ o4 | n5 ^ o5 | n6 ^ o6 | n7 ^ o7) != 0
        leaf[at], leaf[at + np.uint64(1)] = n0, n1
        leaf[at + np.uint64(2)], leaf[at + np.uint64(3)] = n2, n3
        leaf[at + np.uint64(4)], leaf[at + np.uint64(5)] = n4, n5
        leaf[at + np.uint64(6)], leaf[at + np.uint64(7)] = n6, n7
    for i in range(together, rows):
        node = np.uint64(0)
        for _ in range(depth):
            child = _step(words, first, left_bits, codes, base + np.uint64(i), node)
            if child == node:
                break
            node = child
        leaf[i] = node


@returns(types.none)
@bare_inner_kernel
def _walk_sets(
    packed: PackedForest,
    first: np.uint64,
    left_bits: np.uint64,
    depth: int,
    codes: Int32s,
    base: np.uint64,
    rows: int,
    leaf: Uint32s,
) -> None:
    """`_walk` for a tree with sets of categories: a row at a time."""
    words, bits, channels = packed.words, packed.bits, packed.channels
    for i in range(rows):
        node = np.uint64(0)
        for _ in range(depth):
            word = words[first + node]
            threshold = np.int32(word >> _HALF_WORD)
            if threshold == _MAGNITUDE:
                break  # a leaf
            channel = (word & _LOW_WORD) >> left_bits
            code = codes[base + channel * LINE + np.uint64(i)]
            goes_right = np.uint64(code > threshold)
            if channels[channel, 0] == SLOT:
                slot = np.uint32(code)
                entry = bits[np.uint64(threshold) + np.uint64(slot >> np.uint32(5))]
                goes_right = np.uint64((entry >> (slot & np.uint32(31))) & np.uint32(1))
            node = (word & ((_ONE << left_bits) - _ONE)) + goes_right
        leaf[i] = node


@returns(types.none)
@bare_inner_kernel
def _add_trees_to_row(
    packed: PackedForest,
    trees: tuple[int, int],
    codes: Int32s,
    row: np.uint64,
    start: int,
    n_rows: int,
    scores: Float64s,
) -> None:
    """OUT the scores of one row, the first of them scores[start]; it walks four trees side by side."""
    plan, words, left_bits = packed.trees, packed.words, np.uint64(packed.left_bits)
    n_outputs = packed.base_score.shape[0]
    for tree in range(trees[0], trees[1], TREES_SIDE_BY_SIDE):
        # The last group repeats its last tree; a walk that goes on at a leaf stays there.
        last = trees[1] - 1
        t1, t2, t3 = min(tree + 1, last), min(tree + 2, last), min(tree + 3, last)
        f0, f1 = np.uint64(plan[tree, FIRST_NODE]), np.uint64(plan[t1, FIRST_NODE])
        f2, f3 = np.uint64(plan[t2, FIRST_NODE]), np.uint64(plan[t3, FIRST_NODE])
        depth = max(max(plan[tree, DEPTH], plan[t1, DEPTH]), max(plan[t2, DEPTH], plan[t3, DEPTH]))
        n0 = n1 = n2 = n3 = np.uint64(0)
        left, moved = depth, True
        while moved and left > 0:
            o0, o1, o2, o3 = n0, n1, n2, n3
            for _ in range(min(left, STEPS)):
                o0, o1, o2, o3 = n0, n1, n2, n3
                n0 = _step(words, f0, left_bits, codes, row, n0)
                n1 = _step(words, f1, left_bits, codes, row, n1)
                n2 = _step(words, f2, left_bits, codes, row, n2)
                n3 = _step(words, f3, left_bits, codes, row, n3)
            left -= STEPS
            moved = (n0 ^ o0 | n1 ^ o1 | n2 ^ o2 | n3 ^ o3) != 0
        reached = (f0 + n0, f1 + n1, f2 + n2, f3 + n3)
        for j in range(min(TREES_SIDE_BY_SIDE, trees[1] - tree)):
            if packed.vectors.size == 0:
                scores[start + (tree + j) % n_outputs * n_rows] += packed.value[reached[j]]
                continue
            at = (plan[tree + j, FIRST_VECTOR] + packed.node_vector[reached[j]]) * n_outputs
            for output in range(n_outputs):
                scores[start + output * n_rows] += packed.vectors[at + output]


@inlined
def _add_values(
    values: Float64s, first: np.uint64, leaf: Uint32s, rows: int, start: np.uint64, scores: Float64s
) -> None:
    """OUT scores[start + i] += values[first + leaf[i]] for the first `rows` rows."""
    for i in range(rows):
        row = np.uint64(i)
        scores[start + row] += values[first + np.uint64(leaf[row])]


@inlined
def _look_up(numbers: Int32s, first: np.uint64, leaf: Uint32s, rows: int) -> None:
    """OUT leaf[i] = numbers[first + leaf[i]] for the first `rows` rows."""
    for i in range(rows):
        leaf[i] = numbers[first + np.uint64(leaf[i])]


@returns(types.none)
@bare_inner_kernel
def _add_vectors(
    vectors: Float64s,
    first: int,
    number: Uint32s,
    rows: int,
    start: np.uint64,
    outputs: int,
    n_rows: int,
    scores: Float64s,
) -> None:
    """OUT scores[start + output * n_rows + i] += the vector `first` + number[i], at `output`."""
    for output in range(outputs):
        line, at = start + np.uint64(output * n_rows), np.uint64(first * outputs + output)
        for i in range(rows):
            row = np.uint64(i)
            scores[line + row] += vectors[at + np.uint64(number[row]) * np.uint64(outputs)]


@inlined
def _blocks_together(packed: PackedForest, begin: int, end: int) -> int:
    """How many rows take a tree before all of them go on to the next: whole blocks, no more than there are."""
    blocks = (end - begin + ROWS - 1) // ROWS
    return max(1, min(packed.together, blocks)) * ROWS


@inlined
def _rows_of(block: Block, task: int, tasks: int) -> tuple[int, int]:
    """A task's rows of a block, in whole blocks of ROWS."""
    blocks = (block.n_rows + ROWS - 1) // ROWS
    return blocks * task // tasks * ROWS, min(blocks * (task + 1) // tasks * ROWS, block.n_rows)


@inlined
def _allocate(packed: PackedForest, begin: int, end: int) -> Buffers:
    """A task's buffers, for the rows from `begin` to `end`."""
    codes = np.empty(packed.channels.shape[0] * _blocks_together(packed, begin, end), np.int32)
    column, mask = np.empty(ROWS, np.float64), np.empty(ROWS, np.int32)
    return Buffers(codes, column, mask, np.empty(ROWS, np.uint32))


@shared_kernel
def score_rows(
    task: int, tasks: int, packed: PackedForest, block: Block, trees: tuple[int, int], scores: Float64s
) -> None:
    """OUT scores[K * n], K lines, of the rows of a block, from trees[0] to trees[1]."""
    begin, end = _rows_of(block, task, tasks)
    buffers = _allocate(packed, begin, end)
    far(_score_range, (refer(packed), refer(block), trees, begin, end, buffers, scores))


@returns(types.none)
@bare_inner_kernel
def _score_range(
    packed: PackedForest,
    block: Block,
    trees: tuple[int, int],
    begin: int,
    end: int,
    buffers: Buffers,
    scores: Float64s,
) -> None:
    """OUT scores: of the rows from `begin` to `end`."""
    buffers = refer(buffers)
    codes, leaf = buffers.codes, buffers.leaf
    n_outputs = packed.base_score.shape[0]
    n_rows = scores.shape[0] // n_outputs
    n_channels = packed.channels.shape[0]
    # Taken out of the tuple once: for every tree and block it would cost 1 ns a row, a third of a small tree.
    plan, words, left_bits = packed.trees, packed.words, np.uint64(packed.left_bits)
    value, leaf_value = packed.value, packed.leaf_value
    vectors, node_vector, leaf_vector = packed.vectors, packed.node_vector, packed.leaf_vector
    has_vectors = vectors.size > 0
    together = _blocks_together(packed, begin, end)
    for first_row in range(begin, end, together):
        stop = min(first_row + together, end)
        far(encode_all, (packed, block, first_row, stop, buffers.column, codes))
        for output in range(n_outputs):
            start = output * n_rows + block.first_row
            scores[start + first_row : start + stop] = packed.base_score[output]
        if stop - first_row < FEWEST_ROWS and not packed.walks_sets:
            for row in range(first_row, stop):
                start, i = block.first_row + row, np.uint64(row - first_row)
                far(_add_trees_to_row, (packed, trees, codes, i, start, n_rows, scores))
            continue
        for tree in range(trees[0], trees[1]):
            way, first = plan[tree, WAY], np.uint64(plan[tree, FIRST_NODE])
            is_walked = way in (WALKED, WALKED_SETS)
            first_value = first if is_walked else np.uint64(plan[tree, FIRST_LEAF])
            for row in range(first_row, stop, ROWS):
                base, rows = np.uint64(n_channels * (row - first_row)), min(ROWS, stop - row)
                at = np.uint64(block.first_row + row)
                if way == WALKED:
                    far(_walk, (words, first, left_bits, plan[tree, DEPTH], codes, base, rows, leaf))
                elif way == WALKED_SETS:
                    far(_walk_sets, (packed, first, left_bits, plan[tree, DEPTH], codes, base, rows, leaf))
                for p in range(plan[tree, FIRST_PASS], plan[tree, LAST_PASS]):
                    if way == SYMMETRIC:
                        far(_symmetric_leaves, (packed, p, buffers, base))
                    else:
                        far(_masked_leaves, (packed, p, buffers, base))
                if has_vectors:
                    numbers = node_vector if is_walked else leaf_vector
                    _look_up(numbers, first_value, leaf, rows)
                    far(
                        _add_vectors,
                        (vectors, plan[tree, FIRST_VECTOR], leaf, rows, at, n_outputs, n_rows, scores),
                    )
                    continue
                at += np.uint64(tree % n_outputs * n_rows)
                _add_values(value if is_walked else leaf_value, first_value, leaf, rows, at, scores)


@shared_kernel
def find_leaves(task: int, tasks: int, packed: PackedForest, block: Block, leaves: Int32s) -> None:
    """OUT leaves[n, T]: for the rows of a block, the node within its tree that each row reaches."""
    begin, end = _rows_of(block, task, tasks)
    buffers = _allocate(packed, begin, end)
    far(_find_range, (refer(packed), refer(block), begin, end, buffers, leaves))


@returns(types.none)
@bare_inner_kernel
def _find_range(
    packed: PackedForest, block: Block, begin: int, end: int, buffers: Buffers, leaves: Int32s
) -> None:
    """OUT leaves: of the rows from `begin` to `end`."""
    codes, leaf = buffers.codes, buffers.leaf
    n_channels, left_bits = packed.channels.shape[0], np.uint64(packed.left_bits)
    together = _blocks_together(packed, begin, end)
    for first_row in range(begin, end, together):
        stop = min(first_row + together, end)
        far(encode_all, (packed, block, first_row, stop, buffers.column, codes))
        for tree in range(packed.trees.shape[0]):
            first, depth = np.uint64(packed.trees[tree, FIRST_NODE]), packed.trees[tree, DEPTH]
            for row in range(first_row, stop, ROWS):
                base, rows = np.uint64(n_channels * (row - first_row)), min(ROWS, stop - row)
                if packed.trees[tree, WAY] == WALKED_SETS:
                    far(_walk_sets, (packed, first, left_bits, depth, codes, base, rows, leaf))
                else:
                    far(_walk, (packed.words, first, left_bits, depth, codes, base, rows, leaf))
                for i in range(rows):
                    leaves[block.first_row + row + i, tree] = leaf[i]
