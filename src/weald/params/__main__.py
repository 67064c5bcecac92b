"""Writes the pages of parameters: ``python -m weald.params``, and ``python -m weald.params xgboost``."""

import sys

from weald.params.page import parameter_table
from weald.params.xgboost import xgboost_page

print(xgboost_page() if sys.argv[1:] == ["xgboost"] else parameter_table(), end="")
