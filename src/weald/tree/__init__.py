"""One tree: histograms, splits, partition, leaves, and the growers that put them together."""
