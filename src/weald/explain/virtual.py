"""Several models out of one: a boosted forest cut short at different rounds, to see how far its predictions still move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.forest.forest import Forest
from weald.forest.predict import Blocks, raw_scores
from weald.runtime.errors import InputError


def virtual_rounds(n_rounds: int, count: int) -> list[int]:
    """After how many rounds each virtual model ends: at equal steps through the second half, the last one with all.

    >>> virtual_rounds(47, 5)
    [31, 35, 39, 43, 47]
    """
    step = n_rounds // (2 * count) if count > 0 else 0
    if step == 0:
        raise InputError(
            f"count must be at least 1 and at most {n_rounds // 2}, half of the {n_rounds} rounds of this model, not {count!r}."
        )
    return [n_rounds - step * (count - 1 - number) for number in range(count)]


def virtual_ensembles(
    forest: Forest, blocks: Blocks, n_rows: int, count: int = 10, tasks: int = 1
) -> NDArray[np.float64]:
    """float64[count, K, n_rows]: raw scores of ``count`` virtual models (Malinin, Prokhorenkova and Ustimenko 2021).

    Each is bit for bit what the forest of its `virtual_rounds` gives. Blocks and tasks are as in `raw_scores`.
    """
    ends = virtual_rounds(forest.n_rounds, count)
    scores = np.empty((count, forest.n_outputs, n_rows))
    for first_row, block in blocks:
        place = slice(first_row, first_row + len(block))
        for number, last in enumerate(ends):
            scores[number, :, place] = raw_scores(forest, [(0, block)], len(block), tasks, 0, last)
    return scores
