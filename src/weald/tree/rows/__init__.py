"""Rows on their way to leaves, and what the leaves give them."""
