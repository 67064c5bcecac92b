"""The finished model: immutable arrays, and the file that holds them."""
