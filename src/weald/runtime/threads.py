"""How many tasks a piece of work is cut into, and how many threads do them.

The number of tasks never changes a result. Threads are those of `weald.runtime.crew`: as many as tasks, and no more than this
process has cores, by its affinity mask and its container's limit.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from weald.runtime.errors import InputError

_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
NO_LIMIT = 1 << 20


def available_cores() -> int:
    """Cores that this process may use: its affinity, and a container's limit."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, container_limit()))


@functools.cache
def container_limit() -> int:
    """Cores that the control groups of this process may use, version 1 or 2, rounded up; `NO_LIMIT` where nothing limits them."""
    shares = [quota / period for quota, period in _quotas() if quota > 0 and period > 0]
    return max(1, math.ceil(min(shares))) if shares else NO_LIMIT


def _quotas() -> Iterator[tuple[int, int]]:
    """Microseconds of every period that this process's groups and those above them may run."""
    for folder in _folders():
        try:
            if (folder / "cpu.max").exists():
                quota, period = (folder / "cpu.max").read_text().split()
            else:
                quota = (folder / "cpu.cfs_quota_us").read_text()
                period = (folder / "cpu.cfs_period_us").read_text()
            yield int(quota), int(period)
        except (OSError, ValueError):  # no such group, or no limit: "max"
            continue


def _folders() -> Iterator[Path]:
    """The folders of this process's groups, up to the root; inside of a container only the root may be to be seen."""
    yield from (_CONTROL_GROUPS, _CONTROL_GROUPS / "cpu", _CONTROL_GROUPS / "cpu,cpuacct")
    try:
        lines = _OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        own = PurePosixPath(path)
        for group in (own, *own.parents):
            yield _CONTROL_GROUPS / controllers / group.relative_to("/")


def count_tasks(n_jobs: int | None) -> int:
    """The number of tasks that ``n_jobs`` asks for; None and -1 mean all cores, -2 all but one.

    >>> count_tasks(3)
    3
    """
    if n_jobs is None:
        return available_cores()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InputError(f"n_jobs must be None or a whole number other than 0, not {n_jobs!r}.")
    return n_jobs if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)


def hire(n_jobs: int | None) -> int:
    """The number of tasks that ``n_jobs`` asks for, with helpers in place for them."""
    tasks = count_tasks(n_jobs)
    if tasks > 1:
        from weald.runtime import crew

        crew.start(min(tasks, available_cores()) - 1)
    return tasks
