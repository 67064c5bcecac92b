"""`catboost.utils` under the name that users import; it lives in `weald.dialects.catboost.utils`."""

from __future__ import annotations

from typing import Any

from weald.dialects.catboost import utils as _home
from weald.dialects.catboost.utils import *  # noqa: F403
from weald.dialects.catboost.utils import __all__ as __all__


def __getattr__(name: str) -> Any:
    return getattr(_home, name)
