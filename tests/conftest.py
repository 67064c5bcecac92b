"""Settings that must be in place before the first test module is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

# Numba reads the variable when it is imported; the kernels' own directory below it is named by their hash.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).resolve().parent.parent / ".cache" / "numba"))
# Programs that tests start run the sources that are tested, wherever the environment has been installed from.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(Path(__file__).resolve().parent.parent / "src"), os.environ.get("PYTHONPATH")])
)
# PoCL shows a device for every one that is named here; it is asked when pyopencl is first used.
os.environ.setdefault("POCL_DEVICES", "pthread pthread")


def _name_opencl_driver() -> None:
    """Have pyopencl find Intel's driver where it is installed, which lies where nobody looks; PoCL may not know the CPU."""
    intel = Path(sys.prefix) / "lib" / "libintelocl.so"
    if "OCL_ICD_VENDORS" in os.environ or not intel.exists():
        return
    folder = Path(os.environ["NUMBA_CACHE_DIR"]).parent / "opencl"
    folder.mkdir(parents=True, exist_ok=True)
    driver = folder / "intel.icd"
    if not driver.exists() or driver.read_text() != f"{intel}\n":
        driver.write_text(f"{intel}\n")
    os.environ["OCL_ICD_VENDORS"] = str(folder)


_name_opencl_driver()


@pytest.fixture(scope="module", autouse=True)
def one_thread_of_linear_algebra() -> Iterator[None]:
    """Its threads wait busily for each other on tables as small as the tests': several times slower, and nothing else changes."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
