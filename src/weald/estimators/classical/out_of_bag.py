"""Rows that members were not given: what is said of those that all were given."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError


def check_unseen(missing: NDArray[np.bool_], member: str, weight: NDArray[np.float64] | None) -> None:
    """Warn of rows without an out-of-bag prediction; refuse to score where no row (of some weight) has one.

    ``missing``: rows that were in the bag of every member; ``member``: what one is called.
    """
    counts = ~missing if weight is None else ~missing & (weight > 0)
    if not counts.any():
        raise InputError(
            f"oob_score=True needs rows that some {member} was not given, but all {len(missing)} were in every bag, or have no "
            "weight; use a larger n_estimators, more rows, or oob_score=False."
        )
    if missing.any():
        warnings.warn(
            f"{missing.sum()} rows are in the bag of every {member} and have no out-of-bag prediction; use a larger "
            "n_estimators.",
            stacklevel=5,
        )
