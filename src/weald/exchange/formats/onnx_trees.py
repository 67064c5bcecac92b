"""Trees as one `TreeEnsemble` of ai.onnx.ml 5 in float64, or a `TreeEnsembleRegressor` of version 3, which adds in float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.exchange.formats.onnx_graph import Graph
from weald.exchange.model import Slots
from weald.exchange.plain import OutputTree

_AT_MOST, _SUM, _NONE = 0, 1, 0
_MIDDLE: Final = 0.5  # between the 0 of categories that go left and the 1 of others
Sets = dict[tuple[int, tuple[int, ...], bool], int]


def tree_scores(trees: Sequence[OutputTree], reads: Slots, outputs: int, graph: Graph) -> str:
    """The sums of every output's trees."""
    sets: Sets = {}
    for tree in trees:
        for node, codes in enumerate(tree.categories_left):
            if codes is not None:
                key = (int(tree.feature[node]), codes, bool(tree.missing_left[node]))
                sets.setdefault(key, len(reads) + len(sets))
    table = graph.matrix(reads)
    if sets:
        table = graph.add("Concat", table, *_sides(reads, sets, graph), axis=1)
    if graph.ml_version == 5:
        return graph.add("TreeEnsemble", table, ml=True, **_ensemble(trees, sets, outputs, graph))
    scores = graph.add("TreeEnsembleRegressor", table, ml=True, **_regressor(trees, sets, outputs, graph))
    return graph.cast(scores, np.float64)


def _sides(reads: Slots, sets: Sets, graph: Graph) -> list[str]:
    """A column for every set of categories: 0 where a row goes left, 1 where it goes right; in the order of their places."""
    columns = []
    for feature in dict.fromkeys(feature for feature, _, _ in sets):
        own = [(codes, missing_left) for one, codes, missing_left in sets if one == feature]
        size = max((max(codes, default=0) for codes, _ in own), default=0) + 2
        sides = np.ones(
            (size + 1, len(own))
        )  # the last but one: all codes in no set; the last: missing values
        for place, (codes, missing_left) in enumerate(own):
            sides[list(codes), place] = 0.0
            sides[size, place] = 0.0 if missing_left else 1.0
        code = graph.matrix((reads[feature],))
        clipped = graph.add("Min", code, graph.constant([float(size - 1)]))
        known = graph.add("Where", graph.add("IsNaN", code), graph.constant([float(size)]), clipped)
        flat = graph.add("Reshape", graph.cast(known, np.int64), graph.constant([-1], np.int64))
        columns.append(graph.add("Gather", graph.constant(sides), flat, axis=0))
    _reorder(sets, len(reads))
    return columns


def _reorder(sets: Sets, first: int) -> None:
    """Number the sets feature by feature, as their columns are."""
    place = first
    for feature in list(dict.fromkeys(feature for feature, _, _ in sets)):
        for key in [key for key in sets if key[0] == feature]:
            sets[key] = place
            place += 1


def _tests(tree: OutputTree, sets: Sets) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The column and the threshold of every node."""
    columns, thresholds = tree.feature.astype(np.int64), tree.threshold.copy()
    for node, codes in enumerate(tree.categories_left):
        if codes is not None:
            columns[node] = sets[int(tree.feature[node]), codes, bool(tree.missing_left[node])]
            thresholds[node] = _MIDDLE
    return columns, thresholds


def _ensemble(trees: Sequence[OutputTree], sets: Sets, outputs: int, graph: Graph) -> dict[str, Any]:
    """The attributes of a TreeEnsemble; a tree of a single leaf is a node both of whose sides are that leaf."""
    roots: list[int] = []
    parts: dict[str, list[Any]] = {
        name: []
        for name in (
            "column",
            "split",
            "missing",
            "left",
            "left_leaf",
            "right",
            "right_leaf",
            "weight",
            "target",
        )
    }
    n_inner = n_leaves = 0
    for tree in trees:
        leaf = tree.is_leaf
        number = np.where(leaf, n_leaves + np.cumsum(leaf) - 1, n_inner + np.cumsum(~leaf) - 1)
        inner = np.flatnonzero(~leaf)
        columns, thresholds = _tests(tree, sets)
        roots.append(n_inner)
        left, right = tree.left[inner], tree.left[inner] + 1
        if not len(inner):
            inner = left = right = np.zeros(1, np.int64)
            columns, thresholds = np.zeros(1, np.int64), np.zeros(1)
        missing = tree.missing_left[inner]
        for name, values in (
            ("column", columns[inner]),
            ("split", thresholds[inner]),
            ("missing", missing.astype(np.int64)),
            ("left", number[left]),
            ("left_leaf", leaf[left].astype(np.int64)),
            ("right", number[right]),
            ("right_leaf", leaf[right].astype(np.int64)),
            ("weight", tree.value[leaf]),
            ("target", np.full(int(leaf.sum()), tree.output)),
        ):
            parts[name] += values.tolist()
        n_inner += len(inner)
        n_leaves += int(leaf.sum())
    return {
        "aggregate_function": _SUM,
        "post_transform": _NONE,
        "n_targets": outputs,
        "tree_roots": roots,
        "nodes_modes": graph.tensor("modes", np.full(n_inner, _AT_MOST), np.uint8),
        "nodes_featureids": parts["column"],
        "nodes_splits": graph.tensor("splits", parts["split"], np.float64),
        "nodes_missing_value_tracks_true": parts["missing"],
        "nodes_truenodeids": parts["left"],
        "nodes_trueleafs": parts["left_leaf"],
        "nodes_falsenodeids": parts["right"],
        "nodes_falseleafs": parts["right_leaf"],
        "leaf_weights": graph.tensor("weights", parts["weight"], np.float64),
        "leaf_targetids": parts["target"],
    }


def _regressor(trees: Sequence[OutputTree], sets: Sets, outputs: int, graph: Graph) -> dict[str, Any]:
    """The attributes of a TreeEnsembleRegressor of version 3."""
    numbers: dict[str, list[int]] = {
        f"nodes_{name}": []
        for name in (
            "treeids",
            "nodeids",
            "featureids",
            "truenodeids",
            "falsenodeids",
            "missing_value_tracks_true",
        )
    }
    leaves: dict[str, list[int]] = {f"target_{name}": [] for name in ("treeids", "nodeids", "ids")}
    modes: list[str] = []
    splits: list[float] = []
    weights: list[float] = []
    for place, tree in enumerate(trees):
        size, leaf = len(tree.feature), tree.is_leaf
        columns, thresholds = _tests(tree, sets)
        for name, values in (
            ("treeids", np.full(size, place)),
            ("nodeids", np.arange(size)),
            ("featureids", np.where(leaf, 0, columns)),
            ("truenodeids", np.where(leaf, 0, tree.left)),
            ("falsenodeids", np.where(leaf, 0, tree.left + 1)),
            ("missing_value_tracks_true", (tree.missing_left & ~leaf).astype(int)),
        ):
            numbers[f"nodes_{name}"] += values.tolist()
        modes += ["LEAF" if one else "BRANCH_LEQ" for one in leaf.tolist()]
        splits += np.where(leaf, 0.0, thresholds).tolist()
        nodes = np.flatnonzero(leaf).tolist()
        leaves["target_treeids"] += [place] * len(nodes)
        leaves["target_nodeids"] += nodes
        leaves["target_ids"] += [tree.output] * len(nodes)
        weights += tree.value[leaf].tolist()
    return {
        **numbers,
        **leaves,
        "nodes_modes": modes,
        "nodes_values_as_tensor": graph.tensor("splits", splits, np.float64),
        "target_weights_as_tensor": graph.tensor("weights", weights, np.float64),
        "n_targets": outputs,
        "aggregate_function": "SUM",
        "post_transform": "NONE",
    }
