"""Blending: stacking with one hold-out part instead of folds.

Members are fitted to the rest of the rows, the final estimator to what they say of the hold-out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.utils.parallel import Parallel

from weald.training.combining.layers import Floats, Fold, Layer, Member, fit_all


def split_off(y: NDArray[Any], share: float, classifies: bool, groups: Any, seed: int) -> Fold:
    """(the rows for the members, the rows held out), both ascending.

    The hold-out has the classes in their shares; with groups, whole groups are held out instead.
    """
    if groups is not None:
        splitter = GroupShuffleSplit(1, test_size=share, random_state=seed % 2**32)
        rest, held_out = next(splitter.split(np.zeros(len(y)), y, groups))
    else:
        rest, held_out = train_test_split(
            np.arange(len(y)), test_size=share, random_state=seed % 2**32, stratify=y if classifies else None
        )
    return np.sort(rest).astype(np.int64), np.sort(held_out).astype(np.int64)


def blend_tables(
    members: Sequence[Member],
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any] | None,
    holdout: Any,
    run: Parallel,
) -> tuple[Layer, list[Floats]]:
    """Fit the members to one table and ask them about another, which is the hold-out."""
    layer = fit_all(members, X, y, classes, run)
    return layer, layer.outputs(holdout)
