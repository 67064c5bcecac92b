"""Small files of models with target statistics: threads do not change their bytes, and they give the models back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from invariants.test_determinism import N_ROWS
from weald import BoostedTreesClassifier
from weald.encoding.short_keys import ALL_BITS
from weald.estimators.shared.persistence import from_bytes
from weald.forest.container import unpack
from weald.forest.symmetric import ARRAYS, to_arrays


def _table(n_rows: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=n_rows)})
    for name, size in (("few", 2), ("some", 9), ("many", 80)):
        X[name] = pd.Categorical(rng.integers(size, size=n_rows).astype(str))
    y = (X["x"] + X["some"].cat.codes / 4 + (X["few"].cat.codes == X["many"].cat.codes % 2)).to_numpy()
    return X, (y + rng.normal(size=n_rows) > 2.0).astype(int)


def _fitted(n_jobs: int, n_rows: int = 600, rounds: int = 8) -> BoostedTreesClassifier:
    model = BoostedTreesClassifier(
        growth="oblivious",
        max_depth=4,
        n_estimators=rounds,
        categories="ordered",
        random_state=0,
        n_jobs=n_jobs,
    )
    return model.fit(*_table(n_rows))


def test_one_two_and_three_threads_write_the_same_small_file() -> None:
    files = {_fitted(n_jobs, n_rows=N_ROWS, rounds=2)._to_bytes() for n_jobs in (1, 2, 3)}
    assert len(files) == 1
    content = unpack(files.pop())
    assert all(content.holds(name) for name in ARRAYS)


def test_trees_and_tables_of_a_trained_model_come_back_and_so_do_its_first_rounds() -> None:
    model = _fitted(1)
    forest, statistics = model._model.forest, model._model.statistics
    loaded = from_bytes(model._to_bytes())[2]
    assert loaded.forest == forest
    assert statistics is not None
    assert loaded.statistics is not None
    assert any(table.bits < ALL_BITS for table in statistics.tables)
    for table, read in zip(statistics.tables, loaded.statistics.tables, strict=True):
        for name in ("keys", "cells", "default"):
            assert np.array_equal(getattr(table, name), getattr(read, name))
    for rounds in (0, 3, 8):
        assert to_arrays(forest.first(rounds)) is not None
