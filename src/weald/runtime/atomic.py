"""Write a file so that a reader sees the old content or the new, never a half of it."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from typing import Final

_CHUNK_BYTES: Final = 2**24


def write_whole(path: str | os.PathLike[str], data: bytes, what: str = "file") -> None:
    """Write `data` to `path`, whole or not at all; `what` is what messages call it.

    After a full disk, an interrupt or a crash the old file is still there; a reader never sees a part of
    the new one. A symbolic link is followed, and the permissions of an existing file are kept.

    Raises:
        OSError: with one sentence; whatever was at `path` is untouched.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> write_whole(os.path.join(folder.name, "note.txt"), b"bytes")
        >>> os.listdir(folder.name)
        ['note.txt']
        >>> folder.cleanup()
    """
    name = os.fspath(path)
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    mode = _check_target(name, target, folder, what)
    temporary = os.path.join(folder, f".weald-{secrets.token_hex(8)}.tmp")
    try:
        _write_durably(temporary, data)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise explained(error, _write_problem(error, name, folder, what)) from error
        raise
    _flush_folder(folder)


def check_writable(path: str | os.PathLike[str], what: str = "file") -> None:
    """Find out whether `write_whole` could write to `path`, before the work whose result is to be written.

    Raises:
        OSError: with the sentence that `write_whole` would raise.
    """
    name = os.fspath(path)
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    _check_target(name, target, folder, what)
    temporary = os.path.join(folder, f".weald-{secrets.token_hex(8)}.tmp")
    try:
        _write_durably(temporary, b"")
        os.unlink(temporary)
    except OSError as error:
        raise explained(error, _write_problem(error, name, folder, what)) from error


def _check_target(name: str, target: str, folder: str, what: str) -> int | None:
    """The permission bits of an existing file, None for a new one; raises when nothing can be saved there."""
    if not os.path.isdir(folder):
        problem = f"there is no folder {folder!r}"
        raise FileNotFoundError(f"The {what} cannot be saved to {name!r}: {problem}.")
    try:
        status = os.lstat(target)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise explained(error, _write_problem(error, name, folder, what)) from error
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"The {what} cannot be saved to {name!r}: it is a folder, add a file name.")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"The {what} cannot be saved to {name!r}: it is not a regular file.")
    # Replacing needs only the folder's permission: a file that its owner protected must be asked about.
    if not os.access(target, os.W_OK):
        raise PermissionError(f"The {what} cannot be saved to {name!r}: the file is write-protected.")
    return stat.S_IMODE(status.st_mode)


def _write_durably(temporary: str, data: bytes) -> None:
    # Mode 0o666 lets the process's umask decide, as it does for any new file.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            written = os.write(descriptor, rest[:_CHUNK_BYTES])
            rest = rest[written:]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(folder: str) -> None:
    # The rename itself must survive a power cut; some systems cannot open or flush a folder, and need not.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_problem(error: OSError, name: str, folder: str, what: str) -> str:
    if isinstance(error, PermissionError):
        return f"The {what} cannot be saved to {name!r}: the folder {folder!r} is not writable."
    reason = error.strerror or str(error)
    return f"The {what} cannot be saved to {name!r}: {reason}; a file that was there before is unchanged."


def explained(error: OSError, sentence: str) -> OSError:
    """The same kind of error, with the same number, whose text is one sentence."""
    explained = type(error)(sentence)
    explained.errno = error.errno
    return explained
