"""Files of Weald's own for the data sets of other systems' interfaces: a table of numbers and numbers of its rows."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.forest.container import pack, unpack
from weald.forest.disk import save
from weald.runtime.errors import ModelFileError

_FORMAT = 2
Fields = Mapping[str, NDArray[Any]]


def write_rows(
    path: str | os.PathLike[str],
    kind: str,
    table: Any,
    fields: Fields,
    known: Sequence[str],
    more: Mapping[str, Any],
) -> None:
    """Write a sparse matrix of rows, whole or not at all; ``known``: the fields that there may be, ``more``: of the header."""
    header = {
        "kind": kind,
        "shape": list(table.shape),
        **more,
        "outputs": json.dumps({name: list(values.shape) for name, values in fields.items()}),
    }
    arrays = {
        "data": table.data.astype(np.float64),
        "indices": table.indices.astype(np.int64),
        "indptr": table.indptr.astype(np.int64),
        **{name: np.asarray(fields.get(name, ()), np.float64).reshape(-1) for name in known},
    }
    save(path, pack(_FORMAT, header, {}, arrays))


def read_rows(
    path: str, kind: str, known: Sequence[str]
) -> tuple[Any, dict[str, NDArray[Any]], dict[str, Any]]:
    """The matrix, the fields and the header of such a file; ModelFileError: it is another one."""
    content = unpack(Path(path).read_bytes())
    header = content.header
    if header.get("kind") != kind:
        raise ModelFileError("it holds something else.")
    numbers = dict.fromkeys(("data", *known), np.dtype(np.float64))
    arrays = content.arrays({**numbers, **dict.fromkeys(("indices", "indptr"), np.dtype(np.int64))})
    cells = (arrays["data"], arrays["indices"], arrays["indptr"])
    table = scipy.sparse.csr_matrix(cells, shape=tuple(header["shape"]), copy=True)
    shapes = json.loads(header["outputs"])
    return table, {field: arrays[field].reshape(shape) for field, shape in shapes.items()}, header
