"""Forests on a Dask cluster: every worker has the bins of all rows, and grows some of the trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import weald
from weald.dask.estimators import OnDask, Way
from weald.dask.members import train_forest
from weald.dask.teamwork import RowSet
from weald.dask.training import Order
from weald.params.declare import documented
from weald.workers.parameters import sharing_of


class ForestOnDask(OnDask):
    """Mixed into forests."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, client: Any = None) -> Any:
        """Train on a cluster; the model has the bytes that it has on one thread.

        Parameters
        ----------
        X : Dask array or dataframe, with any partitions; their lengths need not be known.
        y : labels, one a row, as an array or a series; its partitions may differ from those of X.
        sample_weight : weights, one a row. A row of weight 0 is as if it were not there.
        client : of the cluster; the current one when None. With an asynchronous client the result is to be awaited.
        """
        rows, parallel = RowSet("", X, y, sample_weight), sharing_of(self.parallel)[0]
        return self._fit_on_cluster(Order(self.alone(), parallel, rows, [], train_forest, {}), client)

    def predict(self, X: Any) -> Any:
        """Predictions; of a Dask array or dataframe an array or a series of the same partitions, computed when asked for."""
        return self._lazily("predict", X)

    def apply(self, X: Any) -> Any:
        """The number, within its tree, of the leaf that every row reaches, (rows, trees)."""
        return self._lazily("apply", X)


class ClassesOnDask(ForestOnDask):
    """Mixed into forests of classes."""

    classes_: Any

    def predict_proba(self, X: Any) -> Any:
        """Probabilities, (rows, classes)."""
        return self._lazily("predict_proba", X, columns=list(self.classes_))

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities, (rows, classes)."""
        return self._lazily("predict_log_proba", X, columns=list(self.classes_))


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class RandomForestClassifier(ClassesOnDask, weald.RandomForestClassifier):  # type: ignore[misc]
    """`weald.RandomForestClassifier` on a Dask cluster."""

    parallel: Way = "data"
    _alone: ClassVar[type[Any]] = weald.RandomForestClassifier


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class RandomForestRegressor(ForestOnDask, weald.RandomForestRegressor):  # type: ignore[misc]
    """`weald.RandomForestRegressor` on a Dask cluster."""

    parallel: Way = "data"
    _alone: ClassVar[type[Any]] = weald.RandomForestRegressor


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class ExtraTreesClassifier(ClassesOnDask, weald.ExtraTreesClassifier):  # type: ignore[misc]
    """`weald.ExtraTreesClassifier` on a Dask cluster."""

    parallel: Way = "data"
    _alone: ClassVar[type[Any]] = weald.ExtraTreesClassifier


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class ExtraTreesRegressor(ForestOnDask, weald.ExtraTreesRegressor):  # type: ignore[misc]
    """`weald.ExtraTreesRegressor` on a Dask cluster."""

    parallel: Way = "data"
    _alone: ClassVar[type[Any]] = weald.ExtraTreesRegressor
