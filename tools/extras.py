"""Try every extra of the wheel in a fresh environment of its own: ``python -m tools.extras [EXTRA ...]``."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tools.bounds import metadata_of
from tools.environments import CACHE, build_wheel, fresh, run

#: for work on Weald itself; `tools.suite` and `make test` use them
FOR_DEVELOPERS = frozenset({"test", "dev"})
BARE = "none"
_TRIAL = Path(__file__).with_name("trial.py")


def main() -> None:
    """Try the extras that are named, or all and the package without any."""
    wheel = build_wheel()
    extras = [
        extra for extra in metadata_of(wheel).get_all("Provides-Extra", []) if extra not in FOR_DEVELOPERS
    ]
    cache = os.environ.get("NUMBA_CACHE_DIR", str(CACHE / "numba"))
    for extra in sys.argv[1:] or [BARE, *extras]:
        environment = fresh(f"extra-{extra}")
        environment.install(wheel if extra == BARE else f"{wheel}[{extra}]")
        with tempfile.TemporaryDirectory() as folder:
            # Isolated, and outside the tree: what is imported is what was installed.
            run(environment.python, "-I", _TRIAL, extra, cwd=Path(folder), NUMBA_CACHE_DIR=cache)
        print(f"extra {extra}: works", flush=True)


if __name__ == "__main__":
    main()
