"""Data sets, boosters, errors and the logger under the name that LightGBM's users import them from."""

from weald.dialects.lightgbm import __getattr__ as __getattr__
from weald.dialects.lightgbm.basic import (
    EvalResult,
    LGBMDeprecationWarning,
    LightGBMError,
    register_logger,
)
from weald.dialects.lightgbm.booster import Booster
from weald.dialects.lightgbm.dataset import Dataset
from weald.dialects.lightgbm.sequences import Sequence

__all__ = [
    "Booster", "Dataset", "EvalResult", "LGBMDeprecationWarning", "LightGBMError", "Sequence", "register_logger",
]  # fmt: skip
