"""Predictions batch by batch are those of all rows at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unit.blocks.rows import CLASSES, SOURCES, X, Y, classifier, frame, parquet, regressor
from weald import predict_batches, predict_to_parquet
from weald.runtime.errors import InputError

LABELS = ["y", "kind", "weight"]


@pytest.mark.parametrize("name", ["folder of Parquet", "list of CSV files", "LazyFrame", "data frame"])
def test_batches_of_any_source_are_predicted(name: str, tmp_path: Path) -> None:
    if name == "LazyFrame":
        pytest.importorskip("polars")
    table = frame()
    model = regressor().fit(table.drop(columns=LABELS), table["y"])
    batches = list(predict_batches(model, SOURCES[name](tmp_path), drop=LABELS, batch_rows=400))
    assert len(batches) > 3
    assert (np.concatenate(batches) == model.predict(table.drop(columns=LABELS))).all()


def test_an_iterator_that_can_be_read_once_is_enough() -> None:
    model = regressor().fit(X, Y)
    found = predict_batches(model, (X[first : first + 100] for first in range(0, 300, 100)))
    assert (np.concatenate(list(found)) == model.predict(X[:300])).all()


def test_classes_and_probabilities_are_written_to_a_file(tmp_path: Path) -> None:
    model = classifier().fit(X, CLASSES)
    assert predict_to_parquet(model, X, tmp_path / "classes.parquet", batch_rows=500) == len(Y)
    found = parquet.read_table(tmp_path / "classes.parquet").to_pandas()["prediction"]
    assert (found == model.predict(X)).all()
    predict_to_parquet(model, X, tmp_path / "shares.parquet", method="predict_proba")
    shares = parquet.read_table(tmp_path / "shares.parquet").to_pandas()
    assert list(shares) == ["probability_high", "probability_low", "probability_mid"]
    assert (shares.to_numpy() == model.predict_proba(X)).all()


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def breaking() -> Any:
        yield X[:10]
        raise RuntimeError("the source has ended early")

    model = regressor().fit(X, Y)
    with pytest.raises(RuntimeError):
        predict_to_parquet(model, breaking, tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_predicted_is_refused() -> None:
    model = regressor().fit(X, Y)
    with pytest.raises(InputError, match="method must be one of 'predict', not 'predict_proba'"):
        predict_batches(model, X, method="predict_proba")
    with pytest.raises(InputError, match="path must name a Parquet file"):
        predict_to_parquet(model, X, "out.csv")
    with pytest.raises(InputError, match="batch_rows must be"):
        predict_batches(model, X, batch_rows=0)
