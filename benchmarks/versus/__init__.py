"""Programs that compare Weald with its peers in one run, as ratios."""
