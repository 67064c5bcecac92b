"""Run any fit on shards: inside ``with with_shards(n):`` every boosting loop grows its trees from n shards of the table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from weald.tree import growers
from weald.tree.shards.table import ShardGrower, make_shard_grower


def uneven_sizes(n_rows: int, n_shards: int) -> list[int]:
    """Rows of each shard: the first is the largest, and of three or more the second is empty."""
    if n_shards == 1:
        return [n_rows]
    filled = n_shards - 1 if n_shards > 2 else n_shards
    shares = list(range(filled, 0, -1))
    sizes = [n_rows * share // sum(shares) for share in shares]
    sizes[0] += n_rows - sum(sizes)
    return sizes if n_shards == 2 else [sizes[0], 0, *sizes[1:]]


@contextmanager
def with_shards(n_shards: int) -> Iterator[list[ShardGrower]]:
    """Put the shard grower in the place of the compiled one, wherever it is made; what it cannot do, it refuses.

    The growers that were made are collected in the list, so that a test can see that there were any.
    """
    made: list[ShardGrower] = []

    def make(bins: Any, rules: Any, precision: str, tasks: int) -> ShardGrower:
        sizes = uneven_sizes(getattr(bins, "n_rows", 0), n_shards)
        made.append(make_shard_grower(bins, rules, precision, tasks, sizes))
        return made[-1]

    compiled = growers.make_grower
    with ExitStack() as patches:
        for name, module in list(sys.modules.items()):
            if name.startswith("weald") and getattr(module, "make_grower", None) is compiled:
                patches.enter_context(mock.patch.object(module, "make_grower", make))
        yield made
