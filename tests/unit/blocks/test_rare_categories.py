"""Stores keep what bins do not tell: the codes of categories that share a bin, and the extremes of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from weald.estimators.shared.persistence import to_bytes
from weald.runtime.errors import InputError
from weald.runtime.row_memory import IN_MEMORY, MappedFiles

N = 900


def table() -> tuple[dict[str, Any], Any]:
    generator = np.random.default_rng(8)
    code, kind = generator.integers(0, 400, N), generator.integers(0, 3, N)
    columns: dict[str, Any] = {
        "a": generator.normal(size=N),
        "many": np.array([f"name {one}" for one in code], dtype=object),
        "few": np.array([f"kind {one}" for one in kind]),
    }
    y = np.sin(code) + columns["a"] + kind
    columns["many"][generator.random(N) < 0.05] = None
    return columns, y


def test_a_store_has_statistics_of_categories_that_share_a_bin(tmp_path: Path) -> None:
    X, y = table()
    model = weald.BoostedTreesRegressor(n_estimators=4, max_leaves=7, bins=60)
    assert "ordered" in str(model.fit(X, y).category_ways_)
    expected = to_bytes(model, model._model)
    store = weald.BlockStore.build(X, tmp_path, target=y, estimator=model, block_rows=250)
    model.fit(store)
    assert to_bytes(model, model._model) == expected
    opened = weald.BlockStore.open(tmp_path, memory_limit="4 GB")
    model.fit(opened)
    assert to_bytes(model, model._model) == expected
    assert opened.table().bins.blocks[0].read().shape == (3, 250)


@pytest.mark.parametrize("kind", [weald.ExtraTreesRegressor, weald.RandomForestRegressor])
def test_a_store_has_what_forests_draw_from(kind: Any, tmp_path: Path) -> None:
    X, y = table()
    X.pop("many")
    model = kind(5, random_state=1, n_jobs=1)
    expected = model.fit(X, y)._to_bytes()
    store = weald.BlockStore.build(X, tmp_path, target=y, estimator=model, block_rows=201)
    assert kind(5, random_state=1, n_jobs=1).fit(store)._to_bytes() == expected


def test_what_a_limit_has_no_room_for_is_refused() -> None:
    memory = MappedFiles("/tmp", 2**30)
    memory.check_room(2**29, "forests", "less")
    with pytest.raises(InputError, match="memory_limit=1024 MiB has no room for forests, which takes 2048 MiB; use less"):
        memory.check_room(2**31, "forests", "less")
    IN_MEMORY.check_room(2**60, "forests", "less")
