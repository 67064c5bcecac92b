"""A forest in the form that the kernels of prediction read."""

from __future__ import annotations

from typing import NamedTuple

from weald.runtime.arrays import Float64s, Int32s, Int64s, Uint32s, Uint64s

# How a tree is evaluated.
WALKED, MASKED, SYMMETRIC, WALKED_SETS = 0, 1, 2, 3
# Columns of `PackedForest.trees`.
FIRST_NODE, DEPTH, WAY, FIRST_PASS, LAST_PASS, FIRST_LEAF, FIRST_VECTOR = 0, 1, 2, 3, 4, 5, 6


class PackedForest(NamedTuple):
    """A forest in the form that the kernels read; `weald.forest.packing` makes it.

    Attributes:
        channels: int64[C, 5], a `Channel` per line.
        table: float64, sorted thresholds of RANK and sorted category codes of SLOT channels.
        bits: uint32, for sets a bit per slot: 0 goes left.
        words: uint64[N], a node: threshold (int32), then in the low half channel and left child. In WALKED_SETS trees a
            test of categories has the SLOT channel of its feature, and for a threshold the first entry of `bits`.
        left_bits: how many of the low bits are the left child's index within the tree.
        value: float64[N], value of each node.
        vectors: float64[L * K], what the leaves add; empty where they add their values.
        together: how many blocks of rows take a tree before all of them go on to the next.
        walks_sets: whether there are WALKED_SETS trees.
        trees: int64[T, 7]: first node, depth, way, first pass, last pass + 1, first leaf, first leaf's vector.
        passes: int64[P, 3]: first test, last test + 1, first leaf of the mask.
        tests: int32[M, 3]: channel, threshold + 1, and the leaves that stay after going right (MASKED) or the
            weight of going right (SYMMETRIC).
        leaf_value: float64, values of the leaves of MASKED and SYMMETRIC trees in the order of their numbers.
        leaf_vector: int32, for vector leaves: their vectors, counted within the tree, in that order; or empty.
        node_vector: int32[N], for vector leaves: the vector of a leaf, counted within the tree; or empty.
        base_score: float64[K].
    """

    channels: Int64s
    table: Float64s
    bits: Uint32s
    words: Uint64s
    left_bits: int
    value: Float64s
    vectors: Float64s
    together: int
    walks_sets: bool
    trees: Int64s
    passes: Int64s
    tests: Int32s
    leaf_value: Float64s
    leaf_vector: Int32s
    node_vector: Int32s
    base_score: Float64s
