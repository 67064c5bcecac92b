"""The boosting loop and what it is put together from."""
