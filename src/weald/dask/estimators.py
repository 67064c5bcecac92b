"""What the estimators of a Dask cluster share: a fit that is asked of a client, and lazy predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from weald.dask.collections import is_collection
from weald.dask.prediction import lazily
from weald.dask.progress import shown
from weald.dask.teamwork import check_client
from weald.dask.training import Order, Training
from weald.forest.container import unpack
from weald.params.choice import part
from weald.runtime.errors import NotSupportedError
from weald.workers.estimators import OnWorkers
from weald.workers.parameters import PARALLEL, Parallel

Way = Annotated[Parallel | str, part("What workers share out, and what travels between them.", PARALLEL)]


class OnDask(OnWorkers):
    """Mixed into estimators that a cluster fits."""

    n_estimators: int
    verbose: int
    warm_start: bool

    def _fit_on_cluster(self, order: Order, client: Any) -> Any:
        """Become what the cluster fits; with an asynchronous client to be awaited."""
        client = check_client(client)
        if self.warm_start:
            raise NotSupportedError("warm_start is not there with Dask; fit all trees at once.")
        self._forget()
        return client.sync(self._fit, client, order)

    async def _fit(self, client: Any, order: Order) -> Any:
        training = Training(client, order)
        with shown(client, training.topic, self.n_estimators, int(self.verbose)):
            model = await training.run()
        self._set_model(self._alone._from_content(unpack(model))._model)
        return self

    def _lazily(self, method: str, X: Any, n_rounds: int | None = None, columns: Any = None) -> Any:
        """What a method of the model in memory says; of a collection, when it is computed."""
        local, ask = self.alone(), _Method(method, n_rounds)
        return lazily(X, local, ask, columns) if is_collection(X) else ask(local, X)


@dataclass(frozen=True)
class _Method:
    """Calls a method of a model."""

    name: str
    n_rounds: int | None

    def __call__(self, model: Any, X: Any) -> Any:
        method = getattr(model, self.name)
        return method(X) if self.n_rounds is None else method(X, self.n_rounds)
