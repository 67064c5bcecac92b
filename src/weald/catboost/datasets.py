"""`catboost.datasets` under the name that users import; it lives in `weald.dialects.catboost.datasets`."""

from __future__ import annotations

from typing import Any

from weald.dialects.catboost import datasets as _home
from weald.dialects.catboost.datasets import *  # noqa: F403
from weald.dialects.catboost.datasets import __all__ as __all__


def __getattr__(name: str) -> Any:
    return getattr(_home, name)
