"""The nodes of one tree under the names that scikit-learn's ``tree_`` gives them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.data import Schema, read_table
from weald.estimators.classical.importance import paths
from weald.forest.forest import Forest
from weald.forest.predict import leaf_indices

Floats = NDArray[np.float64]

LEAF = -1  # the children of a leaf
UNDEFINED = -2  # the column and the threshold of a leaf


@dataclass(frozen=True, eq=False, repr=False)
class TreeNodes:
    """A tree, for reading: an array for every property of nodes, made when it is asked for.

    Node 0 is the root and siblings are neighbours, so that ``children_right`` is ``children_left + 1``. A leaf has the
    children -1, the column -2 and the threshold -2. Where a node asks for a category there is no threshold: it is NaN, and
    ``categories_left`` has the categories that go left.

    ``tree`` is a forest of this tree alone, ``values`` what its nodes predict, (nodes, outputs, classes or 1), ``decrease`` by
    how much every split lowers the impurity, times the node's share of the weight; NaN stands for what a model does not keep.

    >>> import weald
    >>> model = weald.DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> tree = model.tree_
    >>> tree.children_left.tolist(), tree.feature.tolist(), tree.threshold.tolist()
    ([1, -1, -1], [0, -2, -2], [1.5, -2.0, -2.0])
    >>> tree.n_node_samples.tolist(), tree.value[1:, 0].tolist()
    ([3, 1, 2], [[1.0, 0.0], [0.0, 1.0]])
    """

    tree: Forest
    schema: Schema
    criterion: str
    n_classes: NDArray[np.int64]
    values: Floats
    decrease: Floats

    def __repr__(self) -> str:
        return f"<tree of {self.node_count} nodes, {self.n_leaves} leaves, depth {self.max_depth}>"

    # Sizes.

    @property
    def node_count(self) -> int:
        """The number of nodes, leaves included."""
        return self.tree.n_nodes

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self.tree.n_leaves

    @property
    def max_depth(self) -> int:
        """The depth of the deepest leaf; that of the root is 0."""
        return int(self.tree.max_depth()[0])

    @property
    def n_features(self) -> int:
        """The number of columns that the tree was grown on."""
        return self.tree.n_features

    @property
    def n_outputs(self) -> int:
        """The number of labels that a row has."""
        return len(self.n_classes)

    @property
    def max_n_classes(self) -> int:
        """The largest number of classes of an output; 1 for numbers."""
        return int(self.n_classes.max())

    # Splits.

    @cached_property
    def _inner(self) -> NDArray[np.bool_]:
        return self.tree.feature >= 0

    @cached_property
    def children_left(self) -> NDArray[np.int64]:
        """The number of every node's left child; -1 in a leaf."""
        return np.where(self._inner, self.tree.left.astype(np.int64), LEAF)

    @cached_property
    def children_right(self) -> NDArray[np.int64]:
        """The number of every node's right child; -1 in a leaf."""
        return np.where(self._inner, self.tree.left.astype(np.int64) + 1, LEAF)

    @cached_property
    def feature(self) -> NDArray[np.int64]:
        """The column that a node asks for; -2 in a leaf."""
        return np.where(self._inner, self.tree.feature.astype(np.int64), UNDEFINED)

    @cached_property
    def threshold(self) -> Floats:
        """A number that is at most this goes left; -2 in a leaf, NaN where a node asks for a category."""
        numeric = np.where(self.tree.category_set >= 0, np.nan, self.tree.threshold)
        return np.where(self._inner, numeric, float(UNDEFINED))

    @cached_property
    def categories_left(self) -> tuple[tuple[str | float, ...] | None, ...]:
        """The categories that go left, of every node that asks for a category; None elsewhere. Any other goes right."""
        columns, view = self.schema.columns, self.tree.tree(0)
        return tuple(
            None if codes is None else tuple(columns[feature].categories[code] for code in codes)
            for feature, codes in zip(view.feature.tolist(), view.categories_left, strict=True)
        )

    @property
    def missing_go_to_left(self) -> NDArray[np.uint8]:
        """1 where a missing value goes left."""
        return self.tree.missing_left

    # What nodes hold.

    @property
    def n_node_samples(self) -> NDArray[np.int64]:
        """How many different rows of the training table a node had."""
        return self.tree.count

    @property
    def weighted_n_node_samples(self) -> Floats:
        """The weight of a node's rows; one that was drawn twice weighs twice as much."""
        return self.tree.cover

    @property
    def value(self) -> Floats:
        """What a node would predict, (nodes, outputs, classes): shares of the classes, or the number, (nodes, outputs, 1).

        The median of an absolute error is known of leaves only, and NaN above them.
        """
        return self.values

    @cached_property
    def impurity(self) -> Floats:
        """The impurity of the node's labels.

        That of classes follows from their shares. That of numbers is 0 in a leaf of one row, and above such leaves follows from
        what the splits took away; it is NaN in and above other leaves, as a model keeps no squares of labels.
        """
        if self.max_n_classes > 1:
            return _impurity_of_shares(self.values, self.n_classes, self.criterion)
        weight = self.tree.cover
        inside = np.where(self.tree.count == 1, 0.0, np.nan)
        for nodes, left in reversed(self._levels):
            below = weight[left] * inside[left] + weight[left + 1] * inside[left + 1]
            inside[nodes] = (self.decrease[nodes] * weight[0] + below) / weight[nodes]
        return inside

    @cached_property
    def _levels(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        return levels(self.tree)

    # Rows on their way.

    def _leaves(self, X: Any) -> NDArray[np.int32]:
        dataset = read_table(X, schema=self.schema, owner="This tree", least_rows=0)
        return leaf_indices(self.tree, dataset.blocks(), dataset.n_rows)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The number of the leaf that every row reaches."""
        return self._leaves(X)[:, 0].astype(np.int64)

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """(rows, nodes), 1 where a row passes a node."""
        return paths(self.tree, self._leaves(X))

    def predict(self, X: Any) -> Floats:
        """`value` of the leaf that every row reaches; of one output (rows, classes)."""
        said = self.values[self.apply(X)]
        return said[:, 0] if self.n_outputs == 1 else said

    def compute_node_depths(self) -> NDArray[np.int64]:
        """The depth of every node; that of the root is 1, as scikit-learn counts here."""
        depths = np.ones(self.node_count, np.int64)
        for nodes, left in self._levels:
            depths[left] = depths[left + 1] = depths[nodes] + 1
        return depths

    def compute_feature_importances(self, normalize: bool = True) -> Floats:
        """By how much each column's splits lower the impurity; ``normalize``: as shares of the sum."""
        inner = self._inner
        counted = np.bincount(self.tree.feature[inner], self.decrease[inner], minlength=self.n_features)
        sums: Floats = counted.astype(np.float64, copy=False)
        total = float(sums.sum())
        return sums / total if normalize and total > 0 else sums


def levels(tree: Forest) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The inner nodes of a forest of one tree, depth by depth, each with its left child."""
    found = []
    nodes = np.zeros(1, np.int64)
    while len(nodes := nodes[tree.feature[nodes] >= 0]):
        left = tree.left[nodes].astype(np.int64)
        found.append((nodes, left))
        nodes = np.concatenate([left, left + 1])
    return found


def with_means_above(tree: Forest, values: Floats) -> Floats:
    """Values of nodes, (nodes, ...), of which those of leaves are given; in other nodes the means by weight."""
    weight = tree.cover.reshape(-1, *[1] * (values.ndim - 1))
    for nodes, left in reversed(levels(tree)):
        below = weight[left] * values[left] + weight[left + 1] * values[left + 1]
        values[nodes] = below / (weight[left] + weight[left + 1])
    return values


def _impurity_of_shares(shares: Floats, n_classes: NDArray[np.int64], criterion: str) -> Floats:
    """The mean over the outputs; an output's missing classes have no share, and add nothing."""
    if criterion == "gini":
        own = 1.0 - (shares**2).sum(axis=2)
    else:
        own = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=2)
    mean: Floats = own.mean(axis=1)
    return mean
