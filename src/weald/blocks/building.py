"""Building a store: two passes to know all rows, and one to bin them, which a build that was interrupted goes on with."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinMapper, BinWishes
from weald.binning.extremes import extremes_of, join_extremes
from weald.binning.sharded import Codes
from weald.blocks.block_file import block_bytes, read_header
from weald.blocks.codecs import check_codec, choose_codec
from weald.blocks.first_pass import Batch, Scan, find_cuts, read_batches, scan
from weald.blocks.label_files import KnownNumbers, LabelCoder, written_numbers
from weald.blocks.limits import batch_rows_of, block_rows_of
from weald.blocks.manifest import (
    CUTS,
    FOLDER,
    LABELS,
    MANIFEST,
    UNFINISHED,
    WEIGHTS,
    Manifest,
    StoredBlockEntry,
    block_name,
    checksum_of,
    read_manifest,
    with_blocks,
)
from weald.blocks.rare_categories import CodeBytes
from weald.blocks.sources import Source
from weald.data import Dataset, Schema, column_positions
from weald.encoding.model import category_codes
from weald.runtime.atomic import write_whole
from weald.runtime.errors import InputError
from weald.runtime.row_memory import IN_MEMORY, MappedFiles, RowMemory


@dataclass(frozen=True)
class Likeness:
    """What a store has in common with another one, as an evaluation set has with the training."""

    schema: Schema
    mapper: BinMapper
    classes: NDArray[Any] | None


@dataclass(frozen=True)
class Build:
    """One build of a store, complete and checked."""

    folders: tuple[Path, ...]
    wishes: BinWishes
    seed: int
    compression: str
    limit: int | None
    block_rows: int | None
    tasks: int
    like: Likeness | None = None

    def run(self, source: Source, identity: dict[str, Any]) -> None:
        """Build the store, or finish it."""
        home = self.folders[0]
        rows = batch_rows_of(self.limit, _count_columns(source))
        manifest = self._begun(identity)
        if manifest is None:
            manifest = self._first_passes(source, identity, rows)
            manifest.write(home / UNFINISHED)
        filling = _Filling(self, manifest)
        entries = filling.run(source, rows)
        with_blocks(manifest, entries, filling.extremes).write(home / MANIFEST)
        (home / UNFINISHED).unlink()

    def _begun(self, identity: dict[str, Any]) -> Manifest | None:
        """What an interrupted build has left, where it was a build of the same."""
        path = self.folders[0] / UNFINISHED
        if not path.exists():
            return None
        manifest = read_manifest(path)
        if manifest.build != json.loads(json.dumps(identity)):
            before = manifest.build
            differs = next(name for name in {**before, **identity} if before.get(name) != identity.get(name))
            raise InputError(
                f"The folder {str(self.folders[0])!r} has an unfinished store of another build, with another {differs}; build "
                "it with the same arguments to go on, or with overwrite=True to begin anew."
            )
        return manifest

    def _first_passes(self, source: Source, identity: dict[str, Any], rows: int) -> Manifest:
        home, like = self.folders[0], self.like
        found = scan(source, self.wishes, rows, home, LabelCoder(None if like is None else like.classes))
        if like is None:
            memory: RowMemory = IN_MEMORY if self.limit is None else MappedFiles(home, self.limit)
            mapper = find_cuts(source, self.wishes, found, self.seed, rows, self.tasks, home, memory)
            schema = found.schema
        else:
            _check_columns(found.schema, like.schema)
            schema, mapper = like.schema, like.mapper
        with written_numbers(home / CUTS) as file:
            file.write(np.concatenate([np.empty(0), *mapper.cuts]).tobytes())
        files = [LABELS, CUTS, *([WEIGHTS] if found.has_weights else [])]
        manifest = self._manifest(identity, found, schema, mapper, {name: checksum_of(home / name) for name in files})
        for place, folder in enumerate(self.folders):
            mark = {"store": manifest.store, "place": place, "folders": len(self.folders)}
            write_whole(folder / FOLDER, json.dumps(mark).encode(), "mark of the store's folder")
        return manifest

    def _manifest(
        self, identity: dict[str, Any], found: Scan, schema: Schema, mapper: BinMapper, checksums: dict[str, int]
    ) -> Manifest:
        categorical = self.wishes.categorical
        marked = () if isinstance(categorical, str) else tuple(column_positions(categorical, schema.names, "categorical"))
        classes, label_type = found.classes, found.label_type
        if self.like is not None and self.like.classes is not None:
            classes, label_type = tuple(self.like.classes.tolist()), str(self.like.classes.dtype)
        n_columns = schema.n_columns
        return Manifest(
            store=secrets.token_hex(8),
            build=identity,
            schema=schema,
            choices=self.wishes.choices,
            categorical=marked,
            unstored=self.wishes.unstored,
            seed=self.seed,
            n_rows=found.n_rows,
            block_rows=self.block_rows or block_rows_of(self.limit, n_columns, mapper.dtype.itemsize),
            codecs=(self.compression,) * (n_columns + len(CodeBytes.of(schema, mapper.n_bins.tolist()))),
            classes=classes,
            label_type=label_type,
            checksums=checksums,
            n_cuts=tuple(len(cuts) for cuts in mapper.cuts),
            n_bins=tuple(mapper.n_bins.tolist()),
        )


class _Filling:
    """The last pass: rows become blocks, each written while the next one is made."""

    def __init__(self, build: Build, manifest: Manifest) -> None:
        self._build, self._manifest = build, manifest
        self._mapper = manifest.mapper(build.folders[0])
        self._entries: list[StoredBlockEntry] = []
        self._codecs = list(manifest.codecs)
        self._rare = manifest.code_bytes
        #: of every column the least and the greatest value, which trees with random thresholds ask for; None: not wanted
        self.extremes: NDArray[np.float64] | None = None
        if manifest.choices.border_type == "uniform_and_quantiles":
            self.extremes = np.full((manifest.schema.n_columns, 2), np.nan)
        self._writing: Future[None] | None = None

    def run(self, source: Source, rows: int) -> list[StoredBlockEntry]:
        """Where all blocks are."""
        step, n_rows = self._manifest.block_rows, self._manifest.n_rows
        n_blocks = -(-n_rows // step)
        finished = [self._finished(number) for number in range(n_blocks)]
        codes: Codes = np.empty((len(self._codecs), step), self._manifest.dtype)
        done = 0
        with ThreadPoolExecutor(1, "weald-writer") as writer:
            for first, part in self._binned(source, rows, finished):
                begin = 0
                while begin < part.shape[1]:
                    number, place = divmod(first + begin, step)
                    count = min(step - place, part.shape[1] - begin)
                    codes[:, place : place + count] = part[:, begin : begin + count]
                    begin, done = begin + count, first + begin + count
                    if done == min((number + 1) * step, n_rows) and finished[number] is None:
                        self._write(writer, number, codes[:, : place + count].copy())
            self._wait()
        if done < n_rows and finished[-1] is None:
            raise self._changed()
        return [self._finished(number) or self._lost(number) for number in range(n_blocks)]

    def _binned(
        self, source: Source, rows: int, finished: Sequence[StoredBlockEntry | None]
    ) -> Iterator[tuple[int, Codes]]:
        """(first row, bins) of all rows that some block is missing of."""
        manifest, build = self._manifest, self._build
        known = KnownNumbers(build.folders[0] / LABELS)
        coder = LabelCoder(manifest.classes_array)
        step, first = manifest.block_rows, 0
        for batch in read_batches(source, build.wishes, rows):
            last = first + batch.n_rows
            if last > manifest.n_rows or not np.array_equal(self._coded(coder, batch), known.part(first, batch.n_rows)):
                raise self._changed()
            wanted = finished[first // step : -(-last // step)]
            if batch.n_rows and (self.extremes is not None or any(entry is None for entry in wanted)):
                dataset = batch.dataset(manifest.schema, manifest.choices)
                if self.extremes is not None:
                    self.extremes = join_extremes([self.extremes, extremes_of(dataset)])
                yield from ((first + begin, codes) for begin, codes in self._parts(dataset))
            first = last
        if first < manifest.n_rows:
            raise self._changed()

    def _parts(self, dataset: Dataset) -> Iterator[tuple[int, Codes]]:
        """(first row, bins and behind them the bytes of codes) of a batch."""
        rare = self._rare.written(category_codes(dataset)) if len(self._rare) else None
        for begin, codes in self._mapper.parts(dataset, self._build.tasks):
            here = slice(begin, begin + codes.shape[1])
            yield begin, codes if rare is None else np.concatenate([codes, rare[:, here]])

    def _coded(self, coder: LabelCoder, batch: Batch) -> NDArray[np.float64]:
        """A batch's labels as the file has them."""
        return coder.code(batch.labels) if self._manifest.classes is not None else batch.labels.astype(np.float64)

    def _changed(self) -> InputError:
        return InputError(
            "The source gave other rows, or rows in another order, than when it was read before; a store needs a source that "
            "gives the same rows every time."
        )

    def _path(self, number: int) -> Path:
        folders = self._build.folders
        return folders[number % len(folders)] / block_name(number)

    def _write(self, writer: ThreadPoolExecutor, number: int, codes: Codes) -> None:
        self._wait()
        self._writing = writer.submit(self._write_now, number, codes)

    def _write_now(self, number: int, codes: Codes) -> None:
        codecs = [choose_codec(column) if codec == "auto" else codec for column, codec in zip(codes, self._codecs, strict=True)]
        self._codecs = codecs
        written, _ = block_bytes(self._manifest.store, number, codes, codecs)
        write_whole(self._path(number), written, f"store's block {number}")

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.result()

    def _finished(self, number: int) -> StoredBlockEntry | None:
        """The block, where it is there and whole."""
        manifest, path = self._manifest, self._path(number)
        try:
            header = read_header(path)
        except InputError:
            return None
        count = min(manifest.block_rows, manifest.n_rows - number * manifest.block_rows)
        is_whole = os.path.getsize(path) == header.n_bytes
        if (header.store, header.number, header.n_rows) != (manifest.store, number, count) or not is_whole:
            return None
        return StoredBlockEntry(number % len(self._build.folders), count, header.checksum)

    def _lost(self, number: int) -> StoredBlockEntry:
        raise InputError(
            f"Block {number} of the store was written, but {self._path(number)} is not there any more; build it again."
        )


def identity_of(source: Source, settings: dict[str, Any]) -> dict[str, Any]:
    """What a build that goes on must have in common with the one that was interrupted."""
    return {"source": source.identity(), **settings}


def prepare_folders(folders: Sequence[Path], overwrite: bool) -> None:
    """Make the folders; refuse those that have a store, or empty them of it."""
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise InputError("folders has a folder twice; give each once.")
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"The store's folder {str(folder)!r} cannot be made: {error.strerror}.") from error
        if not os.access(folder, os.W_OK):
            raise InputError(f"The store's folder {str(folder)!r} is not writable.")
        if overwrite:
            remove_store(folder)
        elif (folder / MANIFEST).exists():
            raise InputError(
                f"The folder {str(folder)!r} has a store already; open it by BlockStore.open, choose another folder, or pass "
                "overwrite=True."
            )


def remove_store(folder: Path) -> None:
    """Remove the files of a store from a folder, the manifest first; other files stay."""
    for name in (MANIFEST, UNFINISHED, FOLDER, LABELS, WEIGHTS, CUTS):
        with contextlib.suppress(FileNotFoundError):
            (folder / name).unlink()
    for file in folder.glob("block-*.bin"):
        file.unlink()


def _count_columns(source: Source) -> int:
    for part in source.batches(256):
        shape = getattr(part.X, "shape", None)
        return int(shape[1]) if shape is not None and len(shape) == 2 else max(1, len(part.X) if isinstance(part.X, dict) else 64)
    return 1


def _check_columns(found: Schema, wanted: Schema) -> None:
    if found.names != wanted.names:
        raise InputError(
            f"The rows have the columns {list(found.names)}, but the store that this one is like has {list(wanted.names)}; "
            "all must have the same, in one order."
        )


def check_compression(compression: str) -> None:
    """Refuse what is no way to compress."""
    if compression != "auto":
        check_codec(compression, f"compression={compression!r}")
