"""What a booster's next rounds ask of the engine: the part that interfaces share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from weald.dialects.shared.rows import LabelledRows
from weald.dialects.shared.run import Order
from weald.estimators.shared.persistence import FittedModel


@dataclass(frozen=True)
class BoosterRequest:
    """Parameters, an objective and rows; ``objective``: the user's own function(scores, rows) -> (gradient, hessian)."""

    params: Mapping[str, Any]
    chosen: Any
    train: LabelledRows
    evals: Sequence[tuple[Any, str]] = ()
    objective: Callable[..., Any] | None = None

    def order(self, earlier: FittedModel | None) -> Order:
        """What the engine is asked for; ``earlier``: the model that training goes on from."""
        raise NotImplementedError

    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        """The rows to train on as they were when the engine was asked."""
        return self.train.parts()

    def is_of(self, rows: LabelledRows) -> bool:
        """Whether the rows to train on are those of a data set, as they were."""
        same = zip(self._parts, rows.parts(), strict=True)
        return rows is self.train and all(before is now for before, now in same)


def name_of(function: Callable[..., Any]) -> str:
    """What a user's own function is called."""
    return str(getattr(function, "__name__", type(function).__name__))
