"""LightGBM's interface under the name that users import; it lives in `weald.dialects.lightgbm`."""

from __future__ import annotations

from weald.dialects.lightgbm import *  # noqa: F403
from weald.dialects.lightgbm import __all__ as _names
from weald.dialects.lightgbm import __getattr__ as __getattr__
from weald.lightgbm import basic, callback, engine, plotting, sklearn

__all__ = [*_names, "basic", "callback", "engine", "plotting", "sklearn"]
