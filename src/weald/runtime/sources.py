"""The hash of all kernel sources: what compiled kernels were compiled from."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

# Sources of kernels that do not import runtime.jit themselves.
_ALSO_COMPILED = frozenset(
    {"atomics.py", "far.py", "jit.py", "prefetch.py", "references.py", "state.py", "tasks.py"}
)


@functools.cache
def source_hash() -> str:
    """Sixteen hex digits that change whenever a kernel may have changed."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        if b"runtime.jit" in content or path.name in _ALSO_COMPILED:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]
