"""The quick part of the test suite: here, or in a fresh environment of some Python.

``python -m tools.suite`` runs it in this environment; with ``--python 3.12`` in a fresh one of that Python, with the newest
versions of what Weald requires; with ``--minimum`` too, with the oldest that it allows.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tools.bounds import constraints
from tools.environments import CACHE, build_wheel, find_python, fresh, run

#: every stage by itself, files of older versions, scikit-learn's checks; no digests: NumPy's exp and log have a part in some
QUICK = (
    "tests/unit",
    "--ignore=tests/unit/tree/shards",
    "tests/golden",
    "tests/estimators/test_scikit_learn.py",
)
_PYTEST = ("-m", "pytest", "--quiet", "--numprocesses", "2", "--dist", "loadfile")


def run_here() -> None:
    """Run the quick part with the running interpreter."""
    run_with(sys.executable, os.environ.get("NUMBA_CACHE_DIR", str(CACHE / "numba")))


def run_newest(version: str) -> None:
    """Run the quick part on a Python with the newest versions of what Weald requires."""
    run_fresh(version, version, build_wheel(), "")


def run_oldest(version: str) -> None:
    """Run the quick part on a Python with the oldest versions that Weald allows."""
    wheel = build_wheel()
    run_fresh(f"{version}-oldest", version, wheel, constraints(wheel))


def run_fresh(name: str, version: str, wheel: Path, limits: str) -> None:
    """Run the quick part in a fresh environment; ``limits``: pip's constraints."""
    environment = fresh(name, find_python(version))
    file = environment.folder / "constraints.txt"
    file.write_text(limits)
    environment.install(f"{wheel}[test]", "--constraint", file)
    print(f"the quick part of the suite in the environment {name}", flush=True)
    # Numba overwrites compiled code of other versions of itself.
    run_with(environment.python, str(CACHE / f"numba-{name}"))


def run_with(python: str | Path, cache: str) -> None:
    """Compile the kernels, then run the tests."""
    run(python, "-m", "weald", "warmup", "--jobs", "2", "--quiet", NUMBA_CACHE_DIR=cache, PYTHONPATH="src")
    run(python, *_PYTEST, *QUICK, NUMBA_CACHE_DIR=cache)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python", nargs="+", default=[], metavar="VERSION", help="fresh environments, one after another"
    )
    parser.add_argument("--minimum", action="store_true", help="the oldest versions of what Weald requires")
    given = parser.parse_args()
    for version in given.python:
        (run_oldest if given.minimum else run_newest)(version)
    if not given.python:
        run_here()


if __name__ == "__main__":
    main()
