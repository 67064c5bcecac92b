"""The bins of a matrix, kept for the rounds that follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weald.binning import BinnedTable, bin_once
from weald.dialect.engine import Engine, Rows


class KeptBins:
    """The bins of the rows that were trained on last: training goes on from them as long as it asks for the same."""

    def __init__(self) -> None:
        self._kept: BinnedTable | None = None
        self._weight: Any = None
        self._seed: Any = None

    def table_of(self, rows: Rows, native: Mapping[str, Any]) -> Any:
        """The rows' table, binned as an estimator of these parameters wants it, or as it is where bins cannot be shared."""
        seed = native["random_state"]
        if seed is not None and not isinstance(seed, int | np.integer):
            return rows.table  # a generator gives another seed every time that it is asked
        engine = Engine(**native)
        if not self._serves(rows, engine, seed):
            self._kept = bin_once(rows.table, [engine], weight=rows.weight, seed=int(seed or 0))
            self._weight = None if rows.weight is None else rows.weight.copy()
            self._seed = seed
        return rows.table if self._kept is None else self._kept

    def _serves(self, rows: Rows, engine: Engine, seed: Any) -> bool:
        kept = self._kept
        if kept is None or kept.X is not rows.table or seed != self._seed or not kept.serves(engine):
            return False
        if self._weight is None or rows.weight is None:
            return self._weight is rows.weight
        return np.array_equal(self._weight, rows.weight)
