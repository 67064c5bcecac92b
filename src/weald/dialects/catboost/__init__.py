"""CatBoost's interface on Weald's engine: change ``import catboost as cb`` to ``import weald.catboost as cb``.

>>> import numpy as np
>>> import weald.catboost as cb
>>> X = np.arange(200.0).reshape(-1, 1)
>>> model = cb.CatBoostClassifier(iterations=5, verbose=False).fit(X, X[:, 0] > 90)
>>> model.predict(X[[0, -1]]).tolist()
[False, True]

Names, defaults and shapes are CatBoost's; ``docs/catboost_parameters.md`` lists what differs and what is refused.
"""

from __future__ import annotations

from weald import __version__
from weald.dialects.catboost.basic import CatBoostError, EFeaturesSelectionAlgorithm, EFstrType, EShapCalcType
from weald.dialects.catboost.cross_validation import cv, train
from weald.dialects.catboost.model import CatBoost
from weald.dialects.catboost.pool import Pool
from weald.dialects.catboost.refusals import NAMES, REFUSALS
from weald.dialects.catboost.sklearn import CatBoostClassifier, CatBoostRegressor, to_classifier, to_regressor
from weald.dialects.catboost.sums import sum_models

CatboostError = CatBoostError

__all__ = [
    "CatBoost", "CatBoostClassifier", "CatBoostRegressor", "Pool", "cv", "train", "sum_models", "CatBoostError", "CatboostError",
    "EFstrType", "EFeaturesSelectionAlgorithm", "EShapCalcType", "to_classifier", "to_regressor", "__version__",
]  # fmt: skip

__getattr__ = REFUSALS.names(NAMES)
