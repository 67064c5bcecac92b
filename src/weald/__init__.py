"""Weald: ensemble learning in Python and Numba.

>>> import weald
>>> weald.BoostedTreesClassifier.__name__
'BoostedTreesClassifier'

Public names are loaded when they are first used, so that ``import weald`` stays quick and loads neither
Numba nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weald import datasets
    from weald.ensemble.callbacks import Checkpoint, EarlyStopping, TimeBudget
    from weald.estimators import BoostedTreesClassifier, BoostedTreesRegressor, load
    from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

__version__ = "0.1.0"

__all__ = [
    "BoostedTreesClassifier",
    "BoostedTreesRegressor",
    "load",
    "EarlyStopping",
    "TimeBudget",
    "Checkpoint",
    "datasets",
    "InputError",
    "NotSupportedError",
    "ModelFileError",
    "__version__",
]

_HOMES = {
    "BoostedTreesClassifier": "weald.estimators",
    "BoostedTreesRegressor": "weald.estimators",
    "load": "weald.estimators",
    "EarlyStopping": "weald.ensemble.callbacks",
    "TimeBudget": "weald.ensemble.callbacks",
    "Checkpoint": "weald.ensemble.callbacks",
    "InputError": "weald.runtime.errors",
    "NotSupportedError": "weald.runtime.errors",
    "ModelFileError": "weald.runtime.errors",
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("weald.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module 'weald' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
