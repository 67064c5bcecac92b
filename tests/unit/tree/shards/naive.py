"""A shard in plain Python: what every answer has to be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from weald.binning import DenseBins
from weald.tree.histograms.quantise import Rounding
from weald.tree.inputs import tree_input
from weald.tree.shards.shard import Extremes, Largest
from weald.tree.shards.state import Splits

MASK_32 = 2**32 - 1


def goes_left(splits: Splits, place: int, code: int, n_bins: int, categorical: bool) -> bool:
    """Whether a split sends a bin to the left."""
    if code == n_bins:
        return bool(splits.missing_left[place])
    if categorical:
        return (int(splits.left_bins[place, code // 64]) >> code % 64) & 1 == 1
    return code <= int(splits.split_bin[place])


class NaiveShard:
    """The rows of ``bins``, of which ``rows`` are sampled; gradients are rounded one by one, sums are Python's integers."""

    def __init__(
        self,
        bins: DenseBins,
        first: int,
        gradient: Any,
        hessian: Any,
        rows: list[int],
        score: NDArray[np.float64],
    ) -> None:
        self.bins, self.first, self.rows, self.score = bins, first, rows, score
        self.gradient, self.hessian = gradient.tolist(), hessian.tolist()
        self.cells = bins.columns.T.tolist()
        self.data = tree_input(bins)

    def extremes(self) -> Extremes:
        most = (max(map(abs, self.gradient), default=0.0), max(self.hessian, default=0.0))
        return Extremes(most, len(self.gradient), len(self.rows))

    def sizes(self, largest: Largest) -> tuple[int, int]:
        return (
            sum(math.floor(abs(value) * (2.0**20 / largest[0]) + 0.5) for value in self.gradient),
            sum(math.floor(value * (2.0**20 / largest[1]) + 0.5) for value in self.hessian),
        )

    def squares(self, largest: Largest) -> tuple[int, int]:
        shares = [self.gradient[row] / largest[0] for row in self.rows]
        return (
            sum(math.floor(share * share * 2.0**20 + 0.5) for share in shares),
            sum(math.floor(self.hessian[row] / largest[1] * 2.0**20 + 0.5) for row in self.rows),
        )

    def begin(self, rounding: Rounding, columns: NDArray[np.int64]) -> None:
        self.columns = columns.tolist()
        self.node_of_row = [0] * len(self.gradient)
        self.whole: dict[int, tuple[int, int]] = {}
        for row in self.rows:
            g, h = (
                self.gradient[row] * rounding.gradient_scale,
                self.hessian[row] * rounding.hessian_scale,
            )
            if rounding.packed:
                bits = reference.row_bits(int(rounding.key), (row + self.first) & MASK_32)
                g, h = g + (bits & 0xFFFF) / 65_536 + 8192.0, h + (bits >> 16) / 65_536
                self.whole[row] = math.floor(g) - 8192, math.floor(h)
            else:
                self.whole[row] = math.floor(g + 0.5), math.floor(h + 0.5)

    def histograms(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        out = np.zeros((len(nodes), 3, self.data.n_cells), np.int64)
        for row, (g, h) in self.whole.items():
            for place in np.flatnonzero(nodes == self.node_of_row[row]):
                for column in self.columns:
                    out[place, :, int(self.data.offsets[column]) + self.cells[row][column]] += (g, h, 1)
        return out

    def split(self, splits: Splits) -> None:
        mapper = self.bins.mapper
        for row, node in enumerate(self.node_of_row):
            for place in np.flatnonzero(splits.node == node):
                feature = int(splits.feature[place])
                kind = int(mapper.n_bins[feature]), bool(mapper.categorical[feature])
                left = goes_left(splits, place, self.cells[row][feature], *kind)
                self.node_of_row[row] = int(splits.left[place]) + (0 if left else 1)

    def settle(self, leaf_of_node: NDArray[np.int64], n_leaves: int) -> None:
        self.leaves, self.n_leaves = [int(leaf_of_node[node]) for node in self.node_of_row], n_leaves

    def leaf_sums(self, scales: tuple[float, float]) -> NDArray[np.int64]:
        sums = np.zeros((self.n_leaves, 2), np.int64)
        for row in self.rows:
            pair = (self.gradient[row], self.hessian[row])
            sums[self.leaves[row]] += [math.trunc(pair[0] * scales[0]), math.trunc(pair[1] * scales[1])]
        return sums

    def add(self, values: NDArray[np.float64]) -> None:
        for row, leaf in enumerate(self.leaves):
            self.score[row] += values[leaf]
