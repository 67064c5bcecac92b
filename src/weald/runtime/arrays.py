"""Names for the arrays that kernels take and give: what a number in them is, and how wide.

A kernel is compiled anew for every other type of array, so the type is a part of its contract. Numba also tells a C order
from a Fortran order and counts the dimensions; these names do not, and a comment or docstring gives a shape where it matters.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Float32s: TypeAlias = NDArray[np.float32]
Float64s: TypeAlias = NDArray[np.float64]
Int8s: TypeAlias = NDArray[np.int8]
Int32s: TypeAlias = NDArray[np.int32]
Int64s: TypeAlias = NDArray[np.int64]
Uint8s: TypeAlias = NDArray[np.uint8]
Uint16s: TypeAlias = NDArray[np.uint16]
Uint32s: TypeAlias = NDArray[np.uint32]
Uint64s: TypeAlias = NDArray[np.uint64]
Bools: TypeAlias = NDArray[np.bool_]

#: float32 or float64: values as the user's table has them
Floats: TypeAlias = NDArray[np.floating[Any]]
#: uint8 or uint16: bins, and the codes of bundles of columns
BinCodes: TypeAlias = NDArray[np.unsignedinteger[Any]]
#: uint32 or int64: numbers of rows
Rows: TypeAlias = NDArray[np.integer[Any]]
#: whole numbers of several widths
Ints: TypeAlias = NDArray[np.integer[Any]]
#: uint32 or uint64: keys that are ordered as the floats are whose bits they have
Words: TypeAlias = NDArray[np.unsignedinteger[Any]]

#: Numba's int64: what Python calls an int, and what ``np.int64(...)`` makes. A type checker tells them apart.
Int: TypeAlias = int | np.int64
#: a float32 or a float64, where nothing shall be widened
Float: TypeAlias = np.floating[Any]
#: a place in an array; unsigned where Numba shall not test whether it is negative
Index: TypeAlias = int | np.uint64
Bool: TypeAlias = bool | np.bool_
