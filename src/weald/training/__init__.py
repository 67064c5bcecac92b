"""Loops that make models: boosting, the classical ensembles, and rules over any estimators."""
