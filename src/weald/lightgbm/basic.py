"""`weald.dialects.lightgbm.basic` under the name that LightGBM's users import."""

from weald.dialects.lightgbm.basic import *  # noqa: F403
