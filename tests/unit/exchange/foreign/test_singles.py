"""Thresholds of float32 comparisons decide in float64 as the float32 itself does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weald.exchange.foreign.singles import at_most, at_most_of_doubles, below

SINGLES = st.floats(width=32, allow_nan=False)
DOUBLES = st.floats(allow_nan=False)


def _near(bound: float) -> np.ndarray:
    """Float64 around a bound, its neighbours in float32 and the middles between them."""
    single = np.float32(bound)
    with np.errstate(over="ignore"):
        beside = [np.nextafter(single, np.float32(end)) for end in (-np.inf, np.inf)]
    singles = np.array([beside[0], single, beside[1]], np.float64)
    with np.errstate(invalid="ignore"):
        middles = np.array([*singles, *(0.5 * singles[:2] + 0.5 * singles[1:])])
    found = [middles, np.nextafter(middles, -np.inf), np.nextafter(middles, np.inf)]
    extremes = [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        1e300,
        -1e300,
        3.4028235677973366e38,
        -3.4028235677973366e38,
        np.inf,
        -np.inf,
    ]
    rows = np.array([*np.concatenate(found), *extremes])
    return rows[~np.isnan(rows)]


@settings(max_examples=300, deadline=None)
@given(bound=SINGLES)
def test_thresholds_of_float32(bound: float) -> None:
    single, rows = np.array([bound], np.float32), _near(bound)
    with np.errstate(over="ignore"):
        rounded = rows.astype(np.float32)
    assert ((rows <= at_most(single)) == (rounded <= single)).all()
    if bound > -np.inf:
        assert ((rows <= below(single)) == (rounded < single)).all()


@settings(max_examples=300, deadline=None)
@given(bound=DOUBLES)
def test_thresholds_of_float64(bound: float) -> None:
    double = np.array([bound])
    with np.errstate(over="ignore"):
        rows = _near(float(np.float32(bound)))
        rounded = rows.astype(np.float32).astype(np.float64)
    assert ((rows <= at_most_of_doubles(double)) == (rounded <= double)).all()


@pytest.mark.parametrize("bound", [0.0, -0.0, 1.0, -1e-45, 3.4028235e38, -3.4028235e38])
def test_thresholds_at_the_edges(bound: float) -> None:
    single, rows = np.array([bound], np.float32), _near(bound)
    with np.errstate(over="ignore"):
        assert ((rows <= at_most(single)) == (rows.astype(np.float32) <= single)).all()
