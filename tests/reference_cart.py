"""A naive twin of the CART engine: every split of every drawn feature from the node's rows, in plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference import words_of_bins
from weald.binning import DenseBins
from weald.runtime.mathlib import log
from weald.runtime.random import NODE_COLUMNS, ROWS, THRESHOLDS, TREE_COLUMNS, _mix_int, stream_key
from weald.tree.cart import CartLabels, CartRules, Draw

EPSILON = 2.220446049250313e-16
NO_BIN = 256


def below(bits: int, bound: int) -> int:
    return ((bits >> 32) * bound) >> 32


def shuffled(key: int, n: int, count: int) -> list[int]:
    """The first ``count`` places of a shuffle of 0..n-1."""
    order = list(range(n))
    for place in range(count):
        other = place + below(_mix_int((key + place) % 2**64), n - place)
        order[place], order[other] = order[other], order[place]
    return order[:count]


def draw_counts(key: int, n_rows: int, n_draws: int, bootstrap: bool) -> list[int]:
    rows_key = stream_key(key, ROWS)
    if bootstrap:
        drawn = [below(_mix_int((rows_key + i) % 2**64), n_rows) for i in range(n_draws)]
    else:
        drawn = shuffled(rows_key, n_rows, n_draws) if n_draws < n_rows else list(range(n_rows))
    return np.bincount(drawn, minlength=n_rows).tolist()


def integer_weights(counts: list[int], weight: NDArray[np.float64] | None, code_bits: int) -> list[int]:
    if weight is None:
        return counts
    weight = weight / 2.0 ** math.frexp(weight.max())[1]
    total, largest = 0.0, 0.0
    for count, own in zip(counts, weight.tolist(), strict=True):
        total += count * own
        largest = max(largest, count * own)
    exponent = min(30 - math.frexp(total)[1], 1000)
    while largest * 2.0**exponent >= 0.5 * 2.0 ** (32 - max(code_bits, 1)):
        exponent -= 1
    scaled = [max(1, round(own * 2.0**exponent)) if own > 0 else 0 for own in weight.tolist()]
    return [count * own for count, own in zip(counts, scaled, strict=True)]


class Twin:
    """Grows one tree; the nodes are dicts with the fields of `CartTree`."""

    def __init__(
        self,
        bins: DenseBins,
        labels: CartLabels,
        weight: NDArray[np.float64] | None,
        rules: CartRules,
        draw: Draw,
        key: int,
    ) -> None:
        self.bins, self.labels, self.weight, self.rules, self.key = bins, labels, weight, rules, key
        n_rows, n_features = labels.n_rows, len(bins.columns)
        n_draws = n_rows if draw.n_draws is None else draw.n_draws
        counts = draw_counts(key, n_rows, n_draws, draw.bootstrap)
        code_bits = 0
        if len(labels.n_classes) == 1:
            code_bits = (max(2, labels.n_classes[0]) - 1).bit_length()
        self.w = integer_weights(counts, weight, code_bits)
        self.exact = [float(c) if weight is None else c * float(weight[i]) for i, c in enumerate(counts)]
        rows = [row for row in range(n_rows) if self.w[row] > 0]
        columns = draw.columns_per_tree or n_features
        self.columns = list(range(n_features))
        if columns < n_features:
            self.columns = sorted(shuffled(stream_key(key, TREE_COLUMNS), n_features, columns))
        self.tree_weight = sum(self.w)
        self.unit = 1.0
        if not labels.n_classes:
            self.quantise(rows)
        self.nodes: list[dict[str, Any]] = [self.new_node(rows, 0)]
        self.grow()

    def quantise(self, rows: list[int]) -> None:
        values, n_outputs = self.labels.values, self.labels.n_outputs
        centres = np.zeros(n_outputs)
        if self.rules.criterion != "poisson":
            mantissa, exponent = np.frexp(values.mean(axis=0))
            centres = np.ldexp(np.round(mantissa * 2.0**24), exponent - 24)
        distances = values - centres
        total = 0.0
        for row in rows:
            for output in range(n_outputs):
                total += self.w[row] * abs(float(distances[row, output]))
        exponent = min(61 - math.frexp(total)[1], 1000) if total > 0 else 0
        self.y = [[round(float(v) * 2.0**exponent) for v in row] for row in distances]
        self.unit = 2.0**-exponent

    # Impurities

    def score(self, rows: list[int]) -> float:
        criterion, labels = self.rules.criterion, self.labels
        weight = sum(self.w[row] for row in rows)
        if labels.n_classes:
            sums = []
            for output, n_classes in enumerate(labels.n_classes):
                for code in range(n_classes):
                    sums.append(sum(self.w[row] for row in rows if labels.codes[row, output] == code))
            if criterion == "gini":
                return float(sum(s * s for s in sums)) / float(weight)
            bits = 0.0
            for s in sums:
                bits += s * (log(float(s)) / 0.6931471805599453) if s > 0 else 0.0
            return bits - labels.n_outputs * (weight * (log(float(weight)) / 0.6931471805599453))
        score = 0.0
        for output in range(labels.n_outputs):
            s = float(sum(self.w[row] * self.y[row][output] for row in rows))
            if criterion == "poisson":
                score += s * log(s / weight) if s > 0 else -math.inf
            elif criterion == "absolute_error":
                median = self.median(rows, output)
                score -= float(sum(self.w[row] * abs(self.y[row][output] - median) for row in rows))
            else:
                score += s * s / weight
        return score

    def median(self, rows: list[int], output: int) -> int:
        total, reached = sum(self.w[row] for row in rows), 0
        for row in sorted(rows, key=lambda r: self.y[r][output]):
            reached += self.w[row]
            if 2 * reached >= total:
                return self.y[row][output]
        raise AssertionError

    def is_pure(self, rows: list[int]) -> bool:
        if self.labels.n_classes:
            return len({tuple(self.labels.codes[row].tolist()) for row in rows}) == 1
        return len({tuple(self.y[row]) for row in rows}) == 1

    # Splits

    def middle(self, feature: int, b: int) -> float:
        cuts = self.bins.mapper.cuts[feature]
        largest = np.finfo(np.float64).max
        if len(cuts) == 1:
            return float(cuts[0]) + (2 * b - 1)
        if b == 0:
            return max(float(cuts[0] - (0.5 * cuts[1] - 0.5 * cuts[0])), -largest)
        if b == len(cuts):
            return min(float(cuts[-1] + (0.5 * cuts[-1] - 0.5 * cuts[-2])), largest)
        return float(0.5 * cuts[b - 1] + 0.5 * cuts[b])

    def drawn_end(self, feature: int, b: int) -> float:
        """A bin as an end of what thresholds are drawn from: the column's extremes are those of its outer bins."""
        cuts, extremes = self.bins.mapper.cuts[feature], self.bins.mapper.extremes
        if extremes is not None and b in (0, len(cuts)):
            extreme = float(extremes[feature, 0 if b == 0 else 1])
            if math.isfinite(extreme):
                return extreme
        return self.middle(feature, b)

    def bin_of(self, feature: int, value: float, first: int, last: int) -> int:
        """The first bin of first..last whose cut is not below the value, or ``last``."""
        for b in range(first, last):
            if self.bins.mapper.cuts[feature][b] >= value:
                return b
        return last

    def try_split(self, rows: list[int], left: list[int]) -> float:
        chosen = set(left)
        right = [row for row in rows if row not in chosen]
        fewest = max(1, self.rules.min_samples_leaf)
        if len(left) < fewest or len(right) < fewest:
            return -math.inf
        least = self.rules.min_weight_leaf * float(self.tree_weight)
        if sum(self.w[r] for r in left) < least or sum(self.w[r] for r in right) < least:
            return -math.inf
        return self.score(left) + self.score(right)

    def splits_of(
        self, rows: list[int], feature: int, bits: int
    ) -> list[tuple[list[int], int, int, frozenset[int]]]:
        """All splits to be tried, in their order: left rows, bin, missing_left, and the bins on the left of categories."""
        mapper = self.bins.mapper
        column, n_bins = self.bins.columns[feature], int(mapper.n_bins[feature])
        present = sorted({int(column[row]) for row in rows})
        random = self.rules.splitter == "random"
        if len(present) == 1:
            return []
        if mapper.categorical[feature]:
            if self.rules.criterion == "absolute_error":
                sets = [[present[below(bits, len(present))]]] if random else [[b] for b in present]
            elif random:
                sets = [self.drawn_set(present, bits)]
            else:
                order = self.category_order(rows, feature, present)
                sets = [order[:size] for size in range(1, len(order))]
            return [self.settled(rows, feature, present, chosen) for chosen in sets]
        values = [b for b in present if b < n_bins]
        missing = [row for row in rows if column[row] == n_bins]
        drawn = None
        if random and len(values) > 1:
            share = (bits >> 11) * 2.0**-53
            low, high = self.drawn_end(feature, values[0]), self.drawn_end(feature, values[-1])
            threshold, drawn = (1.0 - share) * low + share * high, values[0]
            while drawn + 1 < values[-1] and self.drawn_end(feature, drawn + 1) < threshold:
                drawn += 1
        found = []
        for with_missing in range(2 if missing else 1):
            for i, b in enumerate(values):
                following = values[i + 1] if i + 1 < len(values) else NO_BIN
                if drawn is not None and following != NO_BIN and not b <= drawn < following:
                    continue
                left = [row for row in rows if column[row] <= b] + missing * with_missing
                direction = with_missing if missing else int(2 * len(left) >= len(rows))
                place = b
                if following == NO_BIN:
                    place = n_bins - 1
                elif random:
                    assert drawn is not None
                    place = drawn
                else:
                    middle = 0.5 * self.middle(feature, b) + 0.5 * self.middle(feature, following)
                    place = self.bin_of(feature, middle, b, following - 1)
                found.append((left, place, direction, frozenset()))
        return found

    # Categories

    def drawn_set(self, present: list[int], bits: int) -> list[int]:
        chosen = [b for b in present if _mix_int((bits + b) % 2**64) >> 63]
        if 0 < len(chosen) < len(present):
            return chosen
        changed = present[below(_mix_int((bits + 256) % 2**64), len(present))]
        return [b for b in present if (b in chosen) != (b == changed)]

    def category_order(self, rows: list[int], feature: int, present: list[int]) -> list[int]:
        """The node's bins in the order of what they predict."""
        labels, column = self.labels, self.bins.columns[feature]

        def sums(members: list[int]) -> list[float]:
            """What the rows have of every class, or of every output."""
            if not labels.n_classes:
                return [
                    float(sum(self.w[r] * self.y[r][o] for r in members)) for o in range(labels.n_outputs)
                ]
            numbers = []
            for output, n_classes in enumerate(labels.n_classes):
                for code in range(n_classes if output else max(2, n_classes)):
                    numbers.append(float(sum(self.w[r] for r in members if labels.codes[r, output] == code)))
            return numbers

        weights, means = {}, {}
        for b in present:
            members = [row for row in rows if column[row] == b]
            weights[b] = float(sum(self.w[row] for row in members))
            means[b] = [own / weights[b] for own in sums(members)]
        weight = float(sum(self.w[row] for row in rows))
        centre = [own / weight for own in sums(rows)]
        if labels.n_outputs == 1 and (not labels.n_classes or labels.n_classes[0] <= 2):
            return sorted(present, key=lambda b: (means[b][-1], b))

        def product(one: int, other: int) -> float:
            total = 0.0
            for b in present:
                total += weights[b] * (means[b][one] - centre[one]) * (means[b][other] - centre[other])
            return total

        slots = range(len(centre))
        widest = max(slots, key=lambda slot: (product(slot, slot), -slot))
        keys = {}
        for b in present:
            keys[b] = 0.0
            for slot in slots:
                keys[b] += product(slot, widest) * means[b][slot]
        return sorted(present, key=lambda b: (keys[b], b))

    def settled(
        self, rows: list[int], feature: int, present: list[int], chosen: list[int]
    ) -> tuple[list[int], int, int, frozenset[int]]:
        """A split with these bins on one side: most weight, or the bin that gathers rare categories, goes right."""
        mapper, column = self.bins.mapper, self.bins.columns[feature]
        n_bins, left_bins = int(mapper.n_bins[feature]), set(chosen)
        left = [row for row in rows if column[row] in left_bins]
        one = self.rules.criterion == "absolute_error"
        turn = not one and 2 * sum(self.w[r] for r in left) > sum(self.w[r] for r in rows)
        if mapper.n_categories[feature] > n_bins and n_bins - 1 in present and not one:
            turn = n_bins - 1 in left_bins
        if turn:
            left_bins = set(present) - left_bins
            left = [row for row in rows if column[row] in left_bins]
        place = chosen[0] if one else 0
        return left, place, int(n_bins in left_bins), frozenset(left_bins - {n_bins})

    def best_split(self, rows: list[int], number: int) -> tuple[float, Any]:
        wanted = min(self.rules.features_per_node or len(self.columns), len(self.columns))
        features = self.columns
        if wanted < len(features):
            node_key = _mix_int((stream_key(self.key, NODE_COLUMNS) + number) % 2**64)
            features = [self.columns[i] for i in shuffled(node_key, len(features), len(features))]
        threshold_key = _mix_int((stream_key(self.key, THRESHOLDS) + number) % 2**64)
        best_score, best = -math.inf, None
        for visited, feature in enumerate(features):
            if visited >= wanted and best is not None:
                break
            bits = _mix_int((threshold_key + feature) % 2**64)
            for left, b, missing_left, left_bins in self.splits_of(rows, feature, bits):
                score = self.try_split(rows, left)
                if score > best_score:
                    best_score, best = score, (feature, b, missing_left, left, left_bins)
        return best_score, best

    # Growth

    def new_node(self, rows: list[int], depth: int) -> dict[str, Any]:
        return {
            "rows": rows,
            "depth": depth,
            "feature": -1,
            "split_bin": 0,
            "left_bins": words_of_bins(frozenset()),
            "missing_left": 0,
            "left": 0,
            "gain": 0.0,
        }

    def consider(self, number: int) -> Any:
        node, rules = self.nodes[number], self.rules
        rows = node["rows"]
        if rules.max_depth is not None and node["depth"] >= rules.max_depth:
            return None
        if len(rows) < max(rules.min_samples_split, 2 * rules.min_samples_leaf) or self.is_pure(rows):
            return None
        weight = sum(self.w[row] for row in rows)
        if weight < 2.0 * (rules.min_weight_leaf * float(self.tree_weight)):
            return None
        score, best = self.best_split(rows, number)
        if best is None:
            return None
        unit = self.unit * self.unit if rules.criterion in ("squared_error", "friedman_mse") else self.unit
        gain = max(score - self.score(rows), 0.0) * unit / (self.labels.n_outputs * float(self.tree_weight))
        if gain + EPSILON < rules.min_impurity_decrease:
            return None
        return gain, best

    def split(self, number: int, gain: float, best: Any) -> int:
        feature, b, missing_left, left, left_bins = best
        node = self.nodes[number]
        chosen, first = set(left), len(self.nodes)
        node.update(feature=feature, split_bin=b, missing_left=missing_left, left=first, gain=gain)
        node["left_bins"] = words_of_bins(left_bins)
        self.nodes.append(self.new_node(sorted(left), node["depth"] + 1))
        right = [row for row in node["rows"] if row not in chosen]
        self.nodes.append(self.new_node(right, node["depth"] + 1))
        return first

    def grow(self) -> None:
        if self.rules.max_leaf_nodes is None:
            stack = [0]
            while stack:
                number = stack.pop()
                found = self.consider(number)
                if found is not None:
                    first = self.split(number, *found)
                    stack += [first + 1, first]
            return
        frontier = {0: self.consider(0)}
        while len(self.nodes) < 2 * self.rules.max_leaf_nodes - 1:
            open_nodes = {number: found for number, found in frontier.items() if found is not None}
            if not open_nodes:
                return
            number = max(open_nodes, key=lambda n: (open_nodes[n][0], -n))
            first = self.split(number, *frontier.pop(number))
            for child in (first, first + 1):
                frontier[child] = self.consider(child)

    # Leaves

    def leaf(self, rows: list[int]) -> list[float]:
        labels = self.labels
        weight = 0.0
        for row in rows:
            weight += self.exact[row]
        numbers: list[float] = []
        for output in range(labels.n_outputs):
            if labels.n_classes:
                n_classes = labels.n_classes[output] if labels.n_outputs > 1 else max(2, labels.n_classes[0])
                for code in range(n_classes):
                    own = 0.0
                    for row in rows:
                        own += self.exact[row] if labels.codes[row, output] == code else 0.0
                    numbers.append(own / weight)
            elif self.rules.criterion == "absolute_error":
                numbers.append(self.exact_median(rows, output))
            else:
                first, distance = float(labels.values[rows[0], output]), 0.0
                for row in rows:
                    distance += self.exact[row] * (float(labels.values[row, output]) - first)
                numbers.append(distance / weight + first)
        return numbers

    def exact_median(self, rows: list[int], output: int) -> float:
        values = self.labels.values[:, output]
        order = sorted(rows, key=lambda row: float(values[row]))
        total, reached = sum(self.w[row] for row in rows), 0
        for i, row in enumerate(order):
            reached += self.w[row]
            if 2 * reached == total:
                return 0.5 * float(values[row]) + 0.5 * float(values[order[i + 1]])
            if 2 * reached > total:
                return float(values[row])
        raise AssertionError

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The fields of a `CartTree`, but for the covers."""
        names = ("feature", "split_bin", "left_bins", "missing_left", "left", "gain")
        arrays = {name: np.array([node[name] for node in self.nodes]) for name in names}
        arrays["count"] = np.array([len(node["rows"]) for node in self.nodes])
        value, vectors = np.zeros(len(self.nodes)), []
        for number, node in enumerate(self.nodes):
            if node["feature"] < 0:
                numbers = self.leaf(node["rows"])
                if self.labels.is_scalar:
                    value[number] = numbers[-1]
                else:
                    vectors.append(numbers)
        arrays["value"] = value
        arrays["vectors"] = np.array(vectors)
        return arrays

    def cover(self) -> NDArray[np.float64]:
        """Weights of the nodes, as the leaves' weights added up from the last node to the first."""
        cover = np.zeros(len(self.nodes))
        for number in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[number]
            if node["feature"] >= 0:
                cover[number] = cover[node["left"]] + cover[node["left"] + 1]
                continue
            for row in node["rows"]:
                cover[number] += self.exact[row]
        return cover
