"""What ``weald doctor`` reports: versions, threads and the cache of compiled kernels."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

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
_OPTIONAL = ("pandas", "polars", "pyarrow", "matplotlib", "lightgbm", "xgboost", "catboost")


def report() -> list[tuple[str, str]]:
    """Rows of (name, value) that say what Weald runs on.

    >>> names = [name for name, _ in report()]
    >>> "python" in names and "kernel cache" in names
    True
    """
    return [*_versions(), *_threads(), *_cache()]


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


def _cache() -> list[tuple[str, str]]:
    from weald.runtime.cache import cache_directory

    directory = cache_directory()
    writable = "writable" if _writable(directory) else "NOT writable: set NUMBA_CACHE_DIR to a folder that is"
    compiled = sum(1 for _ in directory.rglob("*.nbc")) if directory.is_dir() else 0
    hint = "" if compiled else " (run `weald warmup` to compile them ahead)"
    return [("kernel cache", f"{directory} ({writable})"), ("cached kernels", f"{compiled}{hint}")]


def _writable(directory: Path) -> bool:
    """Whether the directory can be written, or made."""
    existing = directory
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    return os.access(existing, os.W_OK | os.X_OK)
