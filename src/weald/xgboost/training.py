"""`train` and `cv` under the name that XGBoost's users import."""

from weald.dialects.xgboost.cross_validation import CVPack, cv
from weald.dialects.xgboost.training import train

__all__ = ["CVPack", "cv", "train"]
