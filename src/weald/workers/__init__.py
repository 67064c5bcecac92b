"""Training by several processes together, each with rows of its own: what Dask's workers and MPI's ranks share."""
