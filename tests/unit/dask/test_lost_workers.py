"""A worker that is killed costs time, not the model; and nothing hangs."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest

import weald

da = pytest.importorskip("dask.array", reason="needs the extra dask")
distributed = pytest.importorskip("distributed", reason="needs the extra dask")

from weald.dask import BoostedTreesRegressor, TrainingLost  # noqa: E402

X = np.random.default_rng(1).normal(size=(900, 4))
Y = X[:, 0] + X[:, 1] ** 2
PARAMETERS: dict[str, Any] = {"n_estimators": 25, "max_leaves": 7}


class _AtRound:
    """Kills the process of a worker after a round of training, once."""

    def __init__(self, number: int, flag: str) -> None:
        self.number, self.flag = number, flag

    def __call__(self, state: Any) -> None:
        if state.number != self.number:
            return
        try:
            open(self.flag, "x").close()  # of all members the first one only
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def processes() -> Any:
    """A cluster of two workers that can be killed."""
    import sys

    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not import tests
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield cluster, client


@pytest.mark.parametrize("number", [0, 11, 24])
def test_the_model_is_the_same_when_a_worker_is_killed(processes: Any, tmp_path: Any, number: int) -> None:
    _, client = processes
    client.wait_for_workers(2)
    flag = str(tmp_path / "killed")
    rows, labels = da.from_array(X, chunks=(200, 4)), da.from_array(Y, chunks=200)
    told = []
    client.subscribe_topic("weald", told.append)
    model = BoostedTreesRegressor(**PARAMETERS).fit(
        rows, labels, callbacks=[_AtRound(number, flag)], client=client
    )
    assert os.path.exists(flag)
    assert model._to_bytes() == weald.BoostedTreesRegressor(**PARAMETERS).fit(X, Y)._to_bytes()


class _KillsAlways:
    def __call__(self, state: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def test_without_workers_there_is_a_sentence(processes: Any) -> None:
    import dask

    cluster, client = processes
    client.wait_for_workers(1)
    for nanny in cluster.workers.values():
        nanny.close_gracefully()  # does not start its worker again
    rows, labels = da.from_array(X, chunks=(200, 4)), da.from_array(Y, chunks=200)
    with dask.config.set({"weald.patience": "5s"}), pytest.raises(TrainingLost, match="no worker for 5 s"):
        BoostedTreesRegressor(**PARAMETERS).fit(rows, labels, callbacks=[_KillsAlways()], client=client)
