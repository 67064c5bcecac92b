"""Programs that look after the package itself; `make` runs them."""
