"""Which rows tell a row its statistics: random orders of time, and rows that are set aside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.runtime.random import HOLDOUT, ORDERS, permutation, stream_key


def random_orders(count: int, n_rows: int, seed: int) -> list[NDArray[np.uint32]]:
    """Orders of the rows, the oldest first."""
    return [permutation(n_rows, stream_key(seed, ORDERS, number)) for number in range(count)]


def set_aside(n_rows: int, n_training: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """So many rows to train on, and the others, which give statistics; both drawn at random and ascending."""
    order = permutation(n_rows, stream_key(seed, HOLDOUT)).astype(np.int64)
    return np.sort(order[:n_training]), np.sort(order[n_training:])
