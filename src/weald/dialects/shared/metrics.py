"""What the tables of other systems' metrics share, and metrics that Weald's own estimators do not offer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from weald.dialects.shared.tables import Float64s
from weald.losses import METRICS
from weald.losses.elementary import log_of
from weald.runtime.errors import NotSupportedError

#: function(y, prediction, weight, **options)
Function = Callable[..., float]


@dataclass(frozen=True)
class MetricRow:
    """A metric under another system's name.

    metric    Weald's name of it, or a function
    outputs   whether it is of one prediction a row, of several classes, or of either
    option    the keyword of the function that is an option, and the parameter that tells its value
    """

    metric: str | Function
    outputs: Literal["one", "several", "either"] = "one"
    option: tuple[str, str] | None = None

    def function(self, value: Any = None) -> Function:
        """The function; ``value``: of its option, where it has one."""
        function = METRICS[self.metric].function if isinstance(self.metric, str) else self.metric
        return function if self.option is None else partial(function, **{self.option[0]: value})

    def check_outputs(self, said: str, n_outputs: int) -> None:
        """Refuse a metric of another number of predictions a row; ``said``: as it was asked for."""
        if self.outputs == "either" or (self.outputs == "several") == (n_outputs > 1):
            return
        wanted = "several classes" if self.outputs == "several" else "one prediction a row"
        raise NotSupportedError(f"{said} is for {wanted}, but the number of outputs is {n_outputs}.")


_SAME = 12  # digits: differences of the same two scores may differ in the last ones, and must stay ties


def auc_mu(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """The mean over pairs of classes of how well their two scores tell them apart (Kleiman and Page 2019)."""
    areas = []
    for one in range(prediction.shape[1]):
        for other in range(one):
            rows = (y == one) | (y == other)
            lean = log_of(np.maximum(prediction[rows, one], 1e-300)) - log_of(
                np.maximum(prediction[rows, other], 1e-300)
            )
            lean = np.round(lean, _SAME)
            part = None if weight is None else weight[rows]
            areas.append(METRICS["auc"].function((y[rows] == one).astype(np.float64), lean, part))
    return math.fsum(areas) / len(areas)
