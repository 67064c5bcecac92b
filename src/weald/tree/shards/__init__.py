"""Trees from a table in parts, each of which answers a few questions with integers."""
