"""How many tasks a piece of work is cut into, and who may run them on threads.

The number of tasks never changes a result, so any of these rules may fall back to one task:
a child of ``fork`` (its parent's OpenMP threads are gone, and entering a parallel kernel would kill it), and a
second Python thread while another one is inside a parallel kernel (Numba's ``workqueue`` layer would abort).

A thread that waits for others may spin or sleep. GNU's OpenMP spins long enough to lose a time slice to busy neighbours at every
meeting; our threads spin for some microseconds, which is as quick on an idle machine (docs/decisions/0006-threads.md).
"""

from __future__ import annotations

import importlib
import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weald.runtime.errors import InputError

_lock = threading.Lock()
_parallel_process: int | None = None  # the process that has started threads
_loaded = False

#: what users tell OpenMP about waiting
WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
_SPINS = "5000"


def load_openmp() -> None:
    """Load Numba's OpenMP layer, once, so that its threads spin for a short while; what the user says of waiting comes first.

    The library reads its variables when it is loaded. They are not left behind: other libraries have copies of their own.
    """
    global _loaded
    if _loaded:
        return
    _loaded = True
    if any(name in os.environ for name in WAITING):
        return
    os.environ["GOMP_SPINCOUNT"] = _SPINS
    try:
        importlib.import_module("numba.np.ufunc.omppool")
    except ImportError:  # a platform without OpenMP
        pass
    finally:
        del os.environ["GOMP_SPINCOUNT"]


def available_cores() -> int:
    """Cores that this process may use: its affinity, and a container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, _container_quota()))


def _container_quota() -> int:
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # no container, or no limit ("max")
        return 1 << 20


def count_tasks(n_jobs: int | None) -> int:
    """The number of tasks that ``n_jobs`` asks for; None and -1 mean all cores, -2 all but one.

    >>> count_tasks(3)
    3
    """
    if n_jobs is None:
        import numba

        return min(available_cores(), int(numba.config.NUMBA_NUM_THREADS))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InputError(f"n_jobs must be None or a whole number other than 0, not {n_jobs!r}.")
    return n_jobs if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)


@contextmanager
def parallel(n_jobs: int | None) -> Iterator[int]:
    """Yield the number of tasks to use; while the block runs, parallel kernels belong to this thread."""
    global _parallel_process
    load_openmp()
    tasks = count_tasks(n_jobs)
    forked = _parallel_process is not None and _parallel_process != os.getpid()
    if tasks == 1 or forked or not _lock.acquire(blocking=False):
        yield 1
        return
    try:
        import numba

        _parallel_process = os.getpid()
        before = numba.get_num_threads()
        numba.set_num_threads(min(tasks, numba.config.NUMBA_NUM_THREADS))
        try:
            yield tasks
        finally:
            numba.set_num_threads(before)
    finally:
        _lock.release()
