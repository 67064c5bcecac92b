"""What XGBoost's users import from its ``core``."""

from __future__ import annotations

from weald.dialects.xgboost.batches import DataIter
from weald.dialects.xgboost.booster import Booster
from weald.dialects.xgboost.dmatrix import DataSplitMode, DMatrix, QuantileDMatrix
from weald.dialects.xgboost.errors import XGBoostError
from weald.dialects.xgboost.external import ExtMemQuantileDMatrix

__all__ = [
    "Booster", "DMatrix", "DataIter", "DataSplitMode", "ExtMemQuantileDMatrix", "QuantileDMatrix", "XGBoostError",
]  # fmt: skip
