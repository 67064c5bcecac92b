"""Raw scores of rows from a device: the same numbers, to the bit, as on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.devices.found import FoundDevice, chosen_devices
from weald.devices.parameters import DevicePlan
from weald.devices.program import Buffer, Program, program_of
from weald.forest.forest import Forest
from weald.forest.predict import Blocks, trees_alone
from weald.runtime.in_turn import in_turn

_MOST_ROWS = 2**20  # at a time
_SHARE = 0.5  # of a device's memory, or of its limit, for rows


def device_scores(
    plan: DevicePlan, forest: Forest, blocks: Blocks, n_rows: int, last_round: int
) -> NDArray[np.float64] | None:
    """`raw_scores` of the first so many rounds; devices take the next rows that are free.

    None: no device has exact doubles, or the leaves are vectors.
    """
    programs = [program_of(device, "uint8", "uint8") for device in chosen_devices(plan.numbers)]
    programs = [program for program in programs if program.has_exact_doubles]
    if not programs or forest.has_vectors:
        return None
    if forest.averaged:
        sums = device_scores(plan, trees_alone(forest), blocks, n_rows, last_round)
        assert sums is not None
        sums /= max(last_round, 1)
        sums += forest.base_score[:, None]
        return sums
    at_once = min(_rows_at_once(program.device, plan, forest) for program in programs)
    at_once = max(1, min(at_once, -(-n_rows // len(programs))))
    pieces = [
        (first + begin, block[begin : begin + at_once])
        for first, block in blocks
        for begin in range(0, len(block), at_once)
    ]
    free: SimpleQueue[_Placed] = SimpleQueue()
    for program in programs:
        free.put(_Placed(program, forest, last_round * forest.trees_per_round))
    scores = np.empty((forest.n_outputs, n_rows))

    def score(taken: Iterator[tuple[int, tuple[int, NDArray[Any]]]]) -> None:
        placed = free.get()
        for _, (first, rows) in taken:
            placed.score(rows, scores[:, first : first + len(rows)])

    in_turn(len(pieces), pieces.__getitem__, score, len(programs))
    return scores


def _rows_at_once(device: FoundDevice, plan: DevicePlan, forest: Forest) -> int:
    memory = device.memory if plan.memory_limit is None else plan.memory_limit
    cells = _SHARE * min(memory, device.largest_buffer) / 8
    return int(min(_MOST_ROWS, cells // (forest.n_features + forest.n_outputs)))


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
