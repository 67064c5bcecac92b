"""Rules of voting (Zhou 2012, chapter 4): majority with refusal, plurality, and both with weights.

Votes are codes of classes, 0 … classes - 1. A vote's weight is its member's; shares are of the sum of the weights.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Shares are compared as if written with so many decimals: 0.1 + 0.2 is to be a tie with 0.3.
_DECIMALS = 12


def vote_shares(votes: Codes, weights: Floats, n_classes: int) -> Floats:
    """(rows, classes): the share of the weights, which sum to one, that votes for each class.

    ``votes`` is (members, rows).

    >>> vote_shares(np.array([[0, 1], [0, 2], [1, 1]]), np.array([0.5, 0.25, 0.25]), 3).tolist()
    [[0.75, 0.25, 0.0], [0.0, 0.75, 0.25]]
    """
    shares = np.zeros((votes.shape[1], n_classes))
    rows = np.arange(votes.shape[1])
    for vote, weight in zip(votes, weights, strict=True):
        shares[rows, vote] += weight
    rounded: Floats = np.round(shares, _DECIMALS)
    return rounded


def majority(shares: Floats) -> tuple[Codes, NDArray[np.bool_]]:
    """The class with more than half of the votes, and where there is none: a mask of refused rows.

    A refused row's code is that of the largest share, and not to be used.

    >>> majority(np.array([[0.6, 0.4, 0.0], [0.5, 0.5, 0.0], [0.4, 0.3, 0.3]]))
    (array([0, 0, 0]), array([False,  True,  True]))
    """
    codes = shares.argmax(axis=1)
    return codes, shares.max(axis=1) <= 0.5


def plurality(shares: Floats, keys: NDArray[np.uint64] | None = None) -> Codes:
    """The class with the largest share; of equals the first or, where the rows have keys, the one that the key picks.

    >>> plurality(np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])).tolist()
    [0, 2]
    >>> plurality(np.array([[0.5, 0.5, 0.0]] * 2), np.array([6, 7], np.uint64)).tolist()
    [0, 1]
    """
    first: Codes = shares.argmax(axis=1)
    if keys is None:
        return first
    best = shares == shares.max(axis=1, keepdims=True)
    place = (keys % best.sum(axis=1).astype(np.uint64)).astype(np.int64)
    # The class at which so many of the best have come before.
    picked: Codes = (best & (np.cumsum(best, axis=1) == place[:, None] + 1)).argmax(axis=1)
    return picked


def refused_as(label: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """The refusal label as an array of one value; refused unless it is of the classes' kind and none of them.

    >>> refused_as("unsure", np.array(["no", "yes"]))
    array('unsure', dtype='<U6')
    """
    if classes.dtype.kind == "b":
        raise InputError(
            "voting='majority' needs labels that leave room for a third, but y is boolean; use 0 and 1."
        )
    is_text = classes.dtype.kind not in "iuf"
    is_number = isinstance(label, numbers.Real) and not isinstance(label, bool | np.bool_)
    if not (isinstance(label, str) if is_text else is_number):
        kind = "text" if is_text else "a number"
        raise InputError(f"refusal_label must be {kind}, as the labels of y are, not {label!r}.")
    if label in classes.tolist():
        raise InputError(f"refusal_label={label!r} is one of the labels of y; choose another.")
    return np.array(label, dtype=object if classes.dtype.kind == "O" else None)
