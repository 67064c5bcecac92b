"""Trees that grow on OpenCL devices, to the same bytes as on the CPU."""
