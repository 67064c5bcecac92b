"""The scikit-learn API, a module a family: thin, no algorithm inside."""
