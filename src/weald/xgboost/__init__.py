"""XGBoost's interface under the name that users import; it lives in `weald.dialects.xgboost`."""

from __future__ import annotations

from typing import Any

from weald.dialects import xgboost as _home
from weald.dialects.xgboost import *  # noqa: F403
from weald.dialects.xgboost import __all__ as __all__


def __getattr__(name: str) -> Any:
    return getattr(_home, name)
