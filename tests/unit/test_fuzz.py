"""A small part of `make fuzz`: every fit and every file ends in finite predictions or in an error of Weald's own."""

from __future__ import annotations

import pytest

from tools.fuzz.child import CASES, outcome_of
from tools.fuzz.fits import draw_fit


@pytest.mark.parametrize(("kind", "numbers"), [("fits", range(40)), ("files", range(150))])
def test_cases_end_in_a_result_or_in_our_error(kind: str, numbers: range) -> None:
    for number in numbers:
        case = CASES[kind](0, number)
        assert outcome_of(case)["outcome"] in ("finite", "refused"), f"{number}: {case.told}"


def test_a_case_follows_from_its_seed_and_number() -> None:
    assert draw_fit(3, 5).told == draw_fit(3, 5).told != draw_fit(3, 6).told
