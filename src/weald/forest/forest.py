"""The finished model: a forest of binary trees in flat, read-only arrays.

All nodes of all trees lie in one set of arrays, tree after tree. Prediction, files and reports read these
arrays and know nothing of how the trees were grown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset
from weald.forest.layout import NODE_DTYPES
from weald.forest.predictor import ReadOnlyArrays, same_bytes
from weald.forest.validation import check_forest
from weald.runtime.errors import InputError


@dataclass(frozen=True)
class TreeView:
    """One tree of a forest, for looking at; the arrays are read-only views with one entry per node.

    A node whose `feature` is -1 is a leaf. The children of another node are `left` and `left + 1`.
    """

    index: int
    output: int | None  # the only output that the tree adds to; None when its leaves are vectors
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    categories_left: tuple[tuple[int, ...] | None, ...]
    value: NDArray[np.float64]
    gain: NDArray[np.float64]
    cover: NDArray[np.float64]
    count: NDArray[np.int64]
    vectors: NDArray[np.float64]  # (leaves, outputs), leaves in the order of the nodes; or (0, outputs)

    @property
    def n_nodes(self) -> int:
        """How many nodes the tree has, leaves included."""
        return self.feature.size

    @property
    def n_leaves(self) -> int:
        """How many of the nodes are leaves."""
        return int(np.count_nonzero(self.feature < 0))


@dataclass(frozen=True, eq=False, repr=False)
class Forest(ReadOnlyArrays):
    """An immutable ensemble of binary trees.

    The raw score of a row starts at `base_score[k]`; then, tree by tree in order, tree `t` adds the value
    of the leaf that the row reaches to output `t % n_outputs`, in float64. That order is part of the model. An *averaged*
    forest adds the trees up by themselves, divides by the number of rounds and adds that to the start.

    In a forest with *vector leaves* (`vectors` is not empty) every tree adds K numbers, those of the leaf that
    the row reaches, to the K outputs, and a round is a single tree. Otherwise a round is `parallel_trees` times K trees.

    Attributes:
        n_features: number of columns the trees were grown on.
        n_outputs: number of raw scores per row (K).
        base_score: float64[K], where every row starts.
        tree_offsets: int64[T + 1], first node of each tree in the node arrays.
        feature: int32[N], the column a node tests; -1 marks a leaf.
        threshold: float64[N], a number that is at most this goes left.
        left: int32[N], the left child's index within its tree (the right child follows it); 0 in a leaf.
        missing_left: uint8[N], 1 when a missing value goes left.
        category_set: int32[N], the set of category codes that go left; -1 when the test is numeric.
        set_offsets: int64[S + 1], first code of each set in `set_codes`.
        set_codes: int32[M], category codes, ascending within a set.
        value: float64[N], what a leaf adds; in an inner node what it would have added as a leaf.
        gain: float64[N], how much the node's split lowered the training loss.
        cover: float64[N], sum of the hessians in the node.
        count: int64[N], number of training rows in the node.
        vectors: float64[L * K], what the L leaves of all trees add, leaf after leaf in the order of the nodes;
            empty when a leaf adds its `value`.
        tree_weights: float64[T], what is left of each tree since later rounds rescaled it; `value` has it in already, so
            that only training goes on from it. Empty when no tree was rescaled.
        parallel_trees: how many trees a round of training adds to an output.
        averaged: whether the mean of the rounds is added to `base_score`, not their sum. A round's trees are summed
            in any case.

    Examples:
        >>> from weald.forest.builder import ForestBuilder
        >>> builder = ForestBuilder(n_features=2, n_outputs=1, base_score=[0.5])
        >>> builder.append(
        ...     feature=[1, -1, -1], threshold=[3.5, 0, 0], left=[1, 0, 0], missing_left=[True, False, False],
        ...     category_set=[-1, -1, -1], value=[0, -1, 1], gain=[8, 0, 0], cover=[6, 3, 3], count=[6, 3, 3],
        ... )
        >>> forest = builder.build()
        >>> forest.n_trees, forest.n_leaves, forest.importances()
        (1, 2, array([0., 8.]))
    """

    n_features: int
    n_outputs: int
    base_score: NDArray[np.float64]
    tree_offsets: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    category_set: NDArray[np.int32]
    set_offsets: NDArray[np.int64]
    set_codes: NDArray[np.int32]
    value: NDArray[np.float64]
    gain: NDArray[np.float64]
    cover: NDArray[np.float64]
    count: NDArray[np.int64]
    vectors: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    tree_weights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    parallel_trees: int = 1
    averaged: bool = False

    def __hash__(self) -> int:
        return hash((self.n_features, self.n_outputs, self.tree_offsets.tobytes(), self.value.tobytes()))

    def __repr__(self) -> str:
        return f"<{self.describe()}>"

    def validate(self) -> None:
        """Check types, sizes, indices, links and numbers.

        Raises:
            ModelFileError: naming the first field that is wrong.
        """
        check_forest(self)

    @property
    def n_trees(self) -> int:
        """How many trees there are: `trees_per_round` for every round."""
        return self.tree_offsets.size - 1

    @property
    def has_vectors(self) -> bool:
        """Whether a leaf adds a number to every output."""
        return self.vectors.size > 0

    @property
    def trees_per_round(self) -> int:
        """How many trees a round of training adds: so many for every output, or a single one with vector leaves."""
        return 1 if self.has_vectors else self.n_outputs * self.parallel_trees

    @property
    def n_rounds(self) -> int:
        """How many rounds of training the trees came from."""
        return self.n_trees // self.trees_per_round

    @property
    def n_nodes(self) -> int:
        """How many nodes all trees have together, leaves included."""
        return self.feature.size

    @property
    def n_leaves(self) -> int:
        """How many leaves all trees have together."""
        return int(np.count_nonzero(self.feature < 0))

    def leaves_per_tree(self) -> NDArray[np.int64]:
        """Number of leaves of each tree, int64[T]."""
        return (np.diff(self.tree_offsets) + 1) // 2

    def _leaves_before(self, tree: int) -> int:
        """How many leaves lie before a tree: a tree of n nodes has (n + 1) / 2."""
        return (int(self.tree_offsets[tree]) + tree) // 2

    def max_depth(self) -> NDArray[np.int64]:
        """Depth of the deepest leaf of each tree, int64[T]; a tree that is a single leaf has depth 0."""
        ancestor = np.arange(self.n_nodes, dtype=np.int64)
        inner = np.flatnonzero(self.feature >= 0)
        tree_start = np.repeat(self.tree_offsets[:-1], np.diff(self.tree_offsets))
        left = self.left[inner] + tree_start[inner]
        ancestor[left] = inner
        ancestor[left + 1] = inner
        # Pointer doubling: `distance` is the number of steps from a node up to its `ancestor`, so a chain
        # of a million nodes needs twenty passes, not a million.
        distance = (ancestor != np.arange(self.n_nodes)).astype(np.int64)
        further = distance[ancestor]
        while further.any():
            distance += further
            ancestor = ancestor[ancestor]
            further = distance[ancestor]
        return np.maximum.reduceat(distance, self.tree_offsets[:-1])

    def raw_scores(self, dataset: Dataset, tasks: int = 1) -> NDArray[np.float64]:
        """Raw scores float64[K, rows] of a table; `weald.forest.predict.raw_scores` takes blocks and rounds."""
        from weald.forest.predict import raw_scores  # which imports this module

        return raw_scores(self, dataset.blocks(), dataset.n_rows, tasks)

    def dumps(self, header: dict[str, Any]) -> bytes:
        """The bytes of a model file; see `weald.forest.file.dumps`."""
        from weald.forest.file import dumps  # which imports this module

        return dumps(self, header)

    def importances(self, kind: Literal["gain", "split"] = "gain") -> NDArray[np.float64]:
        """Summed gain, or number of splits, of each feature, float64[n_features]; not normalised."""
        if kind not in ("gain", "split"):
            raise InputError(f"kind is {kind!r}; it must be 'gain' or 'split'.")
        inner = self.feature >= 0
        used = self.feature[inner]
        weights = self.gain[inner] if kind == "gain" else np.ones(used.size, dtype=np.float64)
        return np.bincount(used, weights=weights, minlength=self.n_features).astype(np.float64, copy=False)

    def first(self, rounds: int) -> Forest:
        """The forest as it was after that many rounds; shares memory with this one."""
        if not 0 <= rounds <= self.n_rounds:
            raise InputError(f"rounds is {rounds}; this forest can be cut to 0 to {self.n_rounds} rounds.")
        return self.trees(0, rounds * self.trees_per_round)

    def trees(self, begin: int, end: int) -> Forest:
        """The forest of the trees `begin` to `end` (not included), with the same base score.

        It shares memory with this one. They must be whole rounds.
        """
        is_whole = begin % self.trees_per_round == end % self.trees_per_round == 0
        if not 0 <= begin <= end <= self.n_trees or not is_whole:
            rounds = f" in rounds of {self.trees_per_round}" if self.trees_per_round > 1 else ""
            raise InputError(f"trees {begin} to {end} cannot be taken from {self.n_trees} trees{rounds}.")
        first, last = int(self.tree_offsets[begin]), int(self.tree_offsets[end])
        arrays = {name: getattr(self, name)[first:last] for name in NODE_DTYPES}
        used = arrays["category_set"][arrays["category_set"] >= 0]
        sets = (int(used.min()), int(used.max()) + 1) if used.size else (0, 0)
        if sets[0]:
            own = arrays["category_set"]
            arrays["category_set"] = np.where(own >= 0, own - np.int32(sets[0]), own)
        codes = self.set_offsets[sets[0] : sets[1] + 1]
        if self.has_vectors:
            rows = self._leaves_before(begin) * self.n_outputs, self._leaves_before(end) * self.n_outputs
            arrays["vectors"] = self.vectors[rows[0] : rows[1]]
        return Forest(
            n_features=self.n_features,
            n_outputs=self.n_outputs,
            base_score=self.base_score,
            tree_offsets=self.tree_offsets[begin : end + 1] - first,
            set_offsets=codes - codes[0],
            set_codes=self.set_codes[codes[0] : codes[-1]],
            tree_weights=self.tree_weights[begin:end],
            parallel_trees=self.parallel_trees,
            averaged=self.averaged,
            **arrays,
        )

    @staticmethod
    def concatenate(a: Forest, b: Forest) -> Forest:
        """The trees of `a`, then the trees of `b`; both must start from the same base score."""
        for name in ("n_features", "n_outputs", "parallel_trees", "averaged"):
            if getattr(a, name) != getattr(b, name):
                sizes = f"{getattr(a, name)} and {getattr(b, name)}"
                raise InputError(f"Forests with {name} {sizes} cannot be joined; it must be the same.")
        if not same_bytes(a.base_score, b.base_score):
            scores = f"{a.base_score.tolist()} and {b.base_score.tolist()}"
            raise InputError(f"Forests with base_score {scores} cannot be joined; it must be the same.")
        if a.n_trees and b.n_trees and a.has_vectors != b.has_vectors:
            raise InputError("A forest with vector leaves and one without cannot be joined.")
        nodes = {name: np.concatenate([getattr(a, name), getattr(b, name)]) for name in NODE_DTYPES}
        weights = [forest.tree_weights for forest in (a, b)]
        if any(weight.size for weight in weights):
            weights = [
                forest.tree_weights if forest.tree_weights.size else np.ones(forest.n_trees)
                for forest in (a, b)
            ]
        n_sets = a.set_offsets.size - 1
        shifted = nodes["category_set"][a.n_nodes :]
        shifted[shifted >= 0] += n_sets
        return Forest(
            n_features=a.n_features,
            n_outputs=a.n_outputs,
            base_score=a.base_score,
            tree_offsets=np.concatenate([a.tree_offsets, b.tree_offsets[1:] + a.n_nodes]),
            set_offsets=np.concatenate([a.set_offsets, b.set_offsets[1:] + a.set_codes.size]),
            set_codes=np.concatenate([a.set_codes, b.set_codes]),
            vectors=np.concatenate([a.vectors, b.vectors]),
            tree_weights=np.concatenate(weights),
            parallel_trees=a.parallel_trees,
            averaged=a.averaged,
            **nodes,
        )

    def tree(self, index: int) -> TreeView:
        """Tree number `index`, counted from 0, for looking at."""
        if not 0 <= index < self.n_trees:
            raise InputError(f"index is {index}; this forest has {self.n_trees} trees, counted from 0.")
        start, stop = self.tree_offsets[index : index + 2].tolist()
        arrays = {name: getattr(self, name)[start:stop] for name in NODE_DTYPES}
        sets = tuple(self._codes(int(set_index)) for set_index in arrays.pop("category_set"))
        vectors = self.vectors.reshape(-1, self.n_outputs)
        output: int | None = index % self.n_outputs
        if self.has_vectors:
            vectors = vectors[self._leaves_before(index) : self._leaves_before(index + 1)]
            output = None
        return TreeView(index=index, output=output, categories_left=sets, vectors=vectors, **arrays)

    def _codes(self, set_index: int) -> tuple[int, ...] | None:
        if set_index < 0:
            return None
        start, stop = self.set_offsets[set_index], self.set_offsets[set_index + 1]
        return tuple(self.set_codes[start:stop].tolist())

    def describe(self) -> str:
        """One line about the size of the forest."""
        parts = [_counted(self.n_trees, "tree"), _counted(self.n_outputs, "output")]
        parts.append(_counted(self.n_features, "feature"))
        if self.n_trees:
            parts.append(f"at most {self.leaves_per_tree().max()} of {self.n_leaves} leaves in a tree")
            parts.append(f"depth at most {self.max_depth().max()}")
        return f"Forest of {_counted(self.n_rounds, 'round')}: {', '.join(parts)}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
