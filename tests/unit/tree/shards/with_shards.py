"""Run any fit on shards: inside ``with with_shards(n):`` every boosting loop grows its trees from n shards of the table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from weald.binning import DenseBins
from weald.binning.sharded import ShardedBins
from weald.runtime.errors import NotSupportedError
from weald.tree import growers
from weald.tree.rules import TreeRules
from weald.tree.shards.rows import RowShard
from weald.tree.shards.table import ShardGrower


def uneven_sizes(n_rows: int, n_shards: int) -> list[int]:
    """Rows of each shard: the first is the largest, and of three or more the second is empty."""
    if n_shards == 1:
        return [n_rows]
    filled = n_shards - 1 if n_shards > 2 else n_shards
    shares = list(range(filled, 0, -1))
    sizes = [n_rows * share // sum(shares) for share in shares]
    sizes[0] += n_rows - sum(sizes)
    return sizes if n_shards == 2 else [sizes[0], 0, *sizes[1:]]


def grower_of(bins: Any, rules: TreeRules, precision: str, tasks: int, n_blocks: int) -> ShardGrower:
    """A grower on so many blocks of a dense table, which two shards share if there are several."""
    if not isinstance(bins, DenseBins):
        raise NotSupportedError(f"{type(bins).__name__} cannot be cut into shards by this test.")
    sharded = ShardedBins.of(bins, sizes=uneven_sizes(bins.n_rows, n_blocks))
    parts = [(1, RowShard), (n_blocks - 1, RowShard)] if n_blocks > 1 else None
    return ShardGrower(sharded, rules, precision, tasks, parts)


@contextmanager
def with_shards(n_shards: int) -> Iterator[list[ShardGrower]]:
    """Put the shard grower in the place of the compiled one, wherever it is made; what it cannot do, it refuses.

    The growers that were made are collected in the list, so that a test can see that there were any.
    """
    made: list[ShardGrower] = []

    def make(bins: Any, rules: Any, precision: str, tasks: int) -> ShardGrower:
        made.append(grower_of(bins, rules, precision, tasks, n_shards))
        return made[-1]

    compiled = growers.make_grower
    with ExitStack() as patches:
        for name, module in list(sys.modules.items()):
            if name.startswith("weald") and getattr(module, "make_grower", None) is compiled:
                patches.enter_context(mock.patch.object(module, "make_grower", make))
        yield made
