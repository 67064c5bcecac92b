"""XGBoost's interface under the name that users import; it lives in `weald.dialects.xgboost`."""

from __future__ import annotations

from weald.dialects.xgboost import *  # noqa: F403
from weald.dialects.xgboost import __all__ as __all__
from weald.dialects.xgboost import __getattr__ as __getattr__
from weald.xgboost import config as config
from weald.xgboost import core as core
from weald.xgboost import plotting as plotting
from weald.xgboost import sklearn as sklearn
from weald.xgboost import training as training
