"""What ``weald doctor`` reports: versions, threads and the cache of compiled kernels."""

from __future__ import annotations

import os
import platform
from importlib import import_module, metadata
from pathlib import Path

from weald.runtime.threads import WAITING, load_openmp

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
_LAYERS = {"tbb": "tbbpool", "omp": "omppool", "workqueue": "workqueue"}


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
    import numba

    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    config, layers = numba.config, available_layers()
    return [
        ("CPUs", f"{os.cpu_count()} in the machine, {allowed} open to this process"),
        ("Numba threads", str(config.NUMBA_NUM_THREADS)),
        (
            "threading layer",
            f"{config.THREADING_LAYER}; available: {', '.join(layers) or 'none'}",
        ),
        ("wait policy", _wait_policy(_layer(layers))),
    ]


def _layer(available: list[str]) -> str:
    """The threading layer that runs, or that will when the first threads start."""
    import numba

    try:
        return str(numba.threading_layer())
    except ValueError:  # no threads yet
        asked = str(numba.config.THREADING_LAYER)
        return asked if asked in _LAYERS else next(iter(available), "none")


def _wait_policy(layer: str) -> str:
    """What threads do that wait for others."""
    if layer != "omp":
        return f"that of {layer}; {' and '.join(WAITING)} are for omp"
    said = [f"{name}={os.environ[name]}" for name in WAITING if name in os.environ]
    return ", ".join(said) or "waiting threads spin for microseconds, then sleep"


def available_layers() -> list[str]:
    """The threading layers that Numba can load here, in the order in which it tries them."""
    load_openmp()
    return [layer for layer, module in _LAYERS.items() if _loads(f"numba.np.ufunc.{module}")]


def _loads(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return False
    return True


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
