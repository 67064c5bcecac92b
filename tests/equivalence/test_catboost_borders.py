"""Borders against CatBoost's own, on columns of real tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weald.binning import BinChoices, fit_bins
from weald.data import read_table
from weald.datasets import load

catboost = pytest.importorskip("catboost")

NAMES = {
    "Median": "median",
    "Uniform": "uniform",
    "UniformAndQuantiles": "uniform_and_quantiles",
    "GreedyLogSum": "greedy_log_sum",
}


def numbers() -> Any:
    """The numeric columns of a real table as float32, which CatBoost reads, and one with many zeros."""
    columns = [values for values in load("wine_quality").data.values() if values.dtype.kind == "f"]
    zeros = np.where(columns[0] > 7.0, columns[1], 0.0)
    return np.column_stack([*columns, zeros]).astype(np.float32)


def catboost_borders(X: Any, border_type: str, count: int, path: Path) -> list[Any]:
    pool = catboost.Pool(X, label=np.arange(len(X)))
    pool.quantize(feature_border_type=border_type, border_count=count)
    pool.save_quantization_borders(str(path))
    found: list[list[float]] = [[] for _ in range(X.shape[1])]
    for line in path.read_text().splitlines():
        column, border = line.split()[:2]
        found[int(column)].append(float(border))
    return [np.array(borders) for borders in found]


@pytest.mark.parametrize("count", [3, 32, 254])
@pytest.mark.parametrize("border_type", list(NAMES))
def test_borders_are_catboosts(border_type: str, count: int, tmp_path: Path) -> None:
    X = numbers()
    theirs = catboost_borders(X, border_type, count, tmp_path / "borders.tsv")
    ours = fit_bins(read_table(X), None, BinChoices(count + 1, border_type=NAMES[border_type])).cuts
    for values, borders, cuts in zip(X.T, theirs, ours, strict=True):
        if border_type == "Uniform":  # CatBoost has bins that no row falls in
            ends = np.searchsorted(np.unique(values), borders.astype(np.float32), side="right")
            borders = borders[np.unique(ends, return_index=True)[1]]
        assert np.allclose(cuts, borders, rtol=1e-6, atol=0.0)


def test_catboosts_bin_of_missing_values_takes_one_of_its_borders(tmp_path: Path) -> None:
    X = numbers()[:, :1]
    X[::5] = np.nan
    theirs = catboost_borders(X, "GreedyLogSum", 33, tmp_path / "borders.tsv")[0]
    ours = fit_bins(read_table(X), None, BinChoices(33, border_type="greedy_log_sum")).cuts[0]
    assert np.allclose(ours, theirs[1:], rtol=1e-6, atol=0.0)
