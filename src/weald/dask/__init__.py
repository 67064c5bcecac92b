"""Training on a Dask cluster: the estimators of `weald`, for Dask's arrays and dataframes; the models have the same bytes.

Needs the extra ``dask``. Nothing is lost with a worker but time.
"""

from __future__ import annotations

from weald.dask.boosted import BoostedTreesClassifier, BoostedTreesRegressor
from weald.dask.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.dask.teamwork import TrainingLost

__all__ = [
    "BoostedTreesClassifier",
    "BoostedTreesRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "TrainingLost",
]
