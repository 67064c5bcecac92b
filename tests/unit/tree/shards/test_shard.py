"""Every answer of a shard in memory against a shard in plain Python, and how many questions a tree takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from unit.tree.shards.naive import NaiveShard
from unit.tree.shards.test_trees import ALL, N_COLUMNS, TABLES, derivatives
from unit.tree.shards.with_shards import grower_of
from weald.binning import DenseBins
from weald.binning.sharded import ShardedBins
from weald.tree.histograms.quantise import largest_values
from weald.tree.inputs import tree_input
from weald.tree.rows.leaf import fixed_scales
from weald.tree.rules import TreeRules
from weald.tree.shards.grower import agree_on_rounding, grow_by_gain
from weald.tree.shards.rows import RowShard
from weald.tree.shards.shard import Shards
from weald.tree.state import Gradients
from weald.tree.tree import TreeGrower

FIRST, LAST = 400, 900  # the rows of the shard


class Both:
    """Two shards that are asked the same, and must say the same."""

    def __init__(self, *shards: Any, needed: NDArray[np.bool_]) -> None:
        self.shards, self.needed = shards, needed
        self.asked: list[str] = []

    def __getattr__(self, question: str) -> Any:
        def ask(*details: Any) -> Any:
            self.asked.append(question)
            found, expected = [getattr(shard, question)(*details) for shard in self.shards]
            if question == "histograms":
                assert found.dtype == expected.dtype == np.int64
                assert np.array_equal(found[:, :, self.needed], expected[:, :, self.needed])
            else:
                assert np.array_equal(np.array(found, object), np.array(expected, object))
            return found

        return ask


def pair(
    wide: bool, sampled: bool, columns: NDArray[np.int64]
) -> tuple[Both, RowShard, NaiveShard, NDArray[Any]]:
    bins, signal = TABLES[wide]
    columns_here = np.ascontiguousarray(bins.columns[:, FIRST:LAST])
    own = DenseBins(columns_here, np.ascontiguousarray(columns_here.T).ravel(), bins.mapper)
    gradient, hessian = derivatives(signal[FIRST:LAST], 3)
    rows = np.arange(0, LAST - FIRST, 3, dtype=np.uint32) if sampled else None
    leaf_of_row, score = np.full(LAST - FIRST, 99, np.int32), np.arange(LAST - FIRST) * 0.1
    blocks = ShardedBins.of(own, sizes=[LAST - FIRST - 150, 0, 150])
    memory = RowShard(blocks, FIRST, tree_input(own), leaf_of_row, 1)
    memory.take(gradient, hessian, rows)
    memory.follow(score.copy())
    chosen = list(range(LAST - FIRST)) if rows is None else rows.tolist()
    naive = NaiveShard(own, FIRST, gradient, hessian, chosen, score)
    needed = np.zeros(naive.data.n_cells, np.bool_)
    for column in columns:
        offset = int(naive.data.offsets[column])
        needed[offset : offset + int(naive.data.n_bins[column]) + 1] = True
    return Both(memory, naive, needed=needed), memory, naive, leaf_of_row


@pytest.mark.parametrize("precision", ["packed_always", "wide", "packed"])
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_a_shard_answers_as_one_in_plain_python(precision: str, sampled: bool, wide: bool) -> None:
    columns = np.array([0, 1, 3, 5, 6])
    both, memory, naive, leaf_of_row = pair(wide, sampled, columns)
    rules = TreeRules(max_leaves=12, min_samples_leaf=4, max_cat_to_onehot=4)
    rounding, found = agree_on_rounding(Shards([both]), precision, 77)
    both.sizes(found.largest)
    both.begin(rounding, columns)
    gradients = Gradients(
        rounding.packed, np.empty(1, np.uint64), 1 / rounding.gradient_scale, 1 / rounding.hessian_scale
    )
    both.squares(largest_values(gradients))
    tree = grower_of(TABLES[wide][0], rules, precision, 1, 1).growing
    tree.begin(Shards([both]), columns, gradients, rules.for_kernel(found.n_rows), 5, found.n_sampled)
    order = grow_by_gain(tree)
    assert 3 < len(order) < len(tree.divided)
    nodes = tree.finished(order)
    leaves = nodes["opened"][nodes["feature"] < 0]
    both.settle(tree.leaf_of_node(leaves), len(leaves))
    assert leaf_of_row[naive.rows].tolist() == [naive.leaves[row] for row in naive.rows]
    both.leaf_sums(fixed_scales(largest_values(gradients), found.n_rows))
    leaf_of_codes = {bytes(codes): leaf for codes, leaf in zip(naive.bins.columns.T.copy(), naive.leaves, strict=True)}

    def walk(codes: NDArray[Any], leaf_of_rows: NDArray[Any]) -> None:
        leaf_of_rows[:] = [leaf_of_codes[bytes(row)] for row in codes.T.copy()]

    memory.place_others(walk)
    both.add(np.linspace(-1.0, 1.0, len(leaves)))
    assert memory._score.tobytes() == naive.score.tobytes()
    assert leaf_of_row.tolist() == naive.leaves
    assert {"extremes", "sizes", "squares", "begin", "histograms", "split", "settle"} < set(both.asked)


@pytest.mark.parametrize(
    "rules",
    [
        TreeRules(),
        TreeRules(max_leaves=60, min_samples_leaf=4),
        TreeRules(growth="depthwise", max_leaves=20),
        TreeRules(growth="oblivious", max_leaves=None, max_depth=5),
        TreeRules(colsample_bynode=0.5, growth="depthwise", max_leaves=20),
    ],
)
def test_a_tree_takes_about_as_many_passes_as_it_is_deep(rules: TreeRules) -> None:
    bins, signal = TABLES[False]
    gradient, hessian = derivatives(signal, 1)
    grower = grower_of(bins, rules, "packed", 1, 1)
    tree = grower.grow(gradient, hessian, ALL, np.arange(N_COLUMNS), 1, 2)
    depth, splits = int(tree.nodes["depth"].max()), tree.n_leaves - 1
    assert depth <= grower.growing.n_passes <= depth + 3 < splits
    assert splits <= len(grower.growing.divided) < 2 * splits


def test_draws_by_node_open_one_node_at_a_time() -> None:
    bins, signal = TABLES[False]
    gradient, hessian = derivatives(signal, 1)
    grower = grower_of(bins, TreeRules(colsample_bynode=0.5), "packed", 1, 1)
    tree = grower.grow(gradient, hessian, ALL, np.arange(N_COLUMNS), 1, 2)
    assert len(grower.growing.divided) == tree.n_leaves - 1 >= grower.growing.n_passes > 10


def test_a_node_that_was_opened_in_vain_leaves_no_trace() -> None:
    """The rows of its children are in the leaf that it is, also when there are more nodes than memory was made for."""
    bins, signal = TABLES[False]
    gradient, hessian = derivatives(signal, 1)
    rules = TreeRules(max_leaves=6, min_samples_leaf=2)
    grower = grower_of(bins, rules, "packed", 1, 1)
    arguments = (gradient, hessian, ALL, np.arange(N_COLUMNS), 1, 2)
    found = grower.grow(*arguments)
    assert grower.growing.n_nodes > 2 * rules.most_leaves(bins.n_rows)
    compiled = TreeGrower(bins, rules, "packed", 1).grow(*arguments)
    assert found.leaf_of_all_rows().tolist() == compiled.leaf_of_all_rows().tolist()

