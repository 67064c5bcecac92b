"""The bytes of a file, decompressed, as often as they are asked for."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra

_MAGIC = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ".zip",
}
COMPRESSIONS = tuple(_MAGIC.values())
_DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


@contextmanager
def damage_named(name: str) -> Iterator[None]:
    """Turn what a damaged compressed file raises into a sentence that names it."""
    try:
        yield
    except (*_DAMAGED, OSError) as error:
        if (
            isinstance(error, OSError) and error.errno is not None
        ):  # the system's own: no permission, a disk that fails
            raise
        raise InputError(f"the file {name!r} cannot be read: {error}") from None


@dataclass(frozen=True)
class Source:
    """A file without its compression: ``name`` is for messages, ``plain_name`` tells the format, and is "
    "empty where nothing does."""

    name: str
    plain_name: str
    open: Callable[[], BinaryIO]

    def head(self, size: int) -> bytes:
        """The first bytes."""
        with self.open() as stream:
            return stream.read(size)


def open_source(path: str) -> Source:
    """A file, or standard input for ``-``; what is not a regular file is read once and kept."""
    if path == "-":
        return _in_memory("standard input", sys.stdin.buffer.read())
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{path!r} is a folder; give the name of a file")
    if not file.exists():
        raise InputError(f"the file {path!r} does not exist")
    if not file.is_file():
        return _in_memory(path, file.read_bytes())
    suffix = file.suffix.lower()
    if suffix not in COMPRESSIONS:
        return Source(path, file.name.lower(), lambda: open(file, "rb"))
    return _decompressed(path, file.stem.lower(), suffix, lambda: open(file, "rb"))


def _in_memory(name: str, data: bytes) -> Source:
    suffix = next((suffix for magic, suffix in _MAGIC.items() if data.startswith(magic)), "")
    return _decompressed(name, "", suffix, lambda: io.BytesIO(data))


class _Decompressed(io.BufferedReader):
    """What is read of a compressed file; closing it closes the file."""

    def __init__(self, stream: Any, file: BinaryIO) -> None:
        super().__init__(stream)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()


def _decompressed(name: str, plain_name: str, suffix: str, opened: Callable[[], BinaryIO]) -> Source:
    if suffix == "":
        return Source(name, plain_name, opened)
    if suffix == ".zip":
        member = _only_member(name, opened)
        return Source(
            name,
            PurePath(member).name.lower(),
            lambda: _read_by(opened, lambda file: _member(name, file, member)),
        )
    openers: dict[str, Callable[[BinaryIO], Any]] = {
        ".gz": lambda file: gzip.GzipFile(fileobj=file),
        ".bz2": bz2.BZ2File,
        ".xz": lzma.LZMAFile,
        ".zst": lambda file: _zstandard(name, file),
    }
    return Source(name, plain_name, lambda: _read_by(opened, openers[suffix]))


def _read_by(opened: Callable[[], BinaryIO], opener: Callable[[BinaryIO], Any]) -> BinaryIO:
    file = opened()
    try:
        return _Decompressed(opener(file), file)
    except BaseException:
        file.close()
        raise


def _only_member(name: str, opened: Callable[[], BinaryIO]) -> str:
    try:
        with opened() as file:
            members = [member for member in zipfile.ZipFile(file).namelist() if not member.endswith("/")]
    except zipfile.BadZipFile as error:
        raise InputError(f"the file {name!r} cannot be read: {error}") from None
    if len(members) != 1:
        raise InputError(
            f"the file {name!r} holds {len(members)} files, {', '.join(members[:3])}; it must hold one table"
        )
    return members[0]


def _member(name: str, file: BinaryIO, member: str) -> Any:
    try:
        return zipfile.ZipFile(file).open(member)
    except (RuntimeError, NotImplementedError) as error:  # a password, a way to compress that Python lacks
        raise InputError(f"the file {name!r} cannot be read: {error}") from None


def _zstandard(name: str, file: BinaryIO) -> Any:
    pyarrow = load_extra("pyarrow", f"the compressed file {name!r}")
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(file, mode="r"), "zstd")
