"""How categorical columns are split, as choices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.encoding.parameters import CATEGORIES, Categories, OneHot, Partition, TargetStatistics
from weald.runtime.errors import InputError, NotSupportedError


@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("onehot", OneHot()),
        ("partition", Partition()),
        *((kind, TargetStatistics(kind=kind)) for kind in ("ordered", "greedy", "holdout", "leave_one_out")),
    ],
)
def test_names(name: str, choice: Categories) -> None:
    resolved = CATEGORIES.resolve(name)
    assert resolved == choice
    assert CATEGORIES.shortest(choice) == name


@pytest.mark.parametrize(
    ("prior", "priors"),
    [("mean", None), (0.5, (0.5,)), (1, (1.0,)), ([0.0, 0.5], (0.0, 0.5)), (np.array([0.25]), (0.25,))],
)
def test_priors(prior: Any, priors: tuple[float, ...] | None) -> None:
    statistics = CATEGORIES.resolve(TargetStatistics(prior=prior))
    assert isinstance(statistics, TargetStatistics)
    assert statistics.priors == priors


@pytest.mark.parametrize("prior", ["median", None, [], 2, [0.5, -1.0], ["a"]])
def test_other_priors_are_refused(prior: Any) -> None:
    with pytest.raises(InputError, match=r"^categories\.prior must be 'mean', a number from 0 to 1"):
        CATEGORIES.resolve(TargetStatistics(prior=prior))


def test_only_ordered_statistics_have_orders() -> None:
    CATEGORIES.resolve(TargetStatistics(permutations=0))
    with pytest.raises(
        NotSupportedError, match=r"^categories\.permutations=3 belongs to kind='ordered', but kind is"
    ):
        CATEGORIES.resolve(TargetStatistics(kind="greedy", permutations=3))
