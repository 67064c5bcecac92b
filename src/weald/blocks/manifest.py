"""What a store says of itself: schema, cuts, classes, and where its blocks are.

It is written last, so that a store is whole or not there.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinChoices, BinMapper, BinWishes
from weald.blocks.rare_categories import CodeBytes
from weald.data import Schema
from weald.runtime.atomic import write_whole
from weald.runtime.errors import InputError

MANIFEST: Final = "manifest.json"
UNFINISHED: Final = "unfinished.json"  # a manifest without blocks: what a build goes on from
FOLDER: Final = "folder.json"
LABELS, WEIGHTS, CUTS = "labels.bin", "weights.bin", "cuts.bin"
_FORMAT: Final = 1


@dataclass(frozen=True)
class StoredBlockEntry:
    """Where a block is."""

    folder: int
    rows: int
    checksum: int  # of its header

    def name(self, number: int) -> str:
        """The name of the block's file."""
        return block_name(number)


@dataclass(frozen=True)
class Manifest:
    """All of a store but its rows."""

    store: str  # a name that no other store has
    build: dict[str, Any]  # what it was built from and how
    schema: Schema
    choices: BinChoices
    categorical: tuple[int, ...]  # positions of columns that were declared to be so
    unstored: str
    seed: int
    n_rows: int
    block_rows: int
    codecs: tuple[str, ...]  # one a column
    classes: tuple[Any, ...] | None
    label_type: str  # of numbers; of classes the type of their array
    checksums: dict[str, int]  # of the files beside the blocks
    n_cuts: tuple[int, ...]
    n_bins: tuple[int, ...]
    blocks: tuple[StoredBlockEntry, ...] = ()
    extremes: tuple[float, ...] = ()  # of every column the least and the greatest value, where they are kept

    @property
    def code_bytes(self) -> CodeBytes:
        """Where the codes of categories are that share a bin."""
        return CodeBytes.of(self.schema, self.n_bins)

    @property
    def has_weights(self) -> bool:
        """Whether rows have weights of their own."""
        return WEIGHTS in self.checksums

    @property
    def classes_array(self) -> NDArray[Any] | None:
        """The classes as labels have them."""
        return None if self.classes is None else np.array(self.classes, self.label_type)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the bins."""
        return np.dtype(np.uint8 if max(self.n_bins) <= 255 else np.uint16)

    def wishes(self) -> BinWishes:
        """What the bins were made for."""
        unstored: Any = self.unstored
        return BinWishes(self.choices, self.categorical or "auto", None, unstored)

    def mapper(self, folder: Path) -> BinMapper:
        """The cuts, from the file beside the manifest."""
        raw = read_checked(folder / CUTS, self.checksums[CUTS])
        ends = np.cumsum(self.n_cuts)[:-1]
        columns = self.schema.columns
        return BinMapper(
            tuple(np.split(np.frombuffer(raw, np.float64), ends)),
            np.array(self.n_bins, np.int64),
            np.array(self.schema.categorical_mask),
            np.array([len(column.categories) for column in columns], np.int64),
            np.array(self.extremes).reshape(-1, 2) if self.extremes else None,
        )

    def write(self, path: Path) -> None:
        """Write the manifest, whole or not at all."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        content["schema"] = self.schema.to_json()
        content["choices"] = {field.name: getattr(self.choices, field.name) for field in fields(BinChoices)}
        content["blocks"] = [[entry.folder, entry.rows, entry.checksum] for entry in self.blocks]
        written = json.dumps({"format": _FORMAT, **content}, default=_plain)
        whole = json.dumps({"checksum": zlib.crc32(written.encode()), "content": written})
        write_whole(path, whole.encode(), "store's manifest")


def read_manifest(path: Path) -> Manifest:
    """A manifest; an `InputError` says what is wrong with it."""
    try:
        whole = json.loads(path.read_text())
        written = whole["content"]
        if zlib.crc32(written.encode()) != whole["checksum"]:
            raise ValueError
        content = json.loads(written)
    except OSError as error:
        raise InputError(f"The store's {path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError):
        raise InputError(f"The store's {path} is damaged; build the store again.") from None
    version = content.pop("format")
    if version != _FORMAT:
        raise InputError(f"The store at {path} has format {version}, but this version of Weald reads format {_FORMAT}.")
    blocks = tuple(StoredBlockEntry(*entry) for entry in content.pop("blocks"))
    choices = content.pop("choices")
    for name in ("by_column", "forced"):
        choices[name] = tuple(
            (column, tuple(value) if isinstance(value, list) else value) for column, value in choices[name]
        )
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in content.items()
    }
    plain |= {"schema": Schema.from_json(content["schema"]), "choices": BinChoices(**choices), "blocks": blocks}
    return Manifest(**plain)


def with_blocks(
    manifest: Manifest, blocks: Sequence[StoredBlockEntry], extremes: NDArray[np.float64] | None
) -> Manifest:
    """A manifest that is finished."""
    kept = () if extremes is None else tuple(extremes.ravel().tolist())
    return replace(manifest, blocks=tuple(blocks), extremes=kept)


def read_checked(path: Path, checksum: int) -> bytes:
    """The bytes of a small file beside the manifest."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"The store's file {path} cannot be read: {error.strerror}.") from error
    if zlib.crc32(raw) != checksum:
        raise InputError(f"The store's file {path} is damaged; build the store again.")
    return raw


def checksum_of(path: Path) -> int:
    """That of a file of any size."""
    found = 0
    with open(path, "rb") as file:
        while piece := file.read(2**22):
            found = zlib.crc32(piece, found)
    return found


def block_name(number: int) -> str:
    """The name of a block's file."""
    return f"block-{number:06d}.bin"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} has no place in a manifest")
