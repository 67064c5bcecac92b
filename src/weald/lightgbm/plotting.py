"""Pictures under the name that LightGBM's users import them from."""

from weald.dialects.lightgbm.plotting import (
    create_tree_digraph,
    plot_importance,
    plot_metric,
    plot_split_value_histogram,
    plot_tree,
)

__all__ = [
    "create_tree_digraph", "plot_importance", "plot_metric", "plot_split_value_histogram", "plot_tree",
]  # fmt: skip
