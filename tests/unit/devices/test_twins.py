"""The kernels that reckon with floats against their twins in NumPy, bit for bit; the others are in test_shard.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest

import weald
from opencl_devices import devices, program
from weald.devices import program as programs
from weald.devices import twins
from weald.devices.program import Program
from weald.runtime.random import row_bits
from weald.tree.histograms.quantise import Rounding, fill_entries
from weald.tree.rows.leaf import fixed_scales, whole_leaf_sums

SIZES = [1, 2, 255, 256, 257, 5_000]  # of a group's 256 work-items one less and one more


def rounding_of(packed: bool, n_rows: int) -> Rounding:
    gradient, hessian = twins.tried(n_rows)
    limits = (4094.0, 4094.0) if packed else (2.0**31 - 2, 2.0**25 - 2)
    scales = [
        limit / max(float(np.abs(own).max()), 1e-60)
        for limit, own in zip(limits, (gradient, hessian), strict=True)
    ]
    return Rounding(packed, *scales, np.uint32(0xDEADBEEF), np.uint32(2**32 - 3))


@pytest.mark.parametrize("n_rows", SIZES)
def test_gradients_are_rounded_as_by_the_twin_and_by_the_host(n_rows: int) -> None:
    own = program()
    gradient, hessian = twins.tried(n_rows)
    order = np.random.default_rng(n_rows).permutation(n_rows).astype(np.uint32)
    arrays = [own.constant(array) for array in (gradient, hessian, order)]
    entries, wide = own.room(n_rows, np.uint64), own.room(n_rows, np.uint64)
    groups, count = (-(-n_rows // own.device.group),), np.uint32(n_rows)
    for packed in (True, False):
        rounding = rounding_of(packed, n_rows)
        scales = np.float64(rounding.gradient_scale), np.float64(rounding.hessian_scale)
        found, found_wide = np.empty(n_rows, np.uint64), np.zeros(n_rows, np.uint64)
        if packed:
            own.run(
                "round_packed",
                groups,
                *arrays,
                np.int32(0),
                count,
                *scales,
                rounding.key,
                rounding.first,
                entries,
            )
        else:
            own.run("round_wide", groups, *arrays, np.int32(0), count, *scales, wide, entries)
            own.get(wide, found_wide)
        own.get(entries, found)
        host, host_wide = np.empty(n_rows, np.uint64), np.zeros(n_rows, np.uint64)
        fill_entries(gradient, hessian, order, rounding, 1, host_wide, host)
        assert found.tobytes() == host.tobytes() and found_wide.tobytes() == host_wide.tobytes()
        if packed:
            assert found.tobytes() == twins.round_packed(gradient, hessian, order, rounding).tobytes()
        else:
            assert found_wide.tobytes() == twins.round_wide(gradient, hessian, rounding).tobytes()


@pytest.mark.parametrize(
    ("n_leaves", "leaves"), [(1, "uint8"), (254, "uint8"), (7, "int32"), (5_000, "int32")]
)
def test_leaves_are_summed_as_by_the_twin_and_by_the_host(n_leaves: int, leaves: str) -> None:
    """In local memory, and where it has no room for all leaves."""
    own = program("uint8", leaves)
    for n_rows in (1, 257, 9_001):
        gradient, hessian = twins.tried(n_rows)
        leaf_of_row = np.random.default_rng(3).integers(0, n_leaves + 1, n_rows).astype(leaves)
        scales = fixed_scales((1.0, 1.0), n_rows)
        sums = own.zeros(2 * n_leaves, np.int64)
        in_local = 16 * n_leaves <= 2**15
        arrays = [own.constant(array) for array in (leaf_of_row, gradient, hessian)]
        counts = np.uint32(n_rows), np.uint32(1_000), np.uint32(n_leaves)
        room = own.local(16 * n_leaves if in_local else 4)
        in_doubles = map(np.float64, scales)
        own.run(
            "leaf_sums", (-(-n_rows // 1_000),), *arrays, *counts, *in_doubles, np.int32(in_local), sums, room
        )
        found = np.empty((n_leaves, 2), np.int64)
        own.get(sums, found)
        twin = twins.leaf_sums(leaf_of_row, n_leaves, (gradient, hessian), scales)
        host = whole_leaf_sums(leaf_of_row, n_leaves, gradient, hessian, scales, 1)
        assert np.array_equal(found, twin) and np.array_equal(found, host)


def test_the_twin_mixes_bits_as_the_host_does() -> None:
    rows = np.array([0, 1, 2**31, 2**32 - 1], np.uint32)
    mixed = [int(row_bits(np.uint32(9), row)) for row in rows]
    assert twins.row_bits(np.uint32(9), rows).tolist() == mixed


def test_a_device_whose_doubles_are_not_exact_leaves_them_to_the_host() -> None:
    """As a compiler would that joins products and sums: what the twin says is another number then."""
    device = devices(1)[0]
    assert program().has_exact_doubles
    assert not Program(
        replace(device, has_doubles=False), np.dtype(np.uint8), np.dtype(np.uint8)
    ).has_exact_doubles
    for name in ("round_packed", "round_wide"):
        right = getattr(twins, name)

        def off_by_one(*given: Any, right: Any = right) -> Any:
            return right(*given) ^ np.uint64(1)

        with mock.patch.object(twins, name, off_by_one):
            assert not twins.reckons_exactly(program())
    X, y = np.random.default_rng(1).normal(size=(200, 3)), np.arange(200.0) % 7
    expected = weald.BoostedTreesRegressor(n_estimators=2).fit(X, y)
    programs._made.cache_clear()
    with mock.patch.object(programs, "reckons_exactly", return_value=False):
        model = weald.BoostedTreesRegressor(n_estimators=2, device=f"opencl:{device.number}").fit(X, y)
    programs._made.cache_clear()
    assert model.forest_ == expected.forest_
