"""What training, files and estimators ask of any finished model, a forest or a linear model, and how its arrays are kept."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset


class Predictor(Protocol):
    """A finished, immutable model."""

    @property
    def base_score(self) -> NDArray[np.float64]:
        """Where the scores of every row start, float64[K]."""

    @property
    def n_features(self) -> int:
        """The number of columns."""

    @property
    def n_outputs(self) -> int:
        """The number of raw scores of a row (K)."""

    @property
    def n_rounds(self) -> int:
        """How many rounds of training it comes from."""

    def raw_scores(self, dataset: Dataset, tasks: int = 1) -> NDArray[np.float64]:
        """Raw scores float64[K, rows], the same for every number of tasks."""

    def importances(self, kind: Any = "gain") -> NDArray[np.float64]:
        """How much every column matters, float64[columns]; not normalised."""

    def dumps(self, header: dict[str, Any]) -> bytes:
        """The bytes of its model file."""


class ReadOnlyArrays:
    """A frozen dataclass whose arrays are read-only; two are equal that hold the same bytes (so 0.0 and -0.0 differ)."""

    def __post_init__(self) -> None:
        # Views, so that the caller's own arrays stay writeable; read-only, so that kernels see one signature.
        for name, array in vars(self).items():
            if isinstance(array, np.ndarray):
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def __reduce__(self) -> tuple[Any, ...]:
        # NumPy forgets the read-only flag when it pickles; going through the constructor restores it.
        return type(self), tuple(getattr(self, entry.name) for entry in fields(self))  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = [entry.name for entry in fields(self)]  # type: ignore[arg-type]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)


def _same(one: Any, other: Any) -> bool:
    return same_bytes(one, other) if isinstance(one, np.ndarray) else bool(one == other)


def same_bytes(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two arrays have the same type, shape and bytes."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return bool(np.array_equal(one.view(np.uint8), other.view(np.uint8)))
