"""Stacking and blending: members' predictions of rows that they have not seen train the final estimator.

As Wolpert (1992) describes it: the rows are cut into k parts; for each part every member is fitted to the other parts and
predicts this one, z_im = h_m^(j)(x_i); the final estimator is fitted to (z_i, y_i). Predictions of the rows that the
members were fitted to are far better than those of new rows, and a final estimator that is
fitted to them trusts members that only remember: `OVERFITS` says so by its name. Breiman (1996) stacks regressions.

Blending has one hold-out part instead of folds: members are fitted to the rest of the rows, the final estimator to what they
say of the hold-out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    StratifiedGroupKFold,
    check_cv,
    train_test_split,
)
from sklearn.utils.parallel import Parallel

from weald.runtime.errors import InputError
from weald.training.combining.layers import Floats, Fold, Layer, Member, Stack, cross_fit, join

PREFIT = "prefit"
OVERFITS = "in_sample_overfits"
DEFAULT_FOLDS = 5


@dataclass(frozen=True)
class Stacked:
    """Fitted layers, and what the final estimator is fitted to.

    ``widths``: how many of its columns are of each member of the last layer. ``out_of_fold``: the outputs of every layer.
    """

    stack: Stack
    top: Any
    widths: Sequence[int]
    out_of_fold: Sequence[Floats] | None


def splitter_of(cv: Any, y: NDArray[Any], classifies: bool, grouped: bool) -> Any:
    """The splitter that ``cv`` stands for: stratified for classes, and keeping groups together when there are any."""
    if isinstance(cv, str):
        raise InputError(
            f"cv must be a number of folds, a splitter, a list of (train, test), {PREFIT!r} or {OVERFITS!r}, "
            f"not {cv!r}."
        )
    if cv is None or isinstance(cv, int | np.integer):
        n_splits = DEFAULT_FOLDS if cv is None else int(cv)
        stratifies = classifies and y.ndim == 1
        _check_folds(n_splits, y, stratifies)
        if grouped:
            return StratifiedGroupKFold(n_splits) if stratifies else GroupKFold(n_splits)
    return check_cv(DEFAULT_FOLDS if cv is None else cv, y, classifier=classifies)


def _check_folds(n_splits: int, y: NDArray[Any], classifies: bool) -> None:
    """Refuse a number of folds that these rows cannot be cut into."""
    if n_splits < 2:
        raise InputError(f"cv must be at least 2 folds, not {n_splits}.")
    if n_splits > len(y):
        raise InputError(f"cv is {n_splits} folds, but X has {len(y)} samples; use fewer folds.")
    most = int(np.unique(y, return_counts=True)[1].max()) if classifies else n_splits
    if most < n_splits:
        raise InputError(
            f"cv is {n_splits} folds with all classes in each, but no class has more than {most} rows; use fewer folds."
        )


def folds_of(splitter: Any, X: Any, y: NDArray[Any], groups: NDArray[Any] | None) -> list[Fold]:
    """The folds, drawn once for all members; every row must be predicted exactly once."""
    try:
        folds = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(X, y, groups)]
    except ValueError as error:
        raise InputError(f"cv={splitter!r} cannot cut these rows into folds: {error}") from error
    folds = [(_numbers(train), _numbers(test)) for train, test in folds]
    times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(y))
    if len(times) > len(y) or (times != 1).any():
        row = int(np.flatnonzero(times != 1)[0])
        raise InputError(
            f"cv must put every row into the test part of exactly one fold, but row {row} is in {times[row]}; "
            "use a splitter like KFold, without repeats."
        )
    return folds


def _numbers(rows: NDArray[Any]) -> NDArray[np.int64]:
    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64, copy=False)


def split_off(y: NDArray[Any], share: float, classifies: bool, groups: Any, seed: int) -> Fold:
    """(the rows for the members, the rows held out), both ascending.

    The hold-out has the classes in their shares; with groups, whole groups are held out instead.
    """
    if groups is not None:
        n_groups = len(np.unique(groups))
        if not 0 < math.ceil(share * n_groups) < n_groups:
            raise InputError(
                f"holdout={share} leaves no group to the members, as groups has {n_groups}; use a smaller holdout or more groups."
            )
        splitter = GroupShuffleSplit(1, test_size=share, random_state=seed % 2**32)
        rest, held_out = next(splitter.split(np.zeros(len(y)), y, groups))
    else:
        stratifies = classifies and y.ndim == 1
        _check_share(y, share, stratifies)
        rest, held_out = train_test_split(
            np.arange(len(y)), test_size=share, random_state=seed % 2**32, stratify=y if stratifies else None
        )
    return np.sort(rest).astype(np.int64), np.sort(held_out).astype(np.int64)


def _check_share(y: NDArray[Any], share: float, classifies: bool) -> None:
    """Refuse a hold-out that leaves nobody enough rows."""
    held_out = math.ceil(share * len(y))
    if held_out >= len(y):
        raise InputError(f"holdout={share} holds all {len(y)} samples out; the members need rows too.")
    if not classifies:
        return
    _, first, counts = np.unique(y, return_index=True, return_counts=True)
    if counts.min() < 2:
        row = int(first[counts.argmin()])
        raise InputError(
            f"row {row} of y is the only one of its class, but the members and the final estimator need one each; drop "
            "the class, or give a holdout_set."
        )
    if min(held_out, len(y) - held_out) < len(counts):
        raise InputError(
            f"holdout={share} holds {held_out} of {len(y)} rows out, but there are {len(counts)} classes, of which the members "
            "and the final estimator need a row each; use another share."
        )


def stack_folds(
    layers: Sequence[Sequence[Member]],
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any] | None,
    folds: Sequence[Fold],
    passthrough: bool,
    refit: bool,
    run: Parallel,
) -> Stacked:
    """Fit layer upon layer, each to the out-of-fold outputs of the one below, in the same folds."""
    order = np.argsort(np.concatenate([test for _, test in folds]), kind="stable")
    inputs, fitted, out_of_fold = X, [], []
    outputs: list[Floats] = []
    for members in layers:
        layer, outputs = cross_fit(members, inputs, y, classes, folds, refit, run)
        outputs = [output[order] for output in outputs]
        fitted.append(layer)
        out_of_fold.append(np.hstack(outputs))
        inputs = join(outputs, X if passthrough else None)
    widths = [output.shape[1] for output in outputs]
    return Stacked(Stack(fitted, passthrough), inputs, widths, out_of_fold)


def stack_outputs(
    layers: Sequence[Sequence[Member]],
    X: Any,
    passthrough: bool,
    fit_layer: Callable[[Sequence[Member], Any], Layer],
) -> Stacked:
    """Layer upon layer without folds, each on what the one below says of the very table: see the module on why not."""
    inputs, fitted, outputs = X, [], []
    for members in layers:
        layer = fit_layer(members, inputs)
        fitted.append(layer)
        outputs = layer.outputs(inputs)
        inputs = join(outputs, X if passthrough else None)
    return Stacked(Stack(fitted, passthrough), inputs, [output.shape[1] for output in outputs], None)
