"""Classification and regression trees, grown on labels by impurity (Breiman, Friedman, Olshen and Stone 1984)."""

from weald.tree.cart.cart import CartTree, grow_cart_trees
from weald.tree.cart.rules import CartLabels, CartRules, Draw
from weald.tree.cart.sample import bootstrap_counts

__all__ = ["CartLabels", "CartRules", "CartTree", "Draw", "bootstrap_counts", "grow_cart_trees"]
