"""Texts that are kept with a model, the best round of early stopping among them."""

from __future__ import annotations

import operator

from weald.runtime.errors import InputError


class Attributes:
    """Has texts; mixed into boosters."""

    _attributes: dict[str, str]

    def attr(self, key: str) -> str | None:
        """A text that was kept with the model, or None."""
        return self._attributes.get(key)

    def attributes(self) -> dict[str, str]:
        """All texts that are kept with the model."""
        return dict(self._attributes)

    def set_attr(self, **texts: str | None) -> None:
        """Keep texts with the model; None takes one away."""
        for key, value in texts.items():
            if value is None:
                self._attributes.pop(key, None)
            elif isinstance(value, str):
                self._attributes[key] = value
            else:
                raise InputError(f"set_attr keeps texts, but {key} is {value!r}.")

    @property
    def best_iteration(self) -> int:
        """The best round of early stopping."""
        return int(self._best("best_iteration"))

    @best_iteration.setter
    def best_iteration(self, number: int) -> None:
        self.set_attr(best_iteration=str(operator.index(number)))

    @property
    def best_score(self) -> float:
        """The metric of the best round of early stopping."""
        return float(self._best("best_score"))

    @best_score.setter
    def best_score(self, value: float) -> None:
        self.set_attr(best_score=str(float(value)))

    def _best(self, key: str) -> str:
        if key not in self._attributes:
            raise AttributeError(f"`{key}` is only defined when early stopping is used.")
        return self._attributes[key]
