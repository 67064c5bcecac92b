"""Target statistics are sums of integers: order, blocks and threads cannot change them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weald import TargetStatisticsEncoder
from weald.encoding.formulas import sums_before, total_sums
from weald.encoding.targets import number_targets
from weald.runtime.random import permutation


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.floats(-1e6, 1e6)), min_size=1, max_size=60),
    st.integers(0, 2**64 - 1),
)
def test_past_own_label_and_future_add_up_to_the_total(rows: list[tuple[int, float]], key: int) -> None:
    codes = np.array([code for code, _ in rows], np.uint32)
    target = number_targets(np.array([label for _, label in rows])).values[0]
    order = permutation(len(rows), key)
    past, future = sums_before(codes, order, target, 5), sums_before(codes, order[::-1].copy(), target, 5)
    total = total_sums(codes, target, 5)
    assert np.array_equal(past.sums + target + future.sums, total.sums[codes])
    assert np.array_equal(past.counts + 1 + future.counts, total.counts[codes])


@pytest.mark.parametrize("kind", ["greedy", "leave_one_out"])
def test_kinds_without_a_draw_do_not_depend_on_the_order_of_the_rows(kind: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(9, size=(500, 2)), rng.normal(size=500)
    order = rng.permutation(500)
    encoder = TargetStatisticsEncoder(kind, categorical_features=[0, 1])
    assert np.array_equal(encoder.fit_transform(X, y)[order], encoder.fit_transform(X[order], y[order]))


@pytest.mark.parametrize("kind", ["ordered", "holdout"])
def test_one_two_and_three_threads_at_once_give_the_same_bytes(kind: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(900, size=(70_000, 1)), rng.normal(size=70_000)

    def encode(seed: int) -> bytes:
        encoder = TargetStatisticsEncoder(kind, categorical_features=[0], random_state=seed)
        return encoder.fit_transform(X, y).tobytes() + encoder.transform(X).tobytes()

    found = set()
    for threads in (1, 2, 3):
        with ThreadPoolExecutor(threads) as pool:
            found |= set(pool.map(encode, [7] * threads))
    assert len(found) == 1
    assert encode(8) not in found
