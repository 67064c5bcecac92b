"""Naive twins of target statistics, straight from their definitions."""

from __future__ import annotations

from collections.abc import Sequence

import reference


def permutation(n: int, key: int) -> list[int]:
    """Rows by their hash, and of equal hashes by their number."""
    return sorted(range(n), key=lambda row: (reference.mix(row ^ reference.mix(key)), row))


def history(
    codes: Sequence[int], order: Sequence[int], target: Sequence[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """(sums, counts) of every row of ``order``, each from a walk over all rows before it."""
    sums, counts = {}, {}
    for place, row in enumerate(order):
        before = [other for other in order[:place] if codes[other] == codes[row]]
        sums[row] = sum(int(target[other]) for other in before)
        counts[row] = len(before)
    return sums, counts


def totals(codes: Sequence[int], target: Sequence[int], n_codes: int) -> tuple[list[int], list[int]]:
    """(sums, counts) of every code."""
    rows = [[row for row, own in enumerate(codes) if own == code] for code in range(n_codes)]
    return [sum(int(target[row]) for row in members) for members in rows], [len(members) for members in rows]


def rows_of(
    kind: str, row: int, codes: Sequence[int], order: Sequence[int], giving: Sequence[int]
) -> list[int]:
    """The rows whose labels a training row gets: D_k of the paper, those of the row's category."""
    own = {
        "greedy": range(len(codes)),
        "leave_one_out": [other for other in range(len(codes)) if other != row],
        "ordered": list(order)[: list(order).index(row)],
        "holdout": giving,
    }[kind]
    return [other for other in own if codes[other] == codes[row]]


def statistic(rows: Sequence[int], target: Sequence[int], scale: float, prior: float, weight: float) -> float:
    """The mean label of some rows, drawn to the prior."""
    total = sum(int(target[row]) for row in rows)
    return (total / scale + weight * prior) / (len(rows) + weight)


def keys(codes: Sequence[Sequence[int]]) -> list[int]:
    """The keys of rows whose codes, a list a column, are folded one after another."""
    folded = [0] * len(codes[0])
    for column in codes:
        folded = [reference.mix((key + int(code)) % 2**64) for key, code in zip(folded, column, strict=True)]
    return folded


def numbers(values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Every value's number, by first appearance, and the different values in that order."""
    different = list(dict.fromkeys(values))
    return [different.index(value) for value in values], different


def cell(total: int, count: int, prior: float, weight: float) -> int:
    """A statistic in 1,024ths, rounded down; 1 itself is in the last."""
    return min(int((total + weight * prior) / (count + weight) * 1024), 1023)


def cell_bins(counts: Sequence[int], most: int) -> list[int]:
    """The bin of every cell: one is closed when it has its share of the rows left, half of the next cell counted in."""
    bins, number, inside, left = [], 0, 0, sum(int(count) for count in counts)
    for count in counts:
        share = left // (most - number)
        if inside and count and number + 1 < most and inside + int(count) // 2 >= share:
            left, inside, number = left - inside, 0, number + 1
        bins.append(number)
        inside += int(count)
    return bins
