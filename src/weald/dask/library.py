"""Dask itself, or the sentence that says how it is installed."""

from __future__ import annotations

from typing import Any, Final

from weald.runtime.extras import load_extra

dask: Final[Any] = load_extra("dask", "weald.dask")
distributed: Final[Any] = load_extra("distributed", "weald.dask")
