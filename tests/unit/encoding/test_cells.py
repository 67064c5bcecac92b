from __future__ import annotations

import math

import numpy as np
import pytest

import reference_statistics
from weald.encoding.cells import CELLS, cell_bins, count_cells, counter_cells, target_cells


@pytest.mark.parametrize(("prior", "weight"), [(0.0, 1.0), (0.5, 1.0), (1.0, 3.0), (0.94, 0.25)])
def test_a_cell_is_the_statistic_in_1024ths(prior: float, weight: float) -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 50, 200)
    sums = rng.integers(0, counts + 1)
    cells = np.empty(200, np.uint16)
    target_cells(sums, counts, prior, weight, cells)
    expected = [reference_statistics.cell(*pair, prior, weight) for pair in zip(sums, counts, strict=True)]
    assert cells.tolist() == expected


def test_counters_grow_with_the_logarithm() -> None:
    counts = np.array([0, 1, 10, 100, 1000])
    cells = np.empty(5, np.uint16)
    counter_cells(counts, 1000, cells)
    expected = [min(int(math.log1p(count) / math.log1p(1000) * CELLS), CELLS - 1) for count in counts]
    assert cells.tolist() == expected
    assert cells[0] == 0


@pytest.mark.parametrize("most", [2, 3, 16, 255])
@pytest.mark.parametrize("kind", ["even", "few", "one", "steep"])
def test_bins_of_cells_have_like_counts(most: int, kind: str) -> None:
    rng = np.random.default_rng(most)
    counts = {
        "even": np.full(CELLS, 7),
        "few": np.where(rng.random(CELLS) < 0.01, 5, 0),
        "one": np.eye(1, CELLS, 400, dtype=np.int64)[0] * 9,
        "steep": (1e5 / (1.0 + np.arange(CELLS)) ** 2).astype(np.int64),
    }[kind]
    bins = np.empty(CELLS, np.uint8)
    assert cell_bins(counts.astype(np.int64), most, bins) <= most
    assert bins.tolist() == reference_statistics.cell_bins(counts.tolist(), most)
    if kind == "even":
        sizes = np.bincount(bins, weights=counts)
        assert len(sizes) == most
        assert sizes.max() <= 1.5 * sizes.min() + 7


def test_cells_are_counted() -> None:
    cells = np.array([3, 1, 3, 1023], np.uint16)
    counts = np.zeros(CELLS, np.int64)
    count_cells(cells, counts)
    assert counts[[1, 3, 1023]].tolist() == [1, 2, 1]
    assert counts.sum() == 4
