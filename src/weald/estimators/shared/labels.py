"""Labels as a loss takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.losses import Loss


@dataclass(frozen=True)
class Labels:
    """What the task makes of y: numbers for the loss, weights, and the classes of a classifier."""

    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    loss: Loss
    classes: NDArray[Any] | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "y", writeable(self.y))
        object.__setattr__(self, "weight", None if self.weight is None else writeable(self.weight))


def writeable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The array, copied if it is read-only (a view of a frame): to Numba that is another type, to compile for."""
    return values if values.flags.writeable else values.copy()
