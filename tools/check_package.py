"""Build the package and check it: ``python -m tools.check_package``.

The wheel has the same bytes whether it is built from the tree, from the source distribution, or once more; the source
distribution holds every file of the repository; the wheel holds its data and licences; ``twine check`` finds nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from zipfile import ZipFile

from tools.environments import CACHE, ROOT, Environment, fresh, run

#: 1 January 2025: any fixed time
_EPOCH = os.environ.get("SOURCE_DATE_EPOCH", "1735689600")
_DATA = ROOT / "src" / "weald" / "datasets"
_KERNELS = ROOT / "src" / "weald" / "devices" / "kernels"


def build(environment: Environment, name: str, source: Path, *options: str, **variables: str) -> Path:
    """Build in an empty folder: the folder with what was built."""
    folder = CACHE / "package" / name
    shutil.rmtree(folder, ignore_errors=True)
    variables["SOURCE_DATE_EPOCH"] = _EPOCH
    command: list[str | Path] = [environment.python, "-m", "build", *options, "--outdir", folder, source]
    run(*command, cwd=ROOT, **variables)
    return folder


def only(folder: Path, pattern: str) -> Path:
    """The one file of that pattern."""
    (found,) = folder.glob(pattern)
    return found


def expect(right: bool, said: str) -> None:
    """Stop with a sentence unless something is so."""
    if not right:
        raise SystemExit(f"the package is not right: {said}")


def check_bytes(first: Path, again: Path, tree: Path) -> None:
    """One wheel and one source distribution, however they were built."""
    for pattern in ("*.whl", "*.tar.gz"):
        same = only(first, pattern).read_bytes() == only(again, pattern).read_bytes()
        expect(same, f"two builds of {only(first, pattern).name} differ")
    same = only(first, "*.whl").read_bytes() == only(tree, "*.whl").read_bytes()
    expect(same, "the wheel from the source distribution differs from the wheel from the tree")


def check_source(sdist: Path) -> None:
    """Every file of the repository is in the source distribution."""
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    missing = [name for name in listed.stdout.splitlines() if name not in held]
    expect(not missing, f"the source distribution lacks {', '.join(missing)}")


def check_wheel(wheel: Path) -> None:
    """Types, data and licences are in the wheel, and nothing but the package is."""
    with ZipFile(wheel) as archive:
        held = set(archive.namelist())
    about = f"weald-{wheel.name.split('-')[1]}.dist-info"
    wanted = {"weald/py.typed", "weald/datasets/LICENCES.md", f"{about}/licenses/LICENSE"}
    wanted |= {f"weald/datasets/{table.name}" for table in _DATA.glob("*.csv.gz")}
    wanted |= {f"weald/devices/kernels/{kernel.name}" for kernel in _KERNELS.glob("*.cl")}
    expect(wanted <= held, f"the wheel lacks {', '.join(sorted(wanted - held))}")
    strange = [name for name in held if not name.startswith(("weald/", f"{about}/")) or "__pycache__" in name]
    expect(not strange, f"the wheel holds {', '.join(strange)}")


def main() -> None:
    """Build, compare and look inside; what was built first is left in ``dist``."""
    environment = fresh("build")
    environment.install("build", "twine")
    first = build(environment, "first", ROOT)
    again = build(environment, "again", ROOT)
    tree = build(environment, "tree", ROOT, "--wheel")
    run(environment.python, "-m", "twine", "check", "--strict", *first.iterdir())
    check_bytes(first, again, tree)
    check_source(only(first, "*.tar.gz"))
    check_wheel(only(first, "*.whl"))
    shutil.copytree(first, ROOT / "dist", dirs_exist_ok=True)
    for file in sorted(first.iterdir()):
        print(f"dist/{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
