"""Models taken out, in formats of others, and models of others brought in."""
