"""Kernels as plain Python, where an index that compiled code would not look at is an error."""

from __future__ import annotations

import os
import subprocess
import sys

_FITS = """
import numpy as np
import weald

rows = np.random.default_rng(0)
X = rows.standard_normal((30, 2))
X[rows.random(X.shape) < 0.4] = np.nan
y = np.arange(30.0) % 2

# Missing values on the left come before the first item.
weald.DecisionTreeRegressor().fit(X, y)
weald.DecisionTreeClassifier(max_depth=2).fit(X, y)
weald.DecisionTreeRegressor(criterion="absolute_error", max_depth=2).fit(X, y)

# Weights so different that the hessian of a child is nothing beside the other's.
far = {"min_samples_leaf": 1, "min_child_weight": 0.0, "reg_lambda": 0.0, "n_estimators": 2, "n_jobs": 1}
weald.BoostedTreesRegressor(**far).fit(X, y, sample_weight=10.0 ** np.linspace(-20, 20, 30))
print("done")
"""


def test_no_kernel_reads_outside_of_its_arrays() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    ended = subprocess.run(
        [sys.executable, "-c", _FITS], env=environment, capture_output=True, text=True, timeout=300
    )
    assert ended.stdout == "done\n", ended.stderr
