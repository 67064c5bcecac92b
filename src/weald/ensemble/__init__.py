"""Trees in sequence: the boosting loop and what listens to it."""
