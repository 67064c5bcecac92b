"""Voting, stacking and blending over any estimators."""
