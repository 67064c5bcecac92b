"""A cluster for the tests of weald.dask: three workers of one thread each, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("distributed", reason="needs the extra dask")


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """A client of the cluster, which is also the current one."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            processes=False,
            protocol="tcp://",
            dashboard_address=None,
            silence_logs=40,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
