"""The replayed choice against sorting the open nodes before every split."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from weald.tree.shards.replay import replay
from weald.tree.splits.gain import NO_GAIN
from weald.tree.state import DEPTHWISE, LEAFWISE


def naive(gain: NDArray[np.float64], left: NDArray[np.int32], growth: int, most: int) -> list[int]:
    number = {0: 0}
    is_open, order = [0], []
    while len(order) < most:
        known = [node for node in is_open if gain[node] > NO_GAIN]
        if not known:
            break
        best = min(known, key=lambda node: (-gain[node] if growth == LEAFWISE else 0.0, number[node]))
        is_open.remove(best)
        for child in range(2):
            if left[best] > 0:
                node = int(left[best]) + child
                is_open.append(node)
                number[node] = 2 * len(order) + 1 + child
        order.append(best)
    return order


@pytest.mark.parametrize("growth", [LEAFWISE, DEPTHWISE])
@pytest.mark.parametrize("seed", range(20))
def test_the_order_is_that_of_sorting(growth: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    n_nodes = 61
    gain = generator.integers(0, 6, n_nodes) + 0.5  # many are equal
    gain[generator.random(n_nodes) < 0.2] = NO_GAIN
    left = np.zeros(n_nodes, np.int32)
    is_open, made = [0], 1
    while made < n_nodes - 1 and is_open:  # children are made in any order
        node = is_open.pop(int(generator.integers(len(is_open))))
        left[node] = made
        is_open += [made, made + 1]
        made += 2
    for most in (0, 1, 2, 7, 100):
        assert replay(gain, left, growth, most) == naive(gain, left, growth, most)


def test_nodes_that_are_found_later_only_push_others_back() -> None:
    generator = np.random.default_rng(1)
    gain = generator.integers(1, 9, 31).astype(np.float64)
    whole = np.where(np.arange(31) < 15, 2 * np.arange(31) + 1, 0).astype(np.int32)
    for known in range(15):
        left = np.where(np.arange(31) < known, whole, 0).astype(np.int32)
        before = replay(gain, left, LEAFWISE, 99)
        after = replay(gain, whole, LEAFWISE, 99)
        assert [node for node in after if node in before] == before
