"""The hash of all kernel sources: what compiled kernels were compiled from."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

# What has kernels in it imports one of these; what has tuples in it may be read by kernels.
_SIGNS = (b"runtime.jit", b"runtime.tasks", b"NamedTuple")
_COMPILERS = frozenset(
    {"atomics.py", "far.py", "jit.py", "pipeline.py", "prefetch.py", "references.py", "tasks.py"}
)


@functools.cache
def source_hash() -> str:
    """Sixteen hex digits that change whenever a kernel may have changed."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        if any(sign in content for sign in _SIGNS) or path.name in _COMPILERS:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]
