"""What the scikit-learn estimators of XGBoost's and LightGBM's interfaces share on a cluster: classes, and lazy predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from weald.dask.collections import delayed_rows, is_collection, is_frame
from weald.dask.prediction import lazily
from weald.data import read_several_classes
from weald.estimators.shared.labels import known_codes


async def classes_of(client: Any, y: Any, owner: str) -> NDArray[Any]:
    """The classes of labels that are a collection."""
    parts = client.compute(delayed_rows(y, "y"))
    found = await client._gather(client.map(_distinct, parts, pure=False))
    labels = np.concatenate([one for one in found if len(one)] or found)
    _, classes = read_several_classes(labels, len(labels), None, owner=owner)
    return classes


def _distinct(part: Any) -> NDArray[Any]:
    return np.unique(np.asarray(part))


def codes_of(y: Any, classes: NDArray[Any], owner: str) -> Any:
    """The labels as places among the classes, lazily."""
    if is_frame(y):
        return y.map_partitions(_series_of_codes, classes, owner, meta=("y", "f8"))
    return y.map_blocks(_codes, classes, owner, dtype=np.float64)


def _codes(part: Any, classes: NDArray[Any], owner: str) -> NDArray[np.float64]:
    labels = np.asarray(part).reshape(-1)
    if not len(labels):
        return np.empty(0)
    return known_codes(labels, len(labels), classes, owner, "y has")


def _series_of_codes(part: Any, classes: NDArray[Any], owner: str) -> Any:
    import pandas

    return pandas.Series(_codes(part, classes, owner), index=part.index, name="y")


@dataclass(frozen=True)
class _Call:
    """Calls a method of an estimator."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, model: Any, X: Any) -> Any:
        return getattr(model, self.method)(X, **self.options)


class LazyEstimator:
    """Mixed in before an estimator of one process, ``_alone``."""

    _alone: ClassVar[type[Any]]

    def to_local(self) -> Any:
        """The same as an estimator of one process."""
        local = object.__new__(self._alone)
        local.__dict__.update({name: value for name, value in self.__dict__.items() if name != "client"})
        return local

    def _lazily(self, method: str, X: Any, **options: Any) -> Any:
        """What a method says of a collection, when it is computed; of a table in memory at once."""
        call, local = _Call(method, options), self.to_local()
        return lazily(X, local, call) if is_collection(X) else call(local, X)
