"""Labels and weights of a table in files, written batch by batch: eight bytes a row, in the order of the rows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from io import BufferedWriter
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError

_EXACT: Final = 2**53  # whole numbers beyond it are not all float64s
_PIECE: Final = 2**20
_MIXED: Final = "The labels hold strings in some batches and numbers in others; they must be one or the other."


class LabelCoder:
    """Labels as numbers: those of a regression as they are, strings as places among the classes found so far.

    ``classes``: those of another table, which these labels must be among; None: they are found here.
    """

    def __init__(self, classes: NDArray[Any] | None = None) -> None:
        self._known = classes is not None
        self._place = {} if classes is None else {name: place for place, name in enumerate(classes.tolist())}
        self._types: set[np.dtype[Any]] = set()
        self._is_named: bool | None = True if classes is not None else None

    def code(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """The numbers of some labels."""
        if not len(labels):
            return np.empty(0)
        is_named = labels.dtype.kind in "OUST"
        if self._is_named not in (None, is_named):
            raise InputError(_MIXED)
        self._is_named = is_named
        self._types.add(labels.dtype)
        if not is_named:
            if labels.dtype.kind in "iu" and np.abs(labels.astype(np.float64)).max() > _EXACT:
                raise InputError(
                    "The labels hold integers beyond 2**53, of which not all are different as floats; use smaller ones."
                )
            return labels.astype(np.float64)
        names = labels.tolist()
        for name in names if not self._known else ():
            self._place.setdefault(name, len(self._place))
        try:
            return np.array([self._place[name] for name in names], np.float64)
        except KeyError as error:
            raise InputError(
                f"The labels have the class {error.args[0]!r}, which the store that this one is like does not have."
            ) from None

    @property
    def label_type(self) -> str:
        """The type of the labels, or of an array of the classes."""
        return str(np.result_type(*self._types)) if self._types else "float64"

    def sorted_classes(self) -> tuple[tuple[Any, ...] | None, NDArray[np.int64] | None]:
        """The classes in their order, and where the number of each leads; nothing for labels that are numbers."""
        if not self._is_named or self._known:
            return None, None
        classes = tuple(sorted(self._place))
        moved = np.empty(len(classes), np.int64)
        for place, name in enumerate(classes):
            moved[self._place[name]] = place
        return classes, moved


@contextlib.contextmanager
def written_numbers(path: Path) -> Iterator[BufferedWriter]:
    """A file for numbers; what goes wrong while it is written becomes a sentence."""
    try:
        with open(path, "wb") as file:
            yield file
    except OSError as error:
        raise type(error)(f"The store's file {path} cannot be written: {error.strerror or error}.") from error


def renumber(path: Path, moved: NDArray[np.int64]) -> None:
    """Replace every number in a file, some at a time."""
    values = np.memmap(path, np.float64, "r+")
    for first in range(0, len(values), _PIECE):
        here = slice(first, first + _PIECE)
        values[here] = moved[values[here].astype(np.int64)]
    values.flush()


class KnownNumbers:
    """Numbers in a file, read in their order, to compare others with."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def part(self, first: int, count: int) -> NDArray[np.float64]:
        """Some neighbouring ones; fewer where the file ends."""
        return np.fromfile(self._path, np.float64, count, offset=8 * first)

    def of_rows(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Those of some rows, ascending."""
        found, first = [np.empty(0)], 0
        while len(piece := self.part(first, _PIECE)):
            begin, end = np.searchsorted(rows, [first, first + len(piece)])
            found.append(piece[rows[begin:end] - first])
            first += len(piece)
        return np.concatenate(found)
