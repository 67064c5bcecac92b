"""Naive twins of bundled tables: codes cell by cell, and histograms row by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


def cells_other_than_zero(table: NDArray[Any]) -> tuple[list[int], list[int], list[Any]]:
    """Where the cells of each column begin, their rows and their values: of all that are not 0.0 or -0.0."""
    starts, rows, values = [0], [], []
    for column in table.T:
        for row, value in enumerate(column):
            if value != 0.0:
                rows.append(row)
                values.append(value)
        starts.append(len(rows))
    return starts, rows, values


def codes_of(
    table: NDArray[Any], bundle: Sequence[int], default: Sequence[int], n_bins: Sequence[int]
) -> list[list[int]]:
    """The codes (rows, stored columns) of a table of bins (rows, columns) whose columns are in these bundles.

    A code for every bin of every member in turn, but not for default bins, nor for missing values that nobody has.
    """
    members = [[j for j in range(len(bundle)) if bundle[j] == number] for number in range(max(bundle) + 1)]
    numbers: dict[tuple[int, int], int] = {}
    for own in members:
        next_code = 1
        for j in own:
            for b in range(n_bins[j] + 1):
                if len(own) == 1:
                    numbers[j, b] = b
                elif b != default[j] and (b < n_bins[j] or n_bins[j] in table[:, j]):
                    numbers[j, b] = next_code
                    next_code += 1
    codes = []
    for row in table.tolist():
        merged = [0] * len(members)
        for number, own in enumerate(members):
            for j in own:  # the later member wins
                if len(own) == 1 or row[j] != default[j]:
                    merged[number] = numbers[j, row[j]]
        codes.append(merged)
    return codes


def histogram(codes: NDArray[Any], integers: Sequence[tuple[int, int]]) -> dict[tuple[int, int], list[int]]:
    """Gradient, hessian and count of every code that is there: (stored column, code) -> sums."""
    sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row, (gradient, hessian) in zip(codes.tolist(), integers, strict=True):
        for place, code in enumerate(row):
            for field, value in enumerate((gradient, hessian, 1)):
                sums[place, code][field] += value
    return dict(sums)
