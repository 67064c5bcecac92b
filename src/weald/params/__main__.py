"""Writes the pages of parameters: ``python -m weald.params``, and with ``xgboost`` or ``lightgbm`` those of the dialects."""

import sys

from weald.params.lightgbm import lightgbm_page
from weald.params.page import parameter_table
from weald.params.xgboost import xgboost_page

_PAGES = {"xgboost": xgboost_page, "lightgbm": lightgbm_page}

print(_PAGES.get("".join(sys.argv[1:]), parameter_table)(), end="")
