"""Bins and split finders, as choices."""

from __future__ import annotations

from typing import Any

import pytest

from weald.binning import BinChoices, Bundling
from weald.binning.parameters import BINS, SPLIT_FINDERS, Approximate, Bins, Exact, Histogram, SplitFinder
from weald.runtime.errors import InputError


def test_defaults_are_those_of_the_bins() -> None:
    assert Bins().choices() == BinChoices()
    assert Bins().bundles() == Bundling()


def test_every_field_reaches_the_bins() -> None:
    bins = Bins(
        max_bins=31,
        by_column={"age": 7},
        max_categories=9,
        rare_categories=0.1,
        min_samples=3,
        sample=5_000,
        borders="median",
        forced={"age": [40, 20]},
        use_missing=False,
    )
    assert BINS.resolve(bins).choices() == BinChoices(
        31, 9, 0.1, 3, 5_000, (("age", 7),), (("age", (20.0, 40.0)),), "none", "median"
    )
    assert Bins(bundling="degree", max_conflict_rate=0.1).bundles() == Bundling("degree", 0.1)
    assert Bins(bundling="none").bundles() is None
    assert Bins(zero_as_missing=True).missing == "zero"


@pytest.mark.parametrize("finder", [Approximate(), Exact()])
def test_other_finders_have_no_bins(finder: SplitFinder) -> None:
    assert not finder.uses_bins
    assert Bins(max_bins=31, use_missing=False).choices(finder) == BinChoices(max_bins=None, missing="none")
    assert Bins().bundles(finder) is None
    assert Bins().choices(Histogram()) == BinChoices()


def test_names_and_numbers() -> None:
    assert BINS.resolve("auto") == Bins()
    assert BINS.resolve(63) == Bins(max_bins=63)
    assert BINS.shortest(Bins(max_bins=63)) == 63
    assert [type(SPLIT_FINDERS.resolve(name)) for name in ("hist", "approx", "exact")] == [
        Histogram,
        Approximate,
        Exact,
    ]


@pytest.mark.parametrize(
    ("bins", "sentence"),
    [
        (Bins(max_bins=1), r"^bins\.max_bins must be a whole number"),
        (
            Bins(use_missing=False, zero_as_missing=True),
            r"^bins\.zero_as_missing=True makes zeros missing values",
        ),
        (Bins(bundling="none", max_conflict_rate=0.1), r"^bins\.max_conflict_rate=0\.1 has no meaning"),
        (Bins(by_column="age"), r"must be a list or a dict"),  # type: ignore[arg-type]
        (Bins(forced=[1.0]), r"must be a dict from columns"),  # type: ignore[arg-type]
        (Bins(sample=10), r"^bins\.sample must be a whole number of at least 1000"),
    ],
)
def test_bins_that_make_no_sense(bins: Bins, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        BINS.resolve(bins)


@pytest.mark.parametrize("eps", [1 / 255, 0.1, 0.5, None])
def test_proposals(eps: Any) -> None:
    SPLIT_FINDERS.resolve(Approximate(eps=eps))


@pytest.mark.parametrize("eps", [0.0, 1 / 256, 0.6])
def test_proposals_that_are_too_fine_or_coarse(eps: float) -> None:
    with pytest.raises(InputError, match=r"^split_finder\.eps must be"):
        SPLIT_FINDERS.resolve(Approximate(eps=eps))
