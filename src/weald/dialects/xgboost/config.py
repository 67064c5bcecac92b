"""Settings of a thread: how much the module says in it, and how many threads it takes. A new thread has the defaults."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from weald.dialects.shared.values import whole_number
from weald.runtime.errors import InputError, NotSupportedError

_DEFAULTS: dict[str, Any] = {"nthread": 0, "verbosity": 1}
_own = threading.local()
_OF_GPUS = ("use_rmm", "use_cuda_async_pool")


def set_config(**settings: Any) -> None:
    """Set ``verbosity``, where 0 silences warnings, and ``nthread``, the threads where parameters name none; 0: all cores.

    The settings are of the thread that sets them. None leaves one as it is.

    >>> set_config(verbosity=1, nthread=0)
    """
    read = {}
    for name, value in settings.items():
        if name in _OF_GPUS:
            if value:
                raise NotSupportedError(
                    f"{name}={value!r} is of GPUs, which are not supported; leave it out."
                )
        elif name not in _DEFAULTS:
            raise InputError(f"set_config knows {' and '.join(_DEFAULTS)} only, not {name!r}.")
        elif value is None:
            continue
        elif name == "verbosity" and value not in (0, 1, 2, 3):
            raise InputError(f"verbosity must be 0, 1, 2 or 3, not {value!r}.")
        else:
            read[name] = whole_number(name, value, -1) if name == "nthread" else value
    _own.settings = get_config() | read


def get_config() -> dict[str, Any]:
    """The settings of this thread.

    >>> get_config()
    {'nthread': 0, 'verbosity': 1}
    """
    return dict(getattr(_own, "settings", _DEFAULTS))


def threads_of(params: Mapping[str, Any]) -> int | None:
    """The threads that parameters ask for, or else the settings; None: all cores."""
    for asked in (params.get("nthread"), get_config()["nthread"]):
        if asked not in (None, 0, -1):
            return int(asked)
    return None


@contextmanager
def config_context(**settings: Any) -> Iterator[None]:
    """Settings for the length of a block.

    >>> with config_context(verbosity=0):
    ...     get_config()["verbosity"]
    0
    """
    before = get_config()
    set_config(**settings)
    try:
        yield
    finally:
        set_config(**before)
