from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from weald.forest import disk
from weald.forest.disk import read, save
from weald.runtime.errors import ModelFileError

OLD, NEW = b"the old model", b"the new model" * 1000
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions and links")
not_root = pytest.mark.skipif(
    hasattr(os, "geteuid") and os.geteuid() == 0, reason="permissions do not bind the superuser"
)


def fail(error: BaseException) -> Any:
    def failing(*_: Any, **__: Any) -> Any:
        raise error

    return failing


def one_sentence(error: BaseException) -> bool:
    text = str(error)
    return text.endswith(".") and "\n" not in text and "Errno" not in text


def test_what_is_saved_is_what_is_read(tmp_path: Path) -> None:
    save(tmp_path / "model.weald", NEW)
    assert read(tmp_path / "model.weald") == NEW
    save(str(tmp_path / "model.weald"), OLD)
    assert read(str(tmp_path / "model.weald")) == OLD
    assert os.listdir(tmp_path) == ["model.weald"]


def test_a_name_without_a_folder_is_saved_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save("model.weald", NEW)
    assert read("model.weald") == NEW


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:100]))
    save(tmp_path / "model.weald", NEW)
    assert read(tmp_path / "model.weald") == NEW


@pytest.mark.parametrize("function", ["open", "write", "fsync", "close", "replace"])
@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "I/O error"), KeyboardInterrupt()],
)
def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, error: BaseException
) -> None:
    path = tmp_path / "model.weald"
    path.write_bytes(OLD)
    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail(error))
        with pytest.raises(type(error)) as caught:
            save(path, NEW)
    if isinstance(error, OSError):
        assert isinstance(caught.value, OSError)
        assert one_sentence(caught.value)
        assert caught.value.errno == error.errno
        assert str(error.strerror) in str(caught.value)
        assert repr(str(path)) in str(caught.value)
    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["model.weald"]


def test_a_disk_that_fills_up_halfway_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.weald"
    path.write_bytes(OLD)
    write, calls = os.write, []

    def fill_up(descriptor: int, data: bytes) -> int:
        calls.append(len(data))
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[:100])

    monkeypatch.setattr(os, "write", fill_up)
    with pytest.raises(OSError, match="No space left"):
        save(path, NEW)
    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["model.weald"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only the superuser of a Linux system can mount a tiny disk")
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_really_full_leaves_the_old_file(tiny_disk: Path) -> None:
    path = tiny_disk / "model.weald"
    save(path, OLD)
    with pytest.raises(OSError, match="No space left") as caught:
        save(path, bytes(10**6))
    assert caught.value.errno == errno.ENOSPC
    assert read(path) == OLD
    assert os.listdir(tiny_disk) == ["model.weald"]


def test_a_folder_that_cannot_be_flushed_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, calls = os.fsync, []

    def only_files(descriptor: int) -> None:
        calls.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        if calls[-1]:
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    save(tmp_path / "model.weald", NEW)
    assert read(tmp_path / "model.weald") == NEW
    assert calls[0] is False


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_an_existing_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "model.weald"
    path.write_bytes(OLD)
    path.chmod(mode)
    save(path, NEW)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    save(tmp_path / "model.weald", NEW)
    (tmp_path / "other").write_bytes(NEW)
    assert (tmp_path / "model.weald").stat().st_mode == (tmp_path / "other").stat().st_mode


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "models").mkdir()
    target, link = tmp_path / "models" / "real.weald", tmp_path / "link.weald"
    if exists:
        target.write_bytes(OLD)
    link.symlink_to(target)
    save(link, NEW)
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    assert os.listdir(tmp_path / "models") == ["real.weald"]


@posix
def test_a_link_to_itself_is_refused_and_stays(tmp_path: Path) -> None:
    link = tmp_path / "link.weald"
    link.symlink_to(link)
    with pytest.raises(OSError, match="cannot be saved") as caught:
        save(link, NEW)
    assert one_sentence(caught.value)
    assert link.is_symlink()
    with pytest.raises(OSError, match="cannot be read"):
        read(link)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*absent") as caught:
        save(tmp_path / "absent" / "model.weald", NEW)
    assert one_sentence(caught.value)
    assert not (tmp_path / "absent").exists()


def test_a_folder_is_not_a_file_name(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="it is a folder") as caught:
        save(tmp_path, NEW)
    assert one_sentence(caught.value)
    with pytest.raises(IsADirectoryError, match="it is a folder") as caught:
        read(tmp_path)
    assert one_sentence(caught.value)


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)
    with pytest.raises(FileNotFoundError, match=r"there is no folder"):
        save(tmp_path / "file" / "model.weald", NEW)


@posix
def test_a_pipe_or_device_is_neither_replaced_nor_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for function in (lambda: save(pipe, NEW), lambda: read(pipe)):
        with pytest.raises(OSError, match="not a regular file") as caught:
            function()
        assert one_sentence(caught.value)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_protected_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.weald"
    path.write_bytes(OLD)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="write-protected") as caught:
        save(path, NEW)
    assert one_sentence(caught.value)
    assert path.read_bytes() == OLD


def test_a_folder_without_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "open", fail(PermissionError(errno.EACCES, "Permission denied")))
    with pytest.raises(PermissionError, match=r"the folder .* is not writable") as caught:
        save(tmp_path / "model.weald", NEW)
    assert one_sentence(caught.value)
    assert caught.value.errno == errno.EACCES


@posix
@not_root
def test_real_permissions_are_respected(tmp_path: Path) -> None:
    path = tmp_path / "model.weald"
    path.write_bytes(OLD)
    path.chmod(0o000)
    with pytest.raises(PermissionError, match="cannot be read: Permission denied"):
        read(path)
    with pytest.raises(PermissionError, match="write-protected"):
        save(path, NEW)
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="is not writable"):
        save(tmp_path / "other.weald", NEW)
    tmp_path.chmod(0o700)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"absent.weald' cannot be read: there is no such file\."
    ) as caught:
        read(tmp_path / "absent.weald")
    assert one_sentence(caught.value)


def test_an_empty_and_an_enormous_file_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.weald"
    path.write_bytes(b"")
    with pytest.raises(ModelFileError, match=r"model.weald' is empty\."):
        read(path)
    path.write_bytes(NEW)
    monkeypatch.setattr(disk, "MAXIMUM_FILE_BYTES", 100)
    with pytest.raises(ModelFileError, match="it has 13000 bytes, a model file has at most 100"):
        read(path)
