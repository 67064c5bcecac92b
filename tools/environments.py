"""Fresh environments: made anew for every use, below ``.cache/environments``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache"
_PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> None:
    """Run a program; where it fails, its exit code is ours."""
    done = subprocess.run([*map(str, command)], cwd=cwd, env={**os.environ, **variables}, check=False)
    if done.returncode:
        print(f"failed: {' '.join(map(str, command))}", file=sys.stderr)
        raise SystemExit(done.returncode)


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        windows = self.folder / "Scripts" / "python.exe"
        return windows if windows.exists() else self.folder / "bin" / "python"

    def install(self, *what: str | Path) -> None:
        """Install packages, with pip's options among them."""
        run(self.python, *_PIP, "install", *what)


def fresh(name: str, python: str | Path = sys.executable) -> Environment:
    """An empty environment of that interpreter; one of the same name is deleted first."""
    folder = CACHE / "environments" / name
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    return Environment(folder)


def find_python(version: str) -> Path:
    """The interpreter of a version such as 3.12, on the path or among those of pyenv."""
    for candidate in _candidates(version):
        asked = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"]
        try:
            answer = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split(
                maxsplit=1
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        if answer[0] == version:
            return Path(answer[1].strip())
    raise SystemExit(f"there is no Python {version}: install it, or name other versions")


def _candidates(version: str) -> Iterator[str]:
    yield sys.executable
    yield f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for folder in sorted(pyenv.glob(f"versions/{version}.*"), reverse=True):
        yield str(folder / "bin" / "python")


def build_wheel() -> Path:
    """The package's pure wheel, built from this tree."""
    folder = CACHE / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, *_PIP, "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel
