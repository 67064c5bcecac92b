"""`weald.dialects.lightgbm.callback` under the name that LightGBM's users import."""

from weald.dialects.lightgbm.callback import *  # noqa: F403
