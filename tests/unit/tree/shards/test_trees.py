"""Single trees from shards against those of the compiled grower, to the byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from unit.tree.shards.with_shards import grower_of, uneven_sizes
from weald.binning import DenseBins, fit_bins
from weald.binning.choices import BinChoices
from weald.data import read_table
from weald.tree.grown import Grower
from weald.tree.histograms.quantise import FEWEST_ROWS
from weald.tree.rules import TreeRules
from weald.tree.splits.constraints import Constraints
from weald.tree.state import PACKED_BLOCK
from weald.tree.tree import TreeGrower

SHARDS = (1, 2, 5)
ALL = np.empty(0, np.uint32)
N_ROWS = 1_500
N_COLUMNS = 7
SETS = {"max_cat_to_onehot": 4, "min_samples_leaf": 5}
MONOTONE = Constraints(signs=(1, -1, 0, 0, 0, 1, 0))
GROUPS = Constraints(groups=((0, 1, 2), (2, 3), (4, 5, 6)))

RULES: dict[str, dict[str, Any]] = {
    "leafwise": {},
    "many leaves": {"max_leaves": 90, "min_samples_leaf": 3},
    "all leaves": {"max_leaves": None, "min_samples_leaf": 10},
    "two leaves": {"max_leaves": 2},
    "three leaves": {"max_leaves": 3},
    "one leaf": {"max_leaves": 1},
    "no depth": {"max_depth": 0},
    "leafwise to a depth": {"max_depth": 4},
    "depthwise": {"growth": "depthwise", "max_leaves": 20},
    "depthwise to a depth": {"growth": "depthwise", "max_leaves": None, "max_depth": 5},
    "pruned": {"growth": "depthwise", "max_leaves": None, "max_depth": 6, "gamma": 4.0},
    "pruned to the root": {"growth": "depthwise", "max_depth": 4, "gamma": 1e9},
    "gamma": {"gamma": 2.0},
    "oblivious": {"growth": "oblivious", "max_leaves": None, "max_depth": 4},
    "deep oblivious": {"growth": "oblivious", "max_leaves": None, "max_depth": 7, "min_samples_leaf": 60},
    "oblivious sets": {"growth": "oblivious", "max_leaves": None, "max_depth": 4, **SETS},
    "sets": SETS,
    "smoothed sets": {**SETS, "cat_smooth": 9.0, "cat_l2": 5.0, "min_samples_category": 9},
    "regularised": {"reg_lambda": 3.0, "reg_alpha": 0.5, "max_delta_step": 0.4, "min_child_weight": 20.0},
    "large nodes": {"min_samples_split": 200, "min_weight_fraction_leaf": 0.05},
    "worthwhile": {"min_impurity_decrease": 1e-3, "max_leaves": 60},
    "by level": {"colsample_bylevel": 0.5},
    "by node": {"colsample_bynode": 0.5},
    "by node depthwise": {"colsample_bynode": 0.4, "colsample_bylevel": 0.8, "growth": "depthwise"},
    "by node, cut short": {"colsample_bynode": 0.4, "growth": "depthwise", "max_leaves": 11},
    "by node oblivious": {"colsample_bynode": 0.5, "growth": "oblivious", "max_leaves": None, "max_depth": 4},
    "drawn": {"extra_trees": True},
    "drawn depthwise": {"extra_trees": True, "growth": "depthwise"},
    "drawn sets": {"extra_trees": True, **SETS},
    "drawn oblivious": {"extra_trees": True, "growth": "oblivious", "max_leaves": None, "max_depth": 4},
    "smoothed": {"path_smooth": 20.0},
    "smoothed oblivious": {"path_smooth": 20.0, "growth": "oblivious", "max_leaves": None, "max_depth": 4},
    "monotone": {"constraints": MONOTONE},
    "monotone, many leaves": {"constraints": MONOTONE, "max_leaves": 70, "min_samples_leaf": 4},
    "monotone depthwise": {"constraints": MONOTONE, "growth": "depthwise", "gamma": 3.0},
    "monotone oblivious": {
        "constraints": MONOTONE,
        "growth": "oblivious",
        "max_leaves": None,
        "max_depth": 5,
        "min_samples_leaf": 40,
    },
    "groups": {"constraints": GROUPS},
    "groups oblivious": {"constraints": GROUPS, "growth": "oblivious", "max_leaves": None, "max_depth": 4},
    "smoothed and monotone": {"constraints": MONOTONE, "path_smooth": 5.0, "max_leaves": 50},
    "l2": {"split_score": "l2"},
    "cosine": {"split_score": "cosine"},
    "newton cosine": {"split_score": "newton_cosine", "growth": "depthwise"},
    "cosine oblivious": {"split_score": "cosine", "growth": "oblivious", "max_leaves": None, "max_depth": 4},
}


def table(n_rows: int = N_ROWS, wide: bool = False) -> tuple[DenseBins, NDArray[np.float64]]:
    """Four numeric columns, one with missing values, and three of categories; with what a tree can find in them."""
    generator = np.random.default_rng(5)
    numbers = generator.normal(size=(n_rows, 4))
    numbers[:, 2] = np.round(numbers[:, 2])
    few, some = generator.integers(0, 3, n_rows), generator.integers(0, 12, n_rows)
    many = (generator.random(n_rows) ** 2 * (400 if wide else 60)).astype(np.int64)
    signal = numbers[:, 0] * numbers[:, 1] + np.sin(3 * some) + (many % 5 == 2) - (few == 1) * numbers[:, 2]
    numbers[generator.random(n_rows) < 0.15, 1] = np.nan
    names = {"few": few, "some": some, "many": many}
    columns: dict[str, Any] = {f"x{j}": numbers[:, j] for j in range(4)}
    columns |= {name: np.array([f"c{value}" for value in values]) for name, values in names.items()}
    data = read_table(columns)
    bins = fit_bins(data, None, BinChoices(300 if wide else 40)).transform(data, tasks=1)
    assert isinstance(bins, DenseBins) and bins.columns.dtype == (np.uint16 if wide else np.uint8)
    return bins, signal


TABLES = {False: table(), True: table(wide=True)}


def derivatives(signal: NDArray[np.float64], seed: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    generator = np.random.default_rng(seed)
    gradient = (signal + generator.normal(size=len(signal))).astype(np.float32)
    return gradient, generator.uniform(0.5, 1.0, len(signal)).astype(np.float32)


def everything(grower: Grower, bins: DenseBins, signal: Any, rows: Any, **grow: Any) -> list[bytes]:
    """All that boosting reads of two trees that one grower grows after another, one of them with a share of the columns."""
    seen: list[bytes] = []
    for seed, columns in ((1, np.arange(N_COLUMNS)), (2, np.array([0, 1, 3, 5, 6]))):
        gradient, hessian = derivatives(signal, seed)
        tree = grower.grow(gradient, hessian, rows, columns, 7 + seed, 11 + seed, **grow)
        if grower.rules.counts_rows:
            tree.use_hessian(hessian * np.float32(0.7))
        values = tree.leaf_values()
        found: list[NDArray[Any]] = []
        found += [values, tree.spread(values), *tree.rows_by_leaf(), tree.leaf_of_all_rows().copy()]
        found += [tree.nodes[name] for name in ("depth", "begin", "end", "side")]
        found += tree.for_forest(values, 0.3).values()
        scores, others = np.arange(bins.n_rows) * 0.25, np.zeros(300)
        tree.add_to(scores, values)
        tree.add_to_binned(bins.take(np.arange(300)), others, values)
        found += [scores, others, *tree.all_rows_by_leaf(), *tree.rows_by_inner_node(tree.rows_by_leaf()[0])]
        seen += [str(array.dtype).encode() + array.tobytes() for array in found]
    return seen


def assert_same(
    rules: TreeRules, precision: str, rows: Any = ALL, wide: bool = False, tasks: int = 1, **grow: Any
) -> None:
    bins, signal = TABLES[wide]
    expected = everything(TreeGrower(bins, rules, precision, tasks), bins, signal, rows, **grow)
    for n_shards in SHARDS:
        assert (0 in uneven_sizes(bins.n_rows, n_shards)) == (n_shards == 5)
        grower = grower_of(bins, rules, precision, tasks, n_shards)
        assert everything(grower, bins, signal, rows, **grow) == expected, f"{n_shards} shards"


@pytest.mark.parametrize("precision", ["packed_always", "wide"])
@pytest.mark.parametrize("name", RULES)
def test_a_tree_from_shards_is_that_of_the_whole_table(name: str, precision: str) -> None:
    assert_same(TreeRules(**RULES[name]), precision)


@pytest.mark.parametrize("name", ["leafwise", "pruned", "oblivious", "sets", "by node", "worthwhile", "l2"])
def test_a_sample_of_the_rows_is_drawn_by_their_numbers_in_the_table(name: str) -> None:
    rows = np.flatnonzero(np.random.default_rng(3).random(N_ROWS) < 0.6).astype(np.uint32)
    assert_same(TreeRules(**RULES[name]), "packed", rows)
    only_first = np.arange(40, dtype=np.uint32)  # the other shards have no sampled row
    assert_same(TreeRules(**RULES[name]), "packed_always", only_first)


@pytest.mark.parametrize("name", ["leafwise", "depthwise to a depth", "oblivious", "sets", "oblivious sets"])
@pytest.mark.parametrize("precision", ["packed_always", "wide"])
def test_bins_of_two_bytes(name: str, precision: str) -> None:
    assert_same(TreeRules(**RULES[name]), precision, wide=True)


@pytest.mark.parametrize("name", ["leafwise", "depthwise", "oblivious", "cosine"])
def test_noise_is_that_of_the_final_numbers(name: str) -> None:
    rows = np.arange(0, N_ROWS, 2, dtype=np.uint32)
    assert_same(TreeRules(**RULES[name]), "packed", noise=1.5)
    assert_same(TreeRules(**RULES[name]), "packed", rows, noise=1.5)


def test_threads_change_nothing() -> None:
    assert_same(TreeRules(), "packed", tasks=2)


def test_histograms_that_are_not_kept_are_counted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weald.tree.tree.POOL_BYTES", 1)
    assert_same(TreeRules(max_leaves=40, min_samples_leaf=4), "packed_always")
    assert_same(TreeRules(growth="depthwise", max_depth=5), "wide")


def test_nodes_of_more_than_a_block_of_rows() -> None:
    bins, signal = table(3 * PACKED_BLOCK)
    for precision in ("packed", "wide"):
        for rules in (TreeRules(), TreeRules(growth="oblivious", max_leaves=None, max_depth=3)):
            expected = everything(TreeGrower(bins, rules, precision, 1), bins, signal, ALL)
            grower = grower_of(bins, rules, precision, 1, 5)
            assert everything(grower, bins, signal, ALL) == expected


@pytest.mark.parametrize("outlier", [1.0, 900.0])
def test_the_choice_between_packed_and_wide_is_that_of_all_rows(outlier: float) -> None:
    bins, signal = TABLES[False]
    assert bins.n_rows >= FEWEST_ROWS > max(uneven_sizes(bins.n_rows, 5)[2:])
    gradient, hessian = derivatives(signal, 1)
    gradient[-1] *= outlier
    columns = np.arange(N_COLUMNS)
    whole = TreeGrower(bins, TreeRules(), "packed", 1).grow(gradient, hessian, ALL, columns, 1, 2)
    grower = grower_of(bins, TreeRules(), "packed", 1, 5)
    parts = grower.grow(gradient, hessian, ALL, columns, 1, 2)
    assert whole._gradients.packed == parts._gradients.packed == (outlier == 1.0)
    assert parts.leaf_values().tobytes() == whole.leaf_values().tobytes()
