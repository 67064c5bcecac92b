"""The kernels of coordinate descent against their naive twins, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import reference_linear as naive
from weald.data import read_table
from weald.linear.columns import DenseColumns, SparseColumns
from weald.linear.kernels import BIAS, BLOCK, LANES, Steps, _score, _univariate

N_ROWS = 2 * BLOCK + 77  # three blocks, the last with a part of the lanes
N_COLUMNS = 4


def problem(dtype: Any = np.float64, n_rows: int = N_ROWS) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    columns = rng.standard_normal((N_COLUMNS, n_rows)).astype(dtype)
    columns[rng.random(columns.shape) < 0.6] = 0.0
    columns[3] = 0.0
    gradient = rng.standard_normal(n_rows).astype(np.float32)
    hessian = rng.random(n_rows).astype(np.float32)
    return columns, gradient, hessian


def steps(limit: float = np.inf) -> Steps:
    return Steps(0.5, 30.0, 100.0, np.full(N_COLUMNS + 1, limit))


def sparse_columns(columns: Any) -> SparseColumns:
    return SparseColumns(read_table(scipy.sparse.csr_matrix(columns.T)).entries)


@pytest.mark.parametrize("tasks", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("limit", [np.inf, 0.01])
def test_a_descent_over_all_cells_is_the_naive_one(tasks: int, dtype: Any, limit: float) -> None:
    columns, gradient, hessian = problem(dtype)
    order = np.array([BIAS, 2, 0, 3, 2, 1])
    expected_gradient, expected = gradient.copy(), np.array([0.1, -0.2, 0.0, 0.0, 0.3])
    weights = expected.copy()
    table = DenseColumns(columns)
    table._tasks = lambda tasks: tasks  # type: ignore[method-assign]
    table.descend(order, steps(limit), hessian, tasks, gradient, weights)
    naive.descend(
        naive.dense_cells(columns),
        order.tolist(),
        steps(limit),
        hessian,
        expected_gradient,
        expected,
        naive.lane_sums,
    )
    assert weights.tobytes() == expected.tobytes()
    assert (gradient == expected_gradient).all()
    assert weights[3] == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_descent_over_stored_cells_is_the_naive_one(dtype: Any) -> None:
    columns, gradient, hessian = problem(dtype)
    order = np.array([BIAS, 2, 0, 3, 2, 1])
    expected_gradient, expected = gradient.copy(), np.array([0.1, -0.2, 0.0, 0.0, 0.3])
    weights = expected.copy()
    sparse_columns(columns).descend(order, steps(), hessian, 1, gradient, weights)
    naive.descend(
        naive.stored_cells(columns),
        order.tolist(),
        steps(),
        hessian,
        expected_gradient,
        expected,
        naive.plain_sums,
    )
    assert weights.tobytes() == expected.tobytes()
    assert (gradient == expected_gradient).all()


@pytest.mark.parametrize("tasks", [1, 2, 3])
def test_steps_of_all_columns_are_the_naive_ones(tasks: int) -> None:
    columns, gradient, hessian = problem()
    weights = np.array([0.1, -0.2, 0.0, 0.0, 0.3])
    before = gradient.tobytes()
    table = DenseColumns(columns)
    table._tasks = lambda tasks: tasks  # type: ignore[method-assign]
    found = table.univariate(steps(), hessian, tasks, gradient, weights)
    arguments = (steps(), hessian, gradient, weights)
    assert found.tolist() == naive.univariate(naive.dense_cells(columns), *arguments, naive.lane_sums)
    stored = sparse_columns(columns)
    expected = naive.univariate(naive.stored_cells(columns), *arguments, naive.plain_sums)
    assert stored.univariate(steps(), hessian, tasks, gradient, weights).tolist() == expected
    shared = np.empty(N_COLUMNS)
    _univariate(tasks, stored._stored, steps(), hessian, gradient, weights, shared)
    assert shared.tolist() == expected
    assert gradient.tobytes() == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_are_the_naive_ones_dense_and_sparse(dtype: Any) -> None:
    columns, _, _ = problem(dtype)
    weights = np.array([0.1, -0.2, 0.0, 5.0])
    weights.flags.writeable = False
    expected = naive.scores(naive.dense_cells(columns), weights, 0.25, N_ROWS)
    for table in (DenseColumns(columns), sparse_columns(columns)):
        scores = np.empty(N_ROWS)
        table.score(weights, 0.25, 1, scores)
        assert scores.tolist() == expected
    for tasks in (2, 3):
        scores = np.empty(N_ROWS)
        _score(tasks, columns, weights, 0.25, scores)
        assert scores.tolist() == expected


@pytest.mark.parametrize("n_rows", [1, LANES - 1, LANES, LANES + 1])
def test_a_few_rows_are_all_seen(n_rows: int) -> None:
    columns, gradient, hessian = problem(n_rows=n_rows)
    expected_gradient, expected = gradient.copy(), np.zeros(N_COLUMNS + 1)
    weights = expected.copy()
    free = Steps(1.0, 0.0, 0.1, np.full(N_COLUMNS + 1, np.inf))
    order = np.array([BIAS, 0, 1, 2, 3])
    DenseColumns(columns).descend(order, free, hessian, 1, gradient, weights)
    naive.descend(
        naive.dense_cells(columns),
        order.tolist(),
        free,
        hessian,
        expected_gradient,
        expected,
        naive.lane_sums,
    )
    assert weights.tobytes() == expected.tobytes()


def test_a_step_makes_the_penalised_parabola_least() -> None:
    rng = np.random.default_rng(0)
    for slope, curvature, weight, l1, l2 in rng.normal(size=(200, 5)).tolist():
        terms = (slope, abs(curvature) + 0.1, weight, abs(l1), abs(l2))
        step = naive.newton_step(*terms)
        found = naive.penalised_parabola(*terms, step)
        for other in (step - 1e-4, step + 1e-4, -weight, 0.0):
            assert found <= naive.penalised_parabola(*terms, other) + 1e-12
