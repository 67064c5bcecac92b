"""Inputs for the tree kernels: bins, integer gradients over their whole range, and poisoned memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from weald.tree.state import (
    BIN_WORDS,
    LEAFWISE,
    LEFT_BINS,
    STRIDE,
    Gradients,
    Nodes,
    Rules,
    TreeInput,
    Workspace,
)

POISON = -0x0123_4567_89AB_CDEF
CANDIDATE = LEFT_BINS + BIN_WORDS  # integers of a candidate where bins are bytes


def random_bins(
    generator: np.random.Generator, n_rows: int, n_bins: Sequence[int], missing: float = 0.1
) -> NDArray[np.uint8]:
    """Bins (rows, features), low ones more often; every second feature has missing values."""
    columns = []
    for feature, number in enumerate(n_bins):
        column = (generator.random(n_rows) ** 2 * number).astype(np.uint8)
        if feature % 2 == 1:
            column[generator.random(n_rows) < missing] = number
        columns.append(column)
    return np.stack(columns, axis=1)


def tree_input(
    bins: NDArray[np.uint8],
    n_bins: Sequence[int],
    categorical: Sequence[int] = (),
    uniform: bool = True,
    gathers: Sequence[int] = (),
) -> TreeInput:
    """The bins in both orders; a layout that is not uniform has no cell to spare."""
    n_features = len(n_bins)
    offsets = np.arange(n_features) * STRIDE
    if not uniform:
        offsets = np.concatenate([[0], np.cumsum(np.array(n_bins) + 1)[:-1]])
    kinds = np.zeros(n_features, np.bool_)
    kinds[list(categorical)] = True
    gathering = np.zeros(n_features, np.bool_)
    gathering[list(gathers)] = True
    return TreeInput(
        np.ascontiguousarray(bins).reshape(-1),
        np.ascontiguousarray(bins.T),
        offsets.astype(np.uint64),
        np.array(n_bins, np.int64),
        kinds,
        gathering,
        uniform,
    )


def n_cells(data: TreeInput) -> int:
    """Cells of a histogram."""
    if data.uniform:
        return len(data.n_bins) * STRIDE
    return int(data.offsets[-1]) + int(data.n_bins[-1]) + 1


def random_gradients(
    generator: np.random.Generator,
    n_rows: int,
    packed: bool,
    signal: NDArray[Any] | None = None,
    extreme: int = 0,
) -> tuple[Gradients, NDArray[np.uint64]]:
    """Integer gradients and entries of all rows in order: any that fit, or the largest of a sign."""
    g_limit, h_limit = (4095, 4095) if packed else (2**31 - 1, 2**25 - 1)
    gradient = generator.integers(-g_limit, g_limit + 1, n_rows)
    hessian = generator.integers(0, h_limit + 1, n_rows)
    if signal is not None:
        gradient = np.clip(gradient // 2 + (signal * (g_limit // 3)).astype(np.int64), -g_limit, g_limit)
    if extreme:
        gradient = np.full(n_rows, extreme * g_limit)
        hessian = np.full(n_rows, h_limit)
    pairs = list(enumerate(zip(gradient.tolist(), hessian.tolist(), strict=True)))
    words = [reference.encode_entry(packed, row, g, h) for row, (g, h) in pairs]
    wide = [0] if packed else [reference.encode_wide(g, h) for _, (g, h) in pairs]
    units = (0.37 / 4095, 0.91 / 4095) if packed else (0.37 / 2**31, 0.91 / 2**25)
    gradients = Gradients(packed, np.array(wide, np.uint64), *units)
    return gradients, np.array(words, np.uint64)


def rules(**changes: Any) -> Rules:
    """Rules that forbid little."""
    values: dict[str, Any] = {
        "growth": LEAFWISE,
        "max_leaves": 15,
        "max_depth": 64,
        "min_samples_leaf": 1,
        "min_child_weight": 1e-3,
        "reg_lambda": 1.0,
        "reg_alpha": 0.0,
        "gamma": 0.0,
        "max_delta_step": 0.0,
        "level_share": 1.0,
        "node_share": 1.0,
        "min_samples_split": 2,
        "min_gain": 0.0,
        "max_cat_to_onehot": 255,
        "max_cat_threshold": 64,
        "cat_smooth": 0.0,
        "cat_l2": 0.0,
        "min_samples_category": 1,
        "path_smooth": 0.0,
        "extra_trees": False,
    }
    return Rules(**{**values, **changes})


def workspace(n_rows: int, cells: int, tasks: int, slots: int = 1, most_leaves: int = 64) -> Workspace:
    """Memory full of rubbish, but for the buffers, which are zero between uses."""
    return Workspace(
        np.full((2, max(n_rows, 1)), 0xDEAD_BEEF, np.uint64),
        np.full((slots, 3, cells), POISON, np.int64),
        np.zeros((tasks, 2, cells), np.int64),
        np.full((tasks, 3, cells), POISON, np.int64),
        np.full(most_leaves, POISON, np.int64),
        np.full(tasks, POISON, np.int64),
    )


def empty_nodes(most: int) -> Nodes:
    """Nodes full of rubbish."""
    types = {"feature": np.int32, "split_bin": np.int32, "missing_left": np.uint8, "left": np.int32}
    arrays: dict[str, NDArray[Any]] = {}
    for name in Nodes._fields:
        if name in ("gain", "candidate_gain"):
            arrays[name] = np.full(most, 1e300)
        elif name == "candidate":
            arrays[name] = np.full((most, CANDIDATE), POISON, np.int64)
        elif name == "left_bins":
            arrays[name] = np.full((most, BIN_WORDS), POISON, np.int64)
        else:
            kind = np.int32 if name == "depth" else types.get(name, np.int64)
            arrays[name] = np.full(most, 77, kind)
    return Nodes(**arrays)
