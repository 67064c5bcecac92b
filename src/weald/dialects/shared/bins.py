"""The bins of a training table, kept from one call to the next: a booster may be trained a round at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from weald.binning import BinnedTable, bin_once
from weald.data import Schema, read_weights
from weald.dialects.shared.tables import Float64s
from weald.estimators.boosted.boosted import BoostedTreesRegressor
from weald.runtime.random import seed_of
from weald.params import PARAMETERS
from weald.params.parameter import validate


class KeptBins:
    """At most one binned table, that of the rows which were trained on last."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the table."""
        self._source: Any = None
        self._weight: Float64s | None = None
        self._seed = 0
        self._table: BinnedTable | None = None

    def table(
        self,
        engine: BoostedTreesRegressor,
        source: Any,
        table: Any,
        weight: Float64s | None,
        earlier: Schema | None,
    ) -> Any:
        """What to fit the engine to in place of ``table``, to the same model: the table with its bins.

        ``source``: the object that the table is made from; the same one, with equal weights, has the same bins. ``earlier``: the
        columns and categories of the model that training goes on from.
        """
        if engine.random_state is not None and not isinstance(engine.random_state, int | np.integer):
            return table  # a generator gives another seed every time
        seed = seed_of(engine.random_state)
        if source is not self._source or seed != self._seed or not self._serves(engine, weight, earlier):
            self.clear()
            validate(engine.get_params(deep=False), PARAMETERS)
            read = None if weight is None else read_weights(weight, len(weight))
            self._table = bin_once(table, [engine], weight=read, seed=seed, earlier=earlier)
            self._source, self._seed = source, seed
            self._weight = None if weight is None else weight.copy()
        return table if self._table is None else self._table

    def _serves(self, engine: BoostedTreesRegressor, weight: Float64s | None, earlier: Schema | None) -> bool:
        kept, before = self._table, self._weight
        if kept is None or not kept.serves(engine) or (earlier is not None and earlier != kept.schema):
            return False
        if weight is None or before is None:
            return weight is before
        return np.array_equal(weight, before)
