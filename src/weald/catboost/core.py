"""`catboost.core` under the name that users import: the names of `weald.catboost`."""

from __future__ import annotations

from typing import Any

from weald.dialects import catboost as _home
from weald.dialects.catboost import *  # noqa: F403
from weald.dialects.catboost import __all__ as __all__


def __getattr__(name: str) -> Any:
    return getattr(_home, name)
