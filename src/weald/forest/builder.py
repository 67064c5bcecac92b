"""Collects finished trees one after another and turns them into a forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.forest.forest import Forest
from weald.forest.layout import ARRAY_DTYPES, NODE_DTYPES, OPTIONAL_ARRAYS
from weald.runtime.errors import InputError

_SMALLEST_CAPACITY = 64


class _GrowingArray:
    """A one-dimensional array that doubles its memory when it is full, so that n appends cost O(n)."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._memory: NDArray[Any] = np.empty(_SMALLEST_CAPACITY, dtype=dtype)
        self.size = 0

    def extend(self, values: NDArray[Any]) -> None:
        end = self.size + values.size
        if end > self._memory.size:
            larger = np.empty(max(end, 2 * self._memory.size), dtype=self._memory.dtype)
            larger[: self.size] = self._memory[: self.size]
            self._memory = larger
        self._memory[self.size : end] = values
        self.size = end

    def copy(self) -> NDArray[Any]:
        return self._memory[: self.size].copy()

    def part(self, begin: int, end: int) -> NDArray[Any]:
        """A view of some entries, until the next `extend`."""
        return self._memory[begin:end]


class ForestBuilder:
    """Grows a `Forest` tree by tree.

    Trees come in the order of the model: all trees of the first round, then those of the second, and so on. In a round
    come a tree for every output, then another for every output, `parallel_trees` times; with vector leaves a round is one tree.

    Examples:
        >>> builder = ForestBuilder(n_features=3, n_outputs=1, base_score=[0.0])
        >>> builder.append(
        ...     feature=[-1], threshold=[0.0], left=[0], missing_left=[False], category_set=[-1],
        ...     value=[0.25], gain=[0.0], cover=[4.0], count=[4],
        ... )
        >>> builder.build().n_trees
        1
    """

    def __init__(
        self,
        n_features: int,
        n_outputs: int,
        base_score: ArrayLike,
        parallel_trees: int = 1,
        averaged: bool = False,
    ) -> None:
        self.n_features = n_features
        self.n_outputs = n_outputs
        self.parallel_trees = parallel_trees
        self.averaged = averaged
        self.base_score = np.array(base_score, dtype=np.float64)
        if self.base_score.shape != (n_outputs,):
            raise InputError(f"base_score has shape {self.base_score.shape}; it must be ({n_outputs},).")
        names = [field for field in ARRAY_DTYPES if field != "base_score"]
        self._arrays = {field: _GrowingArray(ARRAY_DTYPES[field]) for field in names}
        for field in ("tree_offsets", "set_offsets"):
            self._arrays[field].extend(np.zeros(1, dtype=np.int64))

    @classmethod
    def continuing(cls, forest: Forest) -> ForestBuilder:
        """A builder that already holds all trees of `forest`."""
        builder = cls(
            forest.n_features, forest.n_outputs, forest.base_score, forest.parallel_trees, forest.averaged
        )
        for field in (*NODE_DTYPES, "set_codes", *OPTIONAL_ARRAYS):
            builder._arrays[field].extend(getattr(forest, field))
        for field in ("tree_offsets", "set_offsets"):
            builder._arrays[field].extend(getattr(forest, field)[1:])
        return builder

    @property
    def n_trees(self) -> int:
        """How many trees have been appended."""
        return self._arrays["tree_offsets"].size - 1

    @property
    def n_rounds(self) -> int:
        """How many rounds these trees are, without vector leaves."""
        return self.n_trees // (self.n_outputs * self.parallel_trees)

    @property
    def has_vectors(self) -> bool:
        """Whether the trees have vector leaves."""
        return self._arrays["vectors"].size > 0

    def append(
        self,
        *,
        feature: ArrayLike,
        threshold: ArrayLike,
        left: ArrayLike,
        missing_left: ArrayLike,
        category_set: ArrayLike,
        value: ArrayLike,
        gain: ArrayLike,
        cover: ArrayLike,
        count: ArrayLike,
        set_offsets: ArrayLike = (0,),
        set_codes: ArrayLike = (),
        vectors: ArrayLike | None = None,
    ) -> None:
        """Add one finished tree, as arrays with one entry per node and the root first.

        The fields are those of `Forest`. `left` and `category_set` count within this tree; `set_offsets` and
        `set_codes` hold the category sets of this tree alone. `vectors`, of shape (leaves, n_outputs), is what the
        leaves add, in the order of the nodes, in a forest with vector leaves: all its trees have them. The
        values are copied.
        """
        given = {
            "feature": feature,
            "threshold": threshold,
            "left": left,
            "missing_left": missing_left,
            "category_set": category_set,
            "value": value,
            "gain": gain,
            "cover": cover,
            "count": count,
        }
        nodes = {field: np.array(given[field], dtype=dtype) for field, dtype in NODE_DTYPES.items()}
        _check_lengths(nodes)
        codes = np.asarray(set_codes, dtype=np.int32)
        offsets = np.asarray(set_offsets, dtype=np.int64)
        if offsets[0] != 0 or offsets[-1] != codes.size:
            ends = f"{offsets[0]} to {offsets[-1]}"
            raise InputError(
                f"set_offsets runs from {ends}; with {codes.size} codes it must run from 0 to that."
            )
        rows = self._checked_vectors(vectors, int(np.count_nonzero(nodes["feature"] < 0)))
        self._arrays["vectors"].extend(rows)
        category = nodes["category_set"]
        category[category >= 0] += self._arrays["set_offsets"].size - 1
        self._arrays["set_offsets"].extend(offsets[1:] + self._arrays["set_codes"].size)
        self._arrays["set_codes"].extend(codes)
        for field, values in nodes.items():
            self._arrays[field].extend(values)
        self._arrays["tree_offsets"].extend(np.array([self._arrays["feature"].size], dtype=np.int64))
        if self._arrays["tree_weights"].size:
            self._arrays["tree_weights"].extend(np.ones(1))

    def scale(self, tree: int, factor: float) -> None:
        """Multiply what the leaves of an earlier tree add, and its weight."""
        weights = self._arrays["tree_weights"]
        if not weights.size:
            weights.extend(np.ones(self.n_trees))
        begin, end = self._arrays["tree_offsets"].part(tree, tree + 2)
        weights.part(tree, tree + 1)[:] *= factor
        self._arrays["value"].part(begin, end)[:] *= factor

    def tree_weights(self) -> NDArray[np.float64]:
        """What is left of every tree, (trees,)."""
        weights = self._arrays["tree_weights"]
        return weights.copy() if weights.size else np.ones(self.n_trees)

    def _checked_vectors(self, vectors: ArrayLike | None, n_leaves: int) -> NDArray[np.float64]:
        has_vectors = vectors is not None
        if self.n_trees and has_vectors != self.has_vectors:
            raise InputError("vectors must be given for every tree of a forest or for none.")
        if vectors is None:
            return np.zeros(0)
        rows = np.asarray(vectors, dtype=np.float64)
        if rows.shape != (n_leaves, self.n_outputs):
            needed = f"({n_leaves}, {self.n_outputs}), a row per leaf"
            raise InputError(f"vectors has shape {rows.shape}; it must be {needed}.")
        return rows.reshape(-1)

    def build(self) -> Forest:
        """The trees so far as an immutable forest; the builder can go on growing afterwards."""
        self._check_whole_rounds()
        arrays = {field: array.copy() for field, array in self._arrays.items()}
        return Forest(
            self.n_features,
            self.n_outputs,
            self.base_score.copy(),
            parallel_trees=self.parallel_trees,
            averaged=self.averaged,
            **arrays,
        )

    def finish(self) -> Forest:
        """As `build`, for the last time: memory is given up array by array, so that there are never two forests in it."""
        self._check_whole_rounds()
        arrays = {field: self._arrays.pop(field).copy() for field in list(self._arrays)}
        return Forest(
            self.n_features,
            self.n_outputs,
            self.base_score,
            parallel_trees=self.parallel_trees,
            averaged=self.averaged,
            **arrays,
        )

    def _check_whole_rounds(self) -> None:
        if self.n_trees % (self.n_outputs * self.parallel_trees) and not self.has_vectors:
            needed = f"{self.n_outputs} outputs need whole rounds of as many trees"
            if self.parallel_trees > 1:
                needed = f"{self.n_outputs * self.parallel_trees} are a round"
            raise InputError(f"{self.n_trees} trees were appended; {needed}.")


def _check_lengths(nodes: dict[str, NDArray[Any]]) -> None:
    n_nodes = nodes["feature"].size
    if n_nodes == 0:
        raise InputError("feature is empty; a tree has at least one node.")
    for field, values in nodes.items():
        if values.shape != (n_nodes,):
            raise InputError(f"{field} has shape {values.shape}; it must be ({n_nodes},), one per node.")
