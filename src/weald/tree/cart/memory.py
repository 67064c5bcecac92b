"""The memory that growing trees needs; a thread has its own, and every tree that it grows uses it again."""

from __future__ import annotations

import numpy as np

from weald.tree.cart.drawn import NOTHING
from weald.tree.cart.items import STRIDE
from weald.tree.cart.state import ABSOLUTE, CANDIDATE, NUMBERS, CartPlan, CartRows, Medians, Open, Scratch
from weald.tree.state import BIN_WORDS


def new_memory(
    plan: CartPlan, n_features: int, has_categories: bool
) -> tuple[CartRows, Scratch, Medians, Open]:
    """Room for the largest tree; memory that is never written to is never taken from the system."""
    n_rows, n_slots, n_outputs = plan.n_rows, plan.n_slots, plan.n_outputs
    medians = plan.criterion == ABSOLUTE
    without_replacement = not plan.bootstrap and plan.n_draws < n_rows
    rows = CartRows(
        counts=np.empty(n_rows, np.int32),
        amounts=np.empty(n_rows * n_slots if plan.kind == NUMBERS else 1, np.int64),
        entries=np.empty((2, 1 + n_outputs if medians else 1, n_rows), np.uint64),
        shuffled=np.empty(n_rows if without_replacement else 1, np.int64),
    )
    n_categories = 257 if has_categories else 0
    n_items = max(257 * n_slots, min(n_rows, plan.sort_rows) * max(n_outputs, n_slots))
    scratch = Scratch(
        cells=np.zeros(plan.at_once * STRIDE * n_slots, np.int64),
        totals=np.empty(n_slots, np.int64),
        left=np.empty(n_slots, np.int64),
        keys=np.empty(n_items, np.int64),
        amounts=np.empty(n_items, np.int64),
        starts=np.empty(257, np.int64),
        trial=np.empty(CANDIDATE, np.int64),
        lowest=np.empty(plan.at_once, np.int64),
        drawn=np.full(plan.at_once, NOTHING, np.int64),
        drawn_sets=np.empty((plan.at_once, 2 * BIN_WORDS), np.int64),
        columns=np.empty(n_features, np.int64),
        swaps=np.empty(n_features, np.int64),
        sums=np.empty(n_slots, np.float64),
        category_sums=np.empty(1 + n_categories * n_slots, np.int64),
        category_weights=np.empty(1 + n_categories, np.float64),
        category_keys=np.empty(1 + n_categories, np.float64),
        category_bins=np.empty(1 + n_categories, np.int64),
        category_order=np.empty(1 + n_categories, np.int64),
    )
    size = (n_rows + 1) * n_outputs if medians else 1
    n_nodes = 2 * plan.most_leaves - 1
    nodes = Open(
        depth=np.empty(n_nodes, np.int64),
        begin=np.empty(n_nodes, np.int64),
        candidate=np.empty((n_nodes, CANDIDATE), np.int64),
        waiting=np.empty(plan.most_leaves + 1, np.int64),
        heap=np.empty(plan.most_leaves + 1, np.int64),
    )
    return rows, scratch, Medians(*(np.empty(size, np.int64) for _ in range(6))), nodes
