"""Models that others have trained, read from their files and objects."""
