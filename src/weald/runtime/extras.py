"""Packages that an extra of Weald brings: loaded when they are used, and missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from weald.runtime.errors import MissingExtraError

#: the extra that brings a package
EXTRAS: Final = {
    "matplotlib": "plots",
    "pandas": "frames",
    "pyarrow": "arrow",
    "dask": "dask",
    "distributed": "dask",
    "mpi4py": "mpi",
    "pyopencl": "opencl",
    "onnx": "onnx",
    "coremltools": "coreml",
    "treelite": "treelite",
    "mlflow": "mlflow",
}


def load_extra(module: str, what: str) -> Any:
    """Import a module for ``what``, the words that begin the sentence where its package is not installed.

    >>> load_extra("pandas", "trees_to_dataframe").__name__
    'pandas'
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"{what} needs {package}, which is not installed: pip install 'weald[{EXTRAS[package]}]'"
        ) from None
