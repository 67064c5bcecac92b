"""Random forests, bagging and AdaBoost."""
