"""Labels of one or several outputs for trees, and the weights that classes give to rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import read_classes, read_regression_target, split_outputs
from weald.data.targets import check_number_of_classes
from weald.estimators.shared.class_weights import class_factors
from weald.runtime.errors import InputError
from weald.training.classical.random_forest import drawn_counts
from weald.tree.cart import CartLabels, Draw

Weights = NDArray[np.float64] | None
Classes = tuple[NDArray[Any], ...]


@dataclass(frozen=True)
class TreeLabels:
    """What the task makes of y: codes or numbers for the engine, the classes of each output, and weights."""

    cart: CartLabels
    classes: Classes | None
    weight: Weights

    def without_unit_weights(self) -> TreeLabels:
        """The same, with no weights where all are 1."""
        has_units = self.weight is not None and bool((self.weight == 1.0).all())
        return replace(self, weight=None) if has_units else self

    def take(self, rows: NDArray[np.int64]) -> TreeLabels:
        """The labels of some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, cart=self.cart.take(rows), weight=weight)


def regression_labels(y: Any, n_rows: int, weight: Weights, owner: str) -> TreeLabels:
    """Numbers of one or several outputs."""
    columns = [read_regression_target(column, n_rows, owner=owner) for column in split_outputs(y)]
    return TreeLabels(CartLabels.regression(np.column_stack(columns)), None, weight)


def class_labels(y: Any, n_rows: int, weight: Weights, class_weight: Any, owner: str) -> TreeLabels:
    """Classes of one or several outputs; ``class_weight`` multiplies the rows' weights."""
    outputs = [read_classes(column, n_rows, owner=owner) for column in split_outputs(y)]
    codes = np.column_stack([column for column, _ in outputs])
    classes = tuple(found for _, found in outputs)
    for found in classes:
        check_number_of_classes(len(found), n_rows)
    factors = row_factors(class_weight, codes, classes, weight)
    if factors is not None:
        weight = factors if weight is None else factors * weight
    sizes = tuple(len(found) for found in classes)
    return TreeLabels(CartLabels.classification(codes, sizes), classes, weight)


def row_factors(
    class_weight: Any, codes: NDArray[np.integer], classes: Sequence[NDArray[Any]], weight: Weights
) -> Weights:
    """By what the rows' weights are multiplied: the product of their classes' factors over the outputs; None for 1."""
    if class_weight is None:
        return None
    per_output = _per_output(class_weight, len(classes))
    product = np.ones(len(codes))
    for output, (wanted, found) in enumerate(zip(per_output, classes, strict=True)):
        with np.errstate(over="ignore"):  # of classes without weight
            product *= class_factors(wanted, codes[:, output], found, weight)[codes[:, output]]
    return None if (product == 1.0).all() else product


def _per_output(class_weight: Any, n_outputs: int) -> list[Any]:
    if isinstance(class_weight, str):
        return [class_weight] * n_outputs
    if n_outputs == 1 and not isinstance(class_weight, list | tuple):
        return [class_weight]
    if not isinstance(class_weight, list | tuple) or len(class_weight) != n_outputs:
        raise InputError(
            f"class_weight must be 'balanced' or a list of {n_outputs} dicts, one for every output, not {class_weight!r}."
        )
    return list(class_weight)


def balanced_in_bag(labels: TreeLabels, draw: Draw) -> Callable[[int], NDArray[np.float64]]:
    """``class_weight="balanced_subsample"``: weights that balance the classes among the rows that a tree draws."""
    codes, classes = labels.cart.codes, labels.classes
    assert classes is not None
    rows = np.ones(len(codes)) if labels.weight is None else labels.weight

    def weigh(key: int) -> NDArray[np.float64]:
        drawn = drawn_counts(key, len(codes), draw)
        factors = row_factors("balanced", codes, classes, rows * drawn)
        # Nothing balances a class of which no row was drawn.
        return rows if factors is None else rows * np.where(drawn > 0, factors, 1.0)

    return weigh
