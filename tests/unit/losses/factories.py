"""Scores, labels and weights for every loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.losses import Loss, make_loss

ROWS = 1_537
OPTIONS: dict[str, dict[str, float | int]] = {
    "huber": {"huber_delta": 0.7},
    "pseudo_huber": {"huber_delta": 0.7},
    "quantile": {"quantile_alpha": 0.3},
    "tweedie": {"tweedie_power": 1.3},
    "fair": {"fair_scale": 0.7},
    "softmax": {"n_classes": 4},
    "one_vs_rest": {"n_classes": 4},
}
Arrays = tuple[Loss, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def problem(name: str, rows: int = ROWS) -> Arrays:
    """A loss with random scores, labels and weights; some scores equal their label, some weights are 0."""
    generator = np.random.default_rng(11)
    loss = make_loss(name, **OPTIONS.get(name, {}))
    scores = generator.normal(size=(loss.n_outputs, rows))
    y = generator.normal(size=rows)
    y[::50] = scores[0, ::50]
    if name in ("poisson", "tweedie"):
        y = generator.poisson(1.5, rows).astype(np.float64)
    elif name == "gamma":
        y = generator.gamma(2.0, size=rows) + 0.01
    elif name == "squared_log":
        # Away from where the loss is concave and its hessian is held up.
        scores, y = np.abs(scores) * 0.3, np.abs(y) * 0.3
    elif name == "cross_entropy":
        y = generator.uniform(size=rows)
    elif loss.task == "classification":
        y = generator.integers(0, max(2, loss.n_outputs), rows).astype(np.float64)
    weight = generator.uniform(0.0, 3.0, rows)
    weight[::70] = 0.0
    return loss, scores, y, weight


def parameter(name: str) -> float:
    return float(next(iter(OPTIONS.get(name, {"": 0.0}).values())))


def fill(
    loss: Loss,
    scores: NDArray[np.float64],
    y: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    tasks: int = 1,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    gradient = np.full(scores.shape, np.nan, dtype=np.float32)
    hessian = np.full(scores.shape, np.nan, dtype=np.float32)
    loss.gradients(scores, y, weight, gradient, hessian, tasks)
    return gradient, hessian
