"""Writes the page of parameters: ``python -m weald.params``."""

from weald.params.page import parameter_table

print(parameter_table(), end="")
