"""Write a file so that a reader sees the old content or the new, never a half of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path that takes the place of ``path`` when the block ends without an error.

    After an error (a full disk, an exception in the block) it is removed and ``path`` is as it was.
    A symbolic link is followed.

    >>> folder = tempfile.mkdtemp()
    >>> with replacing(Path(folder, "note.txt")) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> Path(folder, "note.txt").read_text()
    'whole'
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(target.parent)!r} does not exist; make it first")
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder; give the name of a file")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _flush_to_disk(temporary)
        temporary.chmod(_permissions(target))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _flush_to_disk(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _permissions(target: Path) -> int:
    """Those of the file that is replaced; for a new one what ``open`` would give (mkstemp gives 0600)."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
