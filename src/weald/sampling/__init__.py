"""Which rows and columns a tree sees."""

from weald.sampling.columns import draw_columns
from weald.sampling.draws import draw_by_weight, draw_points
from weald.sampling.gradients import draw_by_gradient
from weald.sampling.rows import draw_rows, draw_rows_by_group
from weald.sampling.samplers import GradientRows, RowSampler, Sample, UniformRows

__all__ = [
    "GradientRows",
    "RowSampler",
    "Sample",
    "UniformRows",
    "draw_by_gradient",
    "draw_by_weight",
    "draw_columns",
    "draw_points",
    "draw_rows",
    "draw_rows_by_group",
]
