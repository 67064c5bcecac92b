"""LightGBM's interface on Weald's engine: change ``import lightgbm as lgb`` to ``import weald.lightgbm as lgb``.

>>> import numpy as np
>>> import weald.lightgbm as lgb
>>> X = np.arange(200.0).reshape(-1, 1)
>>> model = lgb.LGBMClassifier(n_estimators=5).fit(X, X[:, 0] > 90)
>>> model.predict(X[[0, -1]]).tolist()
[False, True]

Names, defaults and shapes are LightGBM's; ``docs/lightgbm_parameters.md`` lists what differs and what is refused.
"""

from __future__ import annotations

from weald import __version__
from weald.dialects.lightgbm.basic import EvalResult, LightGBMError, register_logger
from weald.dialects.lightgbm.booster import Booster
from weald.dialects.lightgbm.callback import (
    EarlyStopException,
    early_stopping,
    log_evaluation,
    record_evaluation,
    reset_parameter,
)
from weald.dialects.lightgbm.cross_validation import CVBooster, cv
from weald.dialects.lightgbm.dataset import Dataset
from weald.dialects.lightgbm.plotting import (
    create_tree_digraph,
    plot_importance,
    plot_metric,
    plot_split_value_histogram,
    plot_tree,
)
from weald.dialects.lightgbm.refusals import NAMES, REFUSALS
from weald.dialects.lightgbm.sequences import Sequence
from weald.dialects.lightgbm.sklearn import LGBMClassifier, LGBMModel, LGBMRegressor
from weald.dialects.lightgbm.training import train

__all__ = [
    "Dataset", "Sequence", "Booster", "CVBooster", "train", "cv", "LGBMModel", "LGBMClassifier", "LGBMRegressor",
    "early_stopping", "log_evaluation", "record_evaluation", "reset_parameter", "EarlyStopException", "EvalResult",
    "LightGBMError", "register_logger", "plot_importance", "plot_metric", "plot_split_value_histogram", "plot_tree",
    "create_tree_digraph", "__version__",
]  # fmt: skip

__getattr__ = REFUSALS.names(NAMES)
