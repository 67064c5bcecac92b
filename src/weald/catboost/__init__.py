"""CatBoost's interface under the name that users import; it lives in `weald.dialects.catboost`."""

from __future__ import annotations

from weald.dialects.catboost import *  # noqa: F403
from weald.dialects.catboost import __all__ as __all__
from weald.dialects.catboost import __getattr__ as __getattr__
