"""From a tree's or forest's parameters to the rules of the engine; what cannot be is refused here."""

from __future__ import annotations

import math
import numbers
from typing import Any

from weald.runtime.errors import InputError, NotSupportedError
from weald.tree.cart import CartRules

_SAME_CRITERION = {"log_loss": "entropy"}


def cart_rules(
    estimator: Any, n_rows: int, n_features: int, splitter: str, features_per_node: int | None
) -> CartRules:
    """The rules that an estimator's parameters stand for, on a table of this size."""
    if estimator.ccp_alpha != 0.0:
        raise NotSupportedError(
            f"ccp_alpha is {estimator.ccp_alpha!r}, but trees are not pruned; leave it at 0 and use max_leaf_nodes, "
            "max_depth or min_impurity_decrease."
        )
    leaf = rows_asked_for("min_samples_leaf", estimator.min_samples_leaf, n_rows, 1)
    split = rows_asked_for("min_samples_split", estimator.min_samples_split, n_rows, 2)
    return CartRules(
        criterion=_SAME_CRITERION.get(estimator.criterion, estimator.criterion),
        splitter=splitter,
        max_depth=estimator.max_depth,
        max_leaf_nodes=estimator.max_leaf_nodes,
        min_samples_split=max(split, 2 * leaf),
        min_samples_leaf=leaf,
        min_weight_leaf=float(estimator.min_weight_fraction_leaf),
        min_impurity_decrease=float(estimator.min_impurity_decrease),
        features_per_node=None if features_per_node == n_features else features_per_node,
    )


def rows_asked_for(name: str, value: Any, n_rows: int, least: int) -> int:
    """A number of rows from a whole number, or from a share of all rows, rounded up.

    >>> rows_asked_for("min_samples_leaf", 0.25, 10, 1), rows_asked_for("min_samples_leaf", 3, 10, 1)
    (3, 3)
    """
    if _is_whole(value) and value >= least:
        return int(value)
    if _is_share(value):
        return max(least, math.ceil(float(value) * n_rows))
    raise InputError(
        f"{name} must be a whole number of at least {least} or a share above 0 and at most 1.0, not {value!r}."
    )


def count_draws(max_samples: Any, n_rows: int, bootstrap: bool) -> int | None:
    """How many rows a tree draws; None is as many as there are."""
    if max_samples is None:
        return None
    if not bootstrap:
        raise InputError(
            f"max_samples={max_samples!r} needs bootstrap=True; without it every tree sees all rows."
        )
    if _is_whole(max_samples) and max_samples >= 1:
        return int(max_samples)
    if _is_share(max_samples, most=math.inf):
        return max(1, round(float(max_samples) * n_rows))
    raise InputError(
        f"max_samples must be None, a whole number of at least 1, or a share above 0 of the {n_rows} rows, not {max_samples!r}."
    )


def count_features(max_features: Any, n_features: int) -> int:
    """How many columns are looked at.

    >>> [count_features(wanted, 28) for wanted in ("sqrt", "log2", None, 0.5, 7)]
    [5, 4, 28, 14, 7]
    """
    if max_features is None:
        return n_features
    if isinstance(max_features, str) and max_features in ("sqrt", "log2"):
        root = math.isqrt(n_features) if max_features == "sqrt" else n_features.bit_length() - 1
        return max(1, root)
    if _is_whole(max_features) and 1 <= max_features <= n_features:
        return int(max_features)
    if _is_share(max_features):
        return max(1, int(float(max_features) * n_features))
    raise InputError(
        f"max_features must be 'sqrt', 'log2', None, a whole number from 1 to {n_features}, the number of columns, or a "
        f"share above 0 and at most 1.0, not {max_features!r}."
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_share(value: Any, most: float = 1.0) -> bool:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral | bool)
    return is_number and 0.0 < float(value) <= most and math.isfinite(value)
