"""Which split of a node is the best."""
