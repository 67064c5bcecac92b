"""From ``class_weight`` to a factor for every class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError


def class_factors(
    class_weight: Any, codes: NDArray[np.integer], classes: NDArray[Any], weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """float64 (classes,): by what the weights of each class's rows are multiplied.

    "balanced" gives all classes that have rows the same total weight; "minority" multiplies the lighter of two classes alone,
    so that it weighs as much as the other; "sqrt_balanced" multiplies a class by the square root of how many times
    the heaviest outweighs it; a dict names the factors that are not 1.

    >>> codes, classes = np.array([0, 0, 0, 1]), np.array(["no", "yes"])
    >>> class_factors("balanced", codes, classes, None).tolist()
    [0.6666666666666666, 2.0]
    >>> class_factors("minority", codes, classes, None).tolist()
    [1.0, 3.0]
    >>> class_factors("sqrt_balanced", np.array([0, 0, 0, 0, 1]), classes, None).tolist()
    [1.0, 2.0]
    >>> class_factors({"yes": 5}, codes, classes, None).tolist()
    [1.0, 5.0]
    """
    factors = np.ones(len(classes))
    if class_weight is None:
        return factors
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, weight, minlength=len(classes))
        balanced: NDArray[np.float64] = totals.sum() / (len(classes) * np.maximum(totals, 1e-300))
        return balanced
    if isinstance(class_weight, str) and class_weight == "minority":
        return _minority_factors(np.bincount(codes, weight, minlength=len(classes)))
    if isinstance(class_weight, str) and class_weight == "sqrt_balanced":
        totals = np.bincount(codes, weight, minlength=len(classes))
        softened: NDArray[np.float64] = np.sqrt(totals.max() / np.maximum(totals, 1e-300))
        return softened
    if not isinstance(class_weight, Mapping):
        raise InputError(
            f"class_weight must be None, 'balanced', 'sqrt_balanced', 'minority' or a dict, not {class_weight!r}."
        )
    known = {value: position for position, value in enumerate(classes.tolist())}
    for value, factor in class_weight.items():
        if value not in known:
            raise InputError(f"class_weight names the class {value!r}, which y does not have.")
        if not float(factor) >= 0 or not np.isfinite(float(factor)):
            raise InputError(f"class_weight of {value!r} must be a number of at least 0, not {factor!r}.")
        factors[known[value]] = float(factor)
    return factors


def _minority_factors(totals: NDArray[Any]) -> NDArray[np.float64]:
    """From the weights of two classes to their factors."""
    if len(totals) != 2:
        raise InputError(
            f"class_weight='minority' is for two classes, but y has {len(totals)}; use 'balanced'."
        )
    lighter = int(np.argmin(totals))
    factors = np.ones(2)
    if totals[lighter] > 0:
        factors[lighter] = totals[1 - lighter] / totals[lighter]
    return factors
