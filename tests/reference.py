"""Naive twins of the kernels in ``weald.tree`` and ``weald.runtime.random``: slow, plain, obviously right.

Integers are Python's, floats are added and multiplied in the order that the kernels promise, so that a test
may hold kernel and twin equal bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import reference_forced
import reference_scores
from reference_constraints import (
    Fence,
    allowed,
    best_value,
    children_fences,
    clipped_score,
    clipped_value,
    is_bound,
    ordered_pair,
    sign_of,
)
from weald.runtime.random import THRESHOLDS
from weald.tree.histograms.quantise import FEWEST_ROWS, FEWEST_STEPS
from weald.tree.splits.constraints import Constraints
from weald.tree.state import LEAFWISE, Gradients, Rules, TreeInput

MASK_64 = (1 << 64) - 1
MASK_32 = (1 << 32) - 1
PACKED_BLOCK = 2**13 - 1
WIDE_BLOCK = 2**19 - 1
SMALLEST_HESSIAN = 1e-16
FREE, UNCONSTRAINED = Fence(), Constraints()


class Sums(NamedTuple):
    """Integer gradient, integer hessian and count of some rows."""

    gradient: int
    hessian: int
    count: int


class Split(NamedTuple):
    """A split, its gain and the sums of its left side."""

    gain: float
    feature: int
    bin: int
    missing_left: int
    left: Sums
    left_bins: frozenset[int] = frozenset()  # of a categorical split


# --- randomness -----------------------------------------------------------------------------------


def mix(value: int) -> int:
    """The finaliser of SplitMix64."""
    value = (value + 0x9E3779B97F4A7C15) & MASK_64
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK_64
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK_64
    return value ^ (value >> 31)


def row_bits(key: int, row: int) -> int:
    """The 32-bit finaliser of MurmurHash3."""
    bits = row ^ key
    bits = ((bits ^ (bits >> 16)) * 0x85EBCA6B) & MASK_32
    bits = ((bits ^ (bits >> 13)) * 0xC2B2AE35) & MASK_32
    return bits ^ (bits >> 16)


def stream_key(seed: int, *purpose: int) -> int:
    """``mix`` folded over the purpose."""
    key = seed & MASK_64
    for number in purpose:
        key = mix(key ^ mix(number & MASK_64))
    return key


def choose(candidates: Sequence[int], share: float, key: int) -> list[int]:
    """The first places of a shuffle, in their old order; half a candidate is rounded up."""
    count = max(1, math.floor(share * len(candidates) + 0.5))
    if count >= len(candidates):
        return list(candidates)
    shuffled = list(candidates)
    for place in range(count):
        bits = mix((key + place) & MASK_64) >> 32
        other = place + bits * (len(candidates) - place) // 2**32
        shuffled[place], shuffled[other] = shuffled[other], shuffled[place]
    return [candidate for candidate in candidates if candidate in shuffled[:count]]


# --- quantisation ---------------------------------------------------------------------------------


class Quantised(NamedTuple):
    """What ``quantise`` says of the rows that it was given."""

    packed: bool
    rows: list[int]
    gradient: list[int]
    hessian: list[int]
    gradient_unit: float
    hessian_unit: float


def mean_steps(values: NDArray[np.float32], largest: float) -> float:
    """Packed steps of the average row; the mean is summed in blocks of 65,536 rows."""
    blocks = []
    for begin in range(0, len(values), 65_536):
        total = 0.0
        for value in values[begin : begin + 65_536].tolist():
            total += abs(value)
        blocks.append(total)
    return math.fsum(blocks) / len(values) / largest * 4094.0


def quantise(
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
    rows: NDArray[np.uint32],
    key: int,
    precision: str,
) -> Quantised:
    """Integer gradients of the sampled rows (all when ``rows`` is empty)."""
    largest_gradient = float(np.max(np.abs(gradient))) or 1e-60
    largest_hessian = float(np.max(hessian)) or 1e-60
    packed = precision == "packed_always"
    if precision == "packed" and len(gradient) >= FEWEST_ROWS:
        steps = min(mean_steps(gradient, largest_gradient), mean_steps(hessian, largest_hessian))
        packed = steps >= FEWEST_STEPS
    gradient_scale = (4094.0 if packed else 2.0**31 - 2) / largest_gradient
    hessian_scale = (4094.0 if packed else 2.0**25 - 2) / largest_hessian
    chosen = rows.tolist() if len(rows) else list(range(len(gradient)))
    integers: tuple[list[int], list[int]] = ([], [])
    for row in chosen:
        g, h = float(gradient[row]) * gradient_scale, float(hessian[row]) * hessian_scale
        if packed:
            bits = row_bits(key & MASK_32, row)
            # The kernel's sum with 8,192 rounds the last bits away, so the twin rounds alike.
            integers[0].append(math.floor(g + (bits & 0xFFFF) / 65_536 + 8192.0) - 8192)
            integers[1].append(math.floor(h + (bits >> 16) / 65_536))
        else:
            integers[0].append(math.floor(g + 0.5))
            integers[1].append(math.floor(h + 0.5))
    return Quantised(packed, chosen, *integers, 1.0 / gradient_scale, 1.0 / hessian_scale)


def encode_entry(packed: bool, row: int, gradient: int, hessian: int) -> int:
    """The 64-bit word of a row."""
    if not packed:
        return row << 32
    return (row << 32) | (((gradient << 12) | hessian) & MASK_32)


def encode_wide(gradient: int, hessian: int) -> int:
    """The 64-bit word of a row's wide gradient."""
    return ((gradient << 32) | hessian) & MASK_64


def decode_entries(
    gradients: Gradients, entries: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Row number, integer gradient and integer hessian of every entry."""
    rows = [entry >> 32 for entry in entries.tolist()]
    if gradients.packed:
        words = [_signed(entry & MASK_32, 32) for entry in entries.tolist()]
        pairs = [(word >> 12, word & 4095) for word in words]
    else:
        pairs = [(_signed(word, 64) >> 32, word & MASK_32) for word in gradients.wide[rows].tolist()]
    columns = np.array(pairs, np.int64).reshape(-1, 2)
    return np.array(rows, np.int64), columns[:, 0], columns[:, 1]


def _signed(word: int, bits: int) -> int:
    return word - (1 << bits) if word >> (bits - 1) else word


# --- histograms -----------------------------------------------------------------------------------


def cell_words(packed: bool, n_rows: int) -> int:
    """Words a cell in the histogram of a node with so many rows."""
    block, words = (PACKED_BLOCK, 1) if packed else (WIDE_BLOCK, 2)
    return words if n_rows <= block else 3


def feature_cells(data: TreeInput, features: Sequence[int]) -> NDArray[np.int64]:
    """The cells of the features, that of missing values included."""
    cells = [int(data.offsets[f]) + b for f in features for b in range(int(data.n_bins[f]) + 1)]
    return np.array(cells, np.int64)


def histogram(
    data: TreeInput, features: Sequence[int], gradients: Gradients, entries: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Gradient, hessian and count of the features' cells, (3, cells), row by row; other cells are zero."""
    n_cells = max(int(data.offsets[f]) + int(data.n_bins[f]) + 1 for f in range(len(data.n_bins)))
    sums = np.zeros((3, n_cells), np.int64)
    rows, gradient, hessian = decode_entries(gradients, entries)
    for feature in features:
        cells = int(data.offsets[feature]) + data.columns[feature, rows].astype(np.int64)
        np.add.at(sums[0], cells, gradient)
        np.add.at(sums[1], cells, hessian)
        np.add.at(sums[2], cells, 1)
    return sums


def encode_histogram(sums: NDArray[np.int64], packed: bool, n_rows: int) -> NDArray[np.int64]:
    """The words, (words, cells), in which the histogram of a node with so many rows is kept."""
    words = cell_words(packed, n_rows)
    if words == 3:
        return sums.copy()
    cells = []
    for g, h, n in sums.T.tolist():
        cells.append([(g << 38) + (h << 13) + n] if words == 1 else [g, (h << 20) + n])
    return np.array([[_signed(w & MASK_64, 64) for w in cell] for cell in cells], np.int64).T.copy()


def feature_sums(data: TreeInput, feature: int, sums: NDArray[np.int64]) -> list[Sums]:
    """A feature's bins; the last one holds missing values."""
    first = int(data.offsets[feature])
    return [Sums(*sums[:, first + b].tolist()) for b in range(int(data.n_bins[feature]) + 1)]


def total_of(bins: Sequence[Sums]) -> Sums:
    """Sums over bins."""
    return Sums(*(sum(column) for column in zip(*bins, strict=True))) if bins else Sums(0, 0, 0)


# --- splits ---------------------------------------------------------------------------------------


def soft_threshold(gradient: float, alpha: float) -> float:
    """The gradient moved towards zero by alpha."""
    if gradient > alpha:
        return gradient - alpha
    if gradient < -alpha:
        return gradient + alpha
    return 0.0


def node_score(gradient: float, hessian: float, rules: Rules) -> float:
    """Twice the reduction of the objective by the best leaf value that is allowed; never below zero."""
    value = -soft_threshold(gradient, rules.reg_alpha) / max(hessian + rules.reg_lambda, SMALLEST_HESSIAN)
    if rules.max_delta_step > 0.0:
        value = min(max(value, -rules.max_delta_step), rules.max_delta_step)
    penalty = 2.0 * rules.reg_alpha * abs(value)
    return max(0.0, -(2.0 * gradient * value + (hessian + rules.reg_lambda) * value * value + penalty))


def real_sums(gradient: int, hessian: int, gradients: Gradients) -> tuple[float, float]:
    """Gradient and hessian that the integers stand for."""
    return gradient * gradients.gradient_unit, hessian * gradients.hessian_unit


def children_score(
    left: Sums, total: Sums, gradients: Gradients, rules: Rules, sign: int = 0, fence: Fence = FREE
) -> float:
    """The children's scores added; minus infinity where their values are in the wrong order."""
    if rules.cosine:
        moments = reference_scores.pair_moments(left, total, gradients, rules)
        return reference_scores.cosine(*moments) * reference_scores.unit(gradients)
    sides = (
        real_sums(left.gradient, left.hessian, gradients),
        real_sums(total.gradient - left.gradient, total.hessian - left.hessian, gradients),
    )
    if is_bound(fence, sign, rules):
        counts = left.count, total.count - left.count
        return ordered_pair((*sides[0], counts[0]), (*sides[1], counts[1]), sign, fence, rules)
    return node_score(*sides[0], rules) + node_score(*sides[1], rules)


def parent_score(
    total: Sums, gradients: Gradients, rules: Rules, sign: int = 0, fence: Fence = FREE
) -> float:
    """The score of a node before it is split."""
    if rules.cosine:
        moments = reference_scores.leaf_moments(total.gradient, total.hessian, gradients, rules)
        return reference_scores.cosine(*moments) * reference_scores.unit(gradients)
    sums = real_sums(total.gradient, total.hessian, gradients)
    if is_bound(fence, sign, rules):
        return clipped_score(*sums, total.count, fence, rules)
    return node_score(*sums, rules)


def pair_score(
    left: Sums, total: Sums, gradients: Gradients, rules: Rules, sign: int = 0, fence: Fence = FREE
) -> float:
    """The children's scores added, in units of the integer sums."""
    score = children_score(left, total, gradients, rules, sign, fence)
    return score * gradients.hessian_unit / (gradients.gradient_unit * gradients.gradient_unit)


def searched_score(
    left: Sums, total: Sums, onehot: bool, gradients: Gradients, rules: Rules, sign: int, fence: Fence
) -> float:
    """The same as the search has it: over a common denominator where nothing clips the values."""
    if rules.cosine:
        return reference_scores.cosine(*reference_scores.pair_moments(left, total, gradients, rules))
    if onehot or rules.max_delta_step > 0.0 or is_bound(fence, sign, rules):
        return pair_score(left, total, gradients, rules, sign, fence)
    return quotient_score(left, total, gradients, rules)


def quotient_score(left: Sums, total: Sums, gradients: Gradients, rules: Rules) -> float:
    """The same without clipping, over a common denominator."""
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    gl, gr = float(left.gradient), float(total.gradient) - float(left.gradient)
    hl, hr = float(left.hessian) + lam, float(total.hessian) - float(left.hessian) + lam
    gl, gr = soft_threshold(gl, alpha), soft_threshold(gr, alpha)
    return (gl * gl * hr + gr * gr * hl) / (hl * hr)


def is_onehot(data: TreeInput, feature: int, rules: Rules) -> bool:
    """Whether one category of the feature is split from the rest."""
    return bool(data.categorical[feature]) and int(data.n_bins[feature]) <= rules.max_cat_to_onehot


def is_by_set(data: TreeInput, feature: int, rules: Rules) -> bool:
    """Whether the feature is split into two sets of categories."""
    return bool(data.categorical[feature]) and not is_onehot(data, feature, rules)


def rules_of_feature(data: TreeInput, feature: int, rules: Rules) -> Rules:
    """The rules that the children of a split of the feature are scored by."""
    if is_by_set(data, feature, rules):
        return rules._replace(reg_lambda=rules.reg_lambda + rules.cat_l2)
    return rules


def category_order(
    data: TreeInput, feature: int, bins: list[Sums], gradients: Gradients, rules: Rules
) -> list[int]:
    """The bins of categories that are sorted, in their order; without that of missing values, the last.

    By the smoothed leaf value of each alone, if it has enough rows to be sorted: without smoothing as many as a leaf has.
    """
    smoothing = (rules.cat_smooth or rules.reg_lambda) / gradients.hessian_unit
    smallest, total = rules.min_child_weight / gradients.hessian_unit, total_of(bins)

    def key(b: int) -> tuple[float, int]:
        return -float(bins[b].gradient) / max(float(bins[b].hessian) + smoothing, SMALLEST_HESSIAN), b

    def is_frequent(own: Sums) -> bool:
        if rules.cat_smooth:
            return float(own.hessian) * total.count >= rules.cat_smooth * total.hessian
        return own.hessian >= smallest and own.count >= rules.min_samples_leaf

    n_candidates = len(bins) - 1 - int(data.gathers[feature])
    return sorted((b for b in range(n_candidates) if bins[b].count and is_frequent(bins[b])), key=key)


class CategorySet(NamedTuple):
    """A split into two sets as it is tried: the bins on the side of the lower values, and whether missing values are there.

    What is not sorted is on the side that is not scanned: the higher values, but for a scan from the back.
    """

    bins: frozenset[int]
    missing_left: int
    backward: bool


def scanned_sizes(
    order: list[int], bins: list[Sums], n_aside: int, rules: Rules, backward: bool, bits: int
) -> list[int]:
    """How many categories the scanned side has at the cuts that are tried, fewest first; ``bits`` draw one of the cuts."""
    ends = order[::-1] if backward else order
    fewest, n_rows = max(1, rules.min_samples_leaf), total_of(bins).count
    sizes, reached = [], 0
    most = min(rules.max_cat_threshold, (len(order) + 1) // 2)
    cuts = [cut for cut in range(len(order)) if cut < most or cut >= len(order) - 1 - most]
    for size in range(0 if backward else 1, most + 1):
        cut = len(order) - 1 - size if backward else size - 1
        if rules.extra_trees and cut != cuts[(bits >> 32) * len(cuts) // 2**32]:
            continue
        n_scanned = n_aside + sum(bins[b].count for b in ends[:size])
        enough_left = n_rows - n_scanned >= max(fewest, rules.min_samples_category)
        if n_scanned < fewest or not enough_left or (backward and size == len(order)):
            continue
        if n_scanned - reached >= rules.min_samples_category:
            sizes.append(size)
            reached = n_scanned
    return sizes


def category_sets(
    data: TreeInput, feature: int, bins: list[Sums], gradients: Gradients, rules: Rules, bits: int = 0
) -> list[CategorySet]:
    """Every split into two sets that is tried, in the order of trial."""
    order = category_order(data, feature, bins, gradients, rules)
    if not order:
        return []
    rest = frozenset(b for b in range(len(bins) - 1) if bins[b].count) - frozenset(order)
    n_missing = bins[-1].count
    sets = []
    for missing_left in (0, 1) if n_missing else (0,):
        for size in scanned_sizes(order, bins, n_missing * missing_left, rules, False, bits):
            sets.append(CategorySet(frozenset(order[:size]), missing_left, False))
        n_aside = n_missing * (1 - missing_left)
        for size in scanned_sizes(order, bins, n_aside, rules, True, bits)[::-1]:
            lower = frozenset(order[: len(order) - size])
            sets.append(CategorySet(lower | rest, missing_left, True))
    return sets


def settled_set(
    data: TreeInput, feature: int, bins: list[Sums], tried: CategorySet, gradients: Gradients, rules: Rules
) -> tuple[frozenset[int], int]:
    """The same split with the rest, or else most rows, on the right."""
    present = frozenset(b for b in range(len(bins) - 1) if bins[b].count)
    left = total_of([bins[b] for b in tried.bins] + [bins[-1]] * tried.missing_left)
    turn = 2 * left.count > total_of(bins).count
    if present - frozenset(category_order(data, feature, bins, gradients, rules)):
        turn = tried.backward
    if turn:
        return present - tried.bins, int(bins[-1].count > 0 and not tried.missing_left)
    return tried.bins, tried.missing_left


def feature_splits(
    data: TreeInput, feature: int, bins: list[Sums], gradients: Gradients, rules: Rules, bits: int
) -> list[tuple[int, int, Sums]]:
    """Every (bin, missing direction, left sums) to be tried; the first of equals wins. Of a set the bin is its number.

    ``bits``: by which one is drawn, where that is asked for.
    """
    n_bins, missing = int(data.n_bins[feature]), bins[-1]
    if is_onehot(data, feature, rules):
        onehot = [(b, int(b == n_bins), bins[b]) for b in range(n_bins + 1)]
        return drawn_splits(onehot, True, bins, rules, bits) if rules.extra_trees else onehot
    if data.categorical[feature]:
        sets = category_sets(data, feature, bins, gradients, rules, bits)
        return [
            (
                number,
                tried.missing_left,
                total_of([bins[b] for b in tried.bins] + [missing] * tried.missing_left),
            )
            for number, tried in enumerate(sets)
        ]
    splits = []
    for missing_left in (0, 1) if missing.count else (0,):
        for b in range(n_bins):
            if bins[b].count:  # an empty bin divides the rows as the one before
                left = total_of(bins[: b + 1] + [missing] * missing_left)
                splits.append((b, missing_left, left))
    return drawn_splits(splits, False, bins, rules, bits) if rules.extra_trees else splits


def drawn_bits(key: int, node: int, feature: int) -> int:
    """The random bits of a column in a node."""
    return mix((mix((stream_key(key, THRESHOLDS) + node) & MASK_64) + feature) & MASK_64)


def drawn_splits(
    splits: list[tuple[int, int, Sums]], onehot: bool, bins: list[Sums], rules: Rules, bits: int
) -> list[tuple[int, int, Sums]]:
    """One of the splits that leave both sides enough rows, missing values on either; those are two then."""
    fewest, total = max(1, rules.min_samples_leaf), total_of(bins).count
    if bins[-1].count > 0 and not onehot:
        pairs = list(zip(splits[: len(splits) // 2], splits[len(splits) // 2 :], strict=True))
    else:
        pairs = [(split, split) for split in splits]
    possible = [pair for pair in pairs if pair[1][2].count >= fewest and pair[0][2].count <= total - fewest]
    if not possible:
        return []
    right, left = possible[(bits >> 32) * len(possible) // 2**32]
    return [right] if right == left else [right, left]


def is_allowed(left: Sums, total: Sums, gradients: Gradients, rules: Rules) -> bool:
    """Both children are large and heavy enough."""
    fewest = max(1, rules.min_samples_leaf)
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    if min(left.count, total.count - left.count) < fewest:
        return False
    return left.hessian >= smallest and total.hessian - left.hessian >= smallest


def best_split(
    data: TreeInput,
    features: Sequence[int],
    sums: NDArray[np.int64],
    total: Sums,
    gradients: Gradients,
    rules: Rules,
    constraints: Constraints = UNCONSTRAINED,
    fence: Fence = FREE,
    draw: tuple[int, int] = (0, 0),
) -> Split | None:
    """Try everything, or what is drawn by the tree's key and the node: the first of the largest scores, if it gains anything.

    With noise: the column that has the largest score with its noise, among those whose best split gains anything.
    """
    best: tuple[float, Split] | None = None
    for feature in features:
        split = best_of_column(
            data, feature, sums, total, gradients, rules, sign_of(constraints, feature), fence, draw
        )
        if split is None:
            continue
        score = split[0]
        if rules.noise > 0.0:
            if split[1].gain == -math.inf:
                continue
            score += rules.noise * reference_scores.noise_of(*draw, feature)
        if best is None or score > best[0]:
            best = score, split[1]
    return None if best is None or best[1].gain == -math.inf else best[1]


def gain_of_score(
    score: float, total: Sums, gradients: Gradients, rules: Rules, sign: int, fence: Fence
) -> float:
    """The gain of a split whose children have this score, in units of the integer sums; minus infinity: none."""
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    parent = parent_score(total, gradients, rules, sign, fence)
    if rules.cosine:
        gain = score * reference_scores.unit(gradients) - parent
    else:
        gain = 0.5 * (score * g_unit * g_unit / h_unit - parent) - rules.gamma
    return -math.inf if gain <= 1e-14 * abs(parent) else gain


def best_of_column(
    data: TreeInput,
    feature: int,
    sums: NDArray[np.int64],
    total: Sums,
    gradients: Gradients,
    rules: Rules,
    sign: int,
    fence: Fence,
    draw: tuple[int, int],
) -> tuple[float, Split] | None:
    """The first of the largest scores of one column, and the split."""
    bins, bits = feature_sums(data, feature, sums), drawn_bits(*draw, feature)
    onehot, own_rules = is_onehot(data, feature, rules), rules_of_feature(data, feature, rules)
    best: tuple[float, Split] | None = None
    for b, missing_left, left in feature_splits(data, feature, bins, gradients, rules, bits):
        if not is_allowed(left, total, gradients, rules):
            continue
        score = searched_score(left, total, onehot, gradients, own_rules, sign, fence)
        if score <= (best[0] if best is not None else -math.inf):
            continue
        if bins[-1].count == 0 and not data.categorical[feature]:
            missing_left = int(2 * left.count >= total.count)
        best = score, Split(0.0, feature, b, missing_left, left)
        if onehot:
            best = score, best[1]._replace(left_bins=frozenset([b]) - {int(data.n_bins[feature])})
        elif data.categorical[feature]:
            tried = category_sets(data, feature, bins, gradients, rules, bits)[b]
            chosen, missing_left = settled_set(data, feature, bins, tried, gradients, rules)
            left = total_of([bins[b] for b in chosen] + [bins[-1]] * missing_left)
            best = score, Split(0.0, feature, 0, missing_left, left, chosen)
    if best is None:
        return None
    gain = gain_of_score(best[0], total, gradients, rules, sign, fence)
    return best[0], best[1]._replace(gain=gain)


def textbook_gain(left: Sums, total: Sums, gradients: Gradients, rules: Rules, cat_l2: float = 0.0) -> float:
    """Equation 7 of Chen and Guestrin (2016), with soft thresholding by alpha; ``cat_l2``: the children's penalty."""

    def objective(gradient: int, hessian: int, penalty: float = 0.0) -> float:
        g, h = gradient * gradients.gradient_unit, hessian * gradients.hessian_unit
        return max(abs(g) - rules.reg_alpha, 0.0) ** 2 / (h + rules.reg_lambda + penalty)

    right = (total.gradient - left.gradient, total.hessian - left.hessian)
    children = objective(left.gradient, left.hessian, cat_l2) + objective(*right, cat_l2)
    return 0.5 * (children - objective(total.gradient, total.hessian)) - rules.gamma


# --- partition, leaves, heap ----------------------------------------------------------------------


def goes_left(
    n_bins: int,
    categorical: bool,
    split_bin: int,
    left_bins: frozenset[int],
    missing_left: int,
    value: int,
) -> bool:
    """Whether a row with this bin goes to the left."""
    if value == n_bins:
        return bool(missing_left)
    return value in left_bins if categorical else value <= split_bin


def bins_of_words(words: Sequence[int]) -> frozenset[int]:
    """The set of bins that four words hold, a bit a bin."""
    return frozenset(b for b in range(256) if (int(words[b // 64]) >> (b % 64)) & 1)


def words_of_bins(bins: frozenset[int]) -> NDArray[np.int64]:
    """The four words of a set of bins."""
    words = [sum(1 << (b % 64) for b in bins if b // 64 == word) for word in range(4)]
    return np.array(words, np.uint64).view(np.int64)


def partition(
    column: NDArray[np.uint8], left_bins: NDArray[np.uint8], entries: NDArray[np.uint64]
) -> tuple[list[int], list[int]]:
    """Entries that go to the left and entries that go to the right, each in their old order."""
    sides: tuple[list[int], list[int]] = ([], [])
    for entry in entries.tolist():
        sides[0 if left_bins[column[entry >> 32]] else 1].append(entry)
    return sides


def fixed_point(largest: float, n_rows: int) -> float:
    """The power of two that brings n_rows * largest into [2**60, 2**61)."""
    exponent = math.frexp(max(largest, 1e-280) * n_rows)[1]
    return math.ldexp(1.0, min(61 - exponent, 1000))


def leaf_sums(
    leaf_of_row: NDArray[np.int32],
    n_leaves: int,
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
    largest: tuple[float, float],
) -> NDArray[np.float64]:
    """Sums a leaf in Python's integers of the kernel's fixed point."""
    scales = [fixed_point(bound, len(leaf_of_row)) for bound in largest]
    sums = [[0, 0] for _ in range(n_leaves + 1)]
    for leaf, g, h in zip(leaf_of_row.tolist(), gradient.tolist(), hessian.tolist(), strict=True):
        sums[leaf][0] += int(g * scales[0])
        sums[leaf][1] += int(h * scales[1])
    return np.array([[float(g) / scales[0], float(h) / scales[1]] for g, h in sums[:n_leaves]])


def in_heap_order(nodes: Sequence[int], gain: NDArray[np.float64], growth: int) -> list[int]:
    """Nodes in the order in which they are split."""
    if growth == LEAFWISE:
        return sorted(nodes, key=lambda node: (-gain[node], node))
    return sorted(nodes)


# --- a whole tree ---------------------------------------------------------------------------------


@dataclass
class Node:
    """A node of a naive tree; ``entries`` are its rows in order."""

    entries: NDArray[np.uint64]
    begin: int
    depth: int
    sums: Sums
    split: Split | None = None  # the best one, carried out or not
    left: int = 0
    fence: Fence = FREE

    @property
    def end(self) -> int:
        return self.begin + len(self.entries)


def columns_of_node(features: Sequence[int], rules: Rules, key: int, depth: int, node: int) -> list[int]:
    """The tree's columns, sampled by level and then by node."""
    chosen = list(features)
    if rules.level_share < 1.0:
        chosen = choose(chosen, rules.level_share, mix((key + 2 * depth) & MASK_64))
    if rules.node_share < 1.0:
        chosen = choose(chosen, rules.node_share, mix((key + 2 * node + 1) & MASK_64))
    return chosen


def make_node(
    gradients: Gradients, entries: NDArray[np.uint64], begin: int, depth: int, fence: Fence = FREE
) -> Node:
    """A leaf of these rows."""
    _, gradient, hessian = decode_entries(gradients, entries)
    sums = Sums(sum(gradient.tolist()), sum(hessian.tolist()), len(entries))
    return Node(entries, begin, depth, sums, fence=fence)


def make_root(gradients: Gradients, entries: NDArray[np.uint64], rules: Rules) -> Node:
    """The root, whose value is its own."""
    root = make_node(gradients, entries, 0, 0)
    value = best_value(*real_sums(root.sums.gradient, root.sums.hessian, gradients), rules)
    root.fence = Fence(value=value)
    return root


def value_within(sums: Sums, fence: Fence, gradients: Gradients, rules: Rules) -> float:
    """The leaf value of integer sums, clipped to a node's bounds."""
    return clipped_value(*real_sums(sums.gradient, sums.hessian, gradients), sums.count, fence, rules)


def split_fence(
    data: TreeInput, node: Node, gradients: Gradients, rules: Rules, constraints: Constraints
) -> tuple[Fence, Fence]:
    """What the children of a node must keep after its split."""
    assert node.split is not None
    left = node.split.left
    right = Sums(*(whole - part for whole, part in zip(node.sums, left, strict=True)))
    rules = rules_of_feature(data, node.split.feature, rules)
    values = (value_within(side, node.fence, gradients, rules) for side in (left, right))
    return children_fences(node.fence, sign_of(constraints, node.split.feature), node.split.feature, *values)


def grow_tree(
    data: TreeInput,
    features: Sequence[int],
    gradients: Gradients,
    rules: Rules,
    key: int,
    entries: NDArray[np.uint64],
    constraints: Constraints = UNCONSTRAINED,
    forced: Sequence[Any] = (),
) -> list[Node]:
    """Grow a tree that counts every node's histogram from its rows; ``forced``: `reference_forced.Forced`, in their order."""

    def force_node(number: int) -> bool:
        """Whether the node has a forced split that can be made; one that cannot is given up."""
        node, place = nodes[number], places.get(number)
        if place is None or node.depth >= rules.max_depth:
            places.pop(number, None)
            return False
        sums = histogram(data, range(len(data.n_bins)), gradients, node.entries)
        bins = feature_sums(data, forced[place].feature, sums)
        sign = sign_of(constraints, forced[place].feature)
        node.split = reference_forced.forced_split(
            data, forced[place], bins, gradients, rules, sign, node.fence
        )
        if node.split is None:
            del places[number]
        return node.split is not None

    def open_node(number: int) -> bool:
        node = nodes[number]
        if force_node(number):
            return False
        if node.depth >= rules.max_depth or node.sums.count < rules.min_samples_split:
            return False
        sums = histogram(data, features, gradients, node.entries)
        chosen = columns_of_node(features, rules, key, node.depth, number)
        chosen = allowed(chosen, node.fence, constraints.groups)
        node.split = best_split(
            data, chosen, sums, node.sums, gradients, rules, constraints, node.fence, (key, number)
        )
        if node.split is not None and node.split.gain < rules.min_gain:
            node.split = None
        return node.split is not None

    nodes = [make_root(gradients, entries, rules)]
    places = {0: 0} if forced else {}  # the forced split of a node
    open_nodes = [0] if open_node(0) else []
    n_leaves = 1
    while (places or open_nodes) and n_leaves < rules.max_leaves:
        gain = np.array([node.split.gain if node.split else -math.inf for node in nodes])
        open_nodes = in_heap_order(open_nodes, gain, rules.growth)
        number = min(places, key=lambda node: places[node]) if places else open_nodes.pop(0)
        parent, place = nodes[number], places.pop(number, None)
        children = split_rows(data, parent)
        parent.left = len(nodes)
        begins = (parent.begin, parent.begin + len(children[0]))
        fences = split_fence(data, parent, gradients, rules, constraints)
        for rows, begin, fence in zip(children, begins, fences, strict=True):
            nodes.append(make_node(gradients, rows, begin, parent.depth + 1, fence))
        if place is not None:
            below = zip((parent.left, parent.left + 1), forced[place][2:], strict=True)
            places.update({child: own for child, own in below if own >= 0})
        n_leaves += 1
        open_nodes += [number for number in (parent.left, parent.left + 1) if open_node(number)]
    return nodes


def split_rows(data: TreeInput, node: Node) -> list[NDArray[np.uint64]]:
    """The node's entries, divided by its split."""
    assert node.split is not None
    _, feature, split_bin, missing_left, _, chosen = node.split
    n_bins, categorical = int(data.n_bins[feature]), bool(data.categorical[feature])
    left_bins = [
        goes_left(n_bins, categorical, split_bin, chosen, missing_left, b) for b in range(n_bins + 1)
    ]
    sides: Any = partition(data.columns[feature], np.array(left_bins, np.uint8), node.entries)
    return [np.array(side, np.uint64) for side in sides]
