"""Seeds from what scikit-learn calls a random state."""

from __future__ import annotations

from typing import Any

import numpy as np

from weald.runtime.errors import InputError


def seed_of(random_state: Any) -> int:
    """A seed from what scikit-learn calls a random state; None is 0, so that two fits agree."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise InputError(f"random_state must be None, a whole number or a NumPy generator, not {random_state!r}.")
