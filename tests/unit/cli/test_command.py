"""The command itself: help, version, errors, interruption, ``doctor`` and ``warmup``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import weald
from weald.cli import train as train_module
from weald.runtime.errors import ModelFileError

SOURCE = Path(weald.__file__).parent.parent


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        [sys.executable, "-m", "weald", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_help_lists_every_command() -> None:
    done = command("--help")
    assert done.returncode == 0
    for name in ("train", "predict", "evaluate", "warmup", "doctor"):
        assert name in done.stdout


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_loads_nothing_that_is_slow_to_load(option: str) -> None:
    code = (
        "import runpy, sys\n"
        f"sys.argv = ['weald', {option!r}]\n"
        "try:\n"
        "    runpy.run_module('weald', run_name='__main__')\n"
        "except SystemExit as stopped:\n"
        "    assert not stopped.code\n"
        "assert 'typer' in sys.modules\n"
        "print(sorted({'numba', 'numpy', 'scipy', 'sklearn', 'pandas', 'polars'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_the_packages(run: Any) -> None:
    assert run("--version").stdout == f"weald {weald.__version__}\n"


def test_doctor_prints_versions_and_the_cache(run: Any) -> None:
    result = run("doctor")
    assert result.exit_code == 0
    assert "numba" in result.stdout and "kernel cache" in result.stdout


def test_warmup_compiles_and_says_so_on_stderr_only(run: Any) -> None:
    result = run("warmup")
    assert result.exit_code == 0, result.output
    assert result.stdout == "" and "kernels are compiled" in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ModelFileError("the model is damaged"), 2, "Error: the model is damaged\n"),
        (PermissionError(13, "Permission denied", "m.weald"), 2, "Error: Permission denied: 'm.weald'\n"),
        (KeyboardInterrupt(), 130, "Stopped.\n"),
    ],
)
def test_an_expected_error_is_one_line_without_a_traceback(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, says: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(sys.modules[train_module.__module__], "_check_output", fail)
    result = run("train", "data.csv", "--target", "y", "--model", tmp_path / "m")
    assert (result.exit_code, result.stderr) == (code, says)


def test_an_error_reaches_the_shell_as_exit_code_2_and_one_line() -> None:
    done = command("train", "nowhere.csv", "--target", "y", "--model", "m")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "Error: the file 'nowhere.csv' does not exist\n"


def test_a_reader_that_stops_early_is_no_error(tmp_path: Path) -> None:
    shell = f"{sys.executable} -m weald doctor | head -n 1"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, env=environment, check=False)
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr


def test_a_model_is_exported_with_options_of_the_format(run: Any, regressor: Path, tmp_path: Path) -> None:
    result = run("export", regressor, "--out", tmp_path / "m.c", "--format", "c", "--set", "name=score")
    assert result.exit_code == 0, result.output
    assert "void score_values(" in (tmp_path / "m.h").read_text()
    result = run("export", regressor, "--out", tmp_path / "m", "--format", "excel")
    assert result.exit_code == 2 and "format must be one of" in result.output
    result = run("export", regressor, "--out", tmp_path / "m", "--format", "c", "--set", "name")
    assert result.exit_code == 2 and "must be an option and its value" in result.output
