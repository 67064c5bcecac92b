"""Boosted trees on a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from weald.dask.collections import is_collection
from weald.dask.prediction import lazily
from weald.dask.progress import shown
from weald.dask.training import Order, RowSet, Training, check_client
from weald.estimators.boosted import boosted
from weald.estimators.boosted.fitting import checked_callbacks
from weald.estimators.shared.persistence import from_bytes
from weald.params.declare import documented
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.callbacks import Checkpoint
from weald.training.boosting.rounds import Callback


def row_sets(eval_set: Any) -> list[RowSet]:
    """The sets of ``fit``, as `BoostedTreesClassifier` of `weald` itself takes them."""
    if eval_set is None:
        return []
    if isinstance(eval_set, tuple) and len(eval_set) in (2, 3) and not isinstance(eval_set[0], tuple):
        eval_set = [eval_set]
    if not isinstance(eval_set, list | tuple) or not all(
        isinstance(entry, tuple | list) and len(entry) in (2, 3) for entry in eval_set
    ):
        raise InputError("eval_set must be a list of pairs (X, y) or triples (X, y, sample_weight).")
    return [RowSet(f"eval_set[{place}]", *entry) for place, entry in enumerate(eval_set)]


class BoostedOnDask:
    """What classifier and regressor share; mixed in before an estimator of `weald` itself."""

    _plain: ClassVar[type[Any]]

    if TYPE_CHECKING:  # what the estimator has
        n_estimators: int
        verbose: int
        warm_start: bool

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def _forget(self) -> None: ...

        def _fitted(self) -> Any: ...

        def _set_model(self, model: Any) -> None: ...

    def to_local(self) -> Any:
        """The same model as an estimator of `weald` itself, which trains and predicts in memory."""
        local = self._plain(**self.get_params(deep=False))
        local._set_model(self._fitted())
        return local

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
        client = check_client(client)
        order = self._order(X, y, sample_weight, eval_set, eval_names, callbacks, resume_from)
        self._forget()
        return client.sync(self._fit, client, order)

    def _order(
        self, X: Any, y: Any, weight: Any, eval_set: Any, eval_names: Any, callbacks: Any, resume_from: Any
    ) -> Order:
        if self.warm_start:
            raise NotSupportedError("warm_start is not there with Dask; fit all rounds at once.")
        listeners = checked_callbacks(callbacks)
        if any(isinstance(callback, Checkpoint) for callback in listeners):
            raise NotSupportedError(
                "Checkpoint would write to the workers' disks; leave it out: training goes on by itself where a worker is lost."
            )
        options = {"eval_names": eval_names, "callbacks": listeners}
        checkpoint = None if resume_from is None else Path(resume_from).read_bytes()
        local = self._plain(**self.get_params(deep=False))
        every = self.verbose if self.verbose > 1 else None
        return Order(local, RowSet("", X, y, weight), row_sets(eval_set), options, checkpoint, every)

    async def _fit(self, client: Any, order: Order) -> Any:
        training = Training(client, order)
        with shown(client, training.topic, self.n_estimators, int(self.verbose)):
            model = await training.run()
        self._set_model(from_bytes(model)[2])
        return self

    def _predicted_lazily(self, method: str, X: Any, n_rounds: int | None, columns: Any = None) -> Any:
        """What a method of the model in memory says; of a collection, when it is computed."""
        local = self.to_local()
        if not is_collection(X):
            return getattr(local, method)(X, n_rounds)
        return lazily(X, local, _Method(method, n_rounds), columns)

    def predict(self, X: Any, n_rounds: int | None = None) -> Any:
        """Predictions; of a Dask array or dataframe an array or a series of the same partitions, computed when asked for."""
        return self._predicted_lazily("predict", X, n_rounds)

    def apply(self, X: Any, n_rounds: int | None = None) -> Any:
        """The node, by its number within the tree, that every row reaches: (rows, trees)."""
        return self._predicted_lazily("apply", X, n_rounds)


@dataclass(frozen=True)
class _Method:
    """Calls a method of a model."""

    name: str
    n_rounds: int | None

    def __call__(self, model: Any, X: Any) -> Any:
        return getattr(model, self.name)(X, self.n_rounds)


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BoostedTreesClassifier(BoostedOnDask, boosted.BoostedTreesClassifier):
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

    _plain = boosted.BoostedTreesClassifier

    def predict_proba(self, X: Any, n_rounds: int | None = None) -> Any:
        """Probabilities, (rows, classes)."""
        return self._predicted_lazily("predict_proba", X, n_rounds, list(self.classes_))

    def predict_log_proba(self, X: Any, n_rounds: int | None = None) -> Any:
        """Logarithms of the probabilities, (rows, classes)."""
        return self._predicted_lazily("predict_log_proba", X, n_rounds, list(self.classes_))

    def decision_function(self, X: Any, n_rounds: int | None = None) -> Any:
        """Raw scores: (rows,) for two classes, (rows, classes) for more."""
        return self._predicted_lazily("decision_function", X, n_rounds, list(self.classes_))


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BoostedTreesRegressor(BoostedOnDask, boosted.BoostedTreesRegressor):
    """`weald.BoostedTreesRegressor` on a Dask cluster: each worker trains on some of the rows, and the model is the same."""

    _plain = boosted.BoostedTreesRegressor
