"""Raw scores and leaves of rows: the door to the prediction kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.data.sparse import SparseBlocks
from weald.forest.codes import Block
from weald.forest.forest import Forest
from weald.forest.kernels import find_leaves, score_rows
from weald.forest.packed import PackedForest
from weald.forest.packing import needs_ranks, pack_trees
from weald.runtime.errors import InputError
from weald.runtime.threads import hire

Blocks = Iterable[tuple[int, NDArray[Any]]]

# Below this many rows times (trees + features) starting threads costs more than they save.
PARALLEL_WORK: Final = 50_000
# A block that is not aligned, or has neither its rows nor its columns in one piece each, is copied so many rows at a time.
_COPIED_ROWS: Final = 4096
_SINGLE: Final = np.dtype(np.float32)
_DOUBLE: Final = np.dtype(np.float64)
# Where the packed forms for float32 and for float64 rows are kept on a forest, and those for rows without missing values.
_PACKED: Final = ("_packed_for_float32", "_packed_for_float64")
_PACKED_COMPLETE: Final = ("_packed_for_complete_float32", "_packed_for_complete_float64")
# Where the columns that a forest tests are kept on it, and the forest on these alone.
_TESTED: Final = "_of_tested_columns"
# Where the trees of an averaged forest are kept on it, as a forest that sums them.
_ALONE: Final = "_trees_alone"
# Trees, and leaves of rows in trees, that are found at a time to be added one by one.
_TREES_TOGETHER: Final = 128
_LEAVES_TOGETHER: Final = 2**24
# Larger forests have a form for rows without missing values: half as many codes, a quarter less time for deep trees.
_LARGE_FOREST: Final = 2**16


def _empty(dtype: np.dtype[Any]) -> NDArray[Any]:
    array = np.empty(0, dtype=dtype)
    array.flags.writeable = False
    return array


_NO_SINGLES: Final = _empty(_SINGLE)
_NO_DOUBLES: Final = _empty(_DOUBLE)


def raw_scores(
    forest: Forest,
    blocks: Blocks,
    n_rows: int,
    tasks: int = 1,
    first_round: int = 0,
    last_round: int | None = None,
) -> NDArray[np.float64]:
    """Raw scores float64[K, n_rows]: the base score plus the trees, or their mean, of rounds `first_round` to `last_round`.

    `last_round` itself is not included; None means all. Blocks are pairs of (first row, float32 or float64
    matrix with a column per feature, NaN for missing), as a `Dataset` yields them. The scores are the same
    for every number of tasks and every way to cut the rows into blocks; several threads may call at once.

    Examples:
        >>> import numpy as np
        >>> from weald.forest.builder import ForestBuilder
        >>> builder = ForestBuilder(n_features=2, n_outputs=1, base_score=[0.5])
        >>> builder.append(
        ...     feature=[1, -1, -1], threshold=[3.5, 0, 0], left=[1, 0, 0], missing_left=[True, False, False],
        ...     category_set=[-1, -1, -1], value=[0, -1, 1], gain=[8, 0, 0], cover=[6, 3, 3], count=[6, 3, 3],
        ... )
        >>> rows = np.array([[0.0, 3.5], [0.0, 4.0], [0.0, np.nan]])
        >>> raw_scores(builder.build(), [(0, rows)], n_rows=3)
        array([[-0.5,  1.5, -0.5]])
    """
    n_rounds = forest.n_rounds
    last = n_rounds if last_round is None else last_round
    if not 0 <= first_round <= last <= n_rounds:
        rounds = f"first_round is {first_round} and last_round is {last_round}"
        raise InputError(f"{rounds}; they must rise within 0 to {n_rounds}, the rounds of this forest.")
    if forest.averaged:
        sums = raw_scores(trees_alone(forest), blocks, n_rows, tasks, first_round, last)
        sums /= max(last - first_round, 1)
        sums += forest.base_score[:, None]
        return sums
    trees = (first_round * forest.trees_per_round, last * forest.trees_per_round)
    scores = np.empty(forest.n_outputs * n_rows, dtype=np.float64)
    work_per_row = trees[1] - trees[0] + forest.n_features
    for packed, block in _packed_blocks(forest, blocks, n_rows):
        used = tasks if block.n_rows * work_per_row >= PARALLEL_WORK else 1
        score_rows(used, packed, block, trees, scores)
    return scores.reshape(forest.n_outputs, n_rows)


def leaf_indices(forest: Forest, blocks: Blocks, n_rows: int, tasks: int = 1) -> NDArray[np.int32]:
    """int32[n_rows, T]: the index, within its tree, of the leaf that each row reaches in each tree.

    Blocks and tasks are as in `raw_scores`.
    """
    leaves = np.empty((n_rows, forest.n_trees), dtype=np.int32)
    work_per_row = forest.n_trees + forest.n_features
    for packed, block in _packed_blocks(forest, blocks, n_rows):
        used = tasks if block.n_rows * work_per_row >= PARALLEL_WORK else 1
        find_leaves(used, packed, block, leaves)
    return leaves


def staged_scores(
    forest: Forest, blocks: Blocks, n_rows: int, stops: Sequence[int], n_jobs: int | None = 1
) -> Iterator[NDArray[np.float64]]:
    """Raw scores float64[K, n_rows] after so many rounds each, from 1 and ascending: bit for bit those of `raw_scores`.

    For forests that sum trees of one number a leaf. ``blocks`` are gone through again and again, so they must be a list or
    `SparseBlocks`; rows are coded for many trees at a time, as that takes longer than the leaves of a single one.
    """
    per, offsets = forest.trees_per_round, forest.tree_offsets
    scores = np.empty((forest.n_outputs, n_rows))
    scores[:] = forest.base_score[:, None]
    together = max(1, min(_TREES_TOGETHER, _LEAVES_TOGETHER // max(n_rows, 1)) // per)
    done, last = 0, max(stops, default=0)
    waiting = iter(stops)
    stop = next(waiting, None)
    for begin in range(0, last, together):
        end = min(begin + together, last)
        part = forest.trees(begin * per, end * per)
        tasks = hire(n_jobs)  # not around the whole loop, which stands still between two stages
        leaves = np.ascontiguousarray(leaf_indices(part, blocks, n_rows, tasks).T)
        for tree, own in enumerate(leaves, begin * per):
            scores[tree % forest.n_outputs] += forest.value[offsets[tree] + own]
            if (tree + 1) % per:
                continue
            done += 1
            while stop == done:
                yield scores.copy()
                stop = next(waiting, None)


def _packed(forest: Forest, is_double: bool, is_complete: bool = False) -> PackedForest:
    """The packed form for rows of a dtype; `is_complete`: for rows that have no missing values."""
    # Kept on the forest itself, outside of its fields: not compared, not pickled, gone with the forest. Two
    # threads may both pack; they come to the same, and the assignment is atomic.
    name = (_PACKED_COMPLETE if is_complete else _PACKED)[is_double]
    packed: PackedForest | None = forest.__dict__.get(name)
    if packed is None:
        if is_double and not needs_ranks(forest):
            packed = _packed(forest, False, is_complete)
        elif is_complete and (forest.missing_left[forest.feature >= 0]).any():
            packed = pack_trees(replace(forest, missing_left=np.zeros_like(forest.missing_left)), is_double)
        elif is_complete:
            packed = _packed(forest, is_double)
        else:
            packed = pack_trees(forest, is_double)
        object.__setattr__(forest, name, packed)
    return packed


def trees_alone(forest: Forest) -> Forest:
    """The same trees as a forest that starts from 0 and sums them."""
    kept: Forest | None = forest.__dict__.get(_ALONE)
    if kept is None:
        kept = replace(forest, base_score=np.zeros(forest.n_outputs), averaged=False)
        object.__setattr__(forest, _ALONE, kept)  # as in `_packed`
    return kept


def _of_tested_columns(forest: Forest) -> tuple[NDArray[np.int64], Forest]:
    """The columns that the trees test, at least one, and the forest on these alone; the same trees, leaves and scores."""
    kept: tuple[NDArray[np.int64], Forest] | None = forest.__dict__.get(_TESTED)
    if kept is None:
        is_inner = forest.feature >= 0
        columns, place = np.unique(forest.feature[is_inner], return_inverse=True)
        feature = np.full_like(forest.feature, -1)
        feature[is_inner] = place
        tested: NDArray[np.int64] = (columns if len(columns) else np.zeros(1)).astype(np.int64)
        kept = tested, replace(forest, n_features=len(tested), feature=feature)
        object.__setattr__(forest, _TESTED, kept)  # as in `_packed`
    return kept


def _is_complete(forest: Forest, matrix: NDArray[Any]) -> bool:
    """Whether a large forest is given rows without missing values; the smallest number of others would be NaN."""
    return forest.n_nodes > _LARGE_FOREST and matrix.size > 0 and not np.isnan(matrix.min())


def _packed_blocks(forest: Forest, blocks: Blocks, n_rows: int) -> Iterator[tuple[PackedForest, Block]]:
    """Checked blocks with the packed form for their dtype."""
    seen = 0
    if isinstance(blocks, SparseBlocks):
        columns, forest = _of_tested_columns(forest)
        blocks = blocks.of_columns(columns)
    for first_row, given in blocks:
        matrix = np.asarray(given)
        _check_block(forest, first_row, matrix, n_rows)
        packed = _packed(forest, matrix.dtype == _DOUBLE, _is_complete(forest, matrix))
        seen += matrix.shape[0]
        if matrix.flags.aligned and (matrix.flags.c_contiguous or _has_whole_columns(matrix)):
            yield packed, _as_block(first_row, matrix)
            continue
        for start in range(0, matrix.shape[0], _COPIED_ROWS):
            piece = matrix[start : start + _COPIED_ROWS].copy(order="C")
            yield packed, _as_block(first_row + start, piece)
    if seen != n_rows:
        raise InputError(f"The blocks have {seen} rows together; n_rows is {n_rows}, it must be the same.")


def _check_block(forest: Forest, first_row: int, matrix: NDArray[Any], n_rows: int) -> None:
    if matrix.dtype != _SINGLE and matrix.dtype != _DOUBLE:
        raise InputError(f"A block has dtype {matrix.dtype}; it must be native float32 or float64.")
    if matrix.ndim != 2 or matrix.shape[1] != forest.n_features:
        needed = f"the forest was grown on {forest.n_features} columns"
        raise InputError(f"A block has shape {matrix.shape}; it must be a matrix, and {needed}.")
    if not 0 <= first_row <= n_rows - matrix.shape[0]:
        rows = f"rows {first_row} to {first_row + matrix.shape[0]}"
        raise InputError(f"A block holds {rows}; they must lie within the {n_rows} rows there are.")


def _has_whole_columns(matrix: NDArray[Any]) -> bool:
    """Whether every column is in one piece, and one is behind the other: data frames, and some of their rows in a row."""
    to_next, size = matrix.strides[1], matrix.itemsize
    return matrix.strides[0] == size and to_next % size == 0 and to_next >= matrix.shape[0] * size


def _as_block(first_row: int, matrix: NDArray[Any]) -> Block:
    n_rows, n_columns = matrix.shape
    if matrix.flags.c_contiguous:
        memory, row_stride, column_stride = matrix.reshape(-1), n_columns, 1
    else:
        row_stride, column_stride = 1, matrix.strides[1] // matrix.itemsize
        length = (n_columns - 1) * column_stride + n_rows if n_columns * n_rows else 0
        memory = np.lib.stride_tricks.as_strided(matrix, (length,), matrix.strides[:1])
    # A user's array may or may not be read-only; to a kernel these are two types, and it is compiled for one.
    memory.flags.writeable = False
    if matrix.dtype == _DOUBLE:
        return Block(_NO_SINGLES, memory, True, row_stride, column_stride, n_rows, first_row)
    return Block(memory, _NO_DOUBLES, False, row_stride, column_stride, n_rows, first_row)
