"""Trained models stay what they are, to the last bit, while the code around them changes.

``digests.json`` holds a digest for each of the small fits of `digest_cases`: of every array of the model, its members
included, and of the raw predictions of its training rows. Names, parameters and file headers are no part of it. Where a
change is meant to move digests, write them anew with

    python tests/invariants/digest_cases.py --write

and give the reason in the commit message.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from digest_cases import CASES, DIGESTS, digest

KNOWN = json.loads(DIGESTS.read_text())


def test_every_case_has_a_digest_and_every_digest_a_case() -> None:
    assert sorted(KNOWN) == sorted(CASES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_a_model_has_the_digest_that_it_had(name: str) -> None:
    found = digest(CASES[name]())
    assert found == KNOWN.get(name), f"the model of the case {name!r} is not what it was"
