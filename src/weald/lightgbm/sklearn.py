"""scikit-learn's estimators under the name that LightGBM's users import them from."""

from weald.dialects.lightgbm import __getattr__ as __getattr__
from weald.dialects.lightgbm.sklearn import LGBMClassifier, LGBMModel, LGBMRegressor

__all__ = ["LGBMClassifier", "LGBMModel", "LGBMRegressor"]
