"""The booster of another system's interface as a model file: the native model's bytes, and beside them what it adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.binning.parameters import Bins
from weald.estimators.boosted.boosted import BoostedTreesRegressor
from weald.estimators.shared import persistence
from weald.estimators.shared.persistence import FittedModel
from weald.estimators.shared.plain import plain, restored
from weald.forest.container import of_one_kind, pack, unpack
from weald.runtime.errors import ModelFileError

_FORMAT = 2


@dataclass(frozen=True)
class FileFormat:
    """The model files of one interface.

    system   whose interface it is
    kind     what a file holds, such as "Booster"
    keys     the header's entries that the interface adds
    unsaved  parameters that change neither the model nor its predictions
    read     checks parameters
    some     entries of the header that not every file of the interface has
    """

    system: str
    kind: str
    keys: frozenset[str]
    unsaved: tuple[str, ...]
    read: Callable[[dict[str, Any]], dict[str, Any]]
    some: frozenset[str] = frozenset()

    @property
    def _name(self) -> str:
        return f"{self.system.lower()}.{self.kind}"

    def pack(self, params: Mapping[str, Any], more: Mapping[str, Any], model: FittedModel) -> bytes:
        """The bytes of the model file; equal for equal models. ``more``: what the interface adds, as JSON data."""
        kept = {key: plain(value) for key, value in params.items() if key not in self.unsaved}
        inner = persistence.to_bytes(_as_read(model), model)
        header = {"estimator": self._name, "params": kept, **more}
        return pack(_FORMAT, header, {}, {"model": np.frombuffer(inner, np.uint8)})

    def unpack(self, data: bytes) -> tuple[dict[str, Any], Mapping[str, Any], FittedModel]:
        """The parameters, the header and the model of a file's bytes."""
        module = f"weald.{self.system.lower()}"
        content = unpack(data)
        header = content.header
        keys = set(header) - self.some
        if header.get("estimator") != self._name or keys != {"estimator", "params", *self.keys}:
            raise ModelFileError(
                f"This file holds no model of {module}; weald.load reads Weald's other models."
            )
        inner = content.arrays({"model": np.dtype(np.uint8)})["model"]
        with of_one_kind(f"a {self.kind}"):
            model = persistence.from_bytes(inner.tobytes())[2]
        if not isinstance(header["params"], dict):
            raise ModelFileError("The file's parameters are not those of a booster.")
        with of_one_kind("a booster, by its parameters"):
            params = self.read({key: restored(value) for key, value in header["params"].items()})
        return params, header, model


def _as_read(model: FittedModel) -> BoostedTreesRegressor:
    """An estimator with the parameters that say how a table is read, from which a file's reader knows it."""
    reading = Bins(
        unstored=model.unstored,
        use_missing=model.missing != "none",
        zero_as_missing=model.missing == "zero",
    )
    return BoostedTreesRegressor(bins=reading)


def texts_a_column(header: Mapping[str, Any], key: str, model: FittedModel) -> list[str] | None:
    """Names of the columns, or None, from a file's header."""
    values = header[key]
    if values is None:
        return None
    if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
        raise ModelFileError(f"The file's {key} must be texts.")
    if len(values) != model.schema.n_columns:
        raise ModelFileError("The file's feature names and types must be one a column.")
    return values
