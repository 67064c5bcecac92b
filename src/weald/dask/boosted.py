"""Boosted trees on a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from weald.dask.estimators import OnDask, Way
from weald.dask.members import train
from weald.dask.teamwork import RowSet
from weald.dask.training import Order
from weald.estimators.boosted import boosted
from weald.estimators.boosted.evaluation_sets import as_sets
from weald.estimators.boosted.fitting import checked_callbacks
from weald.params.declare import documented
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.callbacks import Checkpoint
from weald.training.boosting.rounds import Callback
from weald.workers.parameters import sharing_of


class BoostedOnDask(OnDask):
    """Mixed into boosted trees."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        callbacks: Sequence[Callback] | None = None,
        resume_from: str | os.PathLike[str] | None = None,
        client: Any = None,
    ) -> Any:
        """Train on a cluster; the model has the bytes that it has on one thread.

        Parameters
        ----------
        X : Dask array or dataframe, with any partitions; their lengths need not be known.
        y : labels, one a row, as an array or a series; its partitions may differ from those of X.
        sample_weight : weights, one a row. A row of weight 0 is as if it were not there.
        eval_set : list of (X, y) or (X, y, sample_weight), of Dask's collections too.
        eval_names : names of these sets; "valid_0", "valid_1", … when None.
        callbacks : functions of a round; all workers call them, each its own copies.
        resume_from : path, for the client, of a checkpoint of this training.
        client : of the cluster; the current one when None. With an asynchronous client the result is to be awaited.
        """
        order = self._order(X, y, sample_weight, eval_set, eval_names, callbacks, resume_from)
        return self._fit_on_cluster(order, client)

    def _order(
        self, X: Any, y: Any, weight: Any, eval_set: Any, eval_names: Any, callbacks: Any, resume_from: Any
    ) -> Order:
        listeners = checked_callbacks(callbacks)
        if any(isinstance(callback, Checkpoint) for callback in listeners):
            raise NotSupportedError(
                "Checkpoint would write to the workers' disks; leave it out: training goes on by itself where a worker is lost."
            )
        options = {"eval_names": eval_names, "callbacks": listeners}
        checkpoint = None if resume_from is None else Path(resume_from).read_bytes()
        sets = [RowSet(f"eval_set[{place}]", *one) for place, one in enumerate(as_sets(eval_set))]
        parallel = sharing_of(self.parallel)[0]
        every = self.verbose if self.verbose > 1 else None
        rows = RowSet("", X, y, weight)
        return Order(self.alone(), parallel, rows, sets, train, options, checkpoint, every)

    def predict(self, X: Any, n_rounds: int | None = None) -> Any:
        """Predictions; of a Dask array or dataframe an array or a series of the same partitions, computed when asked for."""
        return self._lazily("predict", X, n_rounds)

    def apply(self, X: Any, n_rounds: int | None = None) -> Any:
        """The node, by its number within the tree, that every row reaches: (rows, trees)."""
        return self._lazily("apply", X, n_rounds)


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BoostedTreesClassifier(BoostedOnDask, boosted.BoostedTreesClassifier):  # type: ignore[misc]
    """`weald.BoostedTreesClassifier` on a Dask cluster: each worker trains on some of the rows, and the model is the same.

    Examples
    --------
    >>> import dask.array as da
    >>> import weald, weald.dask
    >>> from dask.distributed import Client
    >>> X, y = weald.datasets.load("penguins", return_X_y=True)  # doctest: +SKIP
    >>> with Client(n_workers=2) as client:  # doctest: +SKIP
    ...     model = weald.dask.BoostedTreesClassifier().fit(da.from_array(X), da.from_array(y))
    """

    parallel: Way = "data"
    _alone: ClassVar[type[Any]] = boosted.BoostedTreesClassifier

    def predict_proba(self, X: Any, n_rounds: int | None = None) -> Any:
        """Probabilities, (rows, classes)."""
        return self._lazily("predict_proba", X, n_rounds, list(self.classes_))

    def predict_log_proba(self, X: Any, n_rounds: int | None = None) -> Any:
        """Logarithms of the probabilities, (rows, classes)."""
        return self._lazily("predict_log_proba", X, n_rounds, list(self.classes_))

    def decision_function(self, X: Any, n_rounds: int | None = None) -> Any:
        """Raw scores: (rows,) for two classes, (rows, classes) for more."""
        return self._lazily("decision_function", X, n_rounds, list(self.classes_))


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BoostedTreesRegressor(BoostedOnDask, boosted.BoostedTreesRegressor):  # type: ignore[misc]
    """`weald.BoostedTreesRegressor` on a Dask cluster: each worker trains on some of the rows, and the model is the same."""

    parallel: Way = "data"
    _alone: ClassVar[type[Any]] = boosted.BoostedTreesRegressor
