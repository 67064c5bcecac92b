"""Build the pure wheel and the platform wheel into ``dist``, and try the latter: ``python -m tools.wheel x86-64-v3 x86-64-v2``.

The platform wheel carries all kernels compiled for the levels that are named. It is installed into a fresh environment, where
no first model of any kind may compile a kernel.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tools.check_package import build, only
from tools.environments import ROOT, fresh, run


def main(levels: list[str]) -> None:
    """Build both, try one, tell the sizes."""
    environment = fresh("build")
    environment.install("build")
    pure = build(environment, "pure", ROOT, "--wheel")
    platform = build(environment, "platform", ROOT, "--wheel", WEALD_WHEEL_LEVELS=" ".join(levels))
    installed = fresh("platform")
    installed.install(only(platform, "*.whl"))
    with tempfile.TemporaryDirectory() as empty:
        program = ROOT / "tools" / "first_models.py"
        run(installed.python, "-I", program, cwd=Path(empty), NUMBA_CACHE_DIR=empty)
    (ROOT / "dist").mkdir(exist_ok=True)
    for folder in (pure, platform):
        wheel = only(folder, "*.whl")
        shutil.copy(wheel, ROOT / "dist")
        print(f"dist/{wheel.name}: {wheel.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
