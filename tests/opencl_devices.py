"""OpenCL devices for tests: those that run a kernel, which not every driver that is installed does."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import weald.devices.found
from weald.devices.found import FoundDevice, list_devices
from weald.devices.program import Program, program_of
from weald.runtime.errors import DeviceError, MissingExtraError


@cache
def _working() -> tuple[list[FoundDevice], str]:
    """The devices that compile our kernels, and why there are none. From now on no others are found in this process."""
    why = "there is no OpenCL device: pip install pocl-binary-distribution"
    try:
        found = list_devices()
    except MissingExtraError as error:
        return [], str(error)
    works = []
    for device in found:
        try:
            program_of(device, "uint8", "uint8")
            works.append(device)
        except DeviceError as error:
            why = str(error)
    handles = [device.handle for device in works]
    if len(handles) == 1:
        handles = _parts_of(handles[0])
    if handles:
        _show([(handle.platform, handle) for handle in handles])
        works = list_devices()
    return works, why


def _show(pairs: list[tuple[Any, Any]]) -> None:
    """Have pyopencl find these alone; a stand-in for it finds what it says."""
    import pyopencl

    others = weald.devices.found._handles
    weald.devices.found._handles = lambda cl: pairs if cl is pyopencl else others(cl)


def _parts_of(handle: Any) -> list[Any]:
    """A device as two, each with half of the cores, where it can be parted."""
    import pyopencl

    equally = pyopencl.device_partition_property.EQUALLY
    try:
        return list(handle.create_sub_devices([equally, handle.max_compute_units // 2])[:2])
    except pyopencl.Error:
        return [handle]


def devices(least: int) -> list[FoundDevice]:
    """So many devices; a test is skipped where there are fewer."""
    works, why = _working()
    if len(works) < least:
        pytest.skip(why if not works else f"there are only {len(works)} OpenCL devices")
    return works[:least]


def program(codes: str = "uint8", leaves: str = "uint8") -> Program:
    """The kernels on a device."""
    return program_of(devices(1)[0], codes, leaves)
