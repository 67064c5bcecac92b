"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weald.runtime.atomic import replacing


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="disk full"), replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError("disk full")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_old_file_is_there_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX")
def test_permissions_are_those_of_an_ordinary_file_or_of_the_old_one(tmp_path: Path) -> None:
    ordinary, path = tmp_path / "ordinary", tmp_path / "file"
    ordinary.write_text("")
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.stat().st_mode == ordinary.stat().st_mode
    path.chmod(0o640)
    with replacing(path) as temporary:
        temporary.write_text("newer")
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_symbolic_link_stays_a_link_to_the_new_content(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink() and path.read_text() == "new"


def test_a_missing_folder_and_a_folder_in_place_of_a_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"), replacing(tmp_path / "nowhere" / "file"):
        pass
    with pytest.raises(IsADirectoryError, match="is a folder"), replacing(tmp_path):
        pass
