"""scikit-learn's base classes, for estimators that train and predict without loading it.

Loading scikit-learn takes longer than loading Numba and training a small model together, and neither `fit` nor `predict`
needs it. While nobody has imported it, our classes are built on stand-ins. The moment that anybody does, they get
scikit-learn's own classes as their bases, and the stand-ins are gone: whoever can ask ``isinstance(model, BaseEstimator)``
hears yes. A method that only scikit-learn has, such as `set_params`, imports it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

_HOME = "sklearn.base"


def _sklearn() -> Any:
    """`sklearn.base`; once it is there, so are the real bases."""
    import sklearn.base

    return sklearn.base


class _BaseEstimator:
    """Stands in for scikit-learn's BaseEstimator."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        if deep:
            params: dict[str, Any] = _sklearn().BaseEstimator.get_params(self)
            return params
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Any:
        return _sklearn().BaseEstimator.set_params(self, **params)

    def __repr__(self) -> str:
        return str(_sklearn().BaseEstimator.__repr__(self))

    def __getattr__(self, name: str) -> Any:
        if not _is_sklearns(name):
            return object.__getattribute__(self, name)  # the error, as the class or a property of it words it
        _sklearn()
        return getattr(self, name)


def _is_sklearns(name: str) -> bool:
    """Whether a name can be one of metadata routing, or of the pages that notebooks show."""
    return name == "get_metadata_routing" or name.startswith("_repr_") or name.endswith("_request")


class _ClassifierMixin:
    """Stands in for scikit-learn's ClassifierMixin."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(_sklearn().ClassifierMixin.score(self, X, y, sample_weight))


class _RegressorMixin:
    """Stands in for scikit-learn's RegressorMixin."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(_sklearn().RegressorMixin.score(self, X, y, sample_weight))


_STAND_INS: dict[str, Any] = {
    "BaseEstimator": _BaseEstimator,
    "ClassifierMixin": _ClassifierMixin,
    "RegressorMixin": _RegressorMixin,
}


def _replace_stand_ins(home: Any) -> None:
    """Give scikit-learn's classes to all that were built on stand-ins, as if they had been built on them."""
    real = {stand_in: getattr(home, name) for name, stand_in in _STAND_INS.items()}
    estimators = _heirs(_BaseEstimator)[1:]
    for child in [child for stand_in in real for child in stand_in.__subclasses__()]:
        child.__bases__ = tuple(real.get(base, base) for base in child.__bases__)
    for estimator in dict.fromkeys(estimators):
        home.BaseEstimator.__init_subclass__.__func__(estimator)  # makes the methods of metadata routing
    globals().update({name: getattr(home, name) for name in _STAND_INS})


def _heirs(ancestor: Any) -> list[Any]:
    """A class and all below it, parents before children."""
    return [ancestor, *(heir for child in ancestor.__subclasses__() for heir in _heirs(child))]


class _Watcher(MetaPathFinder):
    """Waits for the import of `sklearn.base`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _HOME:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Handover(spec.loader, self)
        return spec


class _Handover(Loader):
    """Loads `sklearn.base` as its own loader does, and has the stand-ins replaced."""

    def __init__(self, loader: Loader, watcher: _Watcher) -> None:
        self._loader, self._watcher = loader, watcher

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        sys.meta_path.remove(self._watcher)
        _replace_stand_ins(module)


if TYPE_CHECKING or "sklearn" in sys.modules:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
else:
    BaseEstimator, ClassifierMixin, RegressorMixin = _STAND_INS.values()
    sys.meta_path.insert(0, _Watcher())

__all__ = ["BaseEstimator", "ClassifierMixin", "RegressorMixin"]
