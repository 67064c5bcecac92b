"""`weald.dialects.xgboost.config` under the name that XGBoost's users import."""

from weald.dialects.xgboost.config import config_context, get_config, set_config

__all__ = ["config_context", "get_config", "set_config"]
