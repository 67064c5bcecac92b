"""`weald.dialects.lightgbm.sklearn` under the name that LightGBM's users import."""

from weald.dialects.lightgbm.sklearn import *  # noqa: F403
