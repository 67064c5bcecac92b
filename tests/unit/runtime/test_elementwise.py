"""Exponentials and logarithms of arrays: those of the kernels, number by number, in any layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weald.runtime import elementwise, mathlib

VALUES = np.random.default_rng(0).uniform(-700.0, 700.0, (7, 6))


@pytest.mark.parametrize(
    ("each", "one", "values"),
    [(elementwise.exp, mathlib.exp, VALUES), (elementwise.log, mathlib.log, np.abs(VALUES))],
)
def test_every_number_is_what_the_kernel_gives_for_it(
    each: Callable[..., Any], one: Callable[..., Any], values: np.ndarray
) -> None:
    expected = [[one(value) for value in line] for line in values.tolist()]
    for laid_out in (values, np.asfortranarray(values), values[::-1][::-1], values.tolist()):
        assert each(laid_out).tolist() == expected


@pytest.mark.parametrize("each", [elementwise.exp, elementwise.log])
def test_shapes_stay_and_arguments_are_not_changed(each: Callable[..., Any]) -> None:
    ones = np.ones((2, 3, 1))
    ones.flags.writeable = False
    assert each(ones).shape == (2, 3, 1) and each(np.empty((0, 4))).shape == (0, 4)
    assert each(np.ones(3, np.int64)).dtype == np.float64
