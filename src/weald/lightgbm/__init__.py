"""LightGBM's interface under the name that users import; it lives in `weald.dialects.lightgbm`."""

from __future__ import annotations

from typing import Any

from weald.dialects import lightgbm as _home
from weald.dialects.lightgbm import *  # noqa: F403
from weald.dialects.lightgbm import __all__ as __all__


def __getattr__(name: str) -> Any:
    return getattr(_home, name)
