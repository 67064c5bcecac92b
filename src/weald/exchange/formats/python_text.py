"""What every exported Python file contains behind its tables."""

from __future__ import annotations

from typing import Final

RUNTIME: Final = '''

def exp(x):
    """e to the power of x by additions and multiplications, the same bits everywhere."""
    x = -746.0 if x < -746.0 else x
    x = 710.0 if x > 710.0 else x
    if x != x:
        return x
    exponent = (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0
    r = (x - exponent * 0.6931471803691238) - exponent * 1.9082149292705877e-10
    tail = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0)
    for factorial in (39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0):
        tail = 1.0 / factorial + r * tail
    half = (exponent * 0.5 + 6755399441055744.0) - 6755399441055744.0
    return (1.0 + (r + r * r * tail)) * math.ldexp(1.0, int(half)) * math.ldexp(1.0, int(exponent - half))


def sigmoid(x):
    return 1.0 / (1.0 + exp(-x))


def divided(a, b):
    """a / b as IEEE 754 has it."""
    if b:
        return a / b
    return NAN if a == 0.0 or a != a else math.copysign(INF, a) * math.copysign(1.0, b)


def leaf_of(row, reads, nodes, node):
    feature, threshold, left, missing_left, sets = nodes
    while feature[node] >= 0:
        x = row[reads[feature[node]]]
        if x != x:
            goes_left = missing_left[node]
        elif threshold[node] is None:
            goes_left = x in sets[node]
        else:
            goes_left = x <= threshold[node]
        node = left[node] if goes_left else left[node] + 1
    return node


def trees(row, reads, nodes, roots, values, base, averaged, divisor):
    scores = [0.0] * len(base) if averaged else list(base)
    outputs = len(base)
    for number, root in enumerate(roots):
        value = values[leaf_of(row, reads, nodes, root)]
        if isinstance(value, tuple):
            for output in range(outputs):
                scores[output] += value[output]
        else:
            scores[number % outputs] += value
    if averaged:
        scores = [score / averaged + start for score, start in zip(scores, base)]
    return [score / divisor for score in scores]


def tree_values(row, reads, nodes, roots, values):
    return [values[leaf_of(row, reads, nodes, root)] for root in roots]


def lookup(row, reads, sizes, cells, default):
    group = 0
    for slot, size in zip(reads, sizes):
        code = row[slot]
        group = group * size + (size - 1 if code != code else int(code))
    return cells.get(group, default)


def weighted(row, reads, start, weights):
    scores = []
    for score, line in zip(start, weights):
        for slot, weight in zip(reads, line):
            x = row[slot]
            if weight != 0.0:
                score += weight * (0.0 if x != x else x)
        scores.append(score)
    return scores


def mapped(row, reads, function):
    return [FUNCTIONS[function](row[slot]) for slot in reads]


FUNCTIONS = {
    "exp": lambda x: min(exp(x), 1.7976931348623157e308),
    "sigmoid": sigmoid,
    "step": lambda x: float(x > 0.0),
    "double": lambda x: 2.0 * x,
    "complement": lambda x: 1.0 - x,
    "choose_above": lambda x: float(x > 0.0),
}


def divide(row, reads, by):
    return [row[slot] / by for slot in reads]


def softmax(row, reads):
    scores = [row[slot] for slot in reads]
    most = scores[0]
    for score in scores:
        most = score if score > most else most
    powers = [exp(score - most) for score in scores]
    total = 0.0
    for power in powers:
        total += power
    return [divided(power, total) for power in powers]


def one_vs_rest(row, reads):
    scores = [row[slot] for slot in reads]
    shift = min(max(scores), 0.0)
    parts, total = [], 0.0
    for score in scores:
        parts.append((1.0 if score > 0.0 else exp(score - shift)) / (1.0 + exp(-abs(score))))
        total += parts[-1]
    return [divided(part, total) for part in parts]


def average(row, reads, members, weights):
    size = len(reads) // members
    means = []
    for place in range(size):
        said = [row[reads[member * size + place]] for member in range(members)]
        if weights:
            total = 0.0
            for weight, one in zip(weights, said):
                total += weight * one
            means.append(total)
        else:
            total = said[0]
            for one in said[1:]:
                total += one
            means.append(total / members)
    return means


def choose(row, reads):
    return [float(largest([row[slot] for slot in reads]))]


def votes(row, reads, weights, classes, rounded):
    shares = [0.0] * classes
    for slot, weight in zip(reads, weights):
        shares[int(row[slot])] += weight
    return [round(share * 1e12) / 1e12 for share in shares] if rounded else shares


def median(row, reads, weights):
    values = [row[slot] for slot in reads]
    order = sorted(range(len(values)), key=values.__getitem__)
    below, sums = 0.0, []
    for place in order:
        below += weights[place]
        sums.append(below)
    return [next(values[place] for place, sum_ in zip(order, sums) if sum_ >= 0.5 * below)]


def constant(row, reads, values):
    return values


def largest(values):
    """The place of the largest number, of equals the first."""
    place = 0
    for other, value in enumerate(values):
        place = other if value > values[place] else place
    return place


def number(cell):
    x = NAN if cell is None else float(cell)
    if MISSING == "zero":
        return NAN if x == 0.0 else x
    return 0.0 if MISSING == "none" and x != x else x


def slots(cells):
    """All numbers of a row: its cells, by name or in the order of COLUMNS, and those of every step."""
    if isinstance(cells, dict):
        cells = [cells[name] for name in COLUMNS]
    if len(cells) != len(COLUMNS):
        raise ValueError(f"a row has {len(COLUMNS)} columns, not {len(cells)}")
    row = [
        number(cell) if codes is None else codes.get(cell, NAN) for cell, codes in zip(cells, CATEGORIES)
    ]
    for function, arguments in STEPS:
        row.extend(function(row, *arguments))
    return row


def scores(cells):
    """The raw scores of a row."""
    row = slots(cells)
    return [row[slot] for slot in SCORES]


def predict_values(cells):
    """The predictions of a row, or the probabilities of its classes, for every output."""
    row = slots(cells)
    return [[row[slot] for slot in output["values"]] for output in OUTPUTS]


def predict_proba(cells):
    """The probabilities of CLASSES."""
    (values,) = predict_values(cells)
    return values


def label_of(row, output):
    if output["classes"] is None:
        values = [row[slot] for slot in output["values"]]
        return values[0] if len(values) == 1 else values
    decided = [row[slot] for slot in output["decided"]]
    if output["rule"] == "above":
        return output["classes"][decided[0] > 0.0]
    place = largest(decided)
    if output["rule"] == "majority" and decided[place] <= 0.5:
        return output["refusal"]
    return output["classes"][place]


def predict(cells):
    """The label of a row: a number or a class; a list where there are several."""
    row = slots(cells)
    labels = [label_of(row, output) for output in OUTPUTS]
    return labels[0] if len(labels) == 1 else labels
'''
