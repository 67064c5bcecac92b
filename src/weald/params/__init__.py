"""Parameters, declared once: name, type, range, default and help; validation, documentation and the command line read them."""

from weald.params.declare import declared, validate
from weald.params.parameter import Parameter

__all__ = ["Parameter", "declared", "validate"]
