from __future__ import annotations

import numpy as np
import pytest

from weald.encoding.targets import border_targets, class_targets, number_targets, target_borders
from weald.runtime.errors import InputError


def test_two_classes_need_one_statistic_and_more_one_each() -> None:
    assert class_targets(np.array([0, 1, 1]), 2).values.tolist() == [[0, 1, 1]]
    three = class_targets(np.array([2, 0, 1, 2]), 3)
    assert three.values.sum(axis=0).tolist() == [1, 1, 1, 1]
    assert three.means().tolist() == [0.25, 0.25, 0.5]


def test_sums_of_numbers_do_not_depend_on_the_order_of_the_rows() -> None:
    y = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.arange(1000) ** 0.2
    forth, back = number_targets(y), number_targets(y[::-1].copy())
    assert forth.means() == back.means()
    assert np.abs(forth.values / forth.scale - y).max() <= np.abs(y).max() * len(y) * 2.0**-60


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-5, 1.0, 1e18, 1e300])
def test_labels_of_any_size_keep_their_mean(size: float) -> None:
    targets = number_targets(np.array([1.0, 3.0, -1.0, 1.0]) * size)
    assert targets.means()[0] == pytest.approx(size, rel=1e-14, abs=1e-290)


def test_labels_beyond_all_sums_are_refused() -> None:
    with pytest.raises(InputError, match="y has a label of size 1e"):
        number_targets(np.full(1000, 1e308))


@pytest.mark.parametrize(
    ("labels", "count", "expected"),
    [
        ([1, 2, 3, 4], 1, [2.5]),
        ([1, 2, 3, 4], 3, [1.5, 2.5, 3.5]),
        ([1, 2, 3, 4], 9, [1.5, 2.5, 3.5]),
        ([0, 0, 0, 0, 9], 1, [4.5]),
        ([0, 9, 9, 9, 9], 2, [4.5]),
        ([0, 1, 1, 1, 1, 2], 2, [0.5, 1.5]),
        ([0, 1, 1, 1, 1, 1, 2, 3], 2, [1.5]),
        ([7, 7], 2, []),
    ],
)
def test_borders_part_the_labels_evenly(labels: list[float], count: int, expected: list[float]) -> None:
    assert target_borders(np.array(labels, np.float64), count).tolist() == expected


def test_a_border_between_neighbouring_floats_parts_them() -> None:
    lower = 1.0 + 2.0**-52
    y = np.array([lower, np.nextafter(lower, 2)])
    assert border_targets(y, target_borders(y, 1)).values.tolist() == [[0, 1]]
