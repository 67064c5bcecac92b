"""The compiled search, asked about nodes whose histograms were added up from shards.

These kernels only bring sums to where the search of the compiled growers reads them, and call it for many nodes at once.
"""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Bools, Int64s
from weald.runtime.far import far
from weald.runtime.jit import kernel
from weald.runtime.references import refer
from weald.tree.growth.grower import (
    ROOT,
    by_size,
    columns_of_node,
    may_split,
    pass_on_bounds,
    place_children,
    place_root,
    search_node,
    settle_root,
    sum_root,
)
from weald.tree.growth.oblivious import choose_split, pass_on_level_bounds
from weald.tree.histograms.cells import cell_words, pack_cell
from weald.tree.histograms.histogram import subtract_histogram
from weald.tree.search import Search
from weald.tree.splits.constraints import allowed_columns, is_constrained, open_root
from weald.tree.state import NOBODY


@kernel
def open_tree(search: Search, n_rows: int) -> None:
    """Make node 0, of so many rows."""
    place_root(search.nodes, n_rows)
    open_root(search.state)


@kernel
def store_histograms(
    search: Search,
    sums: Int64s,
    counted: Int64s,
    others: Int64s,
    tasks: int,
) -> None:
    """Write the sums, (nodes, 3, cells), to the slots of the nodes that were ``counted``, in the words of `cell_words`.

    ``others``: a sibling whose slot has the parent's histogram, which becomes its own, or NOBODY.
    """
    nodes, packed, pool = search.nodes, search.gradients.packed, search.work.pool
    for i in range(len(counted)):
        node, other = counted[i], others[i]
        n_rows, histogram = nodes.end[node] - nodes.begin[node], pool[nodes.slot[node]]
        words = cell_words(packed, n_rows)
        for cell in range(sums.shape[2]):
            pack_cell(histogram, words, cell, sums[i, 0, cell], sums[i, 1, cell], sums[i, 2, cell])
        if other != NOBODY:
            parent_rows = n_rows + nodes.end[other] - nodes.begin[other]
            subtract_histogram(packed, parent_rows, n_rows, tasks, pool[nodes.slot[other]], histogram)


@kernel
def settle_sums(search: Search, features: Int64s) -> None:
    """The root's sums, and its value where there is one, from its histogram."""
    nodes, gradients = search.nodes, search.gradients
    sum_root(search.data, features, gradients, nodes, search.work.pool[nodes.slot[ROOT]])
    settle_root(gradients, search.rules, nodes, search.state)


@kernel
def settle_root_of_all(search: Search, gradient: int, hessian: int) -> None:
    """The root's sums where a histogram has only those of some rows."""
    nodes = search.nodes
    nodes.gradient_sum[ROOT], nodes.hessian_sum[ROOT] = gradient, hessian
    settle_root(search.gradients, search.rules, nodes, search.state)


@kernel
def search_nodes(search: Search, features: Int64s, wanted: Int64s, tasks: int) -> None:
    """Find the best splits of some nodes that have histograms: their candidates."""
    search = refer(search)
    for node in wanted:
        search_node(search, features, tasks, node)


@kernel
def divide_nodes(search: Search, parents: Int64s, first: int) -> None:
    """Carry out the candidates of some nodes: their children are numbered from ``first`` on."""
    search, left = refer(search), first
    for node in parents:
        place_children(search.nodes, node, left)
        if is_constrained(search.state):
            far(
                pass_on_bounds,
                (search.data, search.gradients, search.rules, search.nodes, search.state, node, left),
            )
        left += 2


@kernel
def children_by_size(search: Search, parents: Int64s) -> Int64s:
    """Nodes that were split, with the child of fewer rows and the other one, (nodes, 3)."""
    families = np.empty((len(parents), 3), np.int64)
    for i in range(len(parents)):
        smaller, larger = by_size(search.nodes, np.int64(search.nodes.left[parents[i]]))
        families[i, 0], families[i, 1], families[i, 2] = parents[i], smaller, larger
    return families


@kernel
def may_be_split(search: Search, wanted: Int64s) -> Bools:
    """Which of some nodes are neither too deep nor too small to be split."""
    may = np.empty(len(wanted), np.bool_)
    for i in range(len(wanted)):
        may[i] = may_split(search.nodes, search.rules, wanted[i])
    return may


@kernel
def search_level(search: Search, features: Int64s, first: int, last: int, tasks: int) -> bool:
    """Find the common split of the nodes first..last of an oblivious tree; False when none pays."""
    search = refer(search)
    nodes, rules, state = search.nodes, search.rules, search.state
    drawn = columns_of_node(features, rules, search.key, nodes.depth[first], first)
    chosen = allowed_columns(state, first, drawn)
    return choose_split(search, chosen, tasks, first, last)


@kernel
def divide_level(search: Search, first: int, last: int) -> None:
    """Carry out the common split of the nodes first..last, after which their children come."""
    search, left = refer(search), last
    for node in range(first, last):
        place_children(search.nodes, node, left)
        if is_constrained(search.state):
            far(
                pass_on_level_bounds,
                (search.data, search.gradients, search.rules, search.nodes, search.state, node, left),
            )
        left += 2
