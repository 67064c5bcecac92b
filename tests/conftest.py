"""Settings that must be in place before the first test module is imported."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from kernel_cache import cache_directory

# Numba reads the variable when it is imported; a stale cache would test yesterday's kernels.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_directory()))
