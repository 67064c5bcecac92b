"""Growing many trees on the same bins: the Python side of the kernels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinMapper, DenseBins
from weald.runtime.errors import InputError
from weald.tree.cart.grower import grow_trees
from weald.tree.cart.items import STRIDE
from weald.tree.cart.memory import new_memory
from weald.tree.cart.rules import CRITERIA, CartLabels, CartRules, Draw, check_rules
from weald.tree.cart.state import (
    ABSOLUTE,
    CLASS_OUTPUTS,
    NUMBERS,
    ONE_CLASS_OUTPUT,
    SQUARED,
    CartPlan,
    CartTable,
    Labels,
    Trees,
)
from weald.tree.rows.walk import walk_rows
from weald.tree.splits.thresholds import split_thresholds
from weald.tree.state import BIN_WORDS

TREES_BYTES = 64 * 2**20  # of trees that are grown before they are copied; at least one
PARALLEL_ROWS = 10_000  # rows times trees: starting two threads takes a millisecond, these trees some five
TURNS = 4  # of every thread
MOST_ROWS = 2**30
UNLIMITED = 2**30
CELLS_AT_ONCE = 8_192  # of the histograms that are filled in one pass over a node's rows: 64 KB
SORT_ROWS_PER_SLOT = 64


@dataclass(frozen=True)
class CartTree:
    """A grown tree, as arrays with one entry per node: the root first, siblings side by side.

    ``value`` is the prediction of a leaf: the probability of the second class, the mean, or the median. Where a leaf
    has several numbers they are a row of ``vectors``, leaf after leaf in the order of the nodes, and ``value`` is 0.
    ``gain`` is the decrease of impurity, times the node's share of the tree's weight, ``cover`` the weight and
    ``count`` the number of the node's rows.
    """

    feature: NDArray[np.int32]
    split_bin: NDArray[np.int32]
    left_bins: NDArray[
        np.int64
    ]  # (nodes, 4): of categorical splits, the bins that go left, a bit a bin; or (0, 4)
    missing_left: NDArray[np.uint8]
    left: NDArray[np.int32]
    gain: NDArray[np.float64]
    cover: NDArray[np.float64]
    count: NDArray[np.int64]
    value: NDArray[np.float64]
    vectors: NDArray[np.float64]  # (leaves, numbers), or (0, 1) where leaves are single numbers

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(np.count_nonzero(self.feature < 0))

    def leaf_of_row(self, bins: DenseBins, tasks: int = 1) -> NDArray[np.int32]:
        """The leaf, as a node's number, that every row of binned data falls in."""
        mapper = bins.mapper
        leaves = np.full(bins.columns.shape[1], -1, np.int32)
        numbers = np.arange(len(self.feature), dtype=np.int32)
        tree = (self.feature, self.split_bin, self.left_bins, self.missing_left, self.left)
        walk_rows(
            bins.rows.reshape(bins.n_rows, -1),
            mapper.n_bins,
            mapper.categorical,
            *tree,
            numbers,
            tasks,
            -1,
            leaves,
        )
        return leaves

    def for_forest(self, mapper: BinMapper) -> dict[str, NDArray[Any]]:
        """The tree as `ForestBuilder.append` takes it."""
        names = ("feature", "left", "missing_left", "value", "gain", "cover", "count")
        arrays = {name: getattr(self, name) for name in names}
        if len(self.vectors):
            arrays["vectors"] = self.vectors
        return {**arrays, **split_thresholds(self.feature, self.split_bin, self.left_bins, mapper)}


def grow_cart_trees(
    bins: DenseBins,
    labels: CartLabels,
    weight: NDArray[np.float64] | None,
    rules: CartRules,
    draw: Draw,
    keys: NDArray[np.uint64],
    tasks: int = 1,
) -> list[CartTree]:
    """Grow a tree for every key. A tree follows from its key and the data; neither the other keys nor ``tasks`` change it.

    Rows of weight 0 do not take part. Where weights decide a split, they are rounded to multiples of a power of two,
    about 2**-30 of their sum; in the leaves they are used as they are.

    >>> from weald.binning import fit_bins
    >>> from weald.data import read_table
    >>> table = read_table(np.array([[1.0], [2.0], [3.0], [4.0]]))
    >>> bins = fit_bins(table, None).transform(table, tasks=1)
    >>> labels = CartLabels.classification(np.array([0, 0, 1, 1]), (2,))
    >>> tree, = grow_cart_trees(bins, labels, None, CartRules("gini"), Draw(), np.array([7], np.uint64))
    >>> tree.feature.tolist(), tree.value.tolist()
    ([0, -1, -1], [0.0, 0.0, 1.0])
    """
    n_rows, n_features = labels.n_rows, len(bins.columns)
    check_rules(rules, labels, n_features)
    if not 0 < n_rows < MOST_ROWS:
        raise InputError(f"trees take from 1 to {MOST_ROWS - 1} rows, not {n_rows}.")
    kernel_weight, exponent = _normalise_weight(weight)
    plan = _plan(rules, draw, labels, n_features)
    table, kernel_labels = _table(bins, plan.random_thresholds), _kernel_labels(labels, kernel_weight, plan)
    numbers, has_categories = (
        0 if labels.is_scalar else labels.numbers_per_leaf,
        bool(table.categorical.any()),
    )
    keys = np.array(keys, np.uint64)
    tasks = 1 if n_rows * len(keys) < PARALLEL_ROWS else min(tasks, len(keys))
    # Several turns a thread: trees take different times.
    turn = -(-len(keys) // (TURNS * tasks if tasks > 1 else 1))
    at_once = _trees_at_once(plan.most_leaves, numbers, has_categories, turn)

    def grow(begin: int) -> list[CartTree]:
        chunk = keys[begin : begin + at_once]
        sizes = np.empty((len(chunk), 2), np.int64)
        grown = _new_trees(len(chunk), plan.most_leaves, numbers, has_categories)
        memory = new_memory(plan, n_features, has_categories)
        grow_trees(plan, table, kernel_labels, chunk, *memory, sizes, grown)
        return _collect(grown, sizes, numbers, 2.0**exponent)

    begins = range(0, len(keys), at_once)
    if tasks <= 1:
        return [tree for begin in begins for tree in grow(begin)]
    # Kernels run without the interpreter's lock; a thread takes the next trees as soon as it is free.
    with ThreadPoolExecutor(tasks) as executor:
        return [tree for grown in executor.map(grow, begins) for tree in grown]


def _normalise_weight(weight: NDArray[np.float64] | None) -> tuple[NDArray[np.float64], int]:
    """Weights between 0 and 1, by a power of two, and its exponent; empty where all are 1."""
    if weight is None:
        return np.empty(0), 0
    largest = float(weight.max())
    if not np.isfinite(largest) or float(weight.min()) < 0.0 or largest == 0.0:
        raise InputError("weights must be finite, not negative, and not all zero.")
    exponent = int(np.frexp(largest)[1])
    return np.ldexp(np.ascontiguousarray(weight, np.float64), -exponent), exponent


def _plan(rules: CartRules, draw: Draw, labels: CartLabels, n_features: int) -> CartPlan:
    n_rows, n_outputs = labels.n_rows, labels.n_outputs
    n_draws = n_rows if draw.n_draws is None else draw.n_draws
    if not 1 <= n_draws < MOST_ROWS:
        raise InputError(f"n_draws must be from 1 to {MOST_ROWS - 1}, not {n_draws}.")
    if not draw.bootstrap:
        n_draws = min(n_draws, n_rows)
    columns = min(draw.columns_per_tree or n_features, n_features)
    features = min(rules.features_per_node or columns, columns)
    criterion, kind = CRITERIA[rules.criterion], NUMBERS
    n_slots, first_classes, code_bits = 1 + n_outputs, 0, 0
    if labels.n_classes:
        kind = ONE_CLASS_OUTPUT if n_outputs == 1 else CLASS_OUTPUTS
        first_classes = max(2, labels.n_classes[0])  # of a single class the second has no rows
        n_slots = first_classes + sum(labels.n_classes[1:])
    if kind == ONE_CLASS_OUTPUT:
        code_bits = (first_classes - 1).bit_length()
    return CartPlan(
        criterion=criterion,
        kind=kind,
        n_outputs=n_outputs,
        n_slots=n_slots,
        first_classes=first_classes,
        code_bits=code_bits,
        random_thresholds=rules.splitter == "random",
        max_depth=UNLIMITED if rules.max_depth is None else rules.max_depth,
        max_leaves=rules.max_leaf_nodes or 0,
        min_samples_split=rules.min_samples_split,
        min_samples_leaf=max(1, rules.min_samples_leaf),
        min_weight_leaf=float(rules.min_weight_leaf),
        min_impurity_decrease=float(rules.min_impurity_decrease),
        features_per_node=features,
        columns_per_tree=columns,
        bootstrap=draw.bootstrap,
        n_draws=n_draws,
        n_rows=n_rows,
        most_leaves=rules.most_leaves(min(n_rows, n_draws)),
        sort_rows=n_rows if criterion == ABSOLUTE else sort_rows_below(n_slots),
        at_once=1 if criterion == ABSOLUTE else max(1, min(features, CELLS_AT_ONCE // (STRIDE * n_slots))),
    )


def sort_rows_below(n_slots: int) -> int:
    """Rows up to which sorting a node by a feature is faster than a histogram of so many slots a bin.

    Milliseconds of CPU a tree, 100,000 x 28, one alternating run, by the rows up to which nodes are sorted. Two
    classes: 83 (0), 69 (16), 65 (32), 62 (64), 61 (128), 61 (256), 63 (512). Ten classes: 431 (0), 116 (64), 104 (160),
    98 (320), 95 (640), 94 (1280). Regression: 567 (0), 293 (32), 276 (64), 270 (128), 317 (256), 324 (512).
    """
    return SORT_ROWS_PER_SLOT * n_slots


def _kernel_labels(labels: CartLabels, weight: NDArray[np.float64], plan: CartPlan) -> Labels:
    centres, order = np.zeros(labels.n_outputs), np.empty((0, 0), np.int64)
    offsets = np.cumsum((0, plan.first_classes, *labels.n_classes[1:]))[: labels.codes.shape[1]]
    if plan.criterion in (SQUARED, ABSOLUTE):
        mantissa, exponent = np.frexp(labels.values.mean(axis=0))
        centres = np.ldexp(np.round(mantissa * 2.0**24), exponent - 24)  # near the mean is enough
    if plan.criterion == ABSOLUTE:
        order = np.ascontiguousarray(np.argsort(labels.values, axis=0, kind="stable").T, np.int64)
    codes = np.ascontiguousarray(labels.codes + offsets, np.int32)
    return Labels(codes.reshape(-1), labels.values.reshape(-1), centres, order, weight)


def _table(bins: DenseBins, random_thresholds: bool) -> CartTable:
    """The bins and, for every feature, its cuts and a value in the middle of every bin.

    The bins at both ends have no outer cut: each is taken to be as wide as its neighbour. Random thresholds are drawn as far
    as the column's extremes, where these are known: the tail of a skewed column is in its last bin, and values at equal distances
    have their own middles then, so that each is as often parted from the next.
    """
    mapper = bins.mapper
    cuts = np.full((len(mapper.cuts), 256), np.inf)
    middles = np.zeros((len(mapper.cuts), 256))
    limit = np.finfo(np.float64).max
    for feature, own in enumerate(mapper.cuts):
        size = len(own)
        if size == 0:
            continue
        cuts[feature, :size] = own
        low, high = 1.0, 1.0
        if size > 1:
            middles[feature, 1:size] = 0.5 * own[:-1] + 0.5 * own[1:]
            low, high = 0.5 * own[1] - 0.5 * own[0], 0.5 * own[-1] - 0.5 * own[-2]
        middles[feature, 0] = max(own[0] - low, -limit)
        middles[feature, size] = min(own[-1] + high, limit)
        if random_thresholds and mapper.extremes is not None:
            for place, extreme in zip((0, size), mapper.extremes[feature], strict=True):
                if np.isfinite(extreme):
                    middles[feature, place] = extreme
    # Copied, or copied where read-only: one compiled version.
    rows = np.require(bins.rows, requirements="W")
    gathers = mapper.n_categories > mapper.n_bins
    return CartTable(rows, mapper.n_bins.copy(), mapper.categorical.copy(), gathers, cuts, middles)


_NODE_FIELDS: dict[str, Any] = {
    "feature": np.int32,
    "split_bin": np.int32,
    "missing_left": np.uint8,
    "left": np.int32,
    "gain": np.float64,
    "cover": np.float64,
    "n_rows": np.int64,
    "value": np.float64,
}


def _trees_at_once(most_leaves: int, numbers: int, has_categories: bool, wanted: int) -> int:
    """Trees that a task grows in one call."""
    node_bytes = sum(np.dtype(dtype).itemsize for dtype in _NODE_FIELDS.values())
    node_bytes += 8 * BIN_WORDS * has_categories
    tree_bytes = (2 * most_leaves - 1) * node_bytes + most_leaves * numbers * 8
    return max(1, min(wanted, int(TREES_BYTES // tree_bytes)))


def _new_trees(trees: int, most_leaves: int, numbers: int, has_categories: bool) -> Trees:
    """Room for the largest trees there can be; memory that is never written to is never taken from the system."""
    size = trees * (2 * most_leaves - 1)
    nodes = {name: np.empty(size, dtype) for name, dtype in _NODE_FIELDS.items()}
    left_bins = np.zeros((size if has_categories else 0, BIN_WORDS), np.int64)
    return Trees(**nodes, left_bins=left_bins, vectors=np.empty(trees * most_leaves * numbers))


def _collect(memory: Trees, sizes: NDArray[np.int64], numbers: int, weight_unit: float) -> list[CartTree]:
    """Copies of the grown trees."""
    trees, first, first_leaf = [], 0, 0
    for n_nodes, n_leaves in sizes.tolist():
        arrays = {name: getattr(memory, name)[first : first + n_nodes].copy() for name in _NODE_FIELDS}
        arrays["cover"] *= weight_unit
        arrays["count"] = arrays.pop("n_rows")
        arrays["left_bins"] = memory.left_bins[first : first + n_nodes].copy()
        part = memory.vectors[first_leaf * numbers : (first_leaf + n_leaves) * numbers]
        trees.append(CartTree(**arrays, vectors=part.reshape(-1, max(1, numbers)).copy()))
        first += n_nodes
        first_leaf += n_leaves
    return trees
