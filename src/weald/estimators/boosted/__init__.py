"""Boosted trees with scikit-learn's interface."""
