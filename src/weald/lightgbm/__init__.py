"""LightGBM's interface under the name that users import; it lives in `weald.dialects.lightgbm`."""

from __future__ import annotations

from weald.dialects.lightgbm import *  # noqa: F403
from weald.dialects.lightgbm import __all__ as _names
from weald.dialects.lightgbm.refusals import NAMES, REFUSALS
from weald.lightgbm import basic, callback, engine, plotting, sklearn

__all__ = [*_names, "basic", "callback", "engine", "plotting", "sklearn"]

# Dask is loaded when these are asked for.
__getattr__ = REFUSALS.names(NAMES, dict.fromkeys(("DaskLGBMClassifier", "DaskLGBMRegressor"), "weald.lightgbm.dask"))
