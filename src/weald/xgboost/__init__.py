"""XGBoost's interface under the name that users import; it lives in `weald.dialects.xgboost`."""

from __future__ import annotations

from weald.dialects.xgboost import *  # noqa: F403
from weald.dialects.xgboost import __all__ as __all__
from weald.dialects.xgboost import __getattr__ as __getattr__
