"""The two properties that a target statistic should have (Prokhorenkova and others 2018, section 3.2).

1. No conditional shift: among rows with a label v the statistic is on average the same on training rows and on new rows.
2. All training rows are used, for the statistics and for the model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from weald import TargetStatisticsEncoder

N_ROWS, N_TABLES = 60, 40


class Encoded(NamedTuple):
    """The statistics of training rows that may train a model, and of new rows, with their labels."""

    training: np.ndarray
    labels: np.ndarray
    new: np.ndarray
    new_labels: np.ndarray


def encode(example: str, kind: str, seed: int) -> Encoded:
    """A column that says nothing about a label of 0 or 1, each with probability 1/2."""
    rng = np.random.default_rng(seed)
    labels, new_labels = rng.integers(2, size=(2, N_ROWS))
    labels[:2] = new_labels[:2] = (0, 1)
    categories = np.arange(2 * N_ROWS)[:, None] if example == "unique" else np.zeros((2 * N_ROWS, 1))
    encoder = TargetStatisticsEncoder(kind, prior=0.5, categorical_features=[0], random_state=seed)
    training = encoder.fit_transform(categories[:N_ROWS], labels)[:, 0]
    new = encoder.transform(categories[N_ROWS:])[:, 0]
    rows = encoder.training_rows_
    return Encoded(training[rows], labels[rows], new, new_labels)


def shift(example: str, kind: str) -> float:
    """By how much the mean statistic of a label differs between training and new rows, in standard deviations of the statistic.

    The signed difference, averaged over tables, of the label for which it is larger.
    """
    found = np.zeros((N_TABLES, 2))
    for seed in range(N_TABLES):
        encoded = encode(example, kind, seed)
        spread = encoded.training.std() or 1.0
        for label in (0, 1):
            on_training = encoded.training[encoded.labels == label].mean()
            on_new = encoded.new[encoded.new_labels == label].mean()
            found[seed, label] = (on_training - on_new) / spread
    return float(np.abs(found.mean(axis=0)).max())


def separation(statistic: np.ndarray, labels: np.ndarray) -> bool:
    """Whether one threshold tells the labels apart."""
    ones, zeros = statistic[labels == 1], statistic[labels == 0]
    return bool(ones.min() > zeros.max() or ones.max() < zeros.min())


@pytest.mark.parametrize("example", ["unique", "constant"])
@pytest.mark.parametrize("kind", ["holdout", "ordered"])
def test_property_1_holds_for_holdout_and_ordered(example: str, kind: str) -> None:
    assert shift(example, kind) < 0.2
    encoded = encode(example, kind, seed=1)
    assert not separation(encoded.training, encoded.labels)


def test_property_1_fails_for_greedy_statistics_of_unique_categories() -> None:
    assert shift("unique", "greedy") > 0.8
    encoded = encode("unique", "greedy", seed=1)
    assert separation(encoded.training, encoded.labels), "one split knows all labels of the training rows"
    assert encoded.new.tolist() == [0.5] * N_ROWS, "and nothing about new rows"


def test_property_1_fails_for_leave_one_out_statistics_of_a_constant_column() -> None:
    assert shift("constant", "leave_one_out") > 0.8
    encoded = encode("constant", "leave_one_out", seed=1)
    assert separation(encoded.training, encoded.labels)
    threshold = (encoded.labels.sum() - 0.5 + 0.5) / (N_ROWS - 1 + 1)
    assert ((encoded.training < threshold) == encoded.labels).all()
    assert len(set(encoded.new.tolist())) == 1


@pytest.mark.parametrize("kind", ["ordered", "holdout"])
def test_no_statistic_of_a_row_that_trains_reads_its_label_or_a_later_one(kind: str) -> None:
    """Ordered: a label is read by later rows alone. Holdout: labels of rows that train are read by none."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(5, size=(N_ROWS, 1)), rng.integers(2, size=N_ROWS)
    encoder = TargetStatisticsEncoder(kind, prior=0.5, categorical_features=[0])
    before = encoder.fit_transform(X, y)[:, 0]
    reads = np.zeros(
        (N_ROWS, N_ROWS), np.bool_
    )  # [row, other]: whether the row's statistic reads the other's label
    for other in encoder.training_rows_:
        flipped = y.copy()
        flipped[other] = 1 - y[other]
        after = encoder.fit_transform(X, flipped)[:, 0]
        reads[:, other] = (before != after) & ~np.isnan(before)
    if kind == "holdout":
        assert not reads.any()
    else:
        assert not reads.diagonal().any()
        assert not (reads & reads.T).any()
        assert reads.any()


def test_property_2_holds_for_ordered_and_fails_for_holdout() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(5, size=(N_ROWS, 1)), rng.integers(2, size=N_ROWS)
    ordered = TargetStatisticsEncoder("ordered", categorical_features=[0], prior=0.5)
    statistics = ordered.fit_transform(X, y)
    assert np.array_equal(ordered.training_rows_, np.arange(N_ROWS))
    assert np.isfinite(statistics).all()
    greedy = TargetStatisticsEncoder("greedy", categorical_features=[0], prior=0.5).fit(X, y)
    assert np.array_equal(ordered.encodings_[0], greedy.encodings_[0]), "new rows get all labels"

    holdout = TargetStatisticsEncoder("holdout", categorical_features=[0], counters=True)
    statistics = holdout.fit_transform(X, y)
    assert len(holdout.training_rows_) == N_ROWS // 2
    trains = np.isfinite(statistics[:, 0])
    assert np.array_equal(np.flatnonzero(trains), holdout.training_rows_)
    # The other half of the labels is all that the statistics know.
    assert holdout.prior_.tolist() == [y[~trains].mean()]
