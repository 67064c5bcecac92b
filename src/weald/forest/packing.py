"""From a forest to the packed form that the prediction kernels read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.forest.codes import FLOAT, RANK, ROWS, SET, SLOT, Channel
from weald.forest.forest import Forest
from weald.forest.packed import WALKED, WALKED_SETS, WAY, PackedForest
from weald.forest.plan import PredictionPlan, plan_trees
from weald.runtime.errors import InputError

_SMALLEST: Final = -(2**31)
_LARGEST: Final = 2**31 - 1
_LOW_BITS: Final = 32
# Walked trees of up to this many nodes together stay in a second-level cache of 512 KB while all are walked.
_NODES_IN_CACHE: Final = 2**16
# Otherwise a tree is walked by as many rows at a time as have this many codes: enough of them to pay for loading the
# tree, few enough to stay in a third-level cache. Measured, 100 trees of 13,000 leaves: 3.5 s for 128 rows at a
# time, 1.8 s for 1,024, 1.0 s for 4,096 and for 16,384.
_CODES_TOGETHER: Final = 2**18


def pack_trees(forest: Forest, is_double: bool) -> PackedForest:
    """The packed form of a forest for float64 rows, or for float32 rows.

    Both decide exactly as the forest does; float32 rows never need a search among thresholds.

    Raises:
        InputError: when a node does not fit in 64 bits: a tree of millions of nodes and very many columns.
    """
    channels = _Channels(forest, is_double)
    plan = plan_trees(forest, channels.of_node, channels.threshold)
    walks_sets = bool((plan.trees[:, WAY] == WALKED_SETS).any())
    if walks_sets:
        plan = channels.without_walked_sets(forest, plan)
    left_bits = _left_bits(forest, len(channels.rows))
    packed = PackedForest(
        channels=np.array(channels.rows, dtype=np.int64).reshape(-1, len(Channel._fields)),
        table=_joined(channels.tables, np.float64),
        bits=_joined(channels.bits, np.uint32),
        words=_words(forest, channels.of_node, channels.threshold, left_bits),
        left_bits=left_bits,
        value=forest.value,
        vectors=forest.vectors,
        together=_blocks_together(forest, plan, len(channels.rows)),
        walks_sets=walks_sets,
        base_score=forest.base_score,
        **plan._asdict(),
    )
    for field in packed:
        if isinstance(field, np.ndarray):
            field.flags.writeable = False
    return packed


def needs_ranks(forest: Forest) -> bool:
    """Whether some threshold is no float32, so that float64 rows need a packed form of their own."""
    numbers = forest.threshold[(forest.feature >= 0) & (forest.category_set < 0)]
    return not bool(_is_single(numbers).all())


def _joined(parts: list[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=dtype), *parts])


def _is_single(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    with np.errstate(over="ignore"):
        return np.asarray(numbers.astype(np.float32).astype(np.float64) == numbers)


def float_codes(numbers: NDArray[np.float64]) -> NDArray[np.int32]:
    """Codes of thresholds, each rounded down to a float32, in the order of the kernels' codes of values.

    >>> float_codes(np.array([-np.inf, -0.0, 0.0, np.inf])).tolist()
    [-2139095041, 0, 0, 2139095040]
    """
    with np.errstate(over="ignore", under="ignore"):
        single = numbers.astype(np.float32)
        single = np.where(single > numbers, np.nextafter(single, np.float32(-np.inf)), single)
    bits = (single + np.float32(0.0)).view(np.int32)
    return bits ^ ((bits >> np.int32(31)) & np.int32(_LARGEST))


class _Channels:
    """Gives every inner node a channel and a threshold among the channel's codes; a leaf passes every row."""

    def __init__(self, forest: Forest, is_double: bool) -> None:
        self.of_node = np.zeros(forest.n_nodes, dtype=np.int32)
        self.threshold = np.full(forest.n_nodes, _LARGEST, dtype=np.int32)
        self.rows: list[Channel] = []
        self.tables: list[NDArray[np.float64]] = []
        self.bits: list[NDArray[np.uint32]] = []
        self._table_size = 0
        self._bits_size = 0
        inner = forest.feature >= 0
        for feature, nodes in _groups(forest.feature, np.flatnonzero(inner & (forest.category_set < 0))):
            self._add_numbers(forest, feature, nodes, is_double)
        for feature, nodes in _groups(forest.feature, np.flatnonzero(inner & (forest.category_set >= 0))):
            self._add_categories(forest, feature, nodes)

    def _add_table(self, entries: NDArray[np.float64]) -> int:
        start = self._table_size
        self.tables.append(entries)
        self._table_size += entries.size
        return start

    def _add_numbers(self, forest: Forest, feature: int, nodes: NDArray[np.int64], is_double: bool) -> None:
        numbers = forest.threshold[nodes]
        kind, start, size = FLOAT, 0, 0
        if is_double and not _is_single(numbers).all():
            table = np.unique(numbers)
            kind, start, size = RANK, self._add_table(table), table.size
            self.threshold[nodes] = np.searchsorted(table, numbers)
        else:
            self.threshold[nodes] = float_codes(numbers)
        for missing_left, some in _groups(forest.missing_left, nodes):
            self.of_node[some] = len(self.rows)
            missing = _SMALLEST if missing_left else _LARGEST
            self.rows.append(Channel(kind, feature, start, size, missing))

    def _add_categories(self, forest: Forest, feature: int, nodes: NDArray[np.int64]) -> None:
        self.threshold[nodes] = 0
        sets = {int(s): _codes(forest, int(s)) for s in np.unique(forest.category_set[nodes])}
        table = np.unique(np.concatenate(list(sets.values())))
        slot_channel = len(self.rows)
        start = self._add_table(table.astype(np.float64))
        # A slot per code that some set holds, one for all other codes, one for missing values.
        self.rows.append(Channel(SLOT, feature, start, table.size, table.size + 1))
        channel_of: dict[tuple[bytes, bool], int] = {}
        pairs = zip(forest.category_set[nodes].tolist(), forest.missing_left[nodes].tolist(), strict=True)
        for node, (set_index, missing_left) in zip(nodes.tolist(), pairs, strict=True):
            key = (sets[set_index].tobytes(), bool(missing_left))
            if key not in channel_of:
                channel_of[key] = len(self.rows)
                self.rows.append(Channel(SET, slot_channel, self._bits_size, 0, 0))
                slots = np.searchsorted(table, sets[set_index])
                self._add_bits(table.size, slots, bool(missing_left))
            self.of_node[node] = channel_of[key]

    def without_walked_sets(self, forest: Forest, plan: PredictionPlan) -> PredictionPlan:
        """Let the tests of walked trees name their sets' bits; channels that no other tree reads are dropped."""
        walks = np.repeat(plan.trees[:, WAY] == WALKED_SETS, np.diff(forest.tree_offsets))
        by_set = forest.category_set >= 0
        rows = np.array(self.rows, dtype=np.int64)
        nodes = np.flatnonzero(walks & by_set)
        of_set = rows[self.of_node[nodes]]
        self.of_node[nodes], self.threshold[nodes] = of_set[:, 1], of_set[:, 2]
        kept = rows[:, 0] != SET
        kept[self.of_node[by_set]] = True
        place = (np.cumsum(kept) - 1).astype(np.int32)
        self.of_node = place[self.of_node]
        self.rows = [
            row._replace(source=int(place[row.source])) if row.kind == SET else row
            for row, is_kept in zip(self.rows, kept.tolist(), strict=True)
            if is_kept
        ]
        tests = plan.tests.copy()
        tests[:, 0] = place[tests[:, 0]]
        return plan._replace(tests=tests)

    def _add_bits(self, n_codes: int, slots: NDArray[np.int64], missing_left: bool) -> None:
        outside = np.ones((n_codes + 2 + 31) // 32 * 32, dtype=np.uint8)
        outside[slots] = 0
        outside[n_codes + 1] = not missing_left
        octets = np.packbits(outside, bitorder="little").reshape(-1, 4).astype(np.uint32)
        words = octets @ (np.uint32(1) << np.arange(0, 32, 8, dtype=np.uint32))
        self.bits.append(words)
        self._bits_size += words.size


def _groups(keys: NDArray[Any], nodes: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """(key, the nodes that have it), keys ascending, nodes in their order."""
    order = nodes[np.argsort(keys[nodes], kind="stable")]
    starts = np.flatnonzero(np.diff(keys[order].astype(np.int64), prepend=-1))
    for some in np.split(order, starts[1:]):
        if some.size:
            yield int(keys[some[0]]), some


def _codes(forest: Forest, set_index: int) -> NDArray[np.int32]:
    return forest.set_codes[forest.set_offsets[set_index] : forest.set_offsets[set_index + 1]]


def _left_bits(forest: Forest, n_channels: int) -> int:
    """How many bits a child's index needs; the rest of 32 must be enough for the channels."""
    largest = int(np.diff(forest.tree_offsets).max(initial=1))
    left_bits = max(largest - 1, 1).bit_length()
    channel_bits = max(n_channels - 1, 0).bit_length()
    if left_bits + channel_bits > _LOW_BITS:
        sizes = f"its largest tree has {largest} nodes and its trees make {n_channels} kinds of tests"
        needed = f"they need {left_bits} + {channel_bits} bits of {_LOW_BITS}"
        raise InputError(f"The forest is too large to predict with: {sizes}; {needed}, use fewer leaves.")
    return left_bits


def _blocks_together(forest: Forest, plan: PredictionPlan, n_channels: int) -> int:
    """How many blocks of rows take a tree one after another, before all of them go on to the next tree."""
    walked = np.isin(plan.trees[:, WAY], (WALKED, WALKED_SETS))
    if np.diff(forest.tree_offsets)[walked].sum() <= _NODES_IN_CACHE:
        return 1
    return max(1, _CODES_TOGETHER // (n_channels * ROWS))


def _words(
    forest: Forest, channel: NDArray[np.int32], threshold: NDArray[np.int32], left_bits: int
) -> NDArray[np.uint64]:
    sizes = np.diff(forest.tree_offsets)
    own_index = np.arange(forest.n_nodes, dtype=np.int64) - np.repeat(forest.tree_offsets[:-1], sizes)
    child = np.where(forest.feature >= 0, forest.left, own_index).astype(np.uint64)
    words = threshold.astype(np.int64).view(np.uint64) << np.uint64(32)
    words |= channel.astype(np.uint64) << np.uint64(left_bits)
    return words | child
