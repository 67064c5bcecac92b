"""`weald.dialects.xgboost.plotting` under the name that XGBoost's users import."""

from weald.dialects.xgboost.plotting import plot_importance, plot_tree, to_graphviz

__all__ = ["plot_importance", "plot_tree", "to_graphviz"]
