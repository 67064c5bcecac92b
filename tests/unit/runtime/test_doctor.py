"""What ``weald doctor`` reports."""

from __future__ import annotations

import os
from pathlib import Path

import numba
import pytest

import weald
from weald.runtime import doctor
from weald.runtime.cache import cache_directory
from weald.runtime.threads import available_cores


def test_the_report_names_versions_threads_and_the_cache() -> None:
    rows = dict(doctor.report())
    assert rows["weald"] == weald.__version__
    assert rows["numba"] == numba.__version__
    assert rows["threads"].startswith(str(available_cores()))
    assert "open to this process" in rows["CPUs"]
    assert {"python", "pandas", "pyarrow", "shipped kernels", "kernel cache", "cached kernels"} <= set(rows)


def test_an_absent_optional_part_is_reported_and_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_OPTIONAL", ("surely-not-installed",))
    assert dict(doctor.report())["surely-not-installed"] == "not installed (optional)"


def test_kernels_in_the_cache_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert dict(doctor.report())["cached kernels"].startswith("0 (run `weald warmup`")
    cache_directory().mkdir(mode=0o755)
    (cache_directory() / "grow-0.kernel").touch()
    (cache_directory() / ".half.tmp").touch()
    rows = dict(doctor.report())
    assert rows["cached kernels"] == "1"
    assert rows["kernel cache"] == f"{cache_directory()} (writable)"
    assert cache_directory().parent == tmp_path


def test_a_cache_that_does_not_exist_yet_counts_as_writable_if_it_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "a" / "b"))
    assert dict(doctor.report())["kernel cache"].endswith("(writable)")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "read-only" in dict(doctor.report())["kernel cache"]
