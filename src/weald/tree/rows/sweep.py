"""The leaves of many rows column by column, from the leaves up: for trees whose leaves' numbers fit in one byte.

A walk reads the nodes of its path alone, but waits for a cell at each. A sweep asks every node about every row; what it
does is compare a column's bytes with one number and choose among two bytes, which a CPU does for 32 rows at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import BinCodes, Int32s, Uint8s
from weald.runtime.jit import inlined
from weald.runtime.tasks import shared_kernel

PARALLEL_ROWS = 20_000
BLOCK = 512  # rows at a time: what all nodes say about them stays in the nearest cache
FEWEST_ROWS = 2_048  # with fewer a walk is over before the sweep is prepared
FEWEST_ROWS_OF_CODE = 4  # the same for every code of a categorical column, which a table asks for

# 500,000 rows: 0.05 ms a node and byte of a code, 0.3 ms a node that asks a set; a walk of all takes 15 to 20 ms.
MOST_BYTES = 256
BYTES_OF_SET = 6

Codes = NDArray[np.unsignedinteger[Any]]


class Questions(NamedTuple):
    """What every node asks a row's code.

    To the left go the codes from ``first`` on, ``more`` after it; a difference of unsigned numbers wraps round, so that
    missing, the last code, can be followed by 0. Where they are no such range, the node has a table.
    """

    feature: NDArray[np.int32]
    left: NDArray[np.int32]
    first: Codes
    more: Codes
    table: NDArray[np.int32]  # which, -1: none
    tables: NDArray[np.uint8]  # 255 for a code that goes right, else 0


@inlined
def _choose_by_range(
    codes: BinCodes,
    first: np.unsignedinteger[Any],
    more: np.unsignedinteger[Any],
    left: Uint8s,
    right: Uint8s,
    out: Uint8s,
) -> None:
    for row in range(len(out)):
        low, high = left[row], right[row]
        out[row] = high if codes.dtype.type(codes[row] - first) > more else low


@inlined
def _choose_by_table(codes: BinCodes, table: Uint8s, left: Uint8s, right: Uint8s, out: Uint8s) -> None:
    for row in range(len(out)):
        low, high = left[row], right[row]
        out[row] = low ^ ((low ^ high) & table[codes[row]])


@inlined
def _settle(found: Uint8s, waiting: np.uint8, leaf_of_row: Uint8s) -> None:
    for row in range(len(leaf_of_row)):
        before, now = leaf_of_row[row], found[row]
        leaf_of_row[row] = now if before == waiting else before


@shared_kernel
def _sweep(
    task: int,
    tasks: int,
    columns: BinCodes,
    questions: Questions,
    leaf_of_node: Int32s,
    waiting: np.uint8,
    leaf_of_row: Uint8s,
) -> None:
    begin, end = len(leaf_of_row) * task // tasks, len(leaf_of_row) * (task + 1) // tasks
    n_nodes = len(questions.feature)
    reached = np.empty((n_nodes, BLOCK), np.uint8)
    for node in range(n_nodes):
        reached[node] = np.uint8(max(leaf_of_node[node], 0))
    for start in range(begin, end, BLOCK):
        size = min(BLOCK, end - start)
        for node in range(n_nodes - 1, -1, -1):  # children come after their parents
            if questions.feature[node] < 0:
                continue
            codes = columns[questions.feature[node], start : start + size]
            left = reached[questions.left[node], :size]
            right = reached[questions.left[node] + 1, :size]
            out = reached[node, :size]
            table = questions.table[node]
            if table >= 0:
                _choose_by_table(codes, questions.tables[table], left, right, out)
            else:
                _choose_by_range(codes, questions.first[node], questions.more[node], left, right, out)
        _settle(reached[0, :size], waiting, leaf_of_row[start : start + size])


def sweep_rows(
    columns: Codes,
    questions: Questions,
    leaf_of_node: NDArray[np.int32],
    tasks: int,
    waiting: int,
    leaf_of_row: NDArray[Any],
) -> None:
    """Write the leaf of every row whose entry in ``leaf_of_row``, uint8, is ``waiting``; ``columns``: (columns, rows)."""
    used = tasks if len(leaf_of_row) >= PARALLEL_ROWS else 1
    _sweep(used, columns, questions, leaf_of_node, np.uint8(waiting), leaf_of_row)


def fewest_rows(n_bins: NDArray[np.int64], categorical: NDArray[np.bool_]) -> int:
    """With how many rows a sweep of such columns may be worth its preparation."""
    most_codes = int(n_bins.max(initial=0, where=categorical)) + 1
    return max(FEWEST_ROWS, FEWEST_ROWS_OF_CODE * most_codes)


def is_worth_a_sweep(questions: Questions) -> bool:
    """Whether asking all nodes costs less than a walk."""
    sets = int(np.count_nonzero(questions.table >= 0))
    ranges = int(np.count_nonzero(questions.feature >= 0)) - sets
    n_bytes = ranges * questions.first.dtype.itemsize + sets * BYTES_OF_SET
    return n_bytes <= MOST_BYTES


def questions_of(
    dtype: np.dtype[np.unsignedinteger[Any]],
    n_bins: NDArray[np.int64],
    categorical: NDArray[np.bool_],
    feature: NDArray[np.int32],
    split_bin: NDArray[np.int32],
    left_bins: NDArray[np.int64],
    missing_left: NDArray[np.uint8],
    left: NDArray[np.int32],
) -> Questions:
    """What the nodes of a tree ask codes of a type; the code of missing is its column's number of bins."""
    column = np.maximum(feature, 0)
    missing = n_bins[column]
    first = np.where(missing_left == 1, missing, 0)
    last = split_bin.astype(np.int64)
    table = np.full(len(feature), -1, np.int32)
    tables = np.zeros((0, 0), np.uint8)
    sets = np.flatnonzero(categorical[column] & (feature >= 0))
    if len(sets):
        goes_left = _members(left_bins[sets], missing[sets], missing_left[sets])
        n_ranges, first[sets], last[sets] = _ranges(goes_left, missing[sets])
        several = n_ranges != 1  # or none at all
        table[sets[several]] = np.arange(np.count_nonzero(several))
        tables = np.where(goes_left[several], 0, 255).astype(np.uint8)
    more = (last - first) % 2 ** (8 * dtype.itemsize)
    return Questions(feature, left, first.astype(dtype), more.astype(dtype), table, tables)


def _members(
    left_bins: NDArray[np.int64], missing: NDArray[np.int64], missing_left: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Which codes go left, (nodes, codes)."""
    bits = np.unpackbits(np.ascontiguousarray(left_bins).view(np.uint8), axis=1, bitorder="little")
    goes_left = np.zeros((len(bits), int(missing.max()) + 1), np.bool_)
    width = min(bits.shape[1], goes_left.shape[1])
    goes_left[:, :width] = bits[:, :width]
    goes_left[np.arange(len(bits)), missing] = missing_left == 1
    return goes_left


def _ranges(
    goes_left: NDArray[np.bool_], missing: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """In how many ranges the codes that go left lie, on a ring where 0 follows missing, and the bounds of the first."""
    nodes = np.arange(len(goes_left))
    before, after = np.roll(goes_left, 1, axis=1), np.roll(goes_left, -1, axis=1)
    before[:, 0], after[nodes, missing] = goes_left[nodes, missing], goes_left[:, 0]
    starts, ends = goes_left & ~before, goes_left & ~after
    return starts.sum(axis=1), starts.argmax(axis=1), ends.argmax(axis=1)
