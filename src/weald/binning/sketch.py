"""A summary of weighted values that can be merged and pruned, and the cuts that it proposes.

Chen and Guestrin (2016, section 3.3 and the appendix). Of a multiset of values with weights let r-(y) be the weight of the
values below y and r+(y) that of the values up to and with y. A summary keeps some of the values, ascending, the least and the
greatest among them, each with

    lowest <= r-(value),    highest >= r+(value),    weight <= r+(value) - r-(value)

and so bounds the ranks of what lies between two kept values a and b: at least ``lowest + weight`` of a, at most
``highest - weight`` of b. The width of the widest bound is the summary's error; divided by the weight W of all
values it is the eps of the paper.

    built     0: every value is kept, with its exact ranks
    merged    at most the sum of both errors, so that eps is at most the larger of both
    pruned    to b + 1 entries: at most ceil(W / b) more, so that eps grows by 1 / b

A summary is int64 (entries, 4): VALUE, WEIGHT, LOWEST, HIGHEST. Values and weights are integers; here a value is the place of
a number among the distinct numbers of its column, which sorts as the number does. So nothing is rounded, and a summary depends
only on what it is built from and on the order of merges and prunes. Ranks are compared doubled, as a query may fall between
two.
"""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Int, Int64s, Uint8s
from weald.runtime.jit import ZERO, inlined, kernel

VALUE, WEIGHT, LOWEST, HIGHEST = 0, 1, 2, 3
FIELDS = 4

BLOCK = 65_536  # rows that are summarised together: their numbers within the block fit in two bytes
ACCURACY = 8  # a summary's error is at most a bucket divided by this

Summary = Int64s


@inlined
def _doubled_rank(part: Int, parts: Int, total: np.int64) -> np.int64:
    """2 * total * part / parts, rounded down, for a total whose product with the parts may not fit in 64 bits."""
    return 2 * part * (total // parts) + 2 * part * (total % parts) // parts


@inlined
def _keep(entries: Summary, i: Int, out: Summary, count: int) -> int:
    """Append entry ``i``, unless it is the last one there."""
    if count > 0 and out[count - 1, VALUE] == entries[i, VALUE]:
        return count
    for field in range(FIELDS):
        out[count, field] = entries[i, field]
    return count + 1


@kernel
def build_summary(values: Int64s, weights: Int64s, out: Summary) -> int:
    """The exact summary of ascending values; the number of entries is returned.

    ``out`` has room for every distinct value. What has no weight is left out, as it has no part in any rank.
    """
    count, before = 0, np.int64(0)
    for i in range(len(values)):
        if weights[i] == 0:
            continue
        if count == 0 or out[count - 1, VALUE] != values[i]:
            out[count, VALUE] = values[i]
            out[count, WEIGHT] = 0
            out[count, LOWEST] = before
            count += 1
        before += weights[i]
        out[count - 1, WEIGHT] += weights[i]
        out[count - 1, HIGHEST] = before
    return count


@kernel
def build_pruned(values: Int64s, weights: Int64s, most: Int, out: Summary) -> int:
    """`build_summary` and `prune_summary` of distinct ascending values with positive weights, in one pass.

    A value is kept when a query falls into the stretch of ranks that it fills; no other entry is ever written.
    """
    if len(values) <= most:
        return build_summary(values, weights, out)
    total = np.int64(0)
    for i in range(len(weights)):
        total += weights[i]
    count, part, after, last = 0, np.int64(0), np.int64(0), len(values) - 1
    wanted = np.int64(0)
    for i in range(len(values)):
        before, after = after, after + weights[i]
        if wanted < 2 * after or i == last:
            out[count, VALUE] = values[i]
            out[count, WEIGHT] = weights[i]
            out[count, LOWEST] = before
            out[count, HIGHEST] = after
            count += 1
            while part < most and wanted < 2 * after:
                part += 1
                wanted = _doubled_rank(part, most - 1, total)
    return count


@kernel
def merge_summaries(first: Summary, second: Summary, out: Summary) -> int:
    """The summary of both multisets together; ``out`` has room for the entries of both."""
    n, m = len(first), len(second)
    first_total = first[n - 1, HIGHEST] if n else ZERO
    second_total = second[m - 1, HIGHEST] if m else ZERO
    count, i, j = 0, 0, 0
    first_before, second_before = np.int64(0), np.int64(0)  # at least so much lies below, in each of them
    while i < n or j < m:
        from_first = i < n and (j == m or first[i, VALUE] <= second[j, VALUE])
        from_second = j < m and (i == n or second[j, VALUE] <= first[i, VALUE])
        weight, lowest, highest = np.int64(0), np.int64(0), np.int64(0)
        if from_first:
            out[count, VALUE] = first[i, VALUE]
            weight += first[i, WEIGHT]
            lowest += first[i, LOWEST]
            highest += first[i, HIGHEST]
            first_before = first[i, LOWEST] + first[i, WEIGHT]
            i += 1
        else:
            lowest += first_before
            highest += first[i, HIGHEST] - first[i, WEIGHT] if i < n else first_total
        if from_second:
            out[count, VALUE] = second[j, VALUE]
            weight += second[j, WEIGHT]
            lowest += second[j, LOWEST]
            highest += second[j, HIGHEST]
            second_before = second[j, LOWEST] + second[j, WEIGHT]
            j += 1
        else:
            lowest += second_before
            highest += second[j, HIGHEST] - second[j, WEIGHT] if j < m else second_total
        out[count, WEIGHT] = weight
        out[count, LOWEST] = lowest
        out[count, HIGHEST] = highest
        count += 1
    return count


@kernel
def find_rank(summary: Summary, doubled_rank: Int, start: np.int64) -> np.int64:
    """The entry whose rank is nearest to half of ``doubled_rank``: at most half of the error off.

    ``start``: an entry that is not behind the one sought; 0, or what a query for a lower rank gave.
    """
    i, last = start, len(summary) - 1
    while i < last and summary[i + 1, LOWEST] + summary[i + 1, HIGHEST] <= doubled_rank:
        i += 1
    if i == last or doubled_rank < summary[i, LOWEST] + summary[i, HIGHEST]:
        return i
    between = summary[i, LOWEST] + summary[i, WEIGHT] + summary[i + 1, HIGHEST] - summary[i + 1, WEIGHT]
    return i if doubled_rank < between else i + 1


@kernel
def prune_summary(summary: Summary, most: int, out: Summary) -> int:
    """At most ``most`` (2 or more) of the entries: those nearest to equally spaced ranks, from the first to the last."""
    count, at = 0, np.int64(0)
    if len(summary) <= most:
        for i in range(len(summary)):
            count = _keep(summary, i, out, count)
        return count
    total = summary[len(summary) - 1, HIGHEST]
    for part in range(most):
        at = find_rank(summary, _doubled_rank(part, most - 1, total), at)
        count = _keep(summary, at, out, count)
    return count


@kernel
def propose_cuts(summary: Summary, buckets: int, out: Int64s) -> int:
    """Values after which to cut, ascending: at most ``buckets - 1``; their number is returned.

    With no more values than buckets, after each but the last. Otherwise after those nearest to the ranks k * W / buckets, so that
    the weight strictly between neighbouring cuts is at most ceil(W / buckets) and the summary's error. A value so heavy
    that two of these ranks ask for it uses the second to be cut off on its other side too.
    """
    last = len(summary) - 1
    count = 0
    if last < buckets:
        for i in range(last):
            out[i] = summary[i, VALUE]
        return max(last, 0)
    total = summary[last, HIGHEST]
    at, previous, before = np.int64(0), np.int64(-1), np.int64(-1)  # the last two entries that were cut after
    for part in range(1, buckets):
        at = find_rank(summary, _doubled_rank(part, buckets, total), at)
        if at == last:
            if previous < last - 1:
                out[count] = summary[last - 1, VALUE]
                count += 1
            break
        if at > previous:
            out[count] = summary[at, VALUE]
            count += 1
            before, previous = previous, at
        elif before < at - 1:
            out[count - 1] = summary[at - 1, VALUE]
            out[count] = summary[at, VALUE]
            count += 1
            before = at - 1
    return count


@kernel
def merge_blocks(summaries: Int64s, counts: Int64s, merged: Summary) -> int:
    """One summary from those of all blocks, merged two by two and pruned in between; the number of its entries.

    ``summaries``, (blocks, entries, 4), of which block b has ``counts[b]``, are used up.
    """
    left, most = len(counts), summaries.shape[1]
    while left > 2:
        for pair in range(left // 2):
            first, second = 2 * pair, 2 * pair + 1
            count = merge_summaries(
                summaries[first, : counts[first]], summaries[second, : counts[second]], merged
            )
            counts[pair] = prune_summary(merged[:count], most, summaries[pair])
        if left % 2 == 1:
            pair = left // 2
            counts[pair] = prune_summary(summaries[left - 1, : counts[left - 1]], most, summaries[pair])
        left = (left + 1) // 2
    other = counts[1] if left == 2 else ZERO
    return merge_summaries(summaries[0, : counts[0]], summaries[left - 1, :other], merged)


@kernel
def fill_look_up(cuts: Int64s, count: int, bins: Uint8s) -> None:
    """``bins[code]``: the number of cuts below the code; the last is that of missing values."""
    begin = 0
    for cut in range(count):
        bins[begin : cuts[cut] + 1] = cut
        begin = cuts[cut] + 1
    bins[begin : len(bins) - 1] = count
    bins[len(bins) - 1] = count + 1


def entries_wanted(n_blocks: int, buckets: int) -> int:
    """Entries of a summary of so many blocks, so that its error is at most the share ``1 / ACCURACY`` of a bucket."""
    # A leaf's prune, and one after every merge but the last, each add W / (entries - 1).
    prunes = max(1, (n_blocks - 1).bit_length())
    return ACCURACY * prunes * buckets + 1
