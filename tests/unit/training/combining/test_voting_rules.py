"""The rules of voting, against their formulas written out row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.runtime.errors import InputError
from weald.training.combining.ties import row_keys
from weald.training.combining.voting import majority, plurality, refused_as, vote_shares


def naive_shares(votes: np.ndarray, weights: np.ndarray, n_classes: int) -> list[list[float]]:
    members, rows = votes.shape
    return [
        [
            round(sum(weights[i] for i in range(members) if votes[i, row] == label), 12)
            for label in range(n_classes)
        ]
        for row in range(rows)
    ]


def naive_majority(shares: list[float]) -> int | None:
    for label, share in enumerate(shares):
        if share > 0.5 * sum(shares):
            return label
    return None


def random_votes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    members = int(generator.integers(1, 7))
    weights = generator.integers(0, 4, size=members).astype(float)
    weights[0] += 1
    return generator.integers(0, 4, size=(members, 50)), weights / weights.sum()


@pytest.mark.parametrize("seed", range(10))
def test_shares_majority_and_plurality_follow_the_formulas(seed: int) -> None:
    votes, weights = random_votes(seed)
    shares = vote_shares(votes, weights, 4)
    assert shares.tolist() == naive_shares(votes, weights, 4)
    codes, refused = majority(shares)
    chosen = plurality(shares)
    for row, found in enumerate(shares.tolist()):
        expected = naive_majority(found)
        assert refused[row] == (expected is None)
        assert expected is None or codes[row] == expected
        assert chosen[row] == found.index(max(found))


def test_exactly_half_of_the_votes_is_no_majority() -> None:
    votes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    codes, refused = majority(vote_shares(votes, np.full(4, 0.25), 2))
    assert refused.tolist() == [True, False]
    assert codes[1] == 1


def test_rounding_of_weights_makes_neither_winners_nor_majorities() -> None:
    # 0.1 + 0.2 is above 0.3 as floats, and 0.1 + 0.2 + 0.2 may be above one half.
    shares = vote_shares(np.array([[1], [1], [0]]), np.array([0.1, 0.2, 0.3]) / 0.6, 2)
    assert plurality(shares).tolist() == [0]
    assert majority(shares)[1].tolist() == [True]


@pytest.mark.parametrize("seed", range(5))
def test_random_ties_go_to_one_of_the_best(seed: int) -> None:
    votes, weights = random_votes(seed)
    shares = vote_shares(votes, weights, 4)
    keys = np.random.default_rng(seed).integers(0, 2**63, size=50).astype(np.uint64)
    chosen = plurality(shares, keys)
    assert (shares[np.arange(50), chosen] == shares.max(axis=1)).all()


def test_random_ties_are_fair() -> None:
    rows = np.random.default_rng(0).normal(size=(30_000, 3))
    shares = np.tile([0.4, 0.2, 0.4], (len(rows), 1))
    chosen = plurality(shares, row_keys(rows, 7, "test"))
    counts = np.bincount(chosen, minlength=3)
    assert counts[1] == 0
    assert abs(counts[0] - counts[2]) < 5 * np.sqrt(len(rows))


def test_keys_depend_on_the_row_and_the_seed_only() -> None:
    X = np.random.default_rng(1).normal(size=(100, 4))
    keys = row_keys(X, 3, "test")
    assert len(set(keys.tolist())) == 100
    assert np.array_equal(row_keys(X[::-1], 3, "test")[::-1], keys)
    assert np.array_equal(row_keys(X[10:20], 3, "test"), keys[10:20])
    assert np.array_equal(row_keys(np.asfortranarray(X), 3, "test"), keys)
    assert np.array_equal(row_keys(X.tolist(), 3, "test"), keys)
    assert not (row_keys(X, 4, "test") == keys).any()


def test_the_order_of_columns_and_the_sign_of_zero() -> None:
    keys = row_keys([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [np.nan, 1.0]], 0, "test")
    assert keys[0] == keys[1]
    assert len(set(keys.tolist())) == 3


def test_a_category_has_one_key_whatever_categories_are_beside_it() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"city": ["Ulm", "Linz", None, "Ulm"], "size": [1, 2, 3, 1], "on": [True, False] * 2}
    )
    keys = row_keys(frame, 0, "test")
    assert keys[0] != keys[3]  # the last column differs
    for row in range(4):
        part = frame.iloc[[row]].reset_index(drop=True)
        assert row_keys(part, 0, "test")[0] == keys[row]
    assert row_keys(frame.assign(city=frame["city"].astype("category")), 0, "test").tolist() == keys.tolist()


def test_text_that_looks_like_a_number_is_not_the_number() -> None:
    as_text, as_number = (np.array([[value], ["x"]], dtype=object) for value in ("1", 1))
    assert row_keys(as_text, 0, "test")[1] == row_keys(as_number, 0, "test")[1]
    assert row_keys(as_text, 0, "test")[0] != row_keys(as_number, 0, "test")[0]


@pytest.mark.parametrize(
    ("label", "classes", "match"),
    [
        (True, [0, 1], "must be a number, as the labels of y are, not True"),
        ("none", [0, 1], "must be a number"),
        (-1, ["a", "b"], "must be text"),
        ("a", ["a", "b"], "one of the labels"),
        (1.0, [0, 1], "one of the labels"),
        (-1, [False, True], "y is boolean"),
    ],
)
def test_a_refusal_label_that_cannot_be_is_refused(label: Any, classes: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        refused_as(label, np.array(classes))


def test_a_refusal_label_widens_the_labels_type() -> None:
    for label, classes, kind in [
        (-1, np.array([0, 1], np.uint8), "i"),
        (np.nan, np.array([0.0, 1.0]), "f"),
        ("undecided", np.array(["a", "b"]), "U"),
        ("undecided", np.array(["a", "b"], object), "O"),
    ]:
        joined = np.where([True, False], refused_as(label, classes), classes[[0, 1]])
        assert joined.dtype.kind == kind
        assert joined[1] == classes[1]
        assert joined[0] == label or label != label
