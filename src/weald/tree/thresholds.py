"""From bins back to values: the thresholds and category sets of a tree's splits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinMapper


def split_thresholds(
    feature: NDArray[np.int32], split_bin: NDArray[np.int32], mapper: BinMapper
) -> dict[str, NDArray[Any]]:
    """``threshold``, ``category_set``, ``set_offsets`` and ``set_codes`` of nodes, -1 in ``feature`` for a leaf."""
    n_nodes = len(feature)
    threshold = np.zeros(n_nodes)
    category_set = np.full(n_nodes, -1, np.int32)
    inner = np.flatnonzero(feature >= 0)
    is_category = mapper.categorical[feature[inner]]
    numeric = inner[~is_category]
    threshold[numeric] = mapper.thresholds(feature[numeric], split_bin[numeric])
    sets: dict[tuple[int, int], int] = {}
    codes: list[NDArray[np.int32]] = []
    for node in inner[is_category]:
        split = int(feature[node]), int(split_bin[node])
        if split not in sets:
            sets[split] = len(codes)
            missing = split[1] == mapper.n_bins[split[0]]
            codes.append(np.empty(0, np.int32) if missing else mapper.category_codes(*split))
        category_set[node] = sets[split]
    lengths = [len(members) for members in codes]
    return {
        "threshold": threshold,
        "category_set": category_set,
        "set_offsets": np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        "set_codes": np.concatenate([np.empty(0, np.int32), *codes]),
    }
