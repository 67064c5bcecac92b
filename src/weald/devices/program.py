"""The kernels of one device, its queue, and its memory."""

from __future__ import annotations

import gc
import os
import threading
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from weald.devices.found import FoundDevice, naming
from weald.devices.twins import reckons_exactly
from weald.runtime.errors import DeviceError
from weald.runtime.extras import load_extra

_FOLDER = Path(__file__).parent / "kernels"
_NEED_DOUBLES = ("round.cl", "predict.cl")

Buffer = Any  # pyopencl's


@lru_cache(maxsize=1)
def _first_process() -> int:
    """The process that used a device first, of this one and those that it was forked from."""
    return os.getpid()


def program_of(device: FoundDevice, codes: str, leaves: str) -> Program:
    """The kernels for bins and leaf numbers of these types (``np.dtype.name``), compiled once a process.

    Drivers have threads of their own, which a child of fork does not get: it would wait for them for ever.
    """
    program = _made(device, codes, leaves)
    if program.process != os.getpid():
        raise DeviceError(
            f"{device.label} was used before this process was forked, and cannot be used in it; start processes by "
            "multiprocessing's 'spawn', or use device='cpu'."
        )
    return program


@lru_cache(maxsize=8)
def _made(device: FoundDevice, codes: str, leaves: str) -> Program:
    return Program(device, np.dtype(codes), np.dtype(leaves))


class Program:
    """What runs on a device: kernels by name, one after another, in the order in which they are asked for."""

    def __init__(self, device: FoundDevice, codes: np.dtype[Any], leaves: np.dtype[Any]) -> None:
        self.device = device
        self.process = _first_process()
        self._cl = cl = load_extra("pyopencl", "device='opencl'")
        self._lock = threading.Lock()  # a kernel keeps its arguments until it is started
        kinds = {"uint8": "uchar", "uint16": "ushort", "int32": "int"}
        options = [
            "-cl-std=CL1.2",
            f"-DCODE={kinds[codes.name]}",
            f"-DLEAF={kinds[leaves.name]}",
            f"-DGROUP={device.group}",
        ]
        names = ["common.cl", "histogram.cl", "partition.cl", *(_NEED_DOUBLES if device.has_doubles else ())]
        source = "\n".join((_FOLDER / name).read_text("utf-8") for name in names)
        with naming(device, "compiling its kernels"):
            self._context = cl.Context([device.handle])
            self._queue = cl.CommandQueue(self._context)
            built = cl.Program(self._context, source).build(options)
            self._kernels = {kernel.function_name: kernel for kernel in built.all_kernels()}
        #: whether it has doubles that give the same bits as the host's
        self.has_exact_doubles = device.has_doubles and reckons_exactly(self)

    def run(self, name: str, groups: tuple[int, ...], *arguments: Any) -> None:
        """Start a kernel with so many groups of `FoundDevice.group` work-items, none without groups.

        Arguments are buffers, and numbers of NumPy's types.
        """
        if not all(groups):
            return
        group = self.device.group
        size, local = (groups[0] * group, *groups[1:]), (group, *(1 for _ in groups[1:]))
        with naming(self.device, f"running the kernel {name}"), self._lock:
            kernel = self._kernels[name]
            kernel.set_args(*arguments)
            self._cl.enqueue_nd_range_kernel(self._queue, kernel, size, local)

    def local(self, n_bytes: int) -> Any:
        """Local memory, as an argument of a kernel."""
        return self._cl.LocalMemory(max(n_bytes, 4))

    def room(self, count: int, dtype: DTypeLike) -> Buffer:
        """Memory of the device for so many numbers."""
        n_bytes = max(1, count) * np.dtype(dtype).itemsize
        make = partial(self._cl.Buffer, self._context, self._cl.mem_flags.READ_WRITE, n_bytes)
        with naming(self.device, f"{n_bytes / 2**20:.1f} MiB more"):
            try:
                return make()
            except self._cl.MemoryError:
                gc.collect()  # what an earlier training has left
                return make()

    def zeros(self, count: int, dtype: DTypeLike) -> Buffer:
        """The same, filled with zeros."""
        buffer = self.room(count, dtype)
        with naming(self.device, "filling its memory"):
            self._cl.enqueue_fill_buffer(self._queue, buffer, np.uint8(0), 0, buffer.size)
        return buffer

    def put(self, array: NDArray[Any], buffer: Buffer) -> None:
        """Copy an array to the beginning of a buffer."""
        if array.size:
            with naming(self.device, "receiving rows"):
                self._cl.enqueue_copy(self._queue, buffer, np.ascontiguousarray(array))

    def constant(self, array: NDArray[Any]) -> Buffer:
        """An array for a kernel to read; copied at once, without waiting for kernels that were started before."""
        if not array.size:
            return self.room(0, array.dtype)
        flags = self._cl.mem_flags.READ_ONLY | self._cl.mem_flags.COPY_HOST_PTR
        with naming(self.device, f"{array.nbytes / 2**20:.1f} MiB more"):
            return self._cl.Buffer(self._context, flags, hostbuf=np.ascontiguousarray(array))

    def get(self, buffer: Buffer, array: NDArray[Any], first: int = 0) -> None:
        """Copy a part of a buffer, from its number ``first`` on, to an array; kernels that were started before end first."""
        if array.size:
            with naming(self.device, "sending results"):
                self._cl.enqueue_copy(self._queue, array, buffer, src_offset=first * array.itemsize)
