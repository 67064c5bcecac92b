"""Tasks on threads of our own: all are done, once each, whoever asks and whatever goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import types

from weald.runtime import crew
from weald.runtime.atomics import words
from weald.runtime.far import far, returns
from weald.runtime.jit import inner_kernel, kernel
from weald.runtime.references import refer
from weald.runtime.tasks import part, shared_kernel


@shared_kernel
def mark(task: Any, tasks: Any, work: Any, marks: Any) -> None:
    """Count every item once, and keep a task busy for a while."""
    begin, end = part(len(marks), task, tasks)
    state = np.uint64(task)
    for i in range(begin, end):
        for _ in range(work):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        marks[i] += 1 + np.int64(state == np.uint64(7))


@shared_kernel
def nest(task: Any, tasks: Any, marks: Any) -> None:
    """Tasks that share work themselves."""
    mark(tasks, 1, marks[task])


@shared_kernel
def fail(task: Any, tasks: Any, failing: Any, done: Any) -> None:
    """Raise in one task."""
    if task == failing:
        raise MemoryError("no memory for this task")
    done[task] = 1


@kernel
def many_jobs(jobs: int, tasks: int, marks: Any) -> None:
    """Jobs one after another, without Python in between."""
    for _ in range(jobs):
        mark(tasks, 1, marks)


@pytest.fixture
def helpers() -> Iterator[None]:
    """A crew of three, and none afterwards."""
    crew.start(3)
    assert words[crew.SIZE] == 3
    yield
    crew.dismiss()
    assert words[crew.SIZE] == 0


@pytest.mark.parametrize("tasks", [1, 2, 3, 4, 7, 64])
def test_every_task_is_done_once(helpers: None, tasks: int) -> None:
    marks = np.zeros(1_000, np.int64)
    for jobs in range(1, 50):
        mark(tasks, 20, marks)
        assert (marks == jobs).all()


@pytest.mark.usefixtures("helpers")
def test_jobs_in_quick_succession_do_not_mix() -> None:
    marks = np.zeros(64, np.int64)
    many_jobs(100_000, 4, marks)
    assert (marks == 100_000).all()


def test_without_helpers_the_caller_does_all_tasks() -> None:
    crew.dismiss()
    marks = np.zeros(10, np.int64)
    mark(4, 1, marks)
    assert (marks == 1).all()


@pytest.mark.usefixtures("helpers")
def test_helpers_take_part() -> None:
    @shared_kernel
    def meet(task: Any, tasks: Any, arrived: Any) -> None:
        arrived[task] = 1
        while arrived.sum() < tasks:  # none leaves before all are there, so each has a thread of its own
            pass

    done = threading.Event()

    def run() -> None:
        meet(2, np.zeros(2, np.int64))
        done.set()

    if len(os.sched_getaffinity(0)) > 1:
        threading.Thread(target=run, daemon=True).start()
        assert done.wait(timeout=60)


@pytest.mark.usefixtures("helpers")
def test_tasks_may_share_work_themselves() -> None:
    marks = np.zeros((3, 100), np.int64)
    for _ in range(100):
        nest(3, marks)
    assert (marks == 100).all()


@pytest.mark.usefixtures("helpers")
def test_many_python_threads_may_ask_at_once() -> None:
    results = [np.zeros(500, np.int64) for _ in range(8)]

    def work(own: Any) -> None:
        for _ in range(300):
            mark(3, 5, own)

    callers = [threading.Thread(target=work, args=(own,)) for own in results]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=60)
    assert all((own == 300).all() for own in results)
    assert words[crew.BUSY] == 0


@pytest.mark.parametrize("with_helpers", [False, True])
@pytest.mark.parametrize("failing", [0, 3])
def test_what_a_task_raises_reaches_the_caller(failing: int, with_helpers: bool) -> None:
    if with_helpers:
        crew.start(3)
    for _ in range(20):
        with pytest.raises(MemoryError, match="no memory for this task"):
            fail(4, failing, np.zeros(4, np.int64))
    marks = np.zeros(10, np.int64)
    mark(4, 1, marks)
    assert (marks == 1).all()
    crew.dismiss()


def test_where_no_thread_can_be_started_the_caller_does_all_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    crew.dismiss()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        crew.start(2)
        marks = np.zeros(100, np.int64)
        mark(4, 1, marks)
    assert (marks == 1).all() and words[crew.SIZE] == 0
    crew.start(2)
    assert words[crew.SIZE] == 2


def test_helpers_sleep_wake_leave_and_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    crew.start(1)
    state = crew.FIRST
    for _ in range(500):
        if words[state] == crew.ASLEEP:
            break
        time.sleep(0.01)
    assert words[state] == crew.ASLEEP
    marks = np.zeros(100_000, np.int64)
    mark(2, 50, marks)
    assert (marks == 1).all()
    crew.dismiss()
    assert words[state] == crew.GONE
    crew.start(1)
    assert words[state] != crew.GONE
    mark(2, 50, marks)
    assert (marks == 2).all()
    crew.dismiss()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_fork_has_a_crew_of_its_own() -> None:
    crew.start(2)
    marks = np.zeros(1_000, np.int64)
    mark(3, 10, marks)
    child = os.fork()
    if child == 0:
        alone = words[crew.SIZE] == 0
        mark(3, 10, marks)
        crew.start(1)
        mark(3, 10, marks)
        os._exit(0 if alone and (marks == 3).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    mark(3, 10, marks)
    assert (marks == 2).all()
    crew.dismiss()


def test_a_process_ends_while_helpers_sleep_or_spin() -> None:
    program = "from weald.runtime import crew\ncrew.start(3)\nprint('ready')"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "ready\n"


@returns(types.float64)
@inner_kernel
def half(value: Any) -> Any:
    """Half of a number."""
    if value < 0:
        raise ValueError("below 0")
    return value / 2.0


@returns(types.int64)
@inner_kernel
def wrong(value: Any) -> Any:
    """Returns something other than it says."""
    return value / 2.0


@kernel
def call_half(value: float) -> Any:
    """Call by address."""
    return far(half, (value,)) + 1.0


@kernel
def call_wrong(value: float) -> Any:
    """Call what cannot be called."""
    return far(wrong, (value,))


@kernel
def call_maybe(value: float, is_wanted: bool) -> Any:
    """A far call that may never happen."""
    return far(half, (np.float32(value),)) if is_wanted else 0.0


def test_a_far_call_returns_and_raises_what_its_kernel_does() -> None:
    assert call_half(5.0) == 3.5
    with pytest.raises(ValueError, match="below 0"):
        call_half(-1.0)


def test_a_far_kernel_is_compiled_when_somebody_gets_there() -> None:
    before = set(half.overloads)  # type: ignore[attr-defined]
    assert call_maybe(4.0, False) == 0.0
    assert set(half.overloads) == before  # type: ignore[attr-defined]
    assert call_maybe(4.0, True) == 2.0
    assert set(half.overloads) - before == {(types.float32,)}  # type: ignore[attr-defined]


def test_a_far_kernel_that_returns_something_else_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="wrong could not be compiled"):
        call_wrong(1.0)
    assert "wrong returns float64, not int64" in capfd.readouterr().err


class Point(NamedTuple):
    """Inside of a line."""

    x: Any
    y: Any


class Line(NamedTuple):
    """A tuple in a tuple."""

    values: Any
    start: Any


def test_a_reference_reads_as_its_tuple_does() -> None:
    @inner_kernel
    def length(line: Any) -> Any:
        return line.values.sum() + line.start.x * line.start.y

    @kernel
    def both(line: Any) -> Any:
        reference = refer(line)
        return length(line), length(reference), length(refer(reference))

    line = Line(np.arange(4.0), Point(2.0, 5.0))
    assert both(line) == (16.0, 16.0, 16.0)
