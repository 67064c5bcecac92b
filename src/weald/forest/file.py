"""A forest as a model file: its arrays, and a JSON header, in the container of `forest/container.py`.

The metadata's own fields are n_features and n_outputs. The array "vectors" is there only when leaves are vectors. The
same model always gives the same bytes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weald.forest.container import Container, pack, unpack
from weald.forest.disk import read, save
from weald.forest.floats import decode_floats, encode_floats
from weald.forest.forest import Forest
from weald.forest.layout import ARRAY_DTYPES
from weald.runtime.errors import ModelFileError

__all__ = [
    "FORMAT",
    "VECTOR_FORMAT",
    "decode_floats",
    "dumps",
    "encode_floats",
    "forest_of",
    "loads",
    "read",
    "save",
]

FORMAT: Final = 1  # of a forest whose leaves are numbers, as the first Weald wrote it
VECTOR_FORMAT: Final = 2
_FIELDS: Final = frozenset({"n_features", "n_outputs"})


def dumps(forest: Forest, header: dict[str, Any]) -> bytes:
    """The bytes of a model file.

    The header may hold dictionaries with text keys, lists, text, numbers (also NaN and infinities),
    booleans and None; tuples come back as lists. A forest that `loads` would refuse is refused here.

    Examples:
        >>> from weald.forest.builder import ForestBuilder
        >>> forest = ForestBuilder(n_features=3, n_outputs=1, base_score=[0.5]).build()
        >>> loaded, header = loads(dumps(forest, {"loss": "squared"}))
        >>> loaded == forest, header
        (True, {'loss': 'squared'})
    """
    forest.validate()
    fields = {"n_features": forest.n_features, "n_outputs": forest.n_outputs}
    arrays = {name: getattr(forest, name) for name in _dtypes(forest.has_vectors)}
    return pack(VECTOR_FORMAT if forest.has_vectors else FORMAT, header, fields, arrays)


def loads(data: bytes) -> tuple[Forest, dict[str, Any]]:
    """The forest and the header in the bytes of a model file; everything is checked, nothing is executed.

    Raises:
        ModelFileError: when the bytes are damaged, are no Weald model, or come from a newer Weald.
    """
    content = unpack(data)
    return forest_of(content), content.header


def forest_of(content: Container) -> Forest:
    """The checked forest of an opened model file.

    Raises:
        ModelFileError: when the file holds something else, or a forest that cannot be.
    """
    fields = content.require_fields(_FIELDS)
    arrays = content.arrays(_dtypes(content.holds("vectors")))
    if not arrays.get("vectors", np.zeros(1)).size:
        raise ModelFileError("The model file's array 'vectors' is empty; a forest without vectors has none.")
    forest = Forest(fields["n_features"], fields["n_outputs"], **arrays)
    forest.validate()
    return forest


def _dtypes(has_vectors: bool) -> dict[str, np.dtype[Any]]:
    return {name: dtype for name, dtype in ARRAY_DTYPES.items() if has_vectors or name != "vectors"}
