from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.runtime.errors import InputError
from weald.training.combining.averaging import check_weights, normalised, simple_average, weighted_average

OUTPUTS = np.array([[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]])


def test_the_simple_average_is_the_mean_of_the_members() -> None:
    assert simple_average(OUTPUTS).tolist() == [3.0, 4.0, 5.0]


def test_the_weighted_average_follows_the_formula() -> None:
    assert weighted_average(OUTPUTS, [0.25, 0.75]).tolist() == [4.0, 5.0, 6.0]
    assert weighted_average(OUTPUTS[:, :, None], [1, 0]).tolist() == [[1.0], [2.0], [3.0]]


def test_equal_weights_give_the_simple_average() -> None:
    np.testing.assert_allclose(weighted_average(OUTPUTS, [0.5, 0.5]), simple_average(OUTPUTS), rtol=1e-15)


@pytest.mark.parametrize("weights", [[0.5, 0.4], [2, 1], [0.5, 0.5 + 1e-6]])
def test_weights_that_do_not_sum_to_one_are_refused(weights: Any) -> None:
    with pytest.raises(InputError, match="weights must sum to 1, but sum to"):
        weighted_average(OUTPUTS, weights)


def test_weights_of_sum_one_up_to_rounding_are_taken() -> None:
    weighted_average(np.ones((10, 2)), [0.1] * 10)


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([1.5, -0.5], r"not negative, but number 1 is -0\.5"),
        ([np.nan, 1], "number 0 is nan"),
        ([np.inf, 1], "number 0 is inf"),
        ([0, 0], "all zero"),
        ([1], "each of the 2 estimators, not 1 weights"),
        ([[0.5, 0.5]], "an array of shape"),
        (["a", "b"], "must be numbers"),
        (0.5, "an array of shape"),
    ],
)
def test_weights_that_cannot_be_are_named(weights: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        check_weights(weights, 2)


def test_normalised_weights_keep_their_ratios() -> None:
    assert normalised(np.array([2.0, 1.0, 0.0, 1.0])).tolist() == [0.5, 0.25, 0.0, 0.25]
