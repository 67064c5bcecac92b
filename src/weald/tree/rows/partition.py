"""Moving a node's rows to its children: stable, branch-free, one bin a row."""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import BinCodes, Int, Int64s, Uint8s, Uint64s
from weald.runtime.far import returns
from weald.runtime.jit import inlined, inner_kernel, kernel
from weald.runtime.tasks import shared_kernel
from weald.tree.splits.categories import has_bin
from weald.tree.state import Codes

PARALLEL_ROWS = 6_000  # rows from which the work is shared

_HALF = np.uint64(32)


@inlined
def fill_goes_left(
    n_bins: int,
    categorical: bool,
    split_bin: int,
    left_bins: NDArray[np.int64],
    missing_left: int,
    goes_left: NDArray[np.uint8],
) -> None:
    """``goes_left[bin]`` = 1 for the bins that a split sends to the left; ``goes_left``: uint8 (n_bins + 1,) or longer."""
    for b in range(n_bins):
        goes_left[b] = np.uint8(has_bin(left_bins, b)) if categorical else np.uint8(b <= split_bin)
    goes_left[n_bins] = np.uint8(missing_left)


@inner_kernel
def _count_left(column: BinCodes, goes_left: Uint8s, entries: Uint64s, begin: int, end: int) -> Int:
    count = np.int64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        count += np.int64(goes_left[column[entries[i] >> _HALF]])
    return count


@inner_kernel
def _move_forward(
    column: BinCodes,
    goes_left: Uint8s,
    source: Uint64s,
    begin: int,
    end: int,
    left: Int,
    right: Int,
    target: Uint64s,
) -> None:
    """Rows to ``target[left:]`` or ``target[right:]``: the place is selected, so there is one store and no branch."""
    for i in range(np.uint64(begin), np.uint64(end)):
        entry = source[i]
        go = np.int64(goes_left[column[entry >> _HALF]])
        target[np.uint64(left if go else right)] = entry
        left += go
        right += 1 - go


@inner_kernel
def _move_backward(
    column: BinCodes,
    goes_left: Uint8s,
    source: Uint64s,
    begin: int,
    end: int,
    left: Int,
    right: Int,
    target: Uint64s,
) -> None:
    """The same from the last row to the first, to the places before ``left`` and ``right``."""
    for i in range(end - begin):
        entry = source[np.uint64(end - 1 - i)]
        go = np.int64(goes_left[column[entry >> _HALF]])
        left -= go
        right -= 1 - go
        target[np.uint64(left if go else right)] = entry


@inlined
def _share(begin: int, end: int, part: int, parts: int) -> int:
    return begin + (end - begin) * part // parts


@shared_kernel
def _count_parts(
    part: int,
    tasks: int,
    column: BinCodes,
    goes_left: Uint8s,
    entries: Uint64s,
    begin: int,
    end: int,
    counts: Int64s,
) -> None:
    """Left rows of every part but the last, a task each; the last one's follow from the others'."""
    first, last = _share(begin, end, part, tasks + 1), _share(begin, end, part + 1, tasks + 1)
    counts[part] = _count_left(column, goes_left, entries, first, last)


@shared_kernel
def _move_parts(
    task: int,
    tasks: int,
    column: BinCodes,
    goes_left: Uint8s,
    source: Uint64s,
    begin: int,
    end: int,
    n_left: int,
    counts: Int64s,
    target: Uint64s,
) -> None:
    """Two tasks a part, one from each of its ends: with one part nothing has to be counted first."""
    part, parts = task // 2, tasks // 2
    first, last = _share(begin, end, part, parts), _share(begin, end, part + 1, parts)
    middle = (first + last) // 2
    left_before: Int = np.int64(0)
    for earlier in range(part):
        left_before += counts[earlier]
    if task % 2 == 0:
        right_before = first - begin - left_before
        left, right = begin + left_before, begin + n_left + right_before
        _move_forward(column, goes_left, source, first, middle, left, right, target)
    else:
        left_until = n_left
        if part < parts - 1:
            left_until = left_before + counts[part]
        right_until = last - begin - left_until
        left, right = begin + left_until, begin + n_left + right_until
        _move_backward(column, goes_left, source, middle, last, left, right, target)


@returns(types.none)
@kernel
def partition(
    column: Codes,
    goes_left: NDArray[np.uint8],
    source: NDArray[np.uint64],
    begin: int,
    end: int,
    n_left: int,
    tasks: int,
    counts: NDArray[np.int64],
    target: NDArray[np.uint64],
) -> None:
    """Copy ``source[begin:end]`` to ``target[begin:end]``, left rows first, both sides in their old order.

    ``n_left`` is known from the histogram's counts. ``counts``: int64 (tasks,) scratch.
    """
    if tasks == 1 or end - begin < PARALLEL_ROWS:
        _move_forward(column, goes_left, source, begin, end, begin, begin + n_left, target)
        return
    parts = (tasks + 1) // 2
    if parts > 1:
        _count_parts(parts - 1, column, goes_left, source, begin, end, counts)
    _move_parts(2 * parts, column, goes_left, source, begin, end, n_left, counts, target)
