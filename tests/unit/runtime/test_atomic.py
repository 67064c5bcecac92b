"""Files that are replaced whole or not at all; tests/unit/forest/test_disk.py has the full disks."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from weald.runtime.atomic import write_whole


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def full(*arguments: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=r"The table cannot be saved .* No space left") as caught:
        write_whole(path, b"new", "table")
    assert caught.value.errno == errno.ENOSPC
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX")
def test_permissions_are_those_of_an_ordinary_file_or_of_the_old_one(tmp_path: Path) -> None:
    ordinary, path = tmp_path / "ordinary", tmp_path / "file"
    ordinary.write_text("")
    write_whole(path, b"new")
    assert path.stat().st_mode == ordinary.stat().st_mode
    path.chmod(0o640)
    write_whole(path, b"newer")
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_symbolic_link_stays_a_link_to_the_new_content(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    write_whole(link, b"new")
    assert link.is_symlink() and path.read_text() == "new"


def test_a_missing_folder_and_a_folder_in_place_of_a_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_whole(tmp_path / "nowhere" / "file", b"")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_whole(tmp_path, b"")
