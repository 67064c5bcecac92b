"""A forest as a model file: its arrays, and a JSON header, in the container of `forest/container.py`.

The metadata's own fields are n_features, n_outputs and, where a round adds several trees to an output, parallel_trees; where
trees are averaged, averaged. The array "vectors" is there only when leaves are vectors, "tree_weights" only when trees were
rescaled. The same model always gives the same bytes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weald.forest.container import Container, pack, unpack
from weald.forest.disk import read, save
from weald.forest.floats import decode_floats, encode_floats
from weald.forest.forest import Forest
from weald.forest.layout import ARRAY_DTYPES, OPTIONAL_ARRAYS
from weald.runtime.errors import ModelFileError

__all__ = [
    "AVERAGED_FORMAT",
    "FORMAT",
    "VECTOR_FORMAT",
    "WEIGHTED_FORMAT",
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
WEIGHTED_FORMAT: Final = 3  # of a forest with weights of trees, or with parallel trees
AVERAGED_FORMAT: Final = 4
_FIELDS: Final = frozenset({"n_features", "n_outputs"})
_PARALLEL: Final = "parallel_trees"
_AVERAGED: Final = "averaged"


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
    fields: dict[str, Any] = {"n_features": forest.n_features, "n_outputs": forest.n_outputs}
    if forest.parallel_trees > 1:
        fields[_PARALLEL] = forest.parallel_trees
    if forest.averaged:
        fields[_AVERAGED] = True
    present = {name for name in OPTIONAL_ARRAYS if getattr(forest, name).size}
    arrays = {name: getattr(forest, name) for name in _dtypes(present)}
    file_format = VECTOR_FORMAT if forest.has_vectors else FORMAT
    if _PARALLEL in fields or "tree_weights" in present:
        file_format = WEIGHTED_FORMAT
    if forest.averaged:
        file_format = AVERAGED_FORMAT
    return pack(file_format, header, fields, arrays)


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
    fields = content.require_fields(_FIELDS | ({_PARALLEL, _AVERAGED} & content.fields.keys()))
    if fields.get(_AVERAGED, True) is not True:
        raise ModelFileError("The model file's averaged must be true; a forest that adds its trees has none.")
    if fields.get(_PARALLEL, 2) == 1:
        raise ModelFileError(
            "The model file's parallel_trees is 1; a forest without parallel trees has none."
        )
    present = {name for name in OPTIONAL_ARRAYS if content.holds(name)}
    arrays = content.arrays(_dtypes(present))
    for name in sorted(present):
        if not arrays[name].size:
            raise ModelFileError(
                f"The model file's array {name!r} is empty; a forest without {name} has none."
            )
    given: dict[str, Any] = {**fields, **arrays}
    forest = Forest(**given)
    forest.validate()
    return forest


def _dtypes(present: set[str]) -> dict[str, np.dtype[Any]]:
    """The arrays of a file that has these of the optional ones."""
    return {
        name: dtype for name, dtype in ARRAY_DTYPES.items() if name in present or name not in OPTIONAL_ARRAYS
    }
