"""Where numbers that every row of a table has are kept in training: in memory, or in files that are mapped into it."""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from weald.runtime.errors import InputError
from weald.runtime.resident import INTERPRETER, resident_bytes, said_of

_PAGE = mmap.PAGESIZE
_BETWEEN_LOOKS = 0.02  # seconds; in this time a kernel maps some 50 MB
_RELAXED, _TIGHT = 0.7, 0.85  # shares of the limit below which nothing, and above which everything is released


class RowMemory(Protocol):
    """Gives arrays that are as long as a table, and is told which parts of them will not be needed soon."""

    @property
    def piece_rows(self) -> int | None:
        """How many rows to work on before they are released; None: all at once."""

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array of zeros."""

    def release(self, *arrays: NDArray[Any]) -> None:
        """Parts of such arrays, or others, are done with for now."""

    def check_room(self, size: int, what: str, instead: str) -> None:
        """Refuse ``what`` where it takes so many bytes of the process itself that a limit has no room for them."""


class InMemory:
    """Plain arrays, which stay where they are."""

    piece_rows = None

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array of zeros."""
        return np.zeros(shape, dtype)

    def release(self, *arrays: NDArray[Any]) -> None:
        """Nothing is to be done."""

    def check_room(self, size: int, what: str, instead: str) -> None:
        """There is no limit."""


IN_MEMORY = InMemory()


class MappedFiles:
    """Arrays in files of a folder, which no name leads to: they are gone with the process, however it ends.

    What is released leaves the process's memory, and stays in the system's cache of files as long as there is room.
    ``limit``: what the process may have resident, in bytes; well below it nothing is released, as it would only have to come
    back, and close to it everything is. None: what is released goes at once.
    """

    piece_rows = 2**20

    def __init__(self, folder: str | os.PathLike[str], limit: int | None = None) -> None:
        self._folder = Path(folder)
        self._limit = limit
        self._maps: list[weakref.ref[mmap.mmap]] = []
        self._lock = threading.Lock()
        if limit is not None:
            threading.Thread(target=_keep, args=(weakref.ref(self),), name="weald-memory", daemon=True).start()

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array of zeros, in a file of its own."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if size == 0:
            return np.zeros(shape, dtype)
        try:
            with tempfile.TemporaryFile(dir=self._folder, prefix=".weald-rows-") as file:
                _allocate(file.fileno(), size)
                mapped = mmap.mmap(file.fileno(), size)
        except OSError as error:
            raise InputError(
                f"{size / 2**20:.0f} MiB for what training keeps of every row cannot be had in {self._folder}: {error.strerror}."
            ) from error
        return self._array_of(mapped, dtype).reshape(shape)

    def mapped(self, path: str | os.PathLike[str], dtype: DTypeLike) -> NDArray[Any]:
        """The numbers in a file, as they are needed; what is written to the array does not reach the file."""
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                return np.empty(0, dtype)
            return self._array_of(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY), dtype)

    def release(self, *arrays: NDArray[Any]) -> None:
        """Take the pages that lie wholly inside of the arrays out of this process's memory, if it is to have fewer."""
        if self._limit is not None:
            resident = resident_bytes() or self._limit
            if resident < _RELAXED * self._limit:
                return
            if resident > _TIGHT * self._limit:
                self._release_all()
                return
        for array in arrays:
            for row in array if array.ndim > 1 else (array,):
                _release(row)

    def check_room(self, size: int, what: str, instead: str) -> None:
        """Refuse what the limit has no room for beside the interpreter; what is mapped can go."""
        if self._limit is not None and size > self._limit - INTERPRETER:
            raise InputError(
                f"memory_limit={said_of(self._limit)} has no room for {what}, which takes {said_of(size)}; use {instead}, or "
                "give more."
            )

    def _array_of(self, mapped: mmap.mmap, dtype: DTypeLike) -> NDArray[Any]:
        with self._lock:
            self._maps.append(weakref.ref(mapped))
        return np.frombuffer(mapped, dtype)

    def _release_all(self) -> None:
        with self._lock:
            self._maps = [known for known in self._maps if known() is not None]
            maps = list(self._maps)
        for known in maps:
            mapped = known()
            if mapped is not None and hasattr(mapped, "madvise"):
                mapped.madvise(mmap.MADV_DONTNEED)


def _keep(of: weakref.ref[MappedFiles]) -> None:
    """Look after a limit also while one kernel reads arrays that are longer than there is room for."""
    while (memory := of()) is not None:
        memory.release()
        del memory
        time.sleep(_BETWEEN_LOOKS)


def _allocate(file: int, size: int) -> None:
    """Take the room now: a disk that fills while a mapped page is written would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:
        os.truncate(file, size)


def _release(array: NDArray[Any]) -> None:
    mapped = _map_of(array)
    if mapped is None or not hasattr(mapped, "madvise"):
        return
    start = array.__array_interface__["data"][0] - np.frombuffer(mapped, np.uint8).__array_interface__["data"][0]
    begin, end = (start + _PAGE - 1) // _PAGE * _PAGE, (start + array.nbytes) // _PAGE * _PAGE
    if end > begin:
        mapped.madvise(mmap.MADV_DONTNEED, begin, end - begin)


def _map_of(array: NDArray[Any]) -> mmap.mmap | None:
    """The map that an array is a view of, at any number of steps."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, mmap.mmap) else None
