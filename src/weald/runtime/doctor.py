"""What ``weald doctor`` reports: versions, threads and where compiled kernels come from."""

from __future__ import annotations

import os
import platform
from importlib import metadata

from weald.runtime.extras import EXTRAS
from weald.runtime.threads import NO_LIMIT, available_cores, container_limit

_REQUIRED = (
    "numpy",
    "numba",
    "llvmlite",
    "scikit-learn",
    "scipy",
    "narwhals",
    "safetensors",
    "rich",
    "typer",
)
_OPTIONAL = ("polars", *EXTRAS, "lightgbm", "xgboost", "catboost")


def report() -> list[tuple[str, str]]:
    """Rows of (name, value) that say what Weald runs on.

    >>> names = [name for name, _ in report()]
    >>> "python" in names and "kernel cache" in names
    True
    """
    return [*_versions(), *_threads(), *_kernels()]


def _versions() -> list[tuple[str, str]]:
    from weald import __version__

    rows = [
        ("weald", __version__),
        ("python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("platform", platform.platform()),
    ]
    rows += [(name, _version(name) or "MISSING: reinstall weald") for name in _REQUIRED]
    rows += [(name, _version(name) or "not installed (optional)") for name in _OPTIONAL]
    return rows


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _threads() -> list[tuple[str, str]]:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limit = container_limit()
    container = "no limit by a container" if limit == NO_LIMIT else f"{limit} by the container's limit"
    return [
        ("CPUs", f"{os.cpu_count()} in the machine, {allowed} open to this process, {container}"),
        ("threads", f"{available_cores()}, of which {available_cores() - 1} are helpers"),
    ]


def _kernels() -> list[tuple[str, str]]:
    from weald.runtime.cache import cache_directory
    from weald.runtime.kernel_files import KernelDirectory, can_be_written

    directory = KernelDirectory(cache_directory(), "")
    if directory.distrusted:
        state = f"NOT used: {directory.distrusted}"
    elif can_be_written(directory.path):
        state = "writable"
    else:
        state = "read-only: what is missing is compiled anew in every process"
    compiled, shipped = directory.count(), _shipped()
    hint = "" if compiled or shipped.endswith("used") else " (run `weald warmup` to compile them ahead)"
    return [
        ("shipped kernels", shipped),
        ("kernel cache", f"{directory.path} ({state})"),
        ("cached kernels", f"{compiled}{hint}"),
    ]


def _shipped() -> str:
    """Which of the package's own kernels are used, or why none are."""
    from weald.runtime.shipped import FOLDER, MANIFEST, SWITCH, find_shipped

    if not (FOLDER / MANIFEST).exists():
        return "none in this package; kernels are compiled on this machine"
    if os.environ.get(SWITCH) == "0":
        return f"not used: {SWITCH} is 0"
    found = find_shipped(FOLDER)
    return f"not used: {found}" if isinstance(found, str) else f"{len(found.index)} for {found.level}, used"
