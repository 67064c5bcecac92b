"""XGBoost's batches: put together, or kept on disk, they train the model of the whole table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import weald.xgboost as xgb
from weald.runtime.errors import InputError, NotSupportedError

generator = np.random.default_rng(0)
X = generator.normal(size=(900, 4)).astype(np.float32)
X[generator.random((900, 4)) < 0.2] = np.nan
Y = (np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) ** 2 > 0.5).astype(np.float32)
WEIGHT = generator.integers(1, 4, 900).astype(np.float32)
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}


class Batches(xgb.DataIter):
    """A table in pieces; ``fields``: what else there is a row."""

    def __init__(self, table: Any, size: int = 250, cache_prefix: str | None = None, **fields: Any) -> None:
        self._table, self._size, self._fields, self._place = table, size, fields, 0
        super().__init__(cache_prefix=cache_prefix)

    def reset(self) -> None:
        self._place = 0

    def next(self, input_data: Any) -> bool:
        here = slice(self._place, self._place + self._size)
        if here.start >= self._table.shape[0]:
            return False
        input_data(data=self._table[here], **{name: values[here] for name, values in self._fields.items()})
        self._place += self._size
        return True


def trained(matrix: Any, evals: Any = ()) -> tuple[bytes, Any]:
    history: dict[str, Any] = {}
    model = xgb.train(PARAMS, matrix, 4, evals=list(evals), evals_result=history, verbose_eval=False)
    return bytes(model.save_raw()), history


TABLES = {"array": X, "frame": pd.DataFrame(X, columns=list("abcd")), "sparse": sparse.csr_matrix(np.nan_to_num(X))}


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("kind", ["DMatrix", "QuantileDMatrix", "ExtMemQuantileDMatrix"])
def test_batches_train_the_model_of_the_whole_table(kind: str, form: str) -> None:
    table = TABLES[form]
    matrix = getattr(xgb, kind)(Batches(table, label=Y, weight=WEIGHT))
    assert (matrix.num_row(), matrix.num_col()) == (900, 4)
    assert (matrix.get_label() == Y).all() and (matrix.get_weight() == WEIGHT).all()
    assert trained(matrix) == trained(xgb.DMatrix(table, label=Y, weight=WEIGHT))


def test_rows_on_disk_are_evaluated_and_removed_with_their_matrix(tmp_path: Path) -> None:
    prefix = str(tmp_path / "cache")
    train = xgb.ExtMemQuantileDMatrix(Batches(X, label=Y, cache_prefix=prefix), max_bin=40)
    valid = xgb.ExtMemQuantileDMatrix(Batches(X[:300], label=Y[:300], cache_prefix=prefix), ref=train)
    assert valid.max_bin == 40 and len(list(tmp_path.iterdir())) == 2
    found = trained(train, [(train, "train"), (valid, "valid")])
    whole = xgb.QuantileDMatrix(X, label=Y, max_bin=40)
    part = xgb.QuantileDMatrix(X[:300], label=Y[:300], ref=whole)
    assert found == trained(whole, [(whole, "train"), (part, "valid")])
    assert trained(train, [(part, "valid")])[0] == found[0]
    other = xgb.ExtMemQuantileDMatrix(Batches(X[:300], label=Y[:300], cache_prefix=prefix))
    with pytest.raises(InputError, match=r"the rows of 'valid' are on disk in other bins"):
        trained(train, [(other, "valid")])
    del train, valid, other, found
    import gc

    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_number_stands_for_missing_values() -> None:
    marked = np.nan_to_num(X, nan=-7.0)
    expected = trained(xgb.DMatrix(X, label=Y))
    for kind in (xgb.DMatrix, xgb.QuantileDMatrix, xgb.ExtMemQuantileDMatrix):
        assert trained(kind(Batches(marked, label=Y), missing=-7.0)) == expected


def test_what_rows_on_disk_do_not_have_is_refused() -> None:
    matrix = xgb.ExtMemQuantileDMatrix(Batches(X, label=Y))
    model = xgb.train(PARAMS, matrix, 1)
    with pytest.raises(InputError, match="a table in blocks, which only the fit"):
        model.predict(matrix)
    with pytest.raises(InputError, match="The store was built with max_bins=255, but train has max_bins=15"):
        xgb.train({**PARAMS, "max_bin": 15}, matrix, 1)
    for message, make in (
        ("get_data is of values", matrix.get_data),
        ("slice is not there", lambda: matrix.slice([0])),
        ("base_margin is not there", lambda: xgb.ExtMemQuantileDMatrix(Batches(X, label=Y, base_margin=Y))),
        ("cache_host_ratio", lambda: xgb.ExtMemQuantileDMatrix(Batches(X, label=Y), cache_host_ratio=0.5)),
        ("qid", lambda: xgb.DMatrix(Batches(X, qid=Y))),
    ):
        with pytest.raises(NotSupportedError, match=message):
            make()
    with pytest.raises(InputError, match="must be a DataIter, not ndarray"):
        xgb.ExtMemQuantileDMatrix(X)
    with pytest.raises(InputError, match="has no batches"):
        xgb.DMatrix(Batches(X[:0]))
