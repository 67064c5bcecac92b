"""The scikit-learn API: thin, no algorithm inside."""

from weald.estimators.boosted import BoostedTreesClassifier, BoostedTreesRegressor
from weald.estimators.persistence import load

__all__ = ["BoostedTreesClassifier", "BoostedTreesRegressor", "load"]
