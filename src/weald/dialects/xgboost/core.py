"""What XGBoost's users import from its ``core``."""

from __future__ import annotations

from weald.dialects.xgboost.booster import Booster
from weald.dialects.xgboost.dmatrix import DataSplitMode, DMatrix, QuantileDMatrix
from weald.dialects.xgboost.errors import XGBoostError

__all__ = ["Booster", "DMatrix", "DataSplitMode", "QuantileDMatrix", "XGBoostError"]
