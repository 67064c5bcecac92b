"""Combining any estimators: averaging, voting, stacking and blending."""
