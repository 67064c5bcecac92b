"""Where compiled kernels are kept, and that a changed kernel is never served from an old directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import weald
from weald.runtime import cache

SOURCE = Path(weald.__file__).resolve().parent.parent
KERNEL = """
from weald.runtime.jit import kernel

@kernel
def twice(x):
    return FACTOR * x

FACTOR = 2
print(twice(21), type(twice).__name__)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small package that the hash is taken of."""
    for name, text in {
        "runtime/cache.py": "a",
        "tree/kernels.py": "from weald.runtime.jit import kernel",
        "tree/state.py": "LIMIT = 1",
        "cli/group.py": "print()",
    }.items():
        path = tmp_path / "weald" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "weald" / "runtime" / "cache.py"))
    return tmp_path / "weald"


def hash_now() -> str:
    return cache.source_hash.__wrapped__()


def test_the_hash_is_short_and_the_same_for_the_same_sources(package: Path) -> None:
    assert hash_now() == hash_now()
    assert len(cache.source_hash()) == 16
    int(cache.source_hash(), 16)


@pytest.mark.parametrize("name", ["runtime/cache.py", "tree/kernels.py", "tree/state.py"])
def test_a_change_to_a_kernel_or_to_what_it_reads_changes_the_hash(package: Path, name: str) -> None:
    before = hash_now()
    (package / name).write_text("from weald.runtime.jit import kernel  # changed")
    assert hash_now() != before


def test_a_kernel_that_is_added_moved_or_deleted_changes_the_hash(package: Path) -> None:
    hashes = [hash_now()]
    (package / "tree" / "more.py").write_text("from weald.runtime.jit import kernel")
    hashes.append(hash_now())
    (package / "tree" / "more.py").rename(package / "cli" / "more.py")
    hashes.append(hash_now())
    (package / "tree" / "kernels.py").unlink()
    hashes.append(hash_now())
    assert len(set(hashes)) == 4


def test_a_change_to_what_holds_no_kernel_keeps_the_compiled_ones(package: Path) -> None:
    before = hash_now()
    (package / "cli" / "group.py").write_text("print('more')")
    assert hash_now() == before


def test_the_directory_lies_where_numba_was_told_to_keep_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path))
    assert cache.cache_directory() == tmp_path / f"weald-{cache.source_hash()}"


def test_without_a_setting_the_directory_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    directory = cache.cache_directory()
    assert directory.is_absolute()
    assert directory.name == f"weald-{cache.source_hash()}"
    assert "weald" in directory.parent.as_posix().lower()


def test_pruning_keeps_the_current_directory_the_newest_others_and_what_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path))
    current = cache.cache_directory()
    for age, path in enumerate([*(tmp_path / f"weald-{n}" for n in range(6)), tmp_path / "other", current]):
        path.mkdir()
        (path / "kernel.nbc").write_text("x")
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    cache.prune()
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"other", current.name, *(f"weald-{n}" for n in range(cache.KEPT - 1))}


def test_pruning_where_there_is_no_directory_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path / "absent"))
    cache.prune()


def test_compiling_is_said_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cache, "_said_compiling", False)
    cache.say_compiling()
    cache.say_compiling()
    assert capsys.readouterr().err.count("compiling kernels") == 1


def run_kernel(script: Path, directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment |= {"NUMBA_CACHE_DIR": str(directory), "PYTHONPATH": str(SOURCE), **variables}
    return subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


def test_a_second_process_loads_what_the_first_compiled(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(KERNEL)
    first = run_kernel(script, tmp_path / "kept")
    assert first.stdout.startswith("42 ")
    assert first.stderr.count("compiling kernels") == 1
    directories = list((tmp_path / "kept").iterdir())
    assert [path.name.split("-")[0] for path in directories] == ["weald"]
    assert {path.suffix for path in directories[0].iterdir()} == {".nbi", ".nbc"}
    second = run_kernel(script, tmp_path / "kept")
    assert second.stdout.startswith("42 ")
    assert "compiling" not in second.stderr


def test_without_a_writable_directory_kernels_still_run_and_one_line_says_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(KERNEL + "kernel(lambda x: x)\n")
    blocked = tmp_path / "file"
    blocked.write_text("no directory can be made below a file")
    done = run_kernel(script, blocked / "kept")
    assert done.stdout.startswith("42 ")
    assert done.stderr.count("no writable cache directory") == 1


def test_with_compilation_switched_off_a_kernel_is_a_plain_function(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(KERNEL)
    done = run_kernel(script, tmp_path / "kept", NUMBA_DISABLE_JIT="1")
    assert done.stdout == "42 function\n"
    assert not (tmp_path / "kept").exists()


LINKED = """
import sys
import numpy as np
from weald.runtime.jit import kernel
from weald.runtime.tasks import shared_kernel

@shared_kernel
def fill(task, tasks, out):
    for i in range(task, len(out), tasks):
        out[i] = i

@kernel
def total(n):
    out = np.empty(n)
    fill(2, out)
    return out.sum()

if sys.argv[1] == "callee":
    fill(2, np.empty(4))
else:
    print(total(5))
"""


def test_a_kernel_compiled_over_a_cached_shared_one_loads_in_another_process(
    tmp_path: Path,
) -> None:
    script = tmp_path / "linked.py"
    script.write_text(LINKED)
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for argument, says in (("callee", ""), ("caller", "10.0"), ("caller", "10.0")):
        run = subprocess.run(
            [sys.executable, str(script), argument],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert (run.returncode, run.stdout.strip()) == (0, says), run.stderr
