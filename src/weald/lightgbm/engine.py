"""Training under the name that LightGBM's users import it from."""

from weald.dialects.lightgbm.cross_validation import CVBooster, cv
from weald.dialects.lightgbm.training import train

__all__ = ["CVBooster", "cv", "train"]
