"""`weald.dialects.xgboost.callback` under the name that XGBoost's users import."""

from weald.dialects.xgboost.callback import *  # noqa: F403
