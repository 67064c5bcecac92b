"""Which rows and columns a tree sees."""

from weald.sampling.columns import draw_columns
from weald.sampling.draws import draw_by_weight, draw_points
from weald.sampling.rows import draw_rows

__all__ = ["draw_by_weight", "draw_columns", "draw_points", "draw_rows"]
