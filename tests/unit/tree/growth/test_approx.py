"""Trees on bins that are proposed for each: what is kept from one tree to the next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from weald.binning import fit_ranks
from weald.binning.proposals import with_buckets
from weald.data import read_table
from weald.tree.growers import make_grower
from weald.tree.grown import GrownTree
from weald.tree.rules import TreeRules

N_ROWS = 600
ALL: Any = np.empty(0, np.uint32)


def sparse_codes() -> Any:
    X = scipy.sparse.random(N_ROWS, 4, 0.4, format="csr", random_state=np.random.default_rng(3))
    table = read_table(X)
    return with_buckets(fit_ranks(table, None, tasks=1).transform(table, tasks=1), 9, 255)


def hessians() -> list[Any]:
    """Equal ones, whose bins are like each other, and some that put nearly all bins among few rows; then these again."""
    rng = np.random.default_rng(4)
    even = np.ones(N_ROWS, np.float32)
    uneven = [(rng.random(N_ROWS) ** power).astype(np.float32) for power in (40, 8)]
    return [uneven[0], even, uneven[1], uneven[1], uneven[0]]


def grown(grower: Any, hessian: Any) -> GrownTree:
    gradient = np.random.default_rng(5).standard_normal(N_ROWS).astype(np.float32)
    return grower.grow(gradient, hessian, ALL, grower.columns, 1, 2)  # type: ignore[no-any-return]


def finished(tree: GrownTree) -> dict[str, Any]:
    """The tree as a forest has it, in memory of its own."""
    parts = tree.for_forest(tree.leaf_values(), 1.0)
    return {name: np.array(values) for name, values in parts.items()}


@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
def test_a_sparse_tables_trees_share_their_memory_and_are_those_of_memory_of_their_own(growth: Any) -> None:
    table, rules = sparse_codes(), TreeRules(growth=growth, max_depth=3, min_samples_leaf=5)
    grower: Any = make_grower(table, rules, "packed_always", 1)
    pools, sizes = [], set()
    for hessian in hessians():
        tree = finished(grown(grower, hessian))
        alone = finished(grown(make_grower(table, rules, "packed_always", 1), hessian))
        for name, values in alone.items():
            assert values.tobytes() == tree[name].tobytes(), name
        pools.append(grower._grower._work.pool)
        sizes.add(pools[-1].shape)
    assert len(sizes) > 1  # the bins that were proposed differ in number
    large = max(pools, key=lambda pool: pool.size)
    first = next(number for number, pool in enumerate(pools) if pool.size == large.size)
    assert all(np.shares_memory(pool, large) for pool in pools[first:])
