"""XGBoost's interface on Weald's engine: change ``import xgboost as xgb`` to ``import weald.xgboost as xgb``.

>>> import numpy as np
>>> import weald.xgboost as xgb
>>> X = np.arange(100.0).reshape(-1, 1)
>>> model = xgb.XGBClassifier(n_estimators=5).fit(X, X[:, 0] > 50)
>>> model.predict(X[[0, -1]]).tolist()
[False, True]

Names, defaults and shapes are XGBoost's; ``docs/xgboost_parameters.md`` lists what differs and what is refused.
"""

from __future__ import annotations

from typing import Any

from weald import __version__
from weald.dialects.xgboost import callback
from weald.dialects.xgboost.batches import DataIter
from weald.dialects.xgboost.booster import Booster
from weald.dialects.xgboost.config import config_context, get_config, set_config
from weald.dialects.xgboost.cross_validation import cv
from weald.dialects.xgboost.dmatrix import DMatrix, QuantileDMatrix
from weald.dialects.xgboost.external import ExtMemQuantileDMatrix
from weald.dialects.xgboost.plotting import plot_importance, plot_tree, to_graphviz
from weald.dialects.xgboost.refusals import absent
from weald.dialects.xgboost.sklearn import (
    XGBClassifier,
    XGBModel,
    XGBRegressor,
    XGBRFClassifier,
    XGBRFRegressor,
)
from weald.dialects.xgboost.training import train

__all__ = [
    "DMatrix", "QuantileDMatrix", "ExtMemQuantileDMatrix", "DataIter",
    "Booster", "train", "cv", "callback", "XGBModel", "XGBClassifier", "XGBRegressor",
    "XGBRFClassifier", "XGBRFRegressor", "plot_importance", "plot_tree", "to_graphviz", "set_config", "get_config",
    "config_context", "build_info", "__version__",
]  # fmt: skip


def build_info() -> dict[str, Any]:
    """What this is.

    >>> build_info()["USE_CUDA"]
    False
    """
    return {"name": "weald", "version": __version__, "USE_CUDA": False, "USE_FEDERATED": False}


__getattr__ = absent
