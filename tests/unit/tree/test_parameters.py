"""How splits are chosen and how far leaves go, as choices."""

from __future__ import annotations

import pytest

from weald.runtime.errors import InputError
from weald.tree.parameters import LEAVES, SPLITS, Leaves, Splits


@pytest.mark.parametrize(
    ("score", "by_weight", "by_cosine"),
    [
        ("newton_l2", False, False),
        ("l2", True, False),
        ("newton_cosine", False, True),
        ("cosine", True, True),
    ],
)
def test_scores(score: str, by_weight: bool, by_cosine: bool) -> None:
    splits = SPLITS.resolve(Splits(score=score))
    assert (splits.by_weight, splits.by_cosine) == (by_weight, by_cosine)


def test_names() -> None:
    assert SPLITS.resolve("auto") == Splits()
    assert LEAVES.resolve("auto") == Leaves()
    assert [LEAVES.resolve(name).method for name in LEAVES.names] == ["auto", "newton", "gradient", "exact"]


@pytest.mark.parametrize(
    ("leaves", "sentence"),
    [
        (Leaves("exact", 2), r"^leaves\.iterations=2 has no meaning with method='exact'"),
        (
            Leaves("newton", path_smooth=1.0),
            r"^leaves\.path_smooth=1\.0 averages .* method='newton' does not take",
        ),
        (Leaves("some"), r"^leaves\.method must be one of"),
        (Leaves(iterations=0), r"^leaves\.iterations must be a whole number"),
    ],
)
def test_leaves_that_make_no_sense(leaves: Leaves, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        LEAVES.resolve(leaves)


def test_splits_that_make_no_sense() -> None:
    SPLITS.resolve(Splits(forced={"feature": 0, "threshold": 1.0}))
    with pytest.raises(InputError, match=r"^splits\.forced must be a dict"):
        SPLITS.resolve(Splits(forced=[1]))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^splits\.noise must be a number"):
        SPLITS.resolve(Splits(noise=-1.0))
