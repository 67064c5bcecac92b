"""A grower whose rows are on OpenCL devices."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weald.binning import DenseBins
from weald.binning.sharded import ShardedBins
from weald.devices.found import FoundDevice, chosen_devices
from weald.devices.parameters import DevicePlan
from weald.devices.program import program_of
from weald.devices.room import RoomPlan
from weald.devices.shard import DeviceShard
from weald.tree.rows.leaf import LeafNumbers
from weald.tree.rules import TreeRules
from weald.tree.shards.table import MakeShard, ShardGrower
from weald.tree.state import TreeInput

_SHARE = 0.8  # of a device's memory


class DeviceGrower(ShardGrower):
    """Grows trees on devices; with target statistics the bins of a round are sent to them when it begins."""

    def turn(self, bins: DenseBins | ShardedBins, columns: NDArray[np.int64]) -> None:
        """The devices get the other table's bins."""
        if isinstance(bins, DenseBins):
            bins = ShardedBins.of(bins, sizes=[block.n_rows for block in self.bins.blocks])
        super().turn(bins, columns)


def device_grower(
    plan: DevicePlan, bins: DenseBins | ShardedBins, rules: TreeRules, precision: str, tasks: int
) -> DeviceGrower:
    """Grow trees on the rows of ``bins``, in about equal parts on each of the devices."""
    devices = chosen_devices(plan.numbers)
    limits = [int(_SHARE * one.memory) if plan.memory_limit is None else plan.memory_limit for one in devices]
    if isinstance(bins, DenseBins):
        bins = _in_blocks(bins, devices, limits)
    parts: list[tuple[int, MakeShard]] = []
    for device, limit, n_blocks in zip(devices, limits, _shares(bins, len(devices)), strict=True):
        if n_blocks:
            parts.append((n_blocks, partial(_shard_on, device, limit)))
    return DeviceGrower(bins, rules, precision, tasks, parts, at_once=True)


def _in_blocks(bins: DenseBins, devices: list[FoundDevice], limits: list[int]) -> ShardedBins:
    """A part for each device, in as many blocks as its memory asks for."""
    sizes: list[int] = []
    ends = np.linspace(0, bins.n_rows, len(devices) + 1).astype(np.int64).tolist()
    for device, limit, (begin, end) in zip(devices, limits, pairwise(ends), strict=True):
        plan = RoomPlan(bins.n_columns, bins.columns.dtype, np.dtype(np.int32), limit)
        most = plan.most_rows(device)
        sizes += [min(most, end - first) for first in range(begin, end, most)]
    return ShardedBins.of(bins, sizes=sizes)


def _shares(bins: ShardedBins, n_devices: int) -> list[int]:
    """How many of the blocks each device gets: neighbours, of about as many rows."""
    ends = np.cumsum([0, *(block.n_rows for block in bins.blocks)])
    wanted = np.linspace(0, ends[-1], n_devices + 1)[1:-1]
    nearest = [int(np.abs(ends - place).argmin()) for place in wanted]
    return [last - first for first, last in pairwise([0, *nearest, len(bins.blocks)])]


def _shard_on(
    device: FoundDevice,
    limit: int,
    bins: ShardedBins,
    first: int,
    data: TreeInput,
    leaf_of_row: LeafNumbers,
    tasks: int,
) -> DeviceShard:
    program = program_of(device, bins.codes.name, leaf_of_row.dtype.name)
    return DeviceShard(program, limit, bins, first, data, leaf_of_row, tasks)
