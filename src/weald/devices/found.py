"""The OpenCL devices of this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from weald.runtime.errors import DeviceError, InputError, MissingExtraError
from weald.runtime.extras import load_extra

INSTALL = "install its maker's driver with OpenCL, or PoCL, which runs OpenCL on the CPU (pip install pocl-binary-distribution)"

# What a compiler says behind pages of what it was called with.
_REASON = re.compile(r"^.*?\b(error: .*?)( Device .*)?$")


@dataclass(frozen=True)
class FoundDevice:
    """A device, and what matters of it."""

    number: int
    name: str
    platform: str
    kind: str  # GPU, CPU, accelerator
    memory: int  # bytes
    largest_buffer: int
    local_memory: int
    group: int  # work-items of a group, a power of two
    has_doubles: bool
    handle: Any  # pyopencl's

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"OpenCL device {self.number} ({self.name})"

    @property
    def description(self) -> str:
        """A line for people."""
        doubles = "" if self.has_doubles else ", no doubles"
        return f"{self.name} ({self.kind}, {self.platform}), {self.memory / 2**20:.0f} MiB{doubles}"


_MOST_GROUP = 256


def list_devices() -> list[FoundDevice]:
    """All devices, in the order of their numbers: those of other makers than the CPU's first.

    Raises:
        MissingExtraError: where pyopencl is not installed.
    """
    cl = load_extra("pyopencl", "device='opencl'")
    return [_found(cl, number, *pair) for number, pair in enumerate(_handles(cl))]


def _handles(cl: Any) -> list[tuple[Any, Any]]:
    """(platform, device) of all that can be used."""
    handles = []
    try:
        platforms = cl.get_platforms()
    except cl.Error:  # without any platform that is an error
        return []
    for platform in platforms:
        try:
            handles += [(platform, handle) for handle in platform.get_devices()]
        except cl.Error:  # a platform whose device is not there
            continue
    handles.sort(key=lambda pair: bool(pair[1].type & cl.device_type.CPU))
    return [pair for pair in handles if pair[1].available and pair[1].endian_little]


def _found(cl: Any, number: int, platform: Any, handle: Any) -> FoundDevice:
    kinds = ((cl.device_type.GPU, "GPU"), (cl.device_type.CPU, "CPU"))
    kind = next((name for flag, name in kinds if handle.type & flag), "accelerator")
    group = min(_MOST_GROUP, handle.max_work_group_size)
    return FoundDevice(
        number,
        " ".join(handle.name.split()),
        " ".join(platform.name.split()),
        kind,
        int(handle.global_mem_size),
        int(handle.max_mem_alloc_size),
        int(handle.local_mem_size),
        1 << (int(group).bit_length() - 1),
        "cl_khr_fp64" in handle.extensions.split(),
        handle,
    )


def chosen_devices(numbers: tuple[int, ...]) -> list[FoundDevice]:
    """The devices of these numbers."""
    found = list_devices()
    if not found:
        raise InputError(
            f"device='opencl' finds no OpenCL device on this machine; {INSTALL}, or use device='cpu'."
        )
    for number in numbers:
        if number >= len(found):
            known = ", ".join(f"{one.number} ({one.name})" for one in found)
            raise InputError(f"device='opencl:{number}' is not there; the OpenCL devices here are {known}.")
    return [found[number] for number in numbers]


def device_rows() -> list[tuple[str, str]]:
    """What `weald doctor` says of devices: rows of (name, value).

    >>> device_rows()[0][0].startswith("OpenCL")
    True
    """
    try:
        found = list_devices()
    except MissingExtraError as error:
        return [("OpenCL", f"not there: {error}")]
    rows = [(f"OpenCL device {one.number}", one.description + _trouble(one)) for one in found]
    return rows or [("OpenCL", f"no device: {INSTALL}")]


def _trouble(device: FoundDevice) -> str:
    """Why a device runs no kernels, where it does not: a driver that does not know its hardware says so when it compiles."""
    cl = load_extra("pyopencl", "device='opencl'")
    try:
        with naming(device, "compiling a kernel"):
            cl.Program(cl.Context([device.handle]), "__kernel void nothing(__global int *a) {}").build()
    except DeviceError as error:
        return f"; {error}"
    return ""


@contextmanager
def naming(device: FoundDevice, doing: str) -> Iterator[None]:
    """Errors of OpenCL inside of it become one sentence that names the device."""
    cl = load_extra("pyopencl", "device='opencl'")
    try:
        yield
    except (cl.Error, RuntimeError) as error:
        why = _REASON.sub(r"\1", " ".join(str(error).split()))
        if isinstance(error, cl.MemoryError) or "INVALID_BUFFER_SIZE" in why:
            raise DeviceError(
                f"{device.label} has too little memory for {doing}; set a smaller memory_limit, as in "
                f"device=weald.OpenCL('{device.number}', memory_limit='{device.memory // 2**22} MB'), or use device='cpu'."
            ) from error
        raise DeviceError(f"{device.label} failed while {doing}: {why:.300}; use device='cpu'.") from error
