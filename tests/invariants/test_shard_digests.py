"""Trees grown from shards are those of the compiled grower: the same digests, case by case, or a refusal by name."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from digest_boosted import CASES
from digest_cases import DIGESTS, digest

from unit.tree.shards.with_shards import with_shards
from weald import NotSupportedError

KNOWN = json.loads(DIGESTS.read_text())
SHARDS = (1, 2, 5)  # in turn, case by case
LEAST_SHARED = 150  # cases that shards can do, of all; fewer would mean that most are refused


@pytest.fixture(scope="module")
def outcomes() -> dict[str, bool]:
    """Case -> whether its trees were grown from shards."""
    return {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", range(len(CASES)))
def test_shards_give_the_trees_of_the_compiled_grower(place: int, outcomes: dict[str, bool]) -> None:
    name = list(CASES)[place]
    with with_shards(SHARDS[place % len(SHARDS)]) as growers:
        try:
            found = digest(CASES[name]())
        except NotSupportedError as refusal:
            assert "shard" in str(refusal), refusal
            outcomes[name] = False
            return
    outcomes[name] = bool(growers)  # a linear model grows no trees
    assert found == KNOWN[name], f"shards give another model of the case {name!r}"


def test_most_cases_are_grown_from_shards(outcomes: dict[str, bool]) -> None:
    if len(outcomes) < len(CASES):
        pytest.skip("only some of the cases were run in this process")
    assert sum(outcomes.values()) >= LEAST_SHARED
