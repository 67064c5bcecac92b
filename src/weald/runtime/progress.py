"""Progress of a long task, on stderr: a bar on a terminal, elsewhere a plain line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

# Without a terminal (a log file, a notebook's captured output) one line per this share of the work.
_LINE_EVERY = 0.1


class Progress(Protocol):
    """What a task reports its progress to."""

    def advance(self, fields: Mapping[str, float] | None = None, steps: int = 1) -> None:
        """Say that ``steps`` more steps are done; ``fields`` are numbers to show, such as a metric."""


@contextmanager
def progress(total: int, description: str, enabled: bool = True) -> Iterator[Progress]:
    """Yield an object whose ``advance(fields)`` is called after each of ``total`` steps.

    >>> with progress(2, "training", enabled=False) as bar:
    ...     bar.advance({"logloss": 0.5})
    ...     bar.advance({"logloss": 0.4})
    """
    if not enabled:
        yield _Silent()
    elif sys.stderr.isatty():
        yield from _bar(total, description)
    else:
        yield _Lines(total, description)


class _Silent:
    def advance(self, fields: Mapping[str, float] | None = None, steps: int = 1) -> None:
        return


class _Lines:
    def __init__(self, total: int, description: str) -> None:
        self._total = max(total, 1)
        self._description = description
        self._done = 0
        self._next = _LINE_EVERY
        self._start = time.perf_counter()

    def advance(self, fields: Mapping[str, float] | None = None, steps: int = 1) -> None:
        self._done += steps
        share = self._done / self._total
        if share + 1e-9 < self._next:
            return
        while self._next <= share + 1e-9:
            self._next += _LINE_EVERY
        seconds = time.perf_counter() - self._start
        words = [
            f"{self._description}: {self._done}/{self._total}",
            f"{seconds:.1f} s",
            format_fields(fields),
        ]
        print("  ".join(word for word in words if word), file=sys.stderr, flush=True)


class _Bar:
    def __init__(self, bar: Any, task: Any) -> None:
        self._bar = bar
        self._task = task

    def advance(self, fields: Mapping[str, float] | None = None, steps: int = 1) -> None:
        if fields:
            self._bar.update(self._task, advance=steps, fields_text=format_fields(fields))
        else:
            self._bar.advance(self._task, steps)


def _bar(total: int, description: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    bar = RichProgress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[fields_text]}"),
        console=Console(stderr=True),
    )
    with bar:
        yield _Bar(bar, bar.add_task(description, total=total, fields_text=""))


def format_fields(fields: Mapping[str, float] | None) -> str:
    """Numbers with their names, for one line of output.

    >>> format_fields({"logloss": 0.27345678, "auc": 0.9})
    'logloss 0.27346  auc 0.9'
    """
    return "  ".join(f"{name} {value:.5g}" for name, value in (fields or {}).items())


class ProgressRound(Protocol):
    """What a training callback is given after each round."""

    @property
    def history(self) -> Mapping[str, Mapping[str, list[float]]]:
        """Evaluation set -> metric -> one value per round so far."""

    @property
    def n_rounds(self) -> int:
        """How many rounds were asked for."""

    @property
    def stopped(self) -> bool:
        """Whether this is the last round, as a callback has asked to stop."""

    number: int  # the round's, from 0


class TrainingProgress:
    """A callback for ``fit`` that advances a progress bar by one round and shows the latest metrics.

    >>> with progress(100, "training", enabled=False) as bar:
    ...     callback = TrainingProgress(bar)
    """

    def __init__(self, bar: Progress) -> None:
        self._bar = bar

    def __call__(self, state: ProgressRound) -> None:
        self._bar.advance(_latest(state))


class RoundLines:
    """A callback for ``fit`` that prints a line with the metrics after every so many rounds, and after the last, on stderr.

    >>> callback = RoundLines(every=10)
    """

    def __init__(self, every: int) -> None:
        self._every = every

    def __call__(self, state: ProgressRound) -> None:
        done = state.number + 1
        if done % self._every == 0 or done == state.n_rounds or state.stopped:
            words = (f"round {done}/{state.n_rounds}", format_fields(_latest(state)))
            print("  ".join(word for word in words if word), file=sys.stderr, flush=True)


def _latest(state: ProgressRound) -> dict[str, float]:
    """The last value of every metric on every set."""
    return {
        f"{name} {metric}": values[-1]
        for name, metrics in state.history.items()
        for metric, values in metrics.items()
        if values
    }
