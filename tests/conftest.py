"""Settings that must be in place before the first test module is imported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

# Numba reads the variable when it is imported; the kernels' own directory below it is named by their hash.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).resolve().parent.parent / ".cache" / "numba"))
# Programs that tests start run the sources that are tested, wherever the environment has been installed from.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(Path(__file__).resolve().parent.parent / "src"), os.environ.get("PYTHONPATH")])
)
# PoCL shows a device for every one that is named here; it is asked when pyopencl is first used.
os.environ.setdefault("POCL_DEVICES", "pthread pthread")


@pytest.fixture(scope="module", autouse=True)
def one_thread_of_linear_algebra() -> Iterator[None]:
    """Its threads wait busily for each other on tables as small as the tests': several times slower, and nothing else changes."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
