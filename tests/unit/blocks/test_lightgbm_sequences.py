"""Rows that LightGBM's Sequences give batch by batch train the model of the whole table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald.lightgbm as lgb
from weald.runtime.errors import InputError

generator = np.random.default_rng(0)
X = generator.normal(size=(600, 3))
Y = X[:, 0] + X[:, 1] ** 2


class Rows(lgb.Sequence):
    def __init__(self, table: Any, batch_size: int = 4096) -> None:
        self._table, self.batch_size, self.asked = table, batch_size, []  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, idx: Any) -> Any:
        self.asked.append(idx)
        return self._table[idx]


def trained(data: Any) -> str:
    return lgb.train({"verbosity": -1, "num_threads": 1}, lgb.Dataset(data, label=Y), 3).model_to_string()


def test_a_sequence_and_a_list_of_them_are_read_in_batches() -> None:
    expected = trained(X)
    first, second = Rows(X[:250], 100), Rows(X[250:], 300)
    assert trained([first, second]) == expected
    assert [(one.start, one.stop) for one in first.asked] == [(0, 100), (100, 200), (200, 250)]
    assert trained(Rows(X)) == expected
    assert trained(Rows(X.astype(np.float32))) == trained(X.astype(np.float32))


def test_what_is_no_rows_is_refused() -> None:
    with pytest.raises(InputError, match=r"must give numbers of shape \(600, columns\) for its rows 0 to 600, not \(600,\)"):
        lgb.Dataset(Rows(Y))
    with pytest.raises(InputError, match=r"rows of 2 columns and of 3"):
        lgb.Dataset([Rows(X), Rows(X[:, :2])])
    with pytest.raises(InputError, match="a list of Sequences and of other things"):
        lgb.Dataset([Rows(X), X])
