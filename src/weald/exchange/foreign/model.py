"""What a reader makes of a foreign model: all that predictions need, in Weald's own terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import Column, Schema
from weald.data.missing import Missing
from weald.exchange.foreign.hashed import HashedStatistics
from weald.forest.predictor import Predictor
from weald.runtime.errors import ModelFileError


@dataclass(frozen=True)
class ForeignModel:
    """A model of another system.

    system: its name; objective: what it was trained for, by the name there.
    link: a key of `weald.losses.links.LINKS`.
    classes: of a classifier.
    missing: which numbers of a table are missing.
    hashed: columns that are looked up by hashes of categories, behind the user's own.
    has_cover: whether the trees know how many training rows were in their nodes, which Shapley values need.
    """

    system: str
    objective: str
    predictor: Predictor
    schema: Schema
    link: str
    classes: NDArray[Any] | None = None
    missing: Missing = "nan"
    hashed: HashedStatistics | None = None
    has_cover: bool = True


def schema_of(names: Sequence[str], dictionaries: Sequence[tuple[Any, ...] | None], named: bool) -> Schema:
    """The columns by their names, and the dictionaries of those that are categorical.

    Names that are not all different stand for none.
    """
    if not dictionaries:
        raise ModelFileError("The model has no columns.")
    named = named and len(names) == len(dictionaries) and len(set(names)) == len(names)
    used = names if named else [f"x{number}" for number in range(len(dictionaries))]
    return Schema(
        tuple(
            Column(name, "numeric") if own is None else Column(name, "categorical", own)
            for name, own in zip(used, dictionaries, strict=True)
        ),
        named,
    )


def numbered_classes(count: int) -> NDArray[np.int64]:
    """The classes of a system that knows them by their numbers."""
    return np.arange(max(count, 2))
