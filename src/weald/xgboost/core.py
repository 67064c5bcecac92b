"""`weald.dialects.xgboost.core` under the name that XGBoost's users import."""

from weald.dialects.xgboost.core import *  # noqa: F403
