"""Where compiled kernels are kept, and that a changed kernel is never served from an old directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import config

import weald
from weald.runtime import cache, compiling

SOURCE = Path(weald.__file__).resolve().parent.parent
KERNEL = """
from weald.runtime.jit import kernel

@kernel
def twice(x):
    return FACTOR * x

FACTOR = 2
print(twice(21), type(twice).__name__)
"""


def test_the_directory_lies_where_numba_was_told_to_keep_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    assert cache.cache_directory() == tmp_path / f"weald-{cache.source_hash()}"


def test_without_a_setting_the_directory_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", "")
    directory = cache.cache_directory()
    assert directory.is_absolute()
    assert directory.name == f"weald-{cache.source_hash()}"
    assert "weald" in directory.parent.as_posix().lower()


def test_compiling_is_said_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(compiling, "_said", set())
    for _ in range(2):
        compiling.say_compiling("weald.tree.grow", Path("kept"))
        compiling.say_compiled()
    said = capsys.readouterr().err
    assert said.count("compiling kernels") == 1
    assert "kept" in said


def test_on_a_terminal_a_line_shows_what_is_compiled_and_goes_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiling, "_said", set())
    monkeypatch.setattr(compiling, "_count", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    compiling.say_compiling("weald.tree.grow", Path("kept"))
    assert "1, grow" in capsys.readouterr().err
    compiling.say_compiled()
    assert capsys.readouterr().err == compiling._ERASE


def run_kernel(
    script: Path, directory: Path, argument: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment |= {"NUMBA_CACHE_DIR": str(directory), "PYTHONPATH": str(SOURCE), **variables}
    return subprocess.run(
        [sys.executable, str(script), *argument.split()],
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
    assert {path.suffix for path in directories[0].iterdir()} == {".kernel"}
    second = run_kernel(script, tmp_path / "kept")
    assert second.stdout.startswith("42 ")
    assert "compiling" not in second.stderr


def test_without_a_writable_directory_kernels_still_run_and_one_line_says_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(KERNEL + "print(kernel(lambda x: x)(1))\n")
    blocked = tmp_path / "file"
    blocked.write_text("no directory can be made below a file")
    done = run_kernel(script, blocked / "kept")
    assert done.stdout.startswith("42 ")
    assert done.stderr.count("cannot be kept") == 1


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such permissions")
@pytest.mark.parametrize("others_may_write", ["directory", "files"])
def test_code_that_others_could_have_written_is_not_run(tmp_path: Path, others_may_write: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(KERNEL)
    run_kernel(script, tmp_path / "kept")
    (directory,) = (tmp_path / "kept").iterdir()
    for path in [directory] if others_may_write == "directory" else directory.iterdir():
        path.chmod(path.stat().st_mode | 0o020)
    done = run_kernel(script, tmp_path / "kept")
    assert done.stdout.startswith("42 ")
    assert done.stderr.count("compiling kernels") == 1
    assert done.stderr.count("cannot be kept") == (others_may_write == "directory")


@pytest.mark.parametrize("damage", ["empty", "half", "flipped", "swapped", "of another program"])
def test_a_damaged_or_foreign_file_is_compiled_anew_and_replaced(tmp_path: Path, damage: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(KERNEL + "print(kernel(lambda x: x + 1)(1))\n")
    run_kernel(script, tmp_path / "kept")
    (directory,) = (tmp_path / "kept").iterdir()
    files = sorted(directory.iterdir())
    contents = [path.read_bytes() for path in files]
    for path, content, other in zip(files, contents, reversed(contents), strict=True):
        half = len(content) // 2
        path.write_bytes(
            {
                "empty": b"",
                "half": content[:half],
                "flipped": content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :],
                "swapped": other,
                "of another program": b"\x80\x04N.",
            }[damage]
        )
    damaged = run_kernel(script, tmp_path / "kept")
    assert damaged.stdout.split() == ["42", "CPUDispatcher", "2"]
    assert damaged.stderr.count("compiling kernels") == 1
    assert "compiling" not in run_kernel(script, tmp_path / "kept").stderr


def test_a_cache_that_may_not_be_written_is_used_as_it_is(tmp_path: Path) -> None:
    script, prelude = tmp_path / "script.py", tmp_path / "prelude.py"
    script.write_text("import prelude" + KERNEL + "import sys\nif len(sys.argv) > 1: print(twice(1.5))\n")
    prelude.touch()
    run_kernel(script, tmp_path / "kept")
    # The superuser may write anywhere, so writing is made to fail in the process itself.
    prelude.write_text(
        "import os\n"
        "def refuse(*_, **__): raise PermissionError(13, 'Permission denied')\n"
        "os.replace = os.mkdir = refuse\n"
        "os.access = lambda path, mode: not mode & os.W_OK\n"
    )
    assert run_kernel(script, tmp_path / "kept").stderr == ""
    more = run_kernel(script, tmp_path / "kept", argument="more")
    assert more.stdout.split()[-1] == "3.0"
    assert more.stderr.count("Permission denied") == 1


def test_a_full_disk_costs_time_and_not_the_result(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "def full(*_, **__): raise OSError(28, 'No space left on device')\n"
        "os.replace = full\n" + KERNEL
    )
    done = run_kernel(script, tmp_path / "kept")
    assert done.stdout.startswith("42 ")
    assert done.stderr.count("No space left on device") == 1
    (directory,) = (tmp_path / "kept").iterdir()
    assert list(directory.iterdir()) == []


def test_processes_that_compile_at_once_leave_a_cache_that_works(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(KERNEL + "print(twice(1.5), twice(True))\n")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(SOURCE)}
    processes = [
        subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert {process.communicate(timeout=120)[0] for process in processes} == {"42 CPUDispatcher\n3.0 2\n"}
    after = run_kernel(script, tmp_path / "kept")
    assert (after.stdout, after.stderr) == ("42 CPUDispatcher\n3.0 2\n", "")


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
