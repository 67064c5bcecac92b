"""Members of other libraries run on one thread of the linear algebra.

Its threads wait busily for each other on tables as small as these: several times slower, and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="module", autouse=True)
def one_thread_of_linear_algebra() -> Iterator[None]:
    with threadpool_limits(limits=1, user_api="blas"):
        yield
