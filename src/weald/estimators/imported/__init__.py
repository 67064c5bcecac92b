"""Models that others have trained, behind scikit-learn's interface."""
