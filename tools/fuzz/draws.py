"""What a case draws its choices from: a generator that only the seed and the case's number decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


class Draws:
    """The random choices of one case.

    >>> Draws(0, 7).whole(0, 100) == Draws(0, 7).whole(0, 100)
    True
    """

    def __init__(self, seed: int, number: int) -> None:
        self.generator = np.random.default_rng([seed, number])

    def chance(self, share: float) -> bool:
        """True in this share of the draws."""
        return bool(self.generator.random() < share)

    def one(self, items: Sequence[Item], weights: Sequence[float] | None = None) -> Item:
        """One of the items."""
        shares = None if weights is None else np.array(weights) / np.sum(weights)
        return items[int(self.generator.choice(len(items), p=shares))]

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        """At most so many of the items, each once."""
        count = self.whole(0, min(most, len(items)))
        return [items[int(place)] for place in self.generator.permutation(len(items))[:count]]

    def whole(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return int(self.generator.integers(low, high, endpoint=True))

    def magnitude(self, low: float, high: float) -> float:
        """A number whose logarithm is uniform."""
        return float(np.exp(self.generator.uniform(np.log(low), np.log(high))))
