"""Sparse matrices as tables: stored cells, what is not stored, and matrices in odd states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import reference_sparse
from weald.data import read_table
from weald.data.sparse import SparseBlocks
from weald.runtime.errors import InputError


def odd_matrices() -> dict[str, Any]:
    """Matrices with duplicates, unsorted and wide indices, stored zeros and NaN, empty rows and columns."""
    rows, columns = np.array([2, 0, 2, 2, 4, 4, 0]), np.array([3, 1, 3, 0, 2, 0, 1])
    values = np.array([1.5, 2.0, 0.25, 0.0, np.nan, -1.0, -2.0])
    coordinates = scipy.sparse.coo_array((values, (rows, columns)), shape=(6, 5))
    starts, indices, data = [0, 0, 3, 3, 5], [4, 0, 2, 3, 1], [1.0, 2.0, 3.0, 4.0, 5.0]
    wide = scipy.sparse.csr_array((data, indices, starts), shape=(4, 6))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    by_row = scipy.sparse.csr_array(
        (values, columns[np.argsort(rows, kind="stable")], [0, 2, 2, 5, 5, 7, 7]), shape=(6, 5)
    )
    return {
        "duplicates": coordinates,
        "rows with duplicates": by_row,
        "columns with duplicates": scipy.sparse.csc_array((values, rows, [0, 2, 4, 5, 6, 7]), shape=(6, 5)),
        "unsorted int64": wide,
        "whole numbers": scipy.sparse.csr_matrix(np.array([[0, 2], [3, 0]], np.int8)),
        "booleans": scipy.sparse.csc_array(np.array([[False, True], [True, False]])),
        "nothing stored": scipy.sparse.csr_array((3, 4)),
    }


@pytest.mark.parametrize("unstored", ["zero", "missing"])
@pytest.mark.parametrize("name", odd_matrices())
def test_every_state_of_a_matrix_is_read_as_its_cells(name: str, unstored: Any) -> None:
    matrix = odd_matrices()[name]
    expected = reference_sparse.cells(matrix, unstored)
    before = matrix.copy()
    dataset = read_table(matrix, unstored=unstored)
    assert dataset.is_sparse
    entries = dataset.entries
    found = np.full(matrix.shape, 0.0 if unstored == "zero" else np.nan)
    for column in range(matrix.shape[1]):
        place = slice(entries.starts[column], entries.starts[column + 1])
        assert (np.diff(entries.rows[place].astype(np.int64)) > 0).all()
        found[entries.rows[place], column] = entries.values[place]
    np.testing.assert_array_equal(found, expected)
    blocks = dataset.blocks()
    assert isinstance(blocks, SparseBlocks)
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), expected)
    chosen = np.array([1, 0])
    parts = [block for _, block in blocks.of_columns(chosen)]
    np.testing.assert_array_equal(np.concatenate(parts), expected[:, chosen])
    rows = np.array([1, 0, 1])
    part = dataset.part(rows)
    np.testing.assert_array_equal(np.concatenate([b for _, b in part.blocks()]), expected[rows])
    assert matrix.nnz == before.nnz  # the user's matrix stays as it was
    np.testing.assert_array_equal(matrix.data, before.data)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_matrix_without_rows_has_no_blocks_with_rows(form: str) -> None:
    known = read_table(scipy.sparse.csr_array(np.eye(3))).schema
    blocks = read_table(scipy.sparse.csr_array((0, 3)).asformat(form), schema=known, least_rows=0).blocks()
    assert isinstance(blocks, SparseBlocks)
    assert not list(blocks) and not list(blocks.of_columns(np.array([2])))


def test_blocks_of_chosen_columns_are_cut_by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weald.data.sparse._CELLS_PER_BLOCK", 14)
    dense = np.random.default_rng(0).random((50, 9)) * (np.random.default_rng(1).random((50, 9)) < 0.3)
    for form in ("csr", "csc"):
        blocks = read_table(scipy.sparse.coo_array(dense.astype(np.float32)).asformat(form)).blocks()
        assert isinstance(blocks, SparseBlocks)
        found = list(blocks.of_columns(np.array([8, 2])))
        assert [first for first, _ in found] == list(range(0, 50, 7))
        assert found[0][1].dtype == np.float32
        np.testing.assert_array_equal(
            np.concatenate([block for _, block in found]), dense[:, [8, 2]].astype(np.float32)
        )


def test_a_categorical_column_counts_its_zeros_only_where_they_are_numbers() -> None:
    matrix = scipy.sparse.csr_array(np.array([[0.0, 5.0], [0.0, 0.0], [3.0, 5.0]]))
    for unstored, expected in (("zero", ((0, 3), (5, 0))), ("missing", ((3,), (5,)))):
        dataset = read_table(matrix, categorical=[0, 1], unstored=unstored)  # type: ignore[arg-type]
        assert not dataset.is_sparse
        assert tuple(column.categories for column in dataset.schema.columns) == expected


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_matrices_without_rows_or_columns_are_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="Found array with 0"):
        read_table(scipy.sparse.csr_array(shape))
