"""XGBoost's interface to Dask under the name that its users import."""

from weald.dask.xgboost import inplace_predict, predict, train
from weald.dask.xgboost_estimators import (
    DaskXGBClassifier,
    DaskXGBRegressor,
    DaskXGBRFClassifier,
    DaskXGBRFRegressor,
)
from weald.dask.xgboost_matrix import DaskDMatrix, DaskQuantileDMatrix
from weald.dialects.xgboost.refusals import REFUSALS

__all__ = [
    "DaskDMatrix",
    "DaskQuantileDMatrix",
    "DaskXGBClassifier",
    "DaskXGBRFClassifier",
    "DaskXGBRFRegressor",
    "DaskXGBRegressor",
    "inplace_predict",
    "predict",
    "train",
]

__getattr__ = REFUSALS.names(
    {
        "DaskXGBRanker": "ranking is not supported.",
        "CommunicatorContext": "members of a team meet by themselves.",
    }
)
