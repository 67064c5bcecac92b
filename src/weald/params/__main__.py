"""Writes the pages of parameters: ``python -m weald.params``, and with ``xgboost`` and the like those of the dialects."""

import sys

from weald.params.catboost import catboost_page
from weald.params.lightgbm import lightgbm_page
from weald.params.page import parameter_table
from weald.params.xgboost import xgboost_page

_PAGES = {"catboost": catboost_page, "xgboost": xgboost_page, "lightgbm": lightgbm_page}

print(_PAGES.get("".join(sys.argv[1:]), parameter_table)(), end="")
