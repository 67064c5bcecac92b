"""The heap of open nodes against sorting."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from weald.tree.growth.frontier import pop, push
from weald.tree.state import DEPTHWISE, LEAFWISE


@pytest.mark.parametrize("growth", [LEAFWISE, DEPTHWISE])
@pytest.mark.parametrize("distinct", [1, 4, 10_000])
def test_nodes_leave_in_sorted_order_however_they_came(growth: int, distinct: int) -> None:
    generator = np.random.default_rng(distinct)
    for size in (1, 2, 3, 10, 200):
        gain = generator.integers(0, distinct, size) / 7.0
        heap, n_open = np.full(size, -1, np.int64), 0
        for node in generator.permutation(size):
            n_open = push(heap, n_open, node, gain, growth)
        assert n_open == size
        order = [pop(heap, number, gain, growth) for number in range(size, 0, -1)]
        assert order == reference.in_heap_order(range(size), gain, growth)


@pytest.mark.parametrize("growth", [LEAFWISE, DEPTHWISE])
def test_pushing_between_pops_keeps_the_order(growth: int) -> None:
    generator = np.random.default_rng(1)
    gain = generator.integers(0, 9, 400).astype(np.float64)
    heap, n_open, open_nodes = np.full(400, -1, np.int64), 0, []
    for node in range(400):
        n_open = push(heap, n_open, node, gain, growth)
        open_nodes.append(node)
        while open_nodes and generator.random() < 0.45:
            open_nodes = reference.in_heap_order(open_nodes, gain, growth)
            assert pop(heap, n_open, gain, growth) == open_nodes.pop(0)
            n_open -= 1
