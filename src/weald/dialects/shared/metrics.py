"""Metrics that the interfaces of other systems share and Weald's own estimators do not offer."""

from __future__ import annotations

import math

import numpy as np

from weald.dialects.shared.tables import Float64s
from weald.losses import METRICS
from weald.losses.elementary import log_of


def auc_mu(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """The mean over pairs of classes of how well their two scores tell them apart (Kleiman and Page 2019)."""
    areas = []
    for one in range(prediction.shape[1]):
        for other in range(one):
            rows = (y == one) | (y == other)
            lean = log_of(np.maximum(prediction[rows, one], 1e-300)) - log_of(
                np.maximum(prediction[rows, other], 1e-300)
            )
            part = None if weight is None else weight[rows]
            areas.append(METRICS["auc"].function((y[rows] == one).astype(np.float64), lean, part))
    return math.fsum(areas) / len(areas)
