"""Files of compiled kernels: where they are, and which of them are used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weald.runtime import kernel_files
from weald.runtime.kernel_files import KernelDirectory, base_directory, prune


def test_pruning_keeps_the_current_directory_the_newest_others_and_what_is_not_ours(tmp_path: Path) -> None:
    current = tmp_path / "weald-now"
    for age, path in enumerate([*(tmp_path / f"weald-{n}" for n in range(6)), tmp_path / "other", current]):
        path.mkdir()
        (path / "a.kernel").write_text("x")
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    prune(current)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"other", current.name, *(f"weald-{n}" for n in range(kernel_files.KEPT - 1))}


def test_pruning_where_there_is_no_directory_is_no_error(tmp_path: Path) -> None:
    prune(tmp_path / "absent" / "weald-now")


@pytest.fixture
def no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_files.config, "CACHE_DIR", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)


@pytest.mark.usefixtures("no_setting")
def test_the_users_cache_directory_is_taken_where_it_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new"))
    assert base_directory("weald-1") == tmp_path / "new" / "weald"


@pytest.mark.usefixtures("no_setting")
def test_without_a_home_the_directory_is_the_users_own_below_the_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_files.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(
        os.path, "expanduser", lambda path: path
    )  # as where HOME is unset and the user has no entry
    assert base_directory("weald-1").parent == tmp_path


@pytest.mark.usefixtures("no_setting")
def test_in_a_read_only_home_a_full_cache_is_used_and_an_absent_one_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernel_files.tempfile, "gettempdir", lambda: "elsewhere")
    monkeypatch.setattr(kernel_files, "can_be_written", lambda directory: False)
    assert base_directory("weald-1").parent == Path("elsewhere")
    (tmp_path / "weald" / "weald-1").mkdir(parents=True)
    assert base_directory("weald-1") == tmp_path / "weald"


def test_kernels_of_another_target_are_not_found(tmp_path: Path) -> None:
    KernelDirectory(tmp_path / "kernels", "one CPU").write("add", "add(int64)", b"code")
    assert KernelDirectory(tmp_path / "kernels", "one CPU").read("add", "add(int64)") == b"code"
    assert KernelDirectory(tmp_path / "kernels", "another CPU").read("add", "add(int64)") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such permissions")
def test_what_is_written_is_not_for_others_to_write_whatever_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        kernels = KernelDirectory(tmp_path / "kernels", "")
        kernels.write("add", "add(int64)", b"code")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o022 for path in (kernels.path, *kernels.path.iterdir())] == [0, 0]
    assert KernelDirectory(kernels.path, "").read("add", "add(int64)") == b"code"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no owners")
def test_a_directory_of_another_user_is_neither_read_nor_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    KernelDirectory(tmp_path / "kernels", "").write("add", "add(int64)", b"code")
    owner = (tmp_path / "kernels").stat().st_uid
    if owner == 0:  # the superuser is trusted by everybody
        os.chown(tmp_path / "kernels", 12_345, -1)
    monkeypatch.setattr(os, "getuid", lambda: 54_321)
    kernels = KernelDirectory(tmp_path / "kernels", "")
    assert kernels.distrusted == "it belongs to another user"
    assert kernels.read("add", "add(int64)") is None
    with pytest.raises(PermissionError):
        kernels.write("add", "add(int64)", b"code")
