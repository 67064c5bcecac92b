"""OpenCL devices for tests: those that run a kernel, which not every driver that is installed does."""

from __future__ import annotations

from functools import cache

import pytest

from weald.devices.found import FoundDevice, list_devices
from weald.devices.program import Program, program_of
from weald.runtime.errors import DeviceError, MissingExtraError


@cache
def _working() -> tuple[list[FoundDevice], str]:
    """The devices that compile our kernels, and why there are none."""
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
    return works, why


def devices(least: int) -> list[FoundDevice]:
    """So many devices; a test is skipped where there are fewer."""
    works, why = _working()
    if len(works) < least:
        pytest.skip(why if not works else f"there are only {len(works)} OpenCL devices")
    return works[:least]


def program(codes: str = "uint8", leaves: str = "uint8") -> Program:
    """The kernels on a device."""
    return program_of(devices(1)[0], codes, leaves)
