"""Gradients as integers, and their sums by bin."""
