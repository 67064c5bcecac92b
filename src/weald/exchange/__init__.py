"""Models as other programs know them: what leaves Weald, and in which format."""
