"""What a user of the engine says: the rules of a tree, the labels, and how rows and columns are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError
from weald.tree.cart.state import ABSOLUTE, ENTROPY, GINI, POISSON, SQUARED

# Friedman's improvement ranks the splits of a node as the squared error does: it is that decrease times the node's weight.
CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "squared_error": SQUARED,
    "friedman_mse": SQUARED,
    "absolute_error": ABSOLUTE,
    "poisson": POISSON,
}
CLASS_CRITERIA = ("gini", "entropy")
MOST_CLASSES = 2**16
# Gains are squares of labels, times weights.
LARGEST_VALUE = 1e100


@dataclass(frozen=True)
class CartRules:
    """How a tree is split and where it stops; None means no limit.

    ``splitter="random"`` draws one threshold a feature, uniformly between the node's smallest and largest value; the
    value of a bin is the middle between its cuts. ``min_samples_leaf`` counts rows, ``min_weight_leaf`` is a share of
    the tree's weight. ``features_per_node`` (None: all) are drawn for every node; when none of them can split it,
    drawing goes on until one can. With ``max_leaf_nodes`` the node of the largest decrease is split first.

    >>> CartRules("gini", max_depth=3).max_leaf_nodes is None
    True
    """

    criterion: str
    splitter: str = "best"
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    features_per_node: int | None = None

    def most_leaves(self, n_rows: int) -> int:
        """The largest number of leaves that a tree of so many rows can have."""
        by_depth = 2 ** min(self.max_depth, 30) if self.max_depth is not None else n_rows
        by_rows = max(1, n_rows // max(1, self.min_samples_leaf))
        return min(by_depth, by_rows, self.max_leaf_nodes or n_rows)


@dataclass(frozen=True)
class Draw:
    """How a tree's rows and columns are drawn; which ones follows from the tree's key alone.

    ``n_draws`` rows are drawn with replacement (``bootstrap``) or without; None means as many as there are rows. Of
    ``columns_per_tree`` None means all.

    >>> Draw().bootstrap
    False
    """

    bootstrap: bool = False
    n_draws: int | None = None
    columns_per_tree: int | None = None


@dataclass(frozen=True)
class CartLabels:
    """Labels of one or several outputs: classes or numbers.

    >>> CartLabels.classification(np.array([0, 2, 1]), (3,)).numbers_per_leaf
    3
    >>> CartLabels.regression(np.array([0.5, 2.0])).numbers_per_leaf
    1
    """

    codes: NDArray[np.int32]  # (rows, outputs), or (rows, 0)
    n_classes: tuple[int, ...]
    values: NDArray[np.float64]  # (rows, outputs), or (rows, 0)

    @classmethod
    def classification(cls, codes: NDArray[np.integer], n_classes: tuple[int, ...]) -> CartLabels:
        """Class numbers, (rows,) or (rows, outputs), from 0 to below the output's number of classes."""
        table = np.ascontiguousarray(codes.reshape(len(codes), -1), np.int32)
        if table.shape[1] != len(n_classes):
            raise InputError(f"codes have {table.shape[1]} outputs, n_classes has {len(n_classes)}.")
        for output, number in enumerate(n_classes):
            column = table[:, output]
            if len(column) and not 0 <= int(column.min()) <= int(column.max()) < number:
                raise InputError(f"codes of output {output} must be from 0 to {number - 1}.")
            if number > MOST_CLASSES:
                raise InputError(f"output {output} has {number} classes; trees take at most {MOST_CLASSES}.")
        return cls(table, tuple(n_classes), np.empty((len(table), 0)))

    @classmethod
    def regression(cls, values: NDArray[np.floating]) -> CartLabels:
        """Numbers, (rows,) or (rows, outputs)."""
        table = np.require(values.reshape(len(values), -1), np.float64, ["C", "W"])
        wrong = np.flatnonzero(~(np.abs(table) <= LARGEST_VALUE).all(axis=1))
        if len(wrong):
            value = table[wrong[0]].tolist()
            raise InputError(
                f"y must be finite and within ±{LARGEST_VALUE:g} for trees, whose gains are its squares, but row {wrong[0]} has "
                f"{value[0] if len(value) == 1 else value}."
            )
        return cls(np.empty((len(table), 0), np.int32), (), table)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.codes)

    @property
    def n_outputs(self) -> int:
        """The number of outputs."""
        return len(self.n_classes) or int(self.values.shape[1])

    @property
    def is_scalar(self) -> bool:
        """Whether a leaf is one number: the mean of a regression, or the probability of the second of two classes."""
        return self.n_outputs == 1 and (not self.n_classes or self.n_classes[0] <= 2)

    @property
    def numbers_per_leaf(self) -> int:
        """Numbers in a leaf: 1, or all outputs' class probabilities or means."""
        if self.is_scalar:
            return 1
        return sum(self.n_classes) if self.n_classes else self.n_outputs

    def take(self, rows: NDArray[np.integer]) -> CartLabels:
        """The labels of some rows."""
        return CartLabels(self.codes[rows], self.n_classes, self.values[rows])


def check_rules(rules: CartRules, labels: CartLabels, n_features: int) -> None:
    """Refuse what does not go together, in one sentence."""
    if rules.criterion not in CRITERIA:
        raise InputError(f"criterion must be one of {', '.join(CRITERIA)}, not {rules.criterion!r}.")
    if (rules.criterion in CLASS_CRITERIA) != bool(labels.n_classes):
        kind = "classes" if labels.n_classes else "numbers"
        raise InputError(f"criterion={rules.criterion!r} cannot be used with labels that are {kind}.")
    if rules.splitter not in ("best", "random"):
        raise InputError(f"splitter must be 'best' or 'random', not {rules.splitter!r}.")
    wanted = rules.features_per_node
    if wanted is not None and not 1 <= wanted <= n_features:
        raise InputError(
            f"features_per_node must be from 1 to {n_features}, the number of columns, not {wanted}."
        )
    if rules.criterion == "poisson":
        sums = labels.values.sum(axis=0)
        if (labels.values < 0).any() or (sums <= 0).any():
            raise InputError("criterion='poisson' needs labels that are not negative and not all zero.")
