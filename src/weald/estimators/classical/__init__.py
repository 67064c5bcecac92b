"""Trees on labels, forests, bagging, AdaBoost and gradient boosting."""
