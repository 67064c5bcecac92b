"""Run benchmarks one after another, each in a fresh process.

``python -m benchmarks [name ...] [--quick] [--json DIR]``
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Programs with arguments of their own: what makes them quick.
PLAIN = {"binning": ["100000"], "predict": ["--rows", "10000", "--repeats", "2"]}


def programs() -> dict[str, str]:
    """Name -> module of every program, those against the peers first."""
    return {
        path.stem: f"benchmarks.{folder}.{path.stem}"
        for folder in ("versus", "stage")
        for path in sorted((HERE / folder).glob("*.py"))
        if not path.name.startswith("_")
    }


def run(name: str, module: str, quick: bool, results: Path | None) -> bool:
    """Run one program; whether it succeeded."""
    command = [sys.executable, "-m", module]
    if name in PLAIN:
        done = subprocess.run(
            command + (PLAIN[name] if quick else []), cwd=HERE.parent, stdout=subprocess.PIPE, text=True
        )
        print(done.stdout, end="", flush=True)
        if results is not None and done.returncode == 0:
            results.mkdir(parents=True, exist_ok=True)
            document = {"results": done.stdout.splitlines()}
            (results / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
        return done.returncode == 0
    command += ["--quick"] if quick else []
    command += ["--json", str(results / f"{name}.json")] if results is not None else []
    return subprocess.run(command, cwd=HERE.parent).returncode == 0


def main() -> None:
    """Read the arguments, run the programs, and exit with 1 when one of them failed."""
    known = programs()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"all by default; known are {', '.join(known)}"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes; writes no results unless --json is given"
    )
    parser.add_argument(
        "--json", type=Path, metavar="DIR", help="folder for the results (benchmarks/results)"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; known are {', '.join(known)}.")
    results = arguments.json.resolve() if arguments.json else None if arguments.quick else HERE / "results"
    failed = []
    for name in arguments.names or known:
        print(f"=== {name} ===", flush=True)
        if not run(name, known[name], arguments.quick, results):
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
