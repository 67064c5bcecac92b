"""The compilation options that results rely on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import config

import weald
from weald.runtime import cache
from weald.runtime.cache import KernelCache
from weald.runtime.jit import kernel

PACKAGE = Path(weald.__file__).resolve().parent


@pytest.fixture(autouse=True)
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What these tests compile stays out of the cache of the real kernels."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "kept_kernels", cache.kept_kernels.__wrapped__)


def test_only_one_module_spells_the_compilation_options() -> None:
    spelling = re.compile(r"njit|numba\.jit|@jit|fastmath\s*=|nogil\s*=")
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if spelling.search(path.read_text("utf-8"))
    }
    assert found <= {"runtime/jit.py"}


def test_a_kernel_releases_the_lock_has_no_fastmath_and_is_cached() -> None:
    compiled: Any = kernel(lambda x: x + 1)
    options = compiled.targetoptions
    assert options["nogil"] is True
    assert options["fastmath"] is False
    assert options["error_model"] == "numpy"
    assert "parallel" not in options
    assert isinstance(compiled._cache, KernelCache)


def test_a_kernel_divides_by_zero_as_numpy_does() -> None:
    @kernel
    def divide(a: float, b: float) -> float:
        return a / b

    assert divide(1.0, 0.0) == np.inf
    assert np.isnan(divide(0.0, 0.0))


def test_a_kernel_adds_in_the_order_that_is_written() -> None:
    @kernel
    def add(values: Any) -> float:
        total = 0.0
        for value in values:
            total += value
        return total

    @kernel
    def multiply_and_add(a: float, b: float, c: float) -> float:
        return a * b + c

    values = np.random.default_rng(0).normal(size=10_000) * 1e8
    expected = 0.0
    for value in values.tolist():
        expected += value
    assert add(values) == expected
    # One rounding instead of two (a fused operation) would leave 2**-104 here.
    a = 1.0 + 2.0**-52
    assert multiply_and_add(a, a, -(a * a)) == 0.0
