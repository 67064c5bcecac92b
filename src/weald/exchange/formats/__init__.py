"""A module a format: ``write(model, path, *, options)`` gives the bytes of every file."""
