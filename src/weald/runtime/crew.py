"""Threads of our own: a crew that helps with the tasks of whoever asks first.

There is one crew a process, and it has one job at a time (`weald.runtime.tasks`). A second caller, be it another Python
thread or a task that shares work itself, finds the crew busy and does all of its tasks alone. So nobody waits for the crew,
and no combination of callers can deadlock.

A helper is a Python thread inside a compiled loop, without the GIL. It takes tasks by an atomic counter, spins for some
microseconds when there are none, then sleeps at a lock of its own, and leaves after some seconds. A child of ``fork`` has no
helpers until it asks for them. The measurements are in docs/decisions/0014-crew.md.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from numba.core import config

from weald.runtime.atomics import (
    acquire,
    add,
    call_task,
    load,
    new_lock,
    pause,
    release,
    replace,
    store,
    words,
)
from weald.runtime.jit import ZERO, kernel
from weald.runtime.tasks import RUN

MOST_HELPERS = 255
# Turns of waiting, a pause each, before a thread sleeps: about 50 microseconds, as long as waking it would take.
SPINS = 1_500
# A helper that has slept so many microseconds leaves.
PATIENCE = 5_000_000

# The crew's words. What different threads write has cache lines of its own, eight words each.
BUSY = 8  # 1 while there is a job
TICKET = 16  # the job's number << 32 | its tasks that nobody has taken
FUNCTION, DATA, TASKS = 24, 25, 26  # the job; they change only while no task is left
DONE = 32  # finished tasks
CALLER, CALLER_LOCK = 40, 41  # ASLEEP while the caller waits for the last task, and where
SIZE, DISMISSED = 48, 49  # helpers that have a place; 1: all are to leave
FIRST = 64  # and on: a helper's state, and where it sleeps
LINE = 8

AWAKE, ASLEEP, GONE = 0, 1, 2
_LEFT = 0xFFFFFFFF


@kernel
def _wake(state: int) -> None:
    """Wake the thread whose state this is; its lock is in the next word."""
    if load(state) == ASLEEP and replace(state, ASLEEP, AWAKE):
        release(load(state + 1))


@kernel
def _take_tasks(place: int) -> bool:
    """Do tasks of the job while there are any; True where there were. The caller's place is 0, and n tasks are for n places."""
    helped = False
    while True:
        ticket = load(TICKET)
        left = ticket & _LEFT
        function, data, tasks = load(FUNCTION), load(DATA), load(TASKS)
        if left == 0 or place >= tasks:
            return helped
        # Where the ticket is still the same, what was read belongs to it.
        if replace(TICKET, ticket, ticket - 1):
            call_task(function, data, tasks - left)
            helped = True
            if add(DONE, 1) + 1 == tasks:
                _wake(CALLER + ZERO)


@kernel
def run_job(function: int, data: int, tasks: int) -> None:
    """Run a job's tasks, with the crew's help where it is free."""
    if not replace(BUSY, 0, 1):
        for task in range(tasks):
            call_task(function, data, task)
        return
    store(FUNCTION, function)
    store(DATA, data)
    store(TASKS, tasks)
    store(DONE, 0)
    store(TICKET, (((load(TICKET) >> 32) + 1) << 32) | tasks)
    for helper in range(min(tasks - 1, load(SIZE))):
        _wake(FIRST + LINE * helper)
    _take_tasks(ZERO)
    spins = 0
    while load(DONE) < tasks:
        spins += 1
        if spins < SPINS:
            pause()
            continue
        store(CALLER, ASLEEP)
        # Who made the state AWAKE releases the lock, and a release must be waited for.
        if load(DONE) < tasks or not replace(CALLER, ASLEEP, AWAKE):
            acquire(load(CALLER_LOCK), -1)
    store(BUSY, 0)


@kernel
def help_out(place: int) -> None:
    """What a helper does until it is dismissed, or has had nothing to do for long."""
    state = FIRST + LINE * (place - 1)
    spins = 0
    while load(DISMISSED) == 0:
        if _take_tasks(place):
            spins = 0
        spins += 1
        if spins < SPINS:
            pause()
            continue
        spins = 0
        store(state, ASLEEP)
        if (load(TICKET) & _LEFT and load(TASKS) > place) or load(DISMISSED):
            if not replace(state, ASLEEP, AWAKE):
                acquire(load(state + 1), -1)
        elif not acquire(load(state + 1), PATIENCE):
            if replace(state, ASLEEP, GONE):
                return
            acquire(load(state + 1), -1)
    store(state, GONE)


@kernel
def _dismiss() -> None:
    store(DISMISSED, 1)
    for helper in range(load(SIZE)):
        _wake(FIRST + LINE * helper)


_lock = threading.Lock()
_ready = 0  # helpers that were all in place when it was last looked
_threads: dict[int, threading.Thread] = {}


def _help_out(place: int) -> None:
    global _ready
    help_out(place)
    _ready = 0


def start(helpers: int) -> None:
    """See to it that so many helpers are in place, at most `MOST_HELPERS`."""
    global _ready
    if helpers <= _ready or config.DISABLE_JIT:
        return
    helpers = min(helpers, MOST_HELPERS)
    with _lock:
        if not words[RUN]:
            _prepare()
        for helper in range(helpers):
            state = FIRST + LINE * helper
            if helper >= words[SIZE]:
                words[state + 1] = new_lock()
            elif words[state] != GONE:
                continue
            words[state] = AWAKE
            thread = threading.Thread(
                target=_help_out, args=(helper + 1,), name=f"weald-{helper + 1}", daemon=True
            )
            try:
                thread.start()
            except RuntimeError:  # the system gives no more threads: those that are there do the work
                words[state], helpers = GONE, helper
                break
            _threads[helper] = thread
        words[SIZE] = max(helpers, words[SIZE])
        _ready = helpers


def _prepare() -> None:
    """Compile or load the crew's own kernels; from now on work is shared."""
    helping: Any = help_out
    helping.compile("(int64,)")
    running: Any = run_job
    running.compile("(int64, int64, int64)")
    (compiled,) = running.overloads.values()
    dismissing: Any = _dismiss
    dismissing.compile("()")  # not at the end of the process
    words[CALLER_LOCK] = new_lock()
    words[RUN] = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    atexit.register(dismiss)


def dismiss() -> None:
    """Let all helpers go, and wait for them."""
    global _ready
    with _lock:
        if words[SIZE]:
            _dismiss()
            for thread in _threads.values():
                thread.join()
        _threads.clear()
        words[SIZE] = words[DISMISSED] = _ready = 0


def _forget() -> None:
    """A child of ``fork`` has the crew's words, but not its threads."""
    global _lock, _ready
    _lock, _ready = threading.Lock(), 0
    _threads.clear()
    run = words[RUN]
    words[:] = 0
    if run:
        words[CALLER_LOCK], words[RUN] = new_lock(), run


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
