"""Why a forest predicts what it does: Shapley values, importances of columns, and how sure the trees are."""
