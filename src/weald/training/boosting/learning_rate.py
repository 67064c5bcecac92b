"""A learning rate from the number of rows and rounds, by CatBoost's rule."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

# What a loss without a rule of its own gets.
DEFAULT_RATE: Final = 0.03
LARGEST_RATE: Final = 0.5
_USUAL_ROUNDS: Final = 1000


class _Rule(NamedTuple):
    """ln(rate) = constant + rows * ln(n) + rounds * ln(T / 1000)."""

    constant: float
    rows: float
    rounds: float


# (loss, whether the rounds after the best one are dropped, whether scores start at the best constant) -> rule. Measured: what
# CatBoost 1.2.10 chooses for several n and T lies on these lines, to the sixth digit.
_RULES: Final = {
    ("logistic", False, False): _Rule(-7.525, 0.427, -0.917),
    ("logistic", False, True): _Rule(-7.299, 0.408, -0.928),
    ("logistic", True, False): _Rule(-5.158, 0.247, -0.435),
    ("logistic", True, True): _Rule(-5.127, 0.246, -0.451),
    ("softmax", False, False): _Rule(-2.889, 0.051, -0.845),
    ("softmax", True, False): _Rule(-2.364, 0.02, -0.382),
    ("squared", False, False): _Rule(-4.473, 0.178, -0.76),
    ("squared", False, True): _Rule(-4.287, 0.158, -0.813),
    ("squared", True, False): _Rule(-4.383, 0.189, -0.623),
    ("squared", True, True): _Rule(-4.062, 0.157, -0.61),
}
_ONE_START: Final = ("softmax",)  # losses whose rule does not ask where scores start


def automatic_learning_rate(
    loss: str, n_rows: int, n_rounds: int, keeps_best: bool = False, from_constant: bool = True
) -> float:
    """The learning rate that CatBoost would choose.

    loss: its name; the rule is for "logistic", "softmax" and "squared", every other loss has 0.03.
    keeps_best: whether the rounds after the best one on an evaluation set are dropped.
    from_constant: whether scores start at the best constant, or else at 0 or where the user says.

    >>> automatic_learning_rate("squared", n_rows=20_000, n_rounds=1000)
    0.065727
    >>> automatic_learning_rate("poisson", n_rows=20_000, n_rounds=1000)
    0.03
    """
    rule = _RULES.get((loss, keeps_best, from_constant and loss not in _ONE_START))
    if rule is None:
        return DEFAULT_RATE
    exponent = rule.constant + rule.rows * math.log(n_rows) + rule.rounds * math.log(n_rounds / _USUAL_ROUNDS)
    return round(min(math.exp(exponent), LARGEST_RATE), 6)
