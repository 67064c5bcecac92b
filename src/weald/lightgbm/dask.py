"""LightGBM's estimators for Dask under the name that its users import."""

from weald.dask.lightgbm import DaskLGBMClassifier, DaskLGBMRegressor
from weald.dialects.lightgbm.refusals import NAMES, REFUSALS

__all__ = ["DaskLGBMClassifier", "DaskLGBMRegressor"]

__getattr__ = REFUSALS.names(NAMES)
