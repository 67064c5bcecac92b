"""Programs that measure one stage of Weald by itself."""
