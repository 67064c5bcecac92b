"""What a checkpoint holds beside the model: the trees as training numbers their columns, and what every order has come to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema
from weald.encoding import file as statistic_file
from weald.forest import file as model_file
from weald.forest.container import ArrayTypes, unpack
from weald.runtime.errors import ModelFileError
from weald.training.boosting.session import Interruption

_TREES = "session.trees"
_PREFIX = "session."
_STATISTICS = "statistics"
_TYPES = {"float64": np.dtype(np.float64), "int64": np.dtype(np.int64)}


def interruption_to_file(interruption: Interruption) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What the header says, and the arrays."""
    arrays = {name: value for name, value in interruption.state.items() if isinstance(value, np.ndarray)}
    header: dict[str, Any] = {
        "arrays": {name: value.dtype.name for name, value in arrays.items()},
        "state": {name: value for name, value in interruption.state.items() if name not in arrays},
    }
    described, more = {}, None
    if interruption.earlier is not None:
        described[_STATISTICS], more = statistic_file.to_file(interruption.earlier)
    trees = model_file.dumps(interruption.trees, described, more)
    stored = {_PREFIX + name: value for name, value in arrays.items()}
    return header, {_TREES: np.frombuffer(trees, np.uint8), **stored}


def interruption_arrays(header: Any) -> dict[str, Any]:
    """The arrays of a checkpoint by name, with their types; none of any other file."""
    if header is None:
        return {}
    if not isinstance(header, dict) or set(header) != {"arrays", "state"}:
        raise ModelFileError("The file's interruption is not that of a checkpoint.")
    types, state = header["arrays"], header["state"]
    if not isinstance(state, dict) or not isinstance(types, dict) or not set(types.values()) <= set(_TYPES):
        raise ModelFileError("The file's interruption is not that of a checkpoint.")
    found: dict[str, Any] = {_PREFIX + name: _TYPES[kind] for name, kind in types.items()}
    return found | {_TREES: np.dtype(np.uint8)}


def interruption_from_file(header: Any, arrays: dict[str, NDArray[Any]], schema: Schema) -> Interruption:
    """The interruption of a checkpoint's header and arrays."""
    content = unpack(arrays[_TREES].tobytes())
    described = content.header.get(_STATISTICS)
    types: ArrayTypes = {} if described is None else statistic_file.ARRAYS
    trees, more = model_file.forest_and_more(content, types)
    earlier = None if described is None else statistic_file.from_file(described, more, schema)
    state = {name: arrays[_PREFIX + name] for name in header["arrays"]}
    return Interruption(trees, earlier, {**header["state"], **state})
