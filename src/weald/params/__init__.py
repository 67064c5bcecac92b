"""Parameters, declared once: name, type, range, default and help; validation, documentation and the command line read them."""

from weald.params.classical import (
    ADABOOST_PARAMETERS,
    BAGGING_PARAMETERS,
    BLENDING_PARAMETERS,
    FOREST_PARAMETERS,
    GRADIENT_BOOSTING_PARAMETERS,
    STACKING_PARAMETERS,
    TREE_PARAMETERS,
    VOTING_PARAMETERS,
)
from weald.params.parameter import Parameter, validate
from weald.params.statistics import STATISTICS_PARAMETERS

__all__ = [
    "ADABOOST_PARAMETERS",
    "BAGGING_PARAMETERS",
    "BLENDING_PARAMETERS",
    "FOREST_PARAMETERS",
    "GRADIENT_BOOSTING_PARAMETERS",
    "Parameter",
    "STACKING_PARAMETERS",
    "STATISTICS_PARAMETERS",
    "TREE_PARAMETERS",
    "VOTING_PARAMETERS",
    "validate",
]
