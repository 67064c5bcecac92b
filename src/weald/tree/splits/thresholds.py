"""From bins back to values: the thresholds and category sets of a tree's splits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinMapper


def split_thresholds(
    feature: NDArray[np.int32],
    split_bin: NDArray[np.int32],
    left_bins: NDArray[np.int64],
    mapper: BinMapper,
) -> dict[str, NDArray[Any]]:
    """``threshold``, ``category_set``, ``set_offsets`` and ``set_codes`` of nodes, -1 in ``feature`` for a leaf.

    Of ``left_bins``, (nodes, words), only the rows of categorical splits are read. Equal sets of a feature are kept once, in the
    order of the nodes.
    """
    n_nodes = len(feature)
    threshold = np.zeros(n_nodes)
    category_set = np.full(n_nodes, -1, np.int32)
    inner = np.flatnonzero(feature >= 0)
    is_category = mapper.categorical[feature[inner]]
    numeric, chosen = inner[~is_category], inner[is_category]
    threshold[numeric] = mapper.thresholds(feature[numeric], split_bin[numeric])
    offsets, codes = np.zeros(1, np.int64), np.empty(0, np.int32)
    if len(chosen):
        keys = np.column_stack([feature[chosen].astype(np.int64), left_bins[chosen]])
        rows = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.shape[1] * 8))).reshape(-1)
        _, first, number = np.unique(rows, return_index=True, return_inverse=True)
        order = np.argsort(first)
        category_set[chosen] = np.argsort(order)[number.reshape(-1)]
        kept = chosen[first[order]]
        offsets, codes = _set_codes(feature[kept], left_bins[kept], mapper)
    return {
        "threshold": threshold,
        "category_set": category_set,
        "set_offsets": offsets,
        "set_codes": codes,
    }


def _set_codes(
    feature: NDArray[np.int32], left_bins: NDArray[np.int64], mapper: BinMapper
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The category codes of sets of bins, ascending, one set after another, and where each begins."""
    octets = np.ascontiguousarray(left_bins.astype("<i8")).view(np.uint8)
    owner, bins = np.nonzero(np.unpackbits(octets, axis=1, bitorder="little"))
    codes, counts = mapper.category_codes(feature[owner], bins)
    lengths = np.bincount(owner, weights=counts, minlength=len(feature))
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), codes
