"""Splits by cosine, by counts and with noise: the same bytes on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import weald
from invariants.test_determinism import same_for_all_threads, table
from weald import BoostedTreesClassifier

__all__ = ["table"]

CASES = [
    ("oblivious", "cosine", "partition"),
    ("oblivious", "l2", "onehot"),
    ("depthwise", "newton_cosine", "onehot"),
    ("leafwise", "cosine", "partition"),
    ("leafwise", "newton_l2", "onehot"),
]


@pytest.mark.parametrize(("growth", "score", "categories"), CASES)
def test_noisy_scores_have_the_same_bytes(table: Any, growth: str, score: str, categories: str) -> None:
    X, y, weight = table

    def make(n_jobs: int) -> BoostedTreesClassifier:
        return BoostedTreesClassifier(
            n_estimators=2,
            growth=growth,
            max_depth=4,
            splits=weald.Splits(score=score, noise=2.0),
            categories=categories,
            categorical_features=[5],
            subsample=0.8,
            random_state=3,
            n_jobs=n_jobs,
        )

    same_for_all_threads(make, X, y > 0.3, sample_weight=weight)


@pytest.mark.parametrize(("growth", "score"), [("oblivious", "cosine"), ("leafwise", "newton_cosine")])
def test_wide_tables_have_the_same_bytes(growth: str, score: str) -> None:
    X = np.random.default_rng(0).standard_normal((2_000, 300))  # so many columns that their search is shared

    def make(n_jobs: int) -> BoostedTreesClassifier:
        return BoostedTreesClassifier(
            n_estimators=2,
            growth=growth,
            max_depth=4,
            splits=weald.Splits(score=score, noise=2.0),
            n_jobs=n_jobs,
        )

    same_for_all_threads(make, X, X[:, 0] + X[:, 1] * X[:, 299] > 0.2)


def test_sparse_tables_have_the_same_bytes(table: Any) -> None:
    y = table[1]
    few = sparse.random_array((len(y), 40), density=0.03, rng=1, format="csr")

    def make(n_jobs: int) -> BoostedTreesClassifier:
        return BoostedTreesClassifier(
            n_estimators=2,
            growth="oblivious",
            max_depth=3,
            splits=weald.Splits(score="cosine", noise=1.0),
            n_jobs=n_jobs,
        )

    same_for_all_threads(make, few, y > 0.3)
