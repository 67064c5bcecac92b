"""Which rows and columns a tree sees."""

from weald.sampling.columns import draw_columns
from weald.sampling.draws import draw_by_weight, draw_points
from weald.sampling.gradients import draw_by_gradient
from weald.sampling.rows import draw_rows, draw_rows_by_group
from weald.sampling.samplers import (
    BayesianRows,
    GradientRows,
    RowSampler,
    Sample,
    UniformRows,
    VarianceRows,
)
from weald.sampling.weights import bayesian_weights, draw_by_variance

__all__ = [
    "BayesianRows",
    "GradientRows",
    "RowSampler",
    "Sample",
    "UniformRows",
    "VarianceRows",
    "bayesian_weights",
    "draw_by_gradient",
    "draw_by_variance",
    "draw_by_weight",
    "draw_columns",
    "draw_points",
    "draw_rows",
    "draw_rows_by_group",
]
