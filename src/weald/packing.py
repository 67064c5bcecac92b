"""Pack compiled kernels for a platform wheel: one file a level of the CPU, and a manifest (`weald.runtime.shipped` reads them).

A warm-up compiles all kernels for a level into a cache of its own. A second warm-up compiles nothing, and what it loads from
there is what fits and predictions load: these kernels travel, without the parts of them that only a compiler needs.

    python -m weald.packing FOLDER x86-64-v3 x86-64-v2
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba.core.serialize import dumps

from weald.runtime import cache
from weald.runtime.kernel_files import KernelDirectory
from weald.runtime.shipped import MANIFEST, SWITCH, fitting, key_digest


class _Remembering(KernelDirectory):
    """A directory of kernels that remembers what was read from it."""

    def __init__(self, path: Path, target: str) -> None:
        super().__init__(path, target)
        self.used: dict[str, bytes] = {}

    def read(self, name: str, key: str) -> bytes | None:
        data = super().read(name, key)
        if data is None:
            raise RuntimeError(f"{key} is not compiled: run a warm-up first.")
        self.used[key] = data
        return data


def used_kernels() -> dict[str, Any]:
    """Key -> the reduced kernel, for all kernels that a warm-up loads from the cache."""
    from weald.warmup import warmup

    directories: dict[Any, _Remembering] = {}

    def remember(magic: Any) -> _Remembering:
        if magic not in directories:
            known = cache_of(magic)
            directories[magic] = _Remembering(known.path, known.target)
        return directories[magic]

    cache_of = cache.kept_kernels
    cache.kept_kernels = remember  # type: ignore[assignment]
    try:
        warmup()
    finally:
        cache.kept_kernels = cache_of
    return {
        key: pickle.loads(data)
        for directory in directories.values()
        for key, data in sorted(directory.used.items())
    }


def pack(kernels: dict[str, Any]) -> tuple[bytes, str]:
    """The content of a level's file, and the digest of its index."""
    defined = {key: _defined(reduced[0][2][1]) for key, reduced in kernels.items()}
    index: dict[str, tuple[int, int, str]] = {}
    data: list[bytes] = []
    for key, reduced in kernels.items():
        own = _without_version(reduced[1].mangled_name)
        linkable = any(own in names for other, names in defined.items() if other != key)
        data.append(dumps((linkable, reduced if linkable else _unlinkable(reduced))))
        index[key_digest(key)] = (0, len(data[-1]), hashlib.sha256(data[-1]).hexdigest())
    # Places are counted from the file's beginning, behind the index, which is padded to a length known before they are.
    start = 8 + len(_dump(index)) + 20 * len(index)
    place = start
    for key, (_, length, digest) in index.items():
        index[key] = (place, length, digest)
        place += length
    text = _dump(index).ljust(start - 8)
    return len(text).to_bytes(8, "little") + text + b"".join(data), hashlib.sha256(text).hexdigest()


def _dump(index: Any) -> bytes:
    return json.dumps(index, separators=(",", ":")).encode()


def _defined(bitcode: bytes) -> set[str]:
    """The functions that a kernel's code contains, its callees among them."""
    module = binding.parse_bitcode(bitcode)
    return {_without_version(function.name) for function in module.functions if not function.is_declaration}


def _without_version(mangled: str) -> str:
    """A mangled name without the number that Numba gives a function when it compiles it."""
    return re.sub(r"B\d+v\d+", "", mangled, count=1)


def _unlinkable(reduced: Any) -> Any:
    """A reduced kernel whose intermediate code is no more than the names of its functions, which Numba looks up there."""
    (name, kind, (machine_code, _)), described, *rest = reduced
    names = (described.llvm_func_name, described.llvm_cpython_wrapper_name)
    text = "".join(f'define void @"{name}"() {{ unreachable }}\n' for name in dict.fromkeys(names))
    stub = binding.parse_assembly(text).as_bitcode()
    return ((name, kind, (machine_code, stub)), described, *rest)


def compile_level(level: str, directory: Path, jobs: int) -> dict[str, str]:
    """Compile all kernels for a level into a directory; the environment that finds them there."""
    environment = os.environ | {
        "NUMBA_CPU_NAME": level,
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(directory),
        SWITCH: "0",
        "PYTHONHASHSEED": "0",
    }
    program = f"from weald.warmup import warmup; warmup(jobs={jobs})"
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    return environment


def build(folder: Path, levels: list[str], jobs: int = 2) -> None:
    """Make the files of some levels, and the manifest, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    digests = {}
    for level in levels:
        print(f"compiling all kernels for {level}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as directory:
            environment = compile_level(level, Path(directory), jobs)
            done = subprocess.run(
                [sys.executable, "-m", "weald.packing", "--pack", str(folder / f"{level}.kernels")],
                check=True,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            digests[level] = done.stdout.strip()
    manifest = {"fits": fitting(), "levels": digests}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _main(arguments: list[str]) -> None:
    if arguments[0] == "--pack":
        content, digest = pack(used_kernels())
        Path(arguments[1]).write_bytes(content)
        print(digest)
    else:
        build(Path(arguments[0]), arguments[1:])


if __name__ == "__main__":
    _main(sys.argv[1:])
