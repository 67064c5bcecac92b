"""`weald.dialects.xgboost.sklearn` under the name that XGBoost's users import."""

from weald.dialects.xgboost.sklearn import *  # noqa: F403
