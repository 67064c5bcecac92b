"""Every answer of a shard on a device against a shard in plain Python, while a tree grows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opencl_devices import devices
from unit.tree.shards.naive import NaiveShard
from unit.tree.shards.test_shard import Both
from unit.tree.shards.with_shards import grower_of
from weald.binning import DenseBins, fit_bins
from weald.binning.sharded import ShardedBins
from weald.data import read_table
from weald.devices.program import Program, program_of
from weald.devices.shard import DeviceShard
from weald.tree.histograms.quantise import largest_values
from weald.tree.inputs import tree_input
from weald.tree.rows.leaf import fixed_scales
from weald.tree.rules import TreeRules
from weald.tree.shards.grower import agree_on_rounding, grow_by_gain
from weald.tree.shards.shard import Shards
from weald.tree.state import Gradients

FIRST = 400  # the number of the shard's first row in its table
AMPLE, TIGHT = 2**28, 12_000  # bytes for the rows; what is tight lets blocks pass through


def table_of(n_rows: int, kind: str) -> DenseBins:
    """Numbers with gaps, categories, and what ``kind`` asks for."""
    generator = np.random.default_rng(n_rows)
    columns: dict[str, Any] = {
        "a": generator.normal(size=n_rows),
        "b": np.where(generator.random(n_rows) < 0.3, np.nan, generator.integers(0, 9, n_rows)),
        "city": np.array([f"city {code}" for code in generator.integers(0, 11, n_rows)]),
        "skewed": np.where(generator.random(n_rows) < 0.94, 0.0, generator.normal(size=n_rows)),
    }
    if kind == "missing":
        columns["b"] = np.full(n_rows, np.nan)
    table = read_table(columns)
    return fit_bins(table, None).transform(table, tasks=1)


def derivatives(n_rows: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    generator = np.random.default_rng(n_rows + 1)
    gradient = generator.normal(size=n_rows).astype(np.float32)
    gradient[::7] *= np.float32(1e-41)  # too small for a normal number: some devices take it for zero
    return gradient, generator.random(n_rows).astype(np.float32)


def grow(
    program: Program, limit: int, bins: DenseBins, precision: str, sampled: bool, sizes: list[int]
) -> tuple[int, DeviceShard]:
    """Grow a tree on both shards, which must answer the same; the number of splits, and the shard."""
    n_rows = bins.n_rows
    gradient, hessian = derivatives(n_rows)
    rows = np.arange(0, n_rows, 3, dtype=np.uint32) if sampled else None
    leaf_of_row = np.full(n_rows, 99, np.uint8)
    blocks = ShardedBins.of(bins, sizes=sizes)
    shard = DeviceShard(program, limit, blocks, FIRST, tree_input(bins), leaf_of_row, 1)
    shard.take(gradient, hessian, rows)
    score = np.arange(n_rows) * 0.1
    shard.follow(score.copy())
    chosen = list(range(n_rows)) if rows is None else rows.tolist()
    naive = NaiveShard(bins, FIRST, gradient, hessian, chosen, score)
    columns = np.array([0, 1, 2, 3] if precision == "wide" else [0, 2, 3])
    needed = np.zeros(naive.data.n_cells, np.bool_)
    for column in columns:
        offset = int(naive.data.offsets[column])
        needed[offset : offset + int(naive.data.n_bins[column]) + 1] = True
    both = Both(shard, naive, needed=needed)
    rules = TreeRules(max_leaves=12, min_samples_leaf=2, max_cat_to_onehot=4)
    for key in (77, 78):  # the second tree finds the memory of the first
        rounding, found = agree_on_rounding(Shards([both]), precision, key)
        both.begin(rounding, columns)
        gradients = Gradients(
            rounding.packed, np.empty(1, np.uint64), 1 / rounding.gradient_scale, 1 / rounding.hessian_scale
        )
        both.squares(largest_values(gradients))
        tree = grower_of(bins, rules, precision, 1, 1).growing
        tree.begin(Shards([both]), columns, gradients, rules.for_kernel(found.n_rows), 5, found.n_sampled)
        order = grow_by_gain(tree)
        nodes = tree.finished(order)
        leaves = nodes["opened"][nodes["feature"] < 0]
        both.settle(tree.leaf_of_node(leaves), len(leaves))
        both.leaf_sums(fixed_scales(largest_values(gradients), found.n_rows))
        in_leaf = {
            leaf: [row for row in naive.rows if naive.leaves[row] == leaf] for leaf in range(len(leaves))
        }
        for leaf, node in enumerate(leaves.tolist()):
            assert shard.rows_of(node).tolist() == in_leaf[leaf]
        both.place_others = lambda walk: None
        shard.place_others(lambda codes, leaf_of_rows: None)
        both.add(np.linspace(-1.0, 1.0, len(leaves)))
        assert shard._score.tobytes() == naive.score.tobytes()
        assert leaf_of_row.tolist() == naive.leaves
    return len(order), shard


@pytest.mark.parametrize("precision", ["packed_always", "wide"])
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("n_rows", [1, 37, 500])
def test_a_device_answers_as_a_shard_in_plain_python(n_rows: int, sampled: bool, precision: str) -> None:
    program = program_of(devices(1)[0], "uint8", "uint8")
    splits, shard = grow(program, AMPLE, table_of(n_rows, ""), precision, sampled, [n_rows])
    assert shard.n_passing == 0 and (splits > 3 or n_rows < 500)


@pytest.mark.parametrize("precision", ["packed_always", "wide"])
@pytest.mark.parametrize("sampled", [False, True])
def test_rows_that_the_device_has_no_room_for_pass_through_it(sampled: bool, precision: str) -> None:
    program = program_of(devices(1)[0], "uint8", "uint8")
    sizes = [200, 0, 99, 150, 51]
    splits, shard = grow(program, TIGHT, table_of(500, ""), precision, sampled, sizes)
    assert 0 < shard.n_passing < len(sizes) and splits > 3


@pytest.mark.parametrize("precision", ["packed_always", "wide"])
def test_without_doubles_the_host_rounds_and_sums(precision: str) -> None:
    program = program_of(replace(devices(1)[0], has_doubles=False), "uint8", "uint8")
    assert "round_packed" not in program._kernels and "count_packed" in program._kernels
    for sampled, limit in ((False, AMPLE), (True, TIGHT)):
        splits, _ = grow(program, limit, table_of(500, ""), precision, sampled, [200, 300])
        assert splits > 3


def test_a_column_without_values_is_counted() -> None:
    program = program_of(devices(1)[0], "uint8", "uint8")
    assert grow(program, AMPLE, table_of(500, "missing"), "wide", False, [500])[0] > 3


@pytest.mark.parametrize("precision", ["packed_always", "wide"])
def test_columns_of_65535_bins_are_counted(precision: str) -> None:
    """Beside one that local memory has room for."""
    program = program_of(devices(1)[0], "uint16", "uint8")
    n_rows = 300
    table = read_table({"a": np.arange(n_rows) * 1.0, "b": np.arange(n_rows) % 7 * 1.0})
    bins = fit_bins(table, None).transform(table, tasks=1)
    mapper = replace(bins.mapper, n_bins=np.array([65_535, 7]))
    codes = bins.columns.astype(np.uint16)
    codes[0] = np.random.default_rng(3).integers(0, 65_536, n_rows)
    wide = DenseBins(codes, np.ascontiguousarray(codes.T).ravel(), mapper)
    gradient, hessian = derivatives(n_rows)
    naive = NaiveShard(wide, FIRST, gradient, hessian, list(range(n_rows)), np.zeros(n_rows))
    leaf_of_row = np.zeros(n_rows, np.uint8)
    shard = DeviceShard(program, AMPLE, ShardedBins.of(wide), FIRST, tree_input(wide), leaf_of_row, 1)
    shard.take(gradient, hessian, None)
    rounding, _ = agree_on_rounding(Shards([shard]), precision, 3)
    for one in (shard, naive):
        one.begin(rounding, np.array([0, 1]))
    found, expected = (one.histograms(np.array([0])) for one in (shard, naive))
    used = np.ones(found.shape[2], np.bool_)
    used[65_536 : int(naive.data.offsets[1])] = False
    used[int(naive.data.offsets[1]) + 8 :] = False
    assert np.array_equal(found[:, :, used], expected[:, :, used]) and found[:, 2].sum() == 2 * n_rows
