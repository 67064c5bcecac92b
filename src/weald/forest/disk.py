"""Model files to and from disk."""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

from weald.runtime.atomic import explained, write_whole
from weald.runtime.errors import ModelFileError

# A forest of a thousand million nodes; anything larger is some other file.
MAXIMUM_FILE_BYTES: Final = 2**36


def save(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a model's bytes to `path`, whole or not at all; an OSError with one sentence leaves the old file."""
    write_whole(path, data, "model")


def read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a model file.

    Raises:
        OSError: with one sentence, when there is no such file or it cannot be read.
        ModelFileError: when it is empty or far too large to be a model.
    """
    name = os.fspath(path)
    try:
        status = os.stat(name)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder, not a model file")
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        _check_size(name, status.st_size)
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        problem = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise explained(error, f"The model file {name!r} cannot be read: {problem}.") from error


def _check_size(name: str, size: int) -> None:
    if size == 0:
        raise ModelFileError(f"The model file {name!r} is empty.")
    if size > MAXIMUM_FILE_BYTES:
        limit = f"a model file has at most {MAXIMUM_FILE_BYTES}"
        raise ModelFileError(f"{name!r} is not a Weald model file: it has {size} bytes, {limit}.")
