"""The kernels of ``binning/sketch.py`` as functions of lists, which check that nothing is written past the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_sketch import Entry, Weighted
from weald.binning import sketch

POISON = -(2**60)


def room(entries: int) -> NDArray[np.int64]:
    return np.full((entries, sketch.FIELDS), POISON, np.int64)


def as_array(summary: Sequence[Entry]) -> NDArray[np.int64]:
    return np.array(summary, np.int64).reshape(-1, sketch.FIELDS)


def as_entries(summary: NDArray[np.int64]) -> list[Entry]:
    return [Entry(*row) for row in summary.tolist()]


def called(kernel: Any, *arguments: Any, entries: int) -> list[Entry]:
    """The summary that a kernel writes, which must leave the rest of its room alone."""
    out = room(entries + 1)
    count = kernel(*arguments, out)
    assert (out[count:] == POISON).all()
    return as_entries(out[:count])


def build(rows: Weighted) -> list[Entry]:
    ordered = np.array(sorted(rows), np.int64).reshape(-1, 2)
    return called(sketch.build_summary, ordered[:, 0].copy(), ordered[:, 1].copy(), entries=len(ordered))


def merge(first: Sequence[Entry], second: Sequence[Entry]) -> list[Entry]:
    return called(sketch.merge_summaries, as_array(first), as_array(second), entries=len(first) + len(second))


def prune(summary: Sequence[Entry], most: int) -> list[Entry]:
    return called(sketch.prune_summary, as_array(summary), most, entries=len(summary))


def propose(summary: Sequence[Entry], buckets: int) -> list[int]:
    out = np.full(max(len(summary), buckets) + 1, POISON, np.int64)
    count = sketch.propose_cuts(as_array(summary), buckets, out)
    assert (out[count:] == POISON).all()
    return out[:count].tolist()  # type: ignore[no-any-return]
