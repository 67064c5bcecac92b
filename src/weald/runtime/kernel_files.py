"""Compiled kernels as files in a directory: where it is, who may have written it, what a file must be to be used.

A file is machine code that will run, so it is read only where nobody but this user or the superuser can have written it, and
only where its digest is right. It has a name and a digest of the key that it was written for, so there is no index that two
processes could change at once, and a file that was moved or cut short is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import stat
import tempfile
from pathlib import Path

from numba.core import config
from numba.misc.appdirs import AppDirs

KEPT = 3  # directories of older sources that stay: a user may switch between two environments
SUFFIX = ".kernel"
_DIGEST_BYTES = 32


def base_directory(name: str) -> Path:
    """Where a directory of this name belongs: ``NUMBA_CACHE_DIR``, or the user's cache directory.

    Where that can be neither read nor made (no home, or one that may not be written), it is a directory of this user below
    the temporary one.
    """
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR)
    usual = Path(AppDirs(appname="weald", appauthor=False).user_cache_dir)
    # Without a home "~" stays as it is, and would be a folder of that name.
    if usual.is_absolute() and (_is_readable(usual / name) or can_be_written(usual)):
        return usual
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"weald-{user}"


def _is_readable(directory: Path) -> bool:
    return os.access(directory, os.R_OK | os.X_OK)


def can_be_written(directory: Path) -> bool:
    """Whether files can be put into the directory, which may have to be made first."""
    existing = directory
    while not os.path.exists(existing) and existing != existing.parent:
        existing = existing.parent
    return os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK)


def distrust(status: os.stat_result) -> str | None:
    """Why code from a file or directory must not run: who else could have written it. None where nobody could."""
    if not hasattr(os, "getuid"):  # Windows has no such bits; a profile's folders are its user's
        return None
    if status.st_uid not in (0, os.getuid()):
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users may write to it"
    return None


class KernelDirectory:
    """Files of compiled kernels in one directory, which may be absent, read-only or not to be trusted.

    >>> folder = tempfile.TemporaryDirectory()
    >>> kernels = KernelDirectory(Path(folder.name) / "kernels", "this CPU")
    >>> kernels.write("add", "add(int64)", b"code")
    >>> kernels.read("add", "add(int64)"), kernels.read("add", "add(float64)")
    (b'code', None)
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, target: str) -> None:
        self.path = path
        #: what the kernels are compiled for and by; those of other targets are not found
        self.target = target
        #: why nothing is read from here
        self.distrusted: str | None = None
        with contextlib.suppress(OSError):
            self.distrusted = distrust(path.stat())

    def read(self, name: str, key: str) -> bytes | None:
        """What was written for the key; None where there is no such file, or none that may be used."""
        if self.distrusted:
            return None
        try:
            with open(self._file(name, key), "rb") as file:
                if distrust(os.fstat(file.fileno())):
                    return None
                content = file.read()
        except OSError:
            return None
        digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return data if digest == self._digest(key, data) else None

    def write(self, name: str, key: str, data: bytes) -> None:
        """Keep `data` under the key; a reader sees all of it or nothing.

        Raises:
            OSError: it cannot be kept.
        """
        if self.distrusted:
            raise PermissionError(self.distrusted)
        if not self.path.is_dir():
            self._make()
        temporary = self.path / f".{secrets.token_hex(8)}.tmp"
        try:
            # Not writable by others, whatever the umask says.
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            with open(os.open(temporary, flags, 0o644), "wb") as file:
                file.write(self._digest(key, data) + data)
            os.replace(temporary, self._file(name, key))
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise

    def count(self) -> int:
        """The number of kernels in it."""
        return sum(1 for _ in self.path.glob(f"*{SUFFIX}")) if _is_readable(self.path) else 0

    def _file(self, name: str, key: str) -> Path:
        plain = name.replace("<", "").replace(">", "")  # Windows forbids what Python's names of closures have
        return self.path / f"{plain}-{self._digest(key, b'').hex()[:16]}{SUFFIX}"

    def _digest(self, key: str, data: bytes) -> bytes:
        return hashlib.sha256(f"{key} {self.target}".encode() + b"\0" + data).digest()

    def _make(self) -> None:
        """Make the directory; a new one is the moment to tidy the old ones away."""
        self.path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        self.path.mkdir(mode=0o755, exist_ok=True)
        # Below the temporary directory somebody may have been quicker.
        self.distrusted = distrust(self.path.stat())
        if self.distrusted:
            raise PermissionError(self.distrusted)
        prune(self.path)


def prune(current: Path) -> None:
    """Delete the directories of older sources beside this one, but for the newest few."""
    try:
        others = [path for path in current.parent.glob("weald-*") if path.is_dir() and path != current]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return
    for path in others[KEPT - 1 :]:
        shutil.rmtree(path, ignore_errors=True)
