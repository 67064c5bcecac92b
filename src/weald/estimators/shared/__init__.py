"""What the families of estimators share: tasks, labels, files."""
