"""Accuracy, special values and vectorisation of the polynomial mathematics."""

from __future__ import annotations

import math
import platform
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

import reference_losses as reference
from weald.losses import kernels
from weald.runtime import mathlib

Extended = np.longdouble
# Without 80-bit (or wider) arithmetic there is nothing to measure against; the twins still hold.
needs_extended = pytest.mark.skipif(
    np.finfo(Extended).nmant < 63, reason="long double is no wider than double"
)
ROWS = 20_000


def ulps(got: NDArray[Any], want: NDArray[Any]) -> float:
    spacing = np.spacing(np.abs(want).astype(got.dtype))
    return float(np.max(np.abs(got.astype(Extended) - want) / spacing))


def exponentials(x: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.full_like(x, np.nan)
    kernels.exponentials(x, out)
    return out


def logarithms(x: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.full_like(x, np.nan)
    kernels.logarithms(x, out)
    return out


def each32(function: Any, x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.array([function(v) for v in x], dtype=np.float32)


@needs_extended
@pytest.mark.parametrize(("low", "high"), [(-745.0, 709.7), (-1.0, 1.0), (-1e-3, 1e-3)])
def test_exp_is_within_one_ulp(low: float, high: float) -> None:
    x = np.random.default_rng(1).uniform(low, high, ROWS)
    assert ulps(exponentials(x), np.exp(x.astype(Extended))) <= 1.0


@needs_extended
@pytest.mark.parametrize(("low", "high"), [(-322.0, 308.0), (-0.3, 0.3), (-1e-6, 1e-6)])
def test_log_is_within_one_ulp(low: float, high: float) -> None:
    x = 10.0 ** np.random.default_rng(2).uniform(low, high, ROWS)
    assert ulps(logarithms(x), np.log(x.astype(Extended))) <= 1.0


@needs_extended
def test_sigmoids_are_within_their_stated_errors() -> None:
    x = np.random.default_rng(3).uniform(-90.0, 90.0, ROWS)
    single = each32(mathlib.sigmoid, x.astype(np.float32))
    exact = 1.0 / (1.0 + np.exp(-x.astype(np.float32).astype(Extended)))
    assert float(np.max(np.abs(single - exact))) <= 2e-7
    double = np.full_like(x, np.nan)
    kernels.sigmoids(x, double)
    assert ulps(double, 1.0 / (1.0 + np.exp(-x.astype(Extended)))) <= 3.0


@needs_extended
def test_exp32_is_within_two_ulp() -> None:
    x = np.random.default_rng(4).uniform(-87.0, 87.0, ROWS).astype(np.float32)
    assert ulps(each32(mathlib.exp32, x), np.exp(x.astype(Extended))) <= 2.0


def test_exp_equals_its_naive_twin_bit_for_bit() -> None:
    x = np.concatenate((np.random.default_rng(5).uniform(-760.0, 720.0, ROWS), [0.0, -0.0, np.inf, -np.inf]))
    assert exponentials(x).tobytes() == reference.exp(x).tobytes()


def test_log_equals_its_naive_twin_bit_for_bit() -> None:
    x = np.concatenate(
        (10.0 ** np.random.default_rng(6).uniform(-323.0, 308.0, 2_000), [0.0, 5e-324, np.inf])
    )
    x = np.concatenate(
        (x, np.random.default_rng(7).uniform(0.5, 2.0, 2_000), [math.sqrt(0.5), math.sqrt(2.0)])
    )
    assert logarithms(x).tobytes() == np.array([reference.log(v) for v in x]).tobytes()


def test_single_precision_functions_equal_their_naive_twins_bit_for_bit() -> None:
    x = np.random.default_rng(8).uniform(-100.0, 100.0, 5_000).astype(np.float32)
    x = np.concatenate((x, np.array([0.0, -0.0, np.inf, -np.inf, 87.0, -87.0], dtype=np.float32)))
    assert each32(mathlib.exp32, x).tobytes() == reference.exp32(x).tobytes()
    assert each32(mathlib.sigmoid, x).tobytes() == reference.sigmoid(x).tobytes()


def test_exp_overflows_to_infinity_and_underflows_to_zero() -> None:
    got = exponentials(np.array([709.79, 1e300, np.inf, -745.2, -1e300, -np.inf]))
    assert got.tolist() == [np.inf, np.inf, np.inf, 0.0, 0.0, 0.0]
    assert exponentials(np.array([709.782712893384]))[0] < np.inf


def test_log_of_zero_negative_and_infinite_numbers_follows_ieee() -> None:
    got = logarithms(np.array([0.0, -0.0, np.inf, -1.0, -np.inf]))
    assert got[:3].tolist() == [-np.inf, -np.inf, np.inf]
    assert np.isnan(got[3:]).all()


def test_nan_passes_through_every_function() -> None:
    for function in (mathlib.exp, mathlib.log, mathlib.sigmoid64):
        assert math.isnan(function(math.nan))
    for single in (mathlib.exp32, mathlib.sigmoid):
        assert math.isnan(single(np.float32(math.nan)))


def test_sigmoid_is_monotone_and_symmetric_within_rounding() -> None:
    x = np.linspace(-20.0, 20.0, 4_001).astype(np.float32)
    got = each32(mathlib.sigmoid, x)
    assert np.all(np.diff(got) >= -1.2e-7)
    np.testing.assert_allclose(got + got[::-1], 1.0, rtol=0, atol=1.8e-7)


@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64") or bool(numba.config.DISABLE_JIT),
    reason="looks for the vector instructions of x86",
)
def test_a_loop_over_sigmoid_is_compiled_to_vector_instructions_without_fused_operations() -> None:
    sigmoid = mathlib.sigmoid

    @numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def loop(x: NDArray[np.float32], out: NDArray[np.float32]) -> None:
        for i in range(x.shape[0]):
            out[i] = sigmoid(x[i])

    loop(np.zeros(8, dtype=np.float32), np.zeros(8, dtype=np.float32))
    assembly = next(iter(loop.inspect_asm().values()))
    assert "divps" in assembly
    assert "vfmadd" not in assembly
