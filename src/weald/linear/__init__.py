"""Linear models: their columns, the kernels of coordinate descent, the finished model and its file."""
