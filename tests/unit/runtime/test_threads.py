"""How many tasks work is cut into, and how many threads there are for them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from weald.runtime import crew, threads
from weald.runtime.errors import InputError
from weald.runtime.threads import NO_LIMIT, available_cores, container_limit, count_tasks, hire


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write the files of control groups, and ask for the limit."""
    monkeypatch.setattr(threads, "_CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(threads, "_OWN_GROUPS", tmp_path / "own")

    def limit(files: dict[str, str]) -> int:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return container_limit.__wrapped__()

    return limit


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 64])
def test_a_positive_number_is_taken_as_it_is(n_jobs: int) -> None:
    assert count_tasks(n_jobs) == n_jobs


def test_negative_numbers_count_back_from_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "available_cores", lambda: 4)
    assert [count_tasks(n_jobs) for n_jobs in (None, -1, -2, -4, -5, -100)] == [4, 4, 3, 1, 1, 1]


@pytest.mark.parametrize("n_jobs", [0, True, False, 2.0, "2", [1]])
def test_what_is_no_number_of_jobs_is_named(n_jobs: Any) -> None:
    with pytest.raises(InputError, match="n_jobs must be None or a whole number other than 0") as caught:
        count_tasks(n_jobs)
    assert repr(n_jobs) in str(caught.value)


@pytest.mark.parametrize(
    ("files", "most"),
    [
        ({}, NO_LIMIT),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "1000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, NO_LIMIT),
        ({"cpu.max": "nonsense"}, NO_LIMIT),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, NO_LIMIT),
        ({"own": "0::/pod/box\n", "pod/box/cpu.max": "max 100000\n", "pod/cpu.max": "200000 100000\n"}, 2),
        (
            {
                "own": "4:cpu,cpuacct:/box\n3:memory:/other\n",
                "cpu,cpuacct/box/cpu.cfs_quota_us": "50000\n",
                "cpu,cpuacct/box/cpu.cfs_period_us": "100000\n",
            },
            1,
        ),
    ],
)
def test_the_limit_of_a_container_is_that_of_its_tightest_group(
    groups: Any, files: dict[str, str], most: int
) -> None:
    assert groups(files) == most


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity masks")
def test_a_process_of_one_cpu_has_one_thread() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert available_cores() == 1
        assert count_tasks(None) == 1
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize(("n_jobs", "cores", "helpers"), [(1, 8, None), (3, 8, 2), (8, 2, 1), (2, 1, 0)])
def test_helpers_are_as_many_as_tasks_and_cores_allow(
    n_jobs: int, cores: int, helpers: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    monkeypatch.setattr(threads, "available_cores", lambda: cores)
    monkeypatch.setattr(crew, "start", started.append)
    assert hire(n_jobs) == n_jobs
    assert started == ([] if helpers is None else [helpers])
