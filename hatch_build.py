"""Build hook: with WEALD_WHEEL_LEVELS set, a wheel carries compiled kernels and is for one platform and Python.

``WEALD_WHEEL_LEVELS="x86-64-v3 x86-64-v2" python -m build --wheel`` compiles all kernels for these levels of the CPU, which
takes minutes. Without it the wheel is pure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts compiled kernels into ``weald/_kernels``."""

    @property
    def _levels(self) -> list[str]:
        return os.environ.get("WEALD_WHEEL_LEVELS", "").split()

    def dependencies(self) -> list[str]:
        """Kernels are compiled by running Weald, so building them needs what Weald needs."""
        return list(self.metadata.core.dependencies) if self._levels else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is put together."""
        if not self._levels or version != "standard":
            return
        folder = Path(self.directory) / "kernels"
        # An editable install must not hide the sources that are being built.
        environment = os.environ | {"PYTHONPATH": str(Path(self.root) / "src")}
        subprocess.run(
            [sys.executable, "-m", "weald.packing", str(folder), *self._levels], check=True, env=environment
        )
        build_data["pure_python"] = False
        build_data["tag"] = _tag()
        build_data["force_include"][str(folder)] = "weald/_kernels"


def _tag() -> str:
    """The Python and the platform that the kernels are for.

    They are linked against nothing: Python, NumPy and Numba in the process bring all that they call. So on Linux the oldest
    tag that these still have is true.
    """
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    platform = platform.replace("linux_", "manylinux_2_17_", 1) if platform.startswith("linux_") else platform
    return f"{python}-{python}-{platform}"
