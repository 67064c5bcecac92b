"""`weald.dask.xgboost` under the name that XGBoost's users import."""

from weald.dask.xgboost import *  # noqa: F403
