from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import weald
from exchange_models import numbers
from exchange_table import PAGE, written

DOCS = PAGE.parent


def test_the_table_of_formats_is_current() -> None:
    for package in ("onnx", "coremltools", "treelite"):
        pytest.importorskip(package)
    page = PAGE.read_text()
    assert page == written(page), "PYTHONPATH=src:tests python -m exchange_table"


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / "exchange_c.md").read_text(), re.S)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the page's first example exports, and the number that every example prints."""
    X = numbers()
    X[:, 2] = np.arange(len(X))
    model = weald.BoostedTreesClassifier(n_estimators=10).fit(X, np.nan_to_num(X[:, 0]) > 0)
    model.export(tmp_path / "model.c", format="c")
    expected = model.predict_proba([[0.5, np.nan, 3.0, -1.0]])[0, 1]
    (tmp_path / "expected").write_text(f"{expected:.17g}")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    subprocess.run(["gcc", "-O2", "-c", "-fPIC", "model.c"], cwd=tmp_path, check=True)
    return tmp_path


def _printed(folder: Path, *command: str) -> float:
    return float(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)


def test_the_example_of_cpp_runs(folder: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    (folder / "main.cpp").write_text(_blocks("cpp")[0])
    subprocess.run(["g++", "main.cpp", "model.o", "-o", "main"], cwd=folder, check=True)
    assert _printed(folder, "./main") == float((folder / "expected").read_text())


def test_the_example_of_ctypes_runs(folder: Path) -> None:
    subprocess.run(["gcc", "-shared", "model.o", "-o", "model.so"], cwd=folder, check=True)
    (folder / "main.py").write_text(_blocks("python")[1])
    assert _printed(folder, sys.executable, "main.py") == float((folder / "expected").read_text())


def test_the_example_of_rust_runs(folder: Path) -> None:
    rustc = shutil.which("rustc") or shutil.which("rustc", path=os.path.expanduser("~/.cargo/bin"))
    if rustc is None or subprocess.run([rustc, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("rustc is not installed")
    (folder / "main.rs").write_text(_blocks("rust")[0])
    subprocess.run(["ar", "rcs", "libmodel.a", "model.o"], cwd=folder, check=True)
    subprocess.run([rustc, "main.rs", "-L", ".", "-l", "static=model"], cwd=folder, check=True)
    assert _printed(folder, "./main") == float((folder / "expected").read_text())
