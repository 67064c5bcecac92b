"""Who may use threads, and how many tasks work is cut into."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numba
import pytest

from weald.runtime import threads
from weald.runtime.errors import InputError
from weald.runtime.threads import available_cores, count_tasks, parallel


def in_another_thread(n_jobs: int | None) -> int:
    """What `parallel` yields to a thread of its own."""
    found: list[int] = []

    def enter() -> None:
        with parallel(n_jobs) as tasks:
            found.append(tasks)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join(timeout=30)
    assert found, "the second thread waited"
    return found[0]


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 64])
def test_a_positive_number_is_taken_as_it_is(n_jobs: int) -> None:
    assert count_tasks(n_jobs) == n_jobs


def test_negative_numbers_count_back_from_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "available_cores", lambda: 4)
    assert [count_tasks(n_jobs) for n_jobs in (-1, -2, -4, -5, -100)] == [4, 3, 1, 1, 1]


def test_none_is_all_cores_that_numba_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = int(numba.config.NUMBA_NUM_THREADS)
    for cores, expected in ((1, 1), (limit + 5, limit)):
        monkeypatch.setattr(threads, "available_cores", lambda cores=cores: cores)
        assert count_tasks(None) == expected


@pytest.mark.parametrize("n_jobs", [0, True, False, 2.0, "2", [1]])
def test_what_is_no_number_of_jobs_is_named(n_jobs: Any) -> None:
    with pytest.raises(InputError, match="n_jobs must be None or a whole number other than 0") as caught:
        count_tasks(n_jobs)
    assert repr(n_jobs) in str(caught.value)


def test_a_containers_quota_bounds_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, most in (("150000 100000", 2), ("1000 100000", 1), ("max 100000", 1 << 20), ("", 1 << 20)):
        monkeypatch.setattr(Path, "read_text", lambda self, text=text: text)
        assert threads._container_quota() == most
        assert 1 <= available_cores() <= most


def test_one_job_never_holds_the_threads() -> None:
    with parallel(1) as first:
        assert first == 1
        assert in_another_thread(2) == 2


def test_a_second_thread_works_alone_while_the_first_has_the_kernels() -> None:
    with parallel(2) as first:
        assert first == 2
        assert in_another_thread(2) == 1
        assert in_another_thread(None) == 1
    assert in_another_thread(2) == 2


def test_a_block_inside_a_block_works_alone() -> None:
    with parallel(2) as outer, parallel(2) as inner:
        assert (outer, inner) == (2, 1)


def test_an_error_gives_the_threads_back() -> None:
    before = numba.get_num_threads()
    with pytest.raises(RuntimeError, match="inside"), parallel(2):
        raise RuntimeError("inside")
    assert numba.get_num_threads() == before
    with parallel(2) as tasks:
        assert tasks == 2


def test_numba_uses_no_more_threads_than_tasks() -> None:
    before = numba.get_num_threads()
    with parallel(2):
        assert numba.get_num_threads() == min(2, numba.config.NUMBA_NUM_THREADS)
    assert numba.get_num_threads() == before


def test_a_child_of_fork_works_alone_where_its_parent_had_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_parallel_process", os.getpid() + 1)
    with parallel(4) as tasks:
        assert tasks == 1


@pytest.mark.parametrize(("said", "spins"), [({}, "5000"), ({"GOMP_SPINCOUNT": "77"}, "77")])
def test_waiting_threads_spin_briefly_unless_the_user_says_otherwise(
    said: dict[str, str], spins: str
) -> None:
    told = {name: value for name, value in os.environ.items() if name not in threads.WAITING}
    script = """
import os
from weald.runtime.threads import parallel
before = dict(os.environ)
with parallel(2):
    pass
assert dict(os.environ) == before
"""
    # GNU's OpenMP writes what it was told when it is loaded.
    environment = told | said | {"OMP_DISPLAY_ENV": "verbose"}
    run = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    if "GOMP_SPINCOUNT" not in run.stderr:
        pytest.skip("Numba's threads are not those of GNU's OpenMP")
    assert f"GOMP_SPINCOUNT = '{spins}'" in run.stderr
