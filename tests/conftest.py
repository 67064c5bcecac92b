"""Settings that must be in place before the first test module is imported."""

from __future__ import annotations

import os
from pathlib import Path

# Numba reads the variable when it is imported; the kernels' own directory below it is named by their hash.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).resolve().parent.parent / ".cache" / "numba"))
# Programs that tests start run the sources that are tested, wherever the environment has been installed from.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(Path(__file__).resolve().parent.parent / "src"), os.environ.get("PYTHONPATH")])
)
