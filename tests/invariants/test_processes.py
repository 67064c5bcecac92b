"""Fits and predictions beside others: children of fork, many threads, neighbours with OpenMP, memory that runs out."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import weald

SOURCE = Path(weald.__file__).resolve().parent.parent

WORK = """
import os, sys, threading
import numpy as np
import weald
from scipy import sparse

rng = np.random.default_rng(0)
X = rng.standard_normal((70_000, 4))
X[rng.random(X.shape) < 0.05] = np.nan
y = (np.nan_to_num(X[:, 0]) + rng.standard_normal(len(X)) > 0).astype(int)
few = slice(0, 3_000)
stored = sparse.csr_matrix(np.nan_to_num(X[few]) * (rng.random((3_000, 4)) < 0.3))

def boosted(**parameters):
    return weald.BoostedTreesClassifier(n_estimators=2, n_jobs=2, **parameters)

def forest():
    return weald.RandomForestClassifier(n_estimators=4, n_jobs=2, random_state=0)

KINDS = {
    "plain": lambda: boosted().fit(X, y).predict_proba(X),
    "shap": lambda: boosted().fit(X[few], y[few]).shap_values(X[:600]),
    "exact": lambda: boosted(split_finder="exact").fit(X, y).predict_proba(X),
    "approx": lambda: boosted(split_finder="approx", growth="depthwise").fit(X, y).predict_proba(X),
    "sparse": lambda: boosted().fit(stored, y[few]).predict_proba(stored),
    "oblivious": lambda: boosted(growth="oblivious", booster="ordered").fit(X, y).predict_proba(X),
    "forest": lambda: forest().fit(X[few], y[few]).predict_proba(X[few]),
}
"""


def run(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, which must end well."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), **variables}
    done = subprocess.run(
        [sys.executable, "-c", WORK + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done


CHILDREN = """
def in_a_child(kind):
    child = os.fork()
    if child == 0:
        same = np.array_equal(KINDS[kind](), expected[kind])
        os._exit(0 if same else 1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, (kind, code)

expected = {kind: work() for kind, work in KINDS.items()}
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("neighbour", ["", "lightgbm", "xgboost", "sklearn"])
def test_a_child_of_fork_computes_what_its_parent_does(neighbour: str) -> None:
    if neighbour:
        pytest.importorskip(neighbour)
    fits = {
        "": "",
        "lightgbm": "import lightgbm; lightgbm.LGBMClassifier(n_estimators=2, n_jobs=2, verbose=-1).fit(X, y)",
        "xgboost": "import xgboost; xgboost.XGBClassifier(n_estimators=2, n_jobs=2).fit(X, y)",
        "sklearn": "from sklearn.ensemble import HistGradientBoostingClassifier as H; H(max_iter=2).fit(X, y)",
    }
    kinds = "list(KINDS)" if not neighbour else '["plain"]'
    run(f"{fits[neighbour]}\n{CHILDREN}\nfor kind in {kinds}:\n    in_a_child(kind)\n")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_fork_may_be_the_first_to_fit() -> None:
    run(
        """
        child = os.fork()
        if child == 0:
            os._exit(0 if KINDS["plain"]().shape == (70_000, 2) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        KINDS["plain"]()
        """
    )


def test_eight_threads_fit_and_predict_at_once() -> None:
    run(
        """
        expected = {kind: work() for kind, work in KINDS.items()}
        wrong = []

        def work(kind):
            if not np.array_equal(KINDS[kind](), expected[kind]):
                wrong.append(kind)

        kinds = [*KINDS, "plain"][:8]
        threads = [threading.Thread(target=work, args=(kind,)) for kind in kinds]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert not wrong, wrong
        """
    )


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity masks")
def test_one_cpu_computes_what_two_do() -> None:
    run(
        """
        expected = KINDS["plain"]()
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        assert np.array_equal(KINDS["plain"](), expected)
        """
    )


def test_openmp_is_not_loaded() -> None:
    run(
        """
        for work in KINDS.values(): work()
        assert "numba.np.ufunc.omppool" not in sys.modules
        assert "numba.np.ufunc.workqueue" not in sys.modules
        """
    )


def test_where_memory_runs_out_the_result_is_right_or_an_error() -> None:
    done = run(
        """
        import ctypes
        import llvmlite.binding
        from numba.core.registry import cpu_target
        from numba.core.runtime import _nrt_python, rtsys

        rtsys.initialize(cpu_target.target_context)
        kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint)
        left = [-1]  # allocations that go well; -1: all

        def failing(original):
            def allocate(size, align):
                if left[0] == 0:
                    return None
                left[0] -= left[0] > 0
                return original(size, align)
            return allocate

        kept = []
        for name in ("MemInfo_alloc_aligned", "MemInfo_alloc_safe_aligned"):
            capsule = _nrt_python.c_helpers[name]
            address = capsule if isinstance(capsule, int) else ctypes.cast(capsule, ctypes.c_void_p).value
            kept.append(kind(failing(kind(address))))
            llvmlite.binding.add_symbol("NRT_" + name, ctypes.cast(kept[-1], ctypes.c_void_p).value)

        expected = {kind: work() for kind, work in KINDS.items()}
        raised = 0
        for number in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89):
            for kind, work in KINDS.items():
                left[0] = number
                try:
                    result = work()
                except MemoryError:
                    raised += 1
                    continue
                finally:
                    left[0] = -1
                assert np.array_equal(result, expected[kind]), (kind, number)
        assert all(np.array_equal(work(), expected[kind]) for kind, work in KINDS.items())
        print(raised)
        """
    )
    assert int(done.stdout) > 20
