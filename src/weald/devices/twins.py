"""The kernels that reckon with floats, in NumPy: what a device has to come to, and whether it does.

A compiler may join a product and a sum into one operation that rounds once, although the kernels forbid it. Then the host does
what these kernels do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.tree.histograms.quantise import Rounding

if TYPE_CHECKING:
    from weald.devices.program import Program

Float32s = NDArray[np.float32]
Uint32s = NDArray[np.uint32]
Uint64s = NDArray[np.uint64]

_TRIED = 2_000  # rows


def row_bits(key: np.uint32, rows: Uint32s) -> Uint32s:
    """32 mixed bits for every row."""
    bits = rows ^ key
    bits = (bits ^ (bits >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    bits = (bits ^ (bits >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return bits ^ (bits >> np.uint32(16))


def round_packed(gradient: Float32s, hessian: Float32s, order: Uint32s, rounding: Rounding) -> Uint64s:
    """The entries of rows, in this order."""
    bits = row_bits(rounding.key, order + rounding.first)
    share = 1.0 / 65536.0
    g = gradient[order].astype(np.float64) * rounding.gradient_scale + (bits & np.uint32(0xFFFF)) * share
    h = hessian[order].astype(np.float64) * rounding.hessian_scale + (bits >> np.uint32(16)) * share
    packed = ((g + 8192.0).astype(np.int32) - 8192) << 12 | h.astype(np.int32)
    return (order.astype(np.uint64) << np.uint64(32)) | packed.view(np.uint32)


def round_wide(gradient: Float32s, hessian: Float32s, rounding: Rounding) -> Uint64s:
    """The wide gradients of all rows."""
    g = np.floor(gradient.astype(np.float64) * rounding.gradient_scale + 0.5).astype(np.int64)
    h = (hessian.astype(np.float64) * rounding.hessian_scale + 0.5).astype(np.int64)
    return ((g << 32) | h).view(np.uint64)


def leaf_sums(
    leaf_of_row: NDArray[Any], n_leaves: int, numbers: tuple[Float32s, Float32s], scales: tuple[float, float]
) -> NDArray[np.int64]:
    """Sums of gradients and hessians of every leaf, in fixed point; a row whose leaf is ``n_leaves`` is in none."""
    sums = np.zeros((n_leaves + 1, 2), np.int64)
    for place, (own, scale) in enumerate(zip(numbers, scales, strict=True)):
        np.add.at(sums[:, place], leaf_of_row, (own.astype(np.float64) * scale).astype(np.int64))
    return sums[:n_leaves]


def tried(n_rows: int) -> tuple[Float32s, Float32s]:
    """Gradients and hessians of all sizes, those too small for normal numbers among them."""
    rng = np.random.default_rng(n_rows)
    sizes = np.exp2(rng.integers(-149, 1, n_rows))
    sizes[::2] = 1.0
    gradient = (rng.uniform(-1.0, 1.0, n_rows) * sizes).astype(np.float32)
    return gradient, (rng.uniform(0.0, 1.0, n_rows) * sizes).astype(np.float32)


def reckons_exactly(program: Program) -> bool:
    """Whether a device's doubles give the same bits as the host's."""
    gradient, hessian = tried(_TRIED)
    rounding = Rounding(True, 4094.0 / 0.9, 4094.0 / 0.7, np.uint32(77), np.uint32(5))
    order = np.arange(_TRIED, dtype=np.uint32)
    count, groups = np.uint32(_TRIED), (-(-_TRIED // program.device.group),)
    arrays = [program.constant(array) for array in (gradient, hessian, order)]
    scales = np.float64(rounding.gradient_scale), np.float64(rounding.hessian_scale)
    entries, wide = program.room(_TRIED, np.uint64), program.room(_TRIED, np.uint64)
    found = np.empty(_TRIED, np.uint64)
    given = (*arrays, np.int32(0), count, *scales)
    program.run("round_packed", groups, *given, rounding.key, rounding.first, entries)
    program.get(entries, found)
    if not np.array_equal(found, round_packed(gradient, hessian, order, rounding)):
        return False
    program.run("round_wide", groups, *given, wide, entries)
    program.get(wide, found)
    return np.array_equal(found, round_wide(gradient, hessian, rounding))
