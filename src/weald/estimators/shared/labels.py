"""Labels as a loss takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import read_classes
from weald.losses import Loss
from weald.runtime.errors import InputError


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


def known_codes(
    y: Any, n_rows: int, classes: NDArray[Any], owner: str, who: str, but: str = "y does not have"
) -> NDArray[np.float64]:
    """The positions of labels among known classes; ``who``, "eval_set has", and ``but`` say what is wrong with another."""
    codes, found = read_classes(y, n_rows, owner=owner)
    known = {value: position for position, value in enumerate(classes.tolist())}
    unknown = [value for value in found.tolist() if value not in known]
    if unknown:
        raise InputError(f"{who} the class {unknown[0]!r}, which {but}.")
    return np.array([known[value] for value in found.tolist()], np.float64)[codes]
