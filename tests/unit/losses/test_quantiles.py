"""Weighted quantiles and the leaf refits that use them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import reference_losses as reference
from weald.losses import make_loss
from weald.losses.quantiles import weighted_quantile
from weald.runtime.errors import InputError

# Few distinct values: ties are the rule.
tied_values = st.floats(-3, 3).map(lambda v: round(v, 1))
counted_rows = st.lists(st.tuples(tied_values, st.integers(0, 5)), min_size=1, max_size=40).filter(
    lambda rows: any(count for _, count in rows)
)
alphas = st.sampled_from([0.05, 0.1, 0.25, 0.3, 0.5, 0.7, 0.9, 0.99])


@settings(max_examples=200, deadline=None)
@given(counted_rows, alphas)
def test_an_integer_weight_counts_exactly_like_as_many_copies(
    rows: list[tuple[float, int]], alpha: float
) -> None:
    values = np.array([v for v, _ in rows])
    counts = np.array([c for _, c in rows])
    repeated = np.repeat(values, counts)
    want = weighted_quantile(repeated, None, alpha)
    assert weighted_quantile(values, counts.astype(np.float64), alpha) == want
    assert weighted_quantile(values, counts * 0.125, alpha) == want
    assert want == reference.weighted_quantile(list(values), [Fraction(int(c)) for c in counts], alpha)


@settings(max_examples=100, deadline=None)
@given(counted_rows, alphas)
def test_quantile_of_copies_is_numpys_averaged_inverted_cdf(
    rows: list[tuple[float, int]], alpha: float
) -> None:
    repeated = np.repeat(np.array([v for v, _ in rows]), [c for _, c in rows])
    want = np.quantile(repeated, alpha, method="averaged_inverted_cdf")
    np.testing.assert_allclose(weighted_quantile(repeated, None, alpha), want, rtol=1e-15, atol=1e-15)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(tied_values, st.floats(1e-3, 1e3)), min_size=1, max_size=40), alphas, st.randoms())
def test_the_order_of_rows_never_changes_a_quantile(
    rows: list[tuple[float, float]], alpha: float, shuffler: object
) -> None:
    want = weighted_quantile(np.array([v for v, _ in rows]), np.array([w for _, w in rows]), alpha)
    shuffler.shuffle(rows)  # type: ignore[attr-defined]
    assert weighted_quantile(np.array([v for v, _ in rows]), np.array([w for _, w in rows]), alpha) == want


@pytest.mark.parametrize("pattern", ["sorted", "reversed", "organ pipe", "constant", "alternating"])
def test_no_common_order_of_rows_spoils_the_selection(pattern: str) -> None:
    rows = 20_001
    ramp = np.arange(rows, dtype=np.float64)
    values = {
        "sorted": ramp,
        "reversed": ramp[::-1].copy(),
        "organ pipe": np.minimum(ramp, ramp[::-1]),
        "constant": np.full(rows, 2.0),
        "alternating": ramp % 2,
    }[pattern]
    assert weighted_quantile(values, None, 0.5) == np.median(values)


def test_weights_of_very_different_size_find_the_heavy_row() -> None:
    values = np.array([1.0, 2.0, 3.0])
    assert weighted_quantile(values, np.array([1e-300, 1e300, 1e-300]), 0.5) == 2.0
    assert weighted_quantile(values, np.array([1e-320, 1e-320, 3e-320]), 0.5) == 3.0


def test_midpoint_of_huge_values_does_not_overflow() -> None:
    assert weighted_quantile(np.array([1.6e308, 1.7e308]), None, 0.5) == pytest.approx(1.65e308)


@pytest.mark.parametrize("weight", [np.zeros(2), None])
def test_a_quantile_of_nothing_is_refused(weight: NDArray[np.float64] | None) -> None:
    values = np.zeros(0) if weight is None else np.ones(2)
    with pytest.raises(InputError, match=r"at least one row|more than 0"):
        weighted_quantile(values, weight, 0.5)


def leaves(rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row ids grouped by leaf; leaf 3 of 6 is empty."""
    leaf = np.random.default_rng(seed).choice([0, 1, 2, 4, 5], rows)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(leaf, minlength=6)))).astype(np.int64)
    return np.argsort(leaf, kind="stable").astype(np.int64), offsets


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.int64, np.uint32])
@pytest.mark.parametrize(
    ("name", "options"),
    [("absolute", {}), ("quantile", {"quantile_alpha": 0.8}), ("huber", {"huber_delta": 0.4})],
)
def test_refitted_leaves_equal_the_naive_twin(
    name: str, options: dict[str, float], dtype: type, weighted: bool
) -> None:
    generator = np.random.default_rng(5)
    y = generator.integers(-4, 5, 300).astype(np.float64) / 2.0
    score = generator.integers(-2, 3, 300).astype(np.float64) / 4.0
    weight = generator.integers(0, 4, 300).astype(np.float64) if weighted else None
    leaf_rows, offsets = leaves(300, 6)
    values = np.full(6, 77.0)
    make_loss(name, **options).refit_leaves(score, y, weight, leaf_rows.astype(dtype), offsets, values)
    assert values[3] == 77.0
    for leaf in (0, 1, 2, 4, 5):
        rows = leaf_rows[offsets[leaf] : offsets[leaf + 1]]
        residuals = y[rows] - score[rows]
        used = None if weight is None else weight[rows]
        if name == "huber":
            # The twin adds floats, the kernel integers of 52 bits.
            assert values[leaf] == pytest.approx(reference.huber_leaf(residuals, used, 0.4), rel=1e-13)
            continue
        counts = np.ones(rows.size) if used is None else used
        fractions = [Fraction(int(c)) for c in counts]
        want = reference.weighted_quantile(list(residuals), fractions, options.get("quantile_alpha", 0.5))
        assert values[leaf] == want


@pytest.mark.parametrize("name", ["absolute", "quantile", "huber"])
def test_the_order_of_rows_in_a_leaf_changes_no_bit(name: str) -> None:
    generator = np.random.default_rng(8)
    y, score, weight = generator.normal(size=(3, 500))
    weight = np.abs(weight)
    y[::3] = score[::3]
    leaf_rows, offsets = leaves(500, 9)
    shuffled = leaf_rows.copy()
    for leaf in range(6):
        generator.shuffle(shuffled[offsets[leaf] : offsets[leaf + 1]])
    for used in (None, weight):
        first, second = np.zeros(6), np.zeros(6)
        make_loss(name).refit_leaves(score, y, used, leaf_rows, offsets, first)
        make_loss(name).refit_leaves(score, y, used, shuffled, offsets, second)
        assert first.tobytes() == second.tobytes()


def test_a_leaf_whose_rows_have_no_weight_keeps_its_value() -> None:
    values = np.array([5.0, 5.0])
    weight = np.array([0.0, 0.0, 1.0])
    rows, offsets = np.arange(3), np.array([0, 2, 3])
    make_loss("absolute").refit_leaves(np.zeros(3), np.array([1.0, 2.0, 3.0]), weight, rows, offsets, values)
    assert values.tolist() == [5.0, 3.0]
