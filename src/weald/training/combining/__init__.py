"""Rules over any estimators: averages, votes, learned weights, layers of stacking, blending."""
