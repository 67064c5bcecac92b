"""Settings of the whole module: how much it says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weald.runtime.errors import InputError

_settings: dict[str, Any] = {"verbosity": 1}


def set_config(**settings: Any) -> None:
    """Set ``verbosity``: 0 silences warnings. There is nothing else to be set.

    >>> set_config(verbosity=1)
    """
    for name, value in settings.items():
        if name != "verbosity":
            raise InputError(f"set_config knows verbosity only, not {name!r}.")
        if value not in (0, 1, 2, 3):
            raise InputError(f"verbosity must be 0, 1, 2 or 3, not {value!r}.")
    _settings.update(settings)


def get_config() -> dict[str, Any]:
    """The settings.

    >>> get_config()
    {'verbosity': 1}
    """
    return dict(_settings)


@contextmanager
def config_context(**settings: Any) -> Iterator[None]:
    """Settings for the length of a block.

    >>> with config_context(verbosity=0):
    ...     get_config()
    {'verbosity': 0}
    """
    before = get_config()
    set_config(**settings)
    try:
        yield
    finally:
        set_config(**before)
