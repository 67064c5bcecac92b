"""A meta-estimator whose members are all Weald's as ONE model file.

The container of `weald.forest.container` holds the members' own model files, as arrays of bytes, and the numeric
arrays of the meta-estimator itself. A member may be a composite again. The header has the keys

- estimator, params: the class, and its parameters without those that are estimators;
- members: the names of the members, in order; the array "member.0" is the first one's file;
- extra: what else prediction needs, by name: {"value": JSON data}, {"labels": strings or small numbers}, or
  {"array": [type, shape]} with the numbers in the array "extra.<name>";
- depth: 1 + the largest depth of a member, which bounds how deep a reader has to go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.estimators.shared.fitting import Fitting
from weald.estimators.shared.plain import (
    check_parameters,
    labels_from_json,
    labels_to_json,
    parameters_to_json,
    plain,
    restored,
)
from weald.estimators.shared.registry import bytes_of, check_registered, estimator_of
from weald.forest.container import STORED_TYPES, Container, pack, unpack
from weald.runtime.errors import InputError, ModelFileError

Members = Sequence[tuple[str, Any]]

FORMAT: Final = 2
MAXIMUM_DEPTH: Final = 20
# Parameters that are estimators: the fitted members stand for them.
MEMBER_PARAMETERS: Final = frozenset({"estimator", "estimators", "final_estimator"})
_KEYS: Final = frozenset({"estimator", "params", "members", "extra", "depth"})
_BYTES: Final = np.dtype(np.uint8)


class Composite(Fitting):
    """What a meta-estimator inherits to be saved, loaded, and a member of another; it defines the two hooks."""

    def _composite_parts(self) -> tuple[Members, dict[str, Any]]:
        """The fitted members by name, and what else prediction needs: JSON data and arrays, by name."""
        raise NotImplementedError

    @classmethod
    def _from_composite(
        cls, params: dict[str, Any], members: list[tuple[str, Any]], extra: dict[str, Any]
    ) -> Any:
        """The fitted estimator of a file's parts; raises a ModelFileError where they do not fit together."""
        raise NotImplementedError

    def _to_bytes(self) -> bytes:
        return composite_bytes(self, *self._composite_parts())

    @classmethod
    def _from_content(cls, content: Container) -> Any:
        params, members, extra = composite_parts(content)
        check_parameters(cls, params, MEMBER_PARAMETERS)
        return cls._from_composite(params, members, extra)


def composite_bytes(estimator: Any, members: Members, extra: dict[str, Any]) -> bytes:
    """The model file's bytes, equal for equal models; refused by name where a member is not Weald's."""
    check_registered(estimator, "The model")
    params = estimator.__dict__.get("_params_of_fit") or parameters_to_json(estimator, MEMBER_PARAMETERS)
    arrays: dict[str, NDArray[Any]] = {}
    depth = 1
    for index, (name, member) in enumerate(members):
        data = bytes_of(member, f"member {name!r}")
        depth = max(depth, 1 + _depth(unpack(data)))
        arrays[f"member.{index}"] = np.frombuffer(data, np.uint8)
    if depth > MAXIMUM_DEPTH:
        raise InputError(f"The members are nested {depth} deep; a model file holds at most {MAXIMUM_DEPTH}.")
    described = {}
    for name, value in extra.items():
        described[name] = _describe(name, value)
        if "array" in described[name]:
            arrays[f"extra.{name}"] = value
    header = {
        "estimator": type(estimator).__name__,
        "params": params,
        "members": [name for name, _ in members],
        "extra": described,
        "depth": depth,
    }
    return pack(FORMAT, header, {}, arrays)


def composite_parts(
    content: Container,
) -> tuple[dict[str, Any], list[tuple[str, Any]], dict[str, Any]]:
    """Parameters, members and extra data of an opened file; everything is checked."""
    content.require_fields(frozenset())
    header = content.header
    if header.keys() != _KEYS:
        raise ModelFileError("The file's header does not have the fields of a composite model.")
    names, extra, depth = header["members"], header["extra"], _depth(content)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelFileError("The file's members must be a list of names.")
    if not isinstance(extra, dict) or not isinstance(header["params"], dict):
        raise ModelFileError("The file's params and extra must be dictionaries.")
    shapes = {name: _described_array(name, entry) for name, entry in extra.items()}
    dtypes = {f"extra.{name}": shape[0] for name, shape in shapes.items() if shape is not None}
    arrays = content.arrays(dtypes | {f"member.{index}": _BYTES for index in range(len(names))})
    values = {name: _read(name, entry, shapes[name], arrays) for name, entry in extra.items()}
    members = [
        (name, _member(name, arrays[f"member.{index}"].tobytes(), depth)) for index, name in enumerate(names)
    ]
    return {name: restored(value) for name, value in header["params"].items()}, members, values


def _depth(content: Container) -> int:
    """How deep a model is nested: 0 for a file that is no composite."""
    depth = content.header.get("depth", 0)
    if type(depth) is not int or not 0 <= depth <= MAXIMUM_DEPTH:
        raise ModelFileError(f"The file's depth must be a whole number of at most {MAXIMUM_DEPTH}.")
    return depth


def _member(name: str, data: bytes, depth: int) -> Any:
    try:
        content = unpack(data)
        if _depth(content) >= depth:
            raise ModelFileError("it is nested deeper than the file says.")
        return estimator_of(content)
    except ModelFileError as error:
        raise ModelFileError(f"Member {name!r}: {error}") from None


def _describe(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, np.ndarray):
        return {"value": plain(value)}
    if value.dtype.name in STORED_TYPES:
        return {"array": [value.dtype.name, list(value.shape)]}
    if value.ndim == 1 and value.dtype.kind in "biufUO":
        return {"labels": labels_to_json(value)}
    raise InputError(f"{name} is an array of {value.dtype} that a model file cannot hold.")


def _described_array(name: str, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
    """Type and shape of an entry that is an array; None for the other kinds of entries."""
    if not isinstance(entry, dict) or set(entry) not in ({"value"}, {"labels"}, {"array"}):
        raise ModelFileError(f"The file's {name!r} is not in a known form.")
    if "array" not in entry:
        return None
    described = entry["array"]
    if not isinstance(described, list) or len(described) != 2 or described[0] not in tuple(STORED_TYPES):
        raise ModelFileError(f"The file's array {name!r} must have a type and a shape.")
    dtype, shape = described
    if not isinstance(shape, list) or not all(type(size) is int and 0 <= size < 2**62 for size in shape):
        raise ModelFileError(f"The file's array {name!r} must have a type and a shape.")
    return np.dtype(dtype), tuple(shape)


def _read(
    name: str,
    entry: dict[str, Any],
    described: tuple[np.dtype[Any], tuple[int, ...]] | None,
    arrays: dict[str, NDArray[Any]],
) -> Any:
    if described is None:
        return labels_from_json(entry["labels"], name) if "labels" in entry else restored(entry["value"])
    array, shape = arrays[f"extra.{name}"], described[1]
    if array.size != math.prod(shape):
        raise ModelFileError(f"The file's array {name!r} does not have the shape {shape}.")
    return array.reshape(shape)
