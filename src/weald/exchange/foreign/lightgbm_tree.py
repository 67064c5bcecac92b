"""One of LightGBM's trees, from text or from a dump."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from weald.exchange.foreign.reading import one_per, whole_of
from weald.exchange.foreign.trees import LEAF, ForeignTree
from weald.runtime.errors import ModelFileError, NotSupportedError

MISSING_NONE: Final = 0
MISSING_ZERO: Final = 1
MISSING_NAN: Final = 2
_CATEGORICAL: Final = 1
_DEFAULT_LEFT: Final = 2
_MOST_LEAVES: Final = 2**30


@dataclass(frozen=True)
class LightGBMTree:
    """Inner nodes with their tests; children below 0 are leaves, ``~child`` their numbers."""

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    decision: NDArray[np.int64]  # bits: categorical, missing values go left, which values are missing
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    sets: Mapping[int, NDArray[np.int64]]  # node -> categories that go left
    gain: NDArray[np.float64]
    inner_value: NDArray[np.float64]
    inner_weight: NDArray[np.float64]
    inner_count: NDArray[np.int64]
    leaf_value: NDArray[np.float64]
    leaf_weight: NDArray[np.float64]
    leaf_count: NDArray[np.int64]

    @classmethod
    def of_text(cls, fields: Mapping[str, str], number: int, n_features: int) -> LightGBMTree:
        """The tree of a block of lines."""
        where = f"tree {number}"
        if fields.get("is_linear", "0").strip() not in ("", "0"):
            raise NotSupportedError(
                "the LightGBM model has linear trees, whose leaves hold linear models; train it without linear_tree=true."
            )
        n_leaves = whole_of(fields.get("num_leaves"), f"{where}'s num_leaves", 1, _MOST_LEAVES)
        read = _Numbers(fields, where)
        inner, leaves = n_leaves - 1, n_leaves
        decision = read.whole("decision_type", inner, 0)
        boundaries = read.whole("cat_boundaries", None, None)
        words = read.whole("cat_threshold", None, None)
        threshold = read.real("threshold", inner, None)
        feature = read.whole("split_feature", inner, None)
        if feature.size and not (feature.min() >= 0 and feature.max() < n_features):
            raise ModelFileError(f"{where}'s split_feature is not among the {n_features} columns.")
        return cls(
            feature,
            threshold,
            decision,
            read.whole("left_child", inner, None),
            read.whole("right_child", inner, None),
            _bit_sets(decision, threshold, boundaries, words, where),
            read.real("split_gain", inner, 0.0),
            read.real("internal_value", inner, 0.0),
            read.real("internal_weight", inner, 0.0),
            read.whole("internal_count", inner, 0),
            read.real("leaf_value", leaves, None),
            read.real("leaf_weight", leaves, 0.0),
            read.whole("leaf_count", leaves, 0),
        )

    def missing_kinds(self) -> set[int]:
        """Which values are missing, by the tests of numbers."""
        numeric = (self.decision & _CATEGORICAL) == 0
        kinds: list[int] = np.unique(self.decision[numeric] >> 2 & 3).tolist()
        return set(kinds)

    def categorical_columns(self) -> NDArray[np.int64]:
        """The columns that are tested as categories."""
        columns: NDArray[np.int64] = self.feature[(self.decision & _CATEGORICAL) == 1]
        return columns

    def as_foreign(
        self, number: int, codes: Sequence[Mapping[int, int] | None], sizes: Sequence[int]
    ) -> ForeignTree:
        """The tree with its leaves behind its inner nodes.

        ``codes``: category -> code of every column, or None where they are the same; ``sizes``: how many categories.
        """
        inner, leaves = len(self.feature), len(self.leaf_value)
        lowest = min(int(self.left.min(initial=0)), int(self.right.min(initial=0)))
        highest = max(int(self.left.max(initial=0)), int(self.right.max(initial=0)))
        if -lowest > leaves or highest > max(inner - 1, 0):
            raise ModelFileError(f"tree {number} has a child that is none of its nodes.")
        zeros, none = np.zeros(leaves), np.zeros(leaves, np.int64)
        is_category = (self.decision & _CATEGORICAL) == 1
        kind = self.decision >> 2 & 3
        default_left = (self.decision & _DEFAULT_LEFT) > 0
        # Where NaN is not missing it is 0, and goes where 0 goes.
        missing_left = np.where(kind == MISSING_NONE, self.threshold >= 0.0, default_left) & ~is_category
        sets = {}
        for node, values in self.sets.items():
            column = int(self.feature[node])
            own = codes[column]
            found = values if own is None else np.array([own[value] for value in values.tolist()], np.int64)
            sets[node] = found[found < sizes[column]]
        threshold = np.where(is_category, 0.0, self.threshold)
        return ForeignTree(
            np.concatenate([self.feature, none + LEAF]),
            np.concatenate([threshold, zeros]),
            np.concatenate([_places(self.left, inner), none]),
            np.concatenate([_places(self.right, inner), none]),
            np.concatenate([missing_left, np.zeros(leaves, np.bool_)]),
            sets,
            np.concatenate([self.inner_value, self.leaf_value]),
            np.concatenate([self.inner_weight, self.leaf_weight]),
            np.concatenate([self.gain, zeros]),
            np.concatenate([self.inner_count, self.leaf_count]),
        )


def _places(children: NDArray[np.int64], inner: int) -> NDArray[np.int64]:
    """Children with the leaves behind the inner nodes."""
    return np.where(children < 0, inner + ~children, children)


class _Numbers:
    """The lists of numbers in a tree's lines."""

    def __init__(self, fields: Mapping[str, str], where: str) -> None:
        self._fields, self._where = fields, where

    def real(self, name: str, size: int, absent: float | None) -> NDArray[np.float64]:
        """So many numbers, or ``absent`` for each where the line is not there or empty."""
        if not self._fields.get(name) and absent is not None:
            return np.full(size, absent)
        found = self._read(name)
        one_per(found, size, f"{self._where}'s {name}")
        return found

    def whole(self, name: str, size: int | None, absent: int | None) -> NDArray[np.int64]:
        """So many whole numbers; any number of them without ``size``."""
        if not self._fields.get(name) and absent is not None:
            return np.full(size or 0, absent, np.int64)
        found = self._read(name)
        if size is not None:
            one_per(found, size, f"{self._where}'s {name}")
        if found.size and not ((found == np.trunc(found)) & (np.abs(found) < 2.0**53)).all():
            raise ModelFileError(f"{self._where}'s {name} must be whole numbers.")
        return found.astype(np.int64)

    def _read(self, name: str) -> NDArray[np.float64]:
        try:
            found = np.array(self._fields.get(name, "").split(), np.float64)
        except ValueError:
            raise ModelFileError(f"{self._where}'s {name} must be numbers.") from None
        if np.isnan(found).any():
            raise ModelFileError(f"{self._where}'s {name} must be numbers, and one is NaN.")
        return found


def _bit_sets(
    decision: NDArray[np.int64],
    threshold: NDArray[np.float64],
    boundaries: NDArray[np.int64],
    words: NDArray[np.int64],
    where: str,
) -> dict[int, NDArray[np.int64]]:
    """Node -> categories that go left; the threshold of such a node is the number of its bits among the file's."""
    nodes = np.flatnonzero((decision & _CATEGORICAL) == 1)
    if not len(nodes):
        return {}
    if words.size and not (words.min() >= 0 and words.max() < 2**32):
        raise ModelFileError(f"{where}'s cat_threshold must be words of 32 bits.")
    if (
        (np.diff(boundaries) < 0).any()
        or not len(boundaries)
        or boundaries[0] < 0
        or boundaries[-1] > len(words)
    ):
        raise ModelFileError(f"{where}'s cat_boundaries do not fit its cat_threshold.")
    found = {}
    for node in nodes.tolist():
        place = threshold[node]
        if not 0 <= place < len(boundaries) - 1 or place != int(place):
            raise ModelFileError(f"{where} has a categorical split without its categories.")
        begin, end = boundaries[int(place) : int(place) + 2].tolist()
        bits = np.unpackbits(words[begin:end].astype("<u4").view(np.uint8), bitorder="little")
        found[node] = np.flatnonzero(bits)
    return found
