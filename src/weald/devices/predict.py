"""Raw scores of rows from a device: the same numbers, to the bit, as on the CPU."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.devices.found import chosen_devices
from weald.devices.parameters import DevicePlan
from weald.devices.program import Buffer, Program, program_of
from weald.forest.forest import Forest
from weald.forest.predict import Blocks, trees_alone

_MOST_ROWS = 2**20  # at a time
_SHARE = 0.5  # of a device's memory, or of its limit, for rows


def device_scores(
    plan: DevicePlan, forest: Forest, blocks: Blocks, n_rows: int, last_round: int
) -> NDArray[np.float64] | None:
    """`raw_scores` of the first so many rounds, from the first of the devices.

    None: its doubles are not exact, or the leaves are vectors.
    """
    device = chosen_devices(plan.numbers)[0]
    program = program_of(device, "uint8", "uint8")
    if not program.has_exact_doubles or forest.has_vectors:
        return None
    if forest.averaged:
        sums = device_scores(plan, trees_alone(forest), blocks, n_rows, last_round)
        assert sums is not None
        sums /= max(last_round, 1)
        sums += forest.base_score[:, None]
        return sums
    memory = device.memory if plan.memory_limit is None else plan.memory_limit
    cells = _SHARE * min(memory / 8, device.largest_buffer / 8)
    at_once = int(max(1, min(_MOST_ROWS, cells // (forest.n_features + forest.n_outputs))))
    placed = _Placed(program, forest, last_round * forest.trees_per_round)
    scores = np.empty((forest.n_outputs, n_rows))
    for first, block in blocks:
        for begin, end in pairwise([*range(0, len(block), at_once), len(block)]):
            placed.score(block[begin:end], scores[:, first + begin : first + end])
    return scores


class _Placed:
    """A forest on a device."""

    def __init__(self, program: Program, forest: Forest, n_trees: int) -> None:
        self._program, self._n_outputs, self._n_trees = program, forest.n_outputs, n_trees
        parts = (forest.feature, forest.left, forest.category_set, forest.missing_left)
        nodes = np.stack([part.astype(np.int32) for part in parts], axis=1)
        numbers = np.stack([forest.threshold, forest.value], axis=1)
        arrays = (nodes, numbers, forest.tree_offsets, forest.set_offsets, forest.set_codes)
        self._arrays: list[Buffer] = [program.constant(array) for array in arrays]
        self._base = program.constant(forest.base_score)

    def score(self, rows: NDArray[Any], scores: NDArray[np.float64]) -> None:
        """Write the scores, (outputs, rows), of rows."""
        program, n_rows = self._program, len(rows)
        cells = program.constant(np.ascontiguousarray(rows.T, np.float64))
        found = program.room(self._n_outputs * n_rows, np.float64)
        groups = -(-n_rows // program.device.group), self._n_outputs
        counts = (np.uint32(0), np.uint32(self._n_trees), np.uint32(self._n_outputs))
        program.run("predict", groups, cells, np.uint32(n_rows), *self._arrays, *counts, self._base, found)
        own = np.empty_like(scores)
        program.get(found, own)
        scores[...] = own
