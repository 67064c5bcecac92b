"""What ``weald doctor`` reports."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest

import weald
from weald.runtime import doctor
from weald.runtime.cache import cache_directory
from weald.runtime.threads import WAITING


def test_the_report_names_versions_threads_and_the_cache() -> None:
    rows = dict(doctor.report())
    assert rows["weald"] == weald.__version__
    assert rows["numba"] == numba.__version__
    assert rows["Numba threads"] == str(numba.config.NUMBA_NUM_THREADS)
    assert "workqueue" in rows["threading layer"]
    assert {"python", "pandas", "pyarrow", "kernel cache", "cached kernels"} <= set(rows)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "waiting threads spin for microseconds, then sleep"),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, "OMP_WAIT_POLICY=ACTIVE"),
        (
            {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "7"},
            "OMP_WAIT_POLICY=passive, GOMP_SPINCOUNT=7",
        ),
    ],
)
def test_how_threads_wait_is_reported(
    variables: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba, "threading_layer", lambda: "omp")
    for name in WAITING:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert dict(doctor.report())["wait policy"] == said


@pytest.mark.parametrize(("asked", "expected"), [("default", "omp"), ("workqueue", "workqueue")])
def test_before_threads_start_the_layer_is_the_one_that_would(
    asked: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_started() -> str:
        raise ValueError("Threading layer is not initialized.")

    monkeypatch.setattr(numba, "threading_layer", not_started)
    monkeypatch.setattr(numba.config, "THREADING_LAYER", asked)
    monkeypatch.setattr(doctor, "available_layers", lambda: ["omp", "workqueue"])
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    row = dict(doctor.report())["wait policy"]
    assert row == {"omp": "OMP_WAIT_POLICY=passive"}.get(
        expected, f"that of {expected}; OMP_WAIT_POLICY and GOMP_SPINCOUNT are for omp"
    )


def test_an_absent_optional_part_is_reported_and_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_OPTIONAL", ("surely-not-installed",))
    assert dict(doctor.report())["surely-not-installed"] == "not installed (optional)"


def test_kernels_in_the_cache_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert dict(doctor.report())["cached kernels"].startswith("0 (run `weald warmup`")
    (cache_directory() / "module").mkdir(parents=True)
    (cache_directory() / "module" / "kernel.1.nbc").touch()
    (cache_directory() / "module" / "kernel.nbi").touch()
    (tmp_path / "kernel-of-another-version.1.nbc").touch()
    rows = dict(doctor.report())
    assert rows["cached kernels"] == "1"
    assert rows["kernel cache"] == f"{cache_directory()} (writable)"
    assert cache_directory().parent == tmp_path


def test_a_cache_that_does_not_exist_yet_counts_as_writable_if_it_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "a" / "b"))
    assert dict(doctor.report())["kernel cache"].endswith("(writable)")
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    assert "NOT writable: set NUMBA_CACHE_DIR" in dict(doctor.report())["kernel cache"]
