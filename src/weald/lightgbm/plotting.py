"""`weald.dialects.lightgbm.plotting` under the name that LightGBM's users import."""

from weald.dialects.lightgbm.plotting import *  # noqa: F403
