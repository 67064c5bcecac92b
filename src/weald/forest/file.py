"""A forest as a model file: its arrays, and a JSON header, in the container of `forest/container.py`.

The metadata's own fields are n_features, n_outputs and, where a round adds several trees to an output, parallel_trees; where
trees are averaged, averaged. The array "vectors" is there only when leaves are vectors, "tree_weights" only when trees were
rescaled. Symmetric trees beside which there are target statistics are written in the small arrays of `forest/symmetric.py`, if
these hold all of them. The same model always gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.forest import symmetric
from weald.forest.container import ArrayTypes, Container, pack, unpack
from weald.forest.disk import read, save
from weald.forest.floats import decode_floats, encode_floats
from weald.forest.forest import Forest
from weald.forest.layout import ARRAY_DTYPES, OPTIONAL_ARRAYS
from weald.runtime.errors import ModelFileError

__all__ = [
    "AVERAGED_FORMAT",
    "FORMAT",
    "STATISTIC_FORMAT",
    "SYMMETRIC_FORMAT",
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
STATISTIC_FORMAT: Final = 5  # of a forest beside which there are arrays of something else
SYMMETRIC_FORMAT: Final = 6  # of one like that in small arrays
_FIELDS: Final = frozenset({"n_features", "n_outputs"})
_PARALLEL: Final = "parallel_trees"
_AVERAGED: Final = "averaged"


def dumps(forest: Forest, header: dict[str, Any], more: Mapping[str, NDArray[Any]] | None = None) -> bytes:
    """The bytes of a model file; ``more``: arrays of something else that the model needs.

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
    if more is not None:
        small = symmetric.to_arrays(forest)
        file_format = STATISTIC_FORMAT if small is None else SYMMETRIC_FORMAT
        if small is not None:
            arrays = {name: arrays[name] for name in _kept_dtypes(present)} | small
        arrays |= more
    return pack(file_format, header, fields, arrays)


def loads(data: bytes) -> tuple[Forest, dict[str, Any]]:
    """The forest and the header in the bytes of a model file; everything is checked, nothing is executed.

    Raises:
        ModelFileError: when the bytes are damaged, are no Weald model, or come from a newer Weald.
    """
    content = unpack(data)
    return forest_of(content), content.header


def forest_of(content: Container) -> Forest:
    """The checked forest of an opened model file that holds nothing else; see `forest_and_more`."""
    return forest_and_more(content, {})[0]


def forest_and_more(content: Container, more: ArrayTypes) -> tuple[Forest, dict[str, NDArray[Any]]]:
    """The checked forest of an opened model file, and its arrays of something else, of these types.

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
    is_small = content.holds("tree_depth")
    dtypes: dict[str, Any] = _kept_dtypes(present) | symmetric.ARRAYS if is_small else _dtypes(present)
    arrays = content.arrays(dtypes | dict(more))
    others = {name: arrays.pop(name) for name in more}
    for name in sorted(present):
        if not arrays[name].size:
            raise ModelFileError(
                f"The model file's array {name!r} is empty; a forest without {name} has none."
            )
    given: dict[str, Any] = {**fields, **arrays}
    if is_small:
        small = {name: given.pop(name) for name in symmetric.ARRAYS}
        forest = symmetric.from_arrays(small, **given)
    else:
        forest = Forest(**given)
    forest.validate()
    return forest, others


def _dtypes(present: set[str]) -> dict[str, np.dtype[Any]]:
    """The arrays of a file that has these of the optional ones."""
    return {
        name: dtype for name, dtype in ARRAY_DTYPES.items() if name in present or name not in OPTIONAL_ARRAYS
    }


def _kept_dtypes(present: set[str]) -> dict[str, np.dtype[Any]]:
    """Those of them that stay as they are beside the small arrays of symmetric trees."""
    return {name: ARRAY_DTYPES[name] for name in ("base_score", *sorted(present))}
