"""``make fuzz``: fits with random valid parameters, and damaged model files; each must end in a result or in our error. Models of
other systems, imported, must predict the same, and their files, damaged, must end so, too.

Cases run in child processes, so that a crash or a hang is caught and known by its case. The seed and the number of a case say all
about it: ``python -m tools.fuzz fits --only 123`` runs one here, and shows its traceback.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import IO, Any

_BAD = ("not finite", "error", "crashed", "hung")
_OUTCOMES = ("finite", "refused", *_BAD)


@dataclass
class Summary:
    """The ends of all cases, and each different bad one with the first case that met it."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)
    broken: str = ""  # what a child said that could not begin with any case

    def add(self, case: dict[str, Any]) -> None:
        """Note the end of a case."""
        with self.lock:
            self.counts[case["group"], case["outcome"]] += 1
            if case["outcome"] == "refused":
                self.refusals[re.sub(r"[-\d.e+]*\d|'[^']*'", "#", case["detail"])[:140]] += 1
            if case["outcome"] in _BAD:
                sort = f"{case['outcome']}: {re.sub(r'[0-9]+(?![0-9]*[ <:])', '#', case['detail'])[:160]}"
                self.findings.setdefault(sort, []).append(case)

    @property
    def total(self) -> int:
        """How many cases have ended."""
        return sum(self.counts.values())

    @property
    def bad(self) -> int:
        """How many of them badly."""
        return sum(count for (_, outcome), count in self.counts.items() if outcome in _BAD)

    def table(self) -> str:
        """A row for every group of cases."""
        groups = sorted({group for group, _ in self.counts})
        lines = [" " * 20 + "".join(f"{outcome:>12}" for outcome in _OUTCOMES)]
        for group in [*groups, "all"]:
            cells = [
                sum(
                    count
                    for (of, end), count in self.counts.items()
                    if end == outcome and group in (of, "all")
                )
                for outcome in _OUTCOMES
            ]
            lines.append(f"{group:<20}" + "".join(f"{cell:>12,}" for cell in cells))
        return "\n".join(lines)


class Lane:
    """Every so-manyth case, in a child that is replaced when it dies."""

    def __init__(self, args: argparse.Namespace, offset: int, summary: Summary) -> None:
        self.args, self.offset, self.summary = args, offset, summary
        self.next = args.first + offset

    def run(self) -> None:
        """Run all cases of the lane."""
        while self.next < self.args.first + self.args.cases and time.monotonic() < self.args.deadline:
            self._run_child()

    def _run_child(self) -> None:
        """Run cases until the child ends, hangs or is out of time."""
        last = self.args.first + self.args.cases
        numbers = map(str, (self.args.seed, self.next, last, self.args.jobs))
        command = [sys.executable, "-m", "tools.fuzz.child", self.args.kind, *numbers]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines: queue.Queue[str | None] = queue.Queue()
        said: list[str] = []
        assert child.stdout is not None and child.stderr is not None
        readers = [
            threading.Thread(target=_read, args=(child.stdout, lines.put), daemon=True),
            threading.Thread(target=_read, args=(child.stderr, said.append), daemon=True),
        ]
        for reader in readers:
            reader.start()
        case: dict[str, Any] | None = None
        patience = 120.0  # to start
        while time.monotonic() < self.args.deadline:
            try:
                line = lines.get(timeout=patience)
            except queue.Empty:
                self._end(case, "hung", f"no end after {patience:.0f} s")
                break
            if line is None:
                child.wait()
                if child.returncode or case:
                    name = (
                        signal.Signals(-child.returncode).name if child.returncode < 0 else child.returncode
                    )
                    self._end(case, "crashed", f"{name}: {''.join(filter(None, said))[-600:]}")
                break
            told = json.loads(line)
            if "begins" in told:
                case, patience = {"number": told["begins"], **told}, self.args.patience
            else:
                self._end(case, told["outcome"], told["detail"], told["seconds"])
                case = None
        child.kill()
        child.wait()

    def _end(self, case: dict[str, Any] | None, outcome: str, detail: str, seconds: float = 0.0) -> None:
        if case is None:
            self.summary.broken = detail
            self.next = self.args.first + self.args.cases
            return
        self.summary.add({**case, "outcome": outcome, "detail": detail, "seconds": seconds})
        self.next = case["number"] + self.args.jobs


def _read(stream: IO[str], put: Any) -> None:
    for line in stream:
        put(line)
    put(None)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("kind", choices=("fits", "files", "foreign", "imports"))
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="child processes")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds after which a case hangs")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--only", type=int, help="run one case in this process and show its traceback")
    parser.add_argument("--report", help="a file for the bad cases, one line of JSON each")
    parser.add_argument("--refusals", action="store_true", help="show what was refused, and how often")
    args = parser.parse_args()
    args.deadline = time.monotonic() + args.seconds
    return args


def _tell(summary: Summary, refusals: bool, report: str | None) -> None:
    """Print what was found, and write the report that was asked for."""
    if refusals:
        for said, count in summary.refusals.most_common():
            print(f"{count:>6} {said}")
    found = sorted(summary.findings.items(), key=lambda item: -len(item[1]))
    for sort, cases in found:
        print(f"\n{len(cases)} times {sort}")
        for case in cases[:2]:
            print(f"    --only {case['number']}: {case['told'][:300]}")
    if report:
        with open(report, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(case) + "\n" for _, cases in found for case in cases)


def main() -> int:
    """Run the cases; 1 where one ended badly."""
    args = _arguments()
    if args.only is not None:
        from tools.fuzz.child import CASES
        from tools.fuzz.fits import run_quietly

        case = CASES[args.kind](args.seed, args.only)
        print(case.told)
        print(run_quietly(case) or "finite")
        return 0
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # of linear algebra, on tables as small as these
    summary = Summary()
    lanes = [
        threading.Thread(target=Lane(args, offset, summary).run, daemon=True) for offset in range(args.jobs)
    ]
    for lane in lanes:
        lane.start()
    shown = 0
    while any(lane.is_alive() for lane in lanes):
        time.sleep(0.5)
        # Where lines stay, as in a log, one for every tenth is enough.
        if sys.stderr.isatty() or summary.total - shown >= args.cases / 10:
            shown = summary.total
            end = "\r" if sys.stderr.isatty() else "\n"
            print(f"{shown:,} of {args.cases:,} {args.kind}, {summary.bad} bad", end=end, file=sys.stderr)
    if summary.broken:
        raise SystemExit(f"a process could not run its cases: {summary.broken}")
    print(
        f"\n{args.kind}, seed {args.seed}, cases {args.first:,} to {args.first + args.cases - 1:,}\n{summary.table()}"
    )
    _tell(summary, args.refusals, args.report)
    return 1 if summary.bad or summary.total < args.cases else 0


if __name__ == "__main__":
    sys.exit(main())
