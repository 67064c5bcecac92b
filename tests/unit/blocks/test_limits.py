"""What a process has resident stays below the limit that a store is given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from weald.blocks.limits import FEWEST_ROWS, batch_rows_of, block_rows_of
from weald.runtime.resident import read_limit, resident_bytes
from weald.runtime.row_memory import MappedFiles

LIMIT = "352 MB"

PROGRAM = """
import sys
import numpy as np
from weald import BlockStore, BoostedTreesRegressor

def batches():
    for number in range(n_batches):
        X = np.random.default_rng(number).normal(size=(50_000, 8))
        yield X, X[:, 0] + X[:, 1] ** 2

def run(folder, limit):
    model = BoostedTreesRegressor(n_estimators=2, max_leaves=15, n_jobs=2)
    BlockStore.build(batches, folder, estimator=model, memory_limit=limit, n_jobs=2)
    model.fit(BlockStore.open(folder, memory_limit=limit))

folder, n_batches = sys.argv[1], int(sys.argv[2])
run(folder, sys.argv[3])
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def peak_of(folder: Path, n_batches: int) -> int:
    """The most bytes that building and training had resident, in a process of their own."""
    command = [sys.executable, "-c", PROGRAM, str(folder), str(n_batches), LIMIT]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return int(done.stdout) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of resident memory is read from /proc")
def test_building_and_training_stay_below_the_limit(tmp_path: Path) -> None:
    peak_of(tmp_path / "small", 1)  # compiles what is not compiled yet, for which there is no limit
    assert peak_of(tmp_path / "large", 30) <= (read_limit(LIMIT) or 0)


def test_blocks_and_batches_follow_the_limit() -> None:
    sizes = [block_rows_of(limit * 2**20, 500, 1) for limit in (320, 512, 1024, 8192)]
    assert sizes == sorted(sizes) and sizes[0] >= FEWEST_ROWS and sizes[-1] == 131_072
    assert batch_rows_of(512 * 2**20, 10_000) < batch_rows_of(None, 10_000) < batch_rows_of(None, 10)


@pytest.mark.skipif(resident_bytes() is None, reason="the system does not tell what is resident")
def test_pages_are_given_back_close_to_the_limit_alone(tmp_path: Path) -> None:
    size = 64 * 2**20
    before = resident_bytes() or 0
    for limit, stays in ((before + 100 * size, True), (before, False)):
        memory = MappedFiles(tmp_path, limit)
        values = memory.zeros((size // 8,), np.float64)
        values[:] = 1.0
        memory.release(values)
        assert ((resident_bytes() or 0) - before > size // 2) is stays
        assert (values == 1.0).all()
        del values


def test_a_mapped_file_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    np.arange(4.0).tofile(path)
    values = MappedFiles(tmp_path).mapped(path, np.float64)
    values[0] = 7.0
    assert values.tolist() == [7.0, 1.0, 2.0, 3.0] and np.fromfile(path).tolist() == [0.0, 1.0, 2.0, 3.0]
