"""Kernels of the columns that hold target statistics."""

from __future__ import annotations

from weald.encoding.tables import Cells
from weald.runtime.arrays import BinCodes, Uint8s
from weald.runtime.jit import kernel


@kernel
def put_in_both(codes: Uint8s, column: int, n_columns: int, columns: BinCodes, rows: BinCodes) -> None:
    """Write a column's bins into both layouts of a table."""
    for row in range(len(codes)):
        columns[column, row] = codes[row]
        rows[row * n_columns + column] = codes[row]


@kernel
def bin_cells(cells: Cells, bin_of_cell: Uint8s, bins: Uint8s) -> None:
    """Write the bin of every row's cell."""
    for row in range(len(cells)):
        bins[row] = bin_of_cell[cells[row]]
