"""`BlockStore`: a table that was binned once and lies in blocks on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinMapper, BinWishes, wishes_of
from weald.binning.choices import BinChoices, describe_difference
from weald.binning.sharded import ShardedBins
from weald.binning.sharded_table import ShardedTable
from weald.blocks.block_file import StoredBlock
from weald.blocks.building import Build, Likeness, check_compression, identity_of, prepare_folders
from weald.blocks.limits import check_limit
from weald.blocks.manifest import (
    FOLDER,
    LABELS,
    MANIFEST,
    UNFINISHED,
    WEIGHTS,
    Manifest,
    checksum_of,
    read_manifest,
)
from weald.blocks.rare_categories import StoredCategories
from weald.blocks.sources import open_source
from weald.data import Schema
from weald.data.read import marked_positions
from weald.runtime.errors import InputError
from weald.runtime.random import seed_of
from weald.runtime.resident import read_limit
from weald.runtime.row_memory import IN_MEMORY, MappedFiles, RowMemory
from weald.runtime.threads import hire

Folders = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class BlockStore:
    """A table in blocks on disk, binned, with its labels: ``fit`` takes it in place of X and y.

    Make one by `BlockStore.build`, and open one that is there by `BlockStore.open`. A model that is trained on a store has the
    same bytes as one that is trained on the table in memory.

    >>> import tempfile
    >>> import numpy as np
    >>> import weald
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> model = weald.BoostedTreesRegressor(n_estimators=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = weald.BlockStore.build(X, folder, target=X[:, 0], estimator=model)
    ...     same = (model.fit(store).predict(X) == model.fit(X, X[:, 0]).predict(X)).all()
    >>> bool(same), store
    (True, <BlockStore of 500 rows, 3 columns, 1 block>)
    """

    def __init__(self, manifest: Manifest, folders: Sequence[Path], limit: int | None, reads_ahead: bool) -> None:
        self._manifest = manifest
        self._folders = tuple(folders)
        self._limit = limit
        self._reads_ahead = reads_ahead

    @classmethod
    def build(
        cls,
        source: Any,
        folders: Folders,
        *,
        target: Any = None,
        weight: Any = None,
        drop: Sequence[str] = (),
        estimator: Any = None,
        like: BlockStore | None = None,
        memory_limit: int | str | None = None,
        block_rows: int | None = None,
        compression: str = "auto",
        n_jobs: int | None = None,
        overwrite: bool = False,
    ) -> BlockStore:
        """Read a table batch by batch, bin it, and store it.

        The source is read three times: for schema and labels, for the rows that the cuts are found from, and to bin all rows. A
        build that was interrupted goes on when it is called again with the same arguments.

        Parameters
        ----------
        source : a folder, a file, a pattern such as "rows/*.parquet", or a list of such, of Parquet, Arrow (Feather) or CSV; a
            dataset of pyarrow; a LazyFrame of polars; a function that gives a new iterator of batches at every call; or a
            table in memory. A batch is ``(X, y)``, ``(X, y, weight)``, or a data frame with the columns that ``target`` and
            ``weight`` name.
        folders : where the blocks go, in turn; several folders are for several disks.
        target : the name of the column of labels; of a table in memory also the labels themselves.
        weight : the same of the weights. A row of weight 0 is left out.
        drop : columns that are no features.
        estimator : the model that the store is for, which says how to bin; None: one with the defaults.
        like : a store whose columns, cuts and classes these rows are to have, for an evaluation set.
        memory_limit : what the process may have resident, a number of bytes or "512 MB", while building and while training.
            None: no limit; training then keeps its numbers of every row in memory.
        block_rows : rows of a block; None: 131,072, or fewer where the limit asks for it.
        compression : "none", "lz4", "zstd", or "auto": for each column what brings it from a disk of 500 MB a second soonest, as
            measured on the first block.
        n_jobs : threads for binning.
        overwrite : whether to remove a store that is in the folders.
        """
        homes = _paths(folders)
        limit = read_limit(memory_limit)
        check_limit(limit)
        check_compression(compression)
        _check_block_rows(block_rows)
        wishes, seed = _wishes(estimator, like)
        opened = open_source(source, target, weight, drop)
        settings = {
            "target": target if isinstance(target, str) else None,
            "weight": weight if isinstance(weight, str) else None,
            "drop": list(drop),
            "bins": repr(wishes),
            "seed": seed,
            "like": None if like is None else like._manifest.store,
            "memory_limit": limit,
            "block_rows": block_rows,
            "compression": compression,
            "folders": [str(home.resolve()) for home in homes],
        }
        prepare_folders(homes, overwrite)
        likeness = None if like is None else Likeness(like.schema, like.mapper, like._manifest.classes_array)
        build = Build(homes, wishes, seed, compression, limit, block_rows, hire(n_jobs), likeness)
        with opened.opened(homes[0]) as ready:
            build.run(ready, identity_of(opened, settings))
        return cls.open(homes, memory_limit=limit)

    @classmethod
    def open(
        cls, folders: Folders, *, memory_limit: int | str | None = None, reads_ahead: bool = True
    ) -> BlockStore:
        """A store that is there.

        Parameters
        ----------
        folders : those that it was built in, in any order.
        memory_limit : what the process may have resident while it trains; see `build`.
        reads_ahead : whether threads of their own bring the next blocks while one is worked on.
        """
        limit = read_limit(memory_limit)
        check_limit(limit)
        manifest, homes = _find(_paths(folders))
        store = cls(manifest, homes, limit, reads_ahead)
        for block in store._blocks(IN_MEMORY):
            block.header()
        return store

    @property
    def n_rows(self) -> int:
        """The number of rows that have a weight."""
        return self._manifest.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, self.schema.n_columns

    @property
    def schema(self) -> Schema:
        """Names and kinds of the columns, and the categories."""
        return self._manifest.schema

    @cached_property
    def mapper(self) -> BinMapper:
        """The cuts of the columns."""
        return self._manifest.mapper(self._folders[0])

    @property
    def n_bytes(self) -> int:
        """What the blocks take on disk."""
        return sum(block.header().n_bytes for block in self._blocks(IN_MEMORY))

    def table(self) -> ShardedTable:
        """The store as training reads it."""
        return self._table(self._manifest.wishes())

    def sharded_table(self, wishes: BinWishes, owner: str) -> ShardedTable:
        """The same for an estimator, which must want the bins that the store has."""
        own = self._manifest.wishes()
        if own.choices != wishes.choices:
            has, wants = describe_difference(own.choices, wishes.choices)
            raise InputError(f"The store was built with {has}, but {owner} has {wants}; build it with estimator={owner}(…).")
        if marked_positions(wishes.categorical, self.schema.names) != set(self._manifest.categorical):
            raise InputError(
                f"The store was built with other categorical columns than {owner} has in "
                f"categorical_features={wishes.categorical!r}."
            )
        return self._table(wishes)

    def __repr__(self) -> str:
        count = len(self._manifest.blocks)
        blocks = "1 block" if count == 1 else f"{count} blocks"
        return f"<BlockStore of {self.n_rows:,} rows, {self.schema.n_columns:,} columns, {blocks}>"

    def _table(self, wishes: BinWishes) -> ShardedTable:
        manifest, home = self._manifest, self._folders[0]
        memory: RowMemory = IN_MEMORY if self._limit is None else MappedFiles(home, self._limit)
        labels = self._numbers(LABELS, memory)
        weight = self._numbers(WEIGHTS, memory) if manifest.has_weights else None
        bins = ShardedBins(self.mapper, self._blocks(memory), memory=memory, reads_ahead=self._reads_ahead)
        rare = manifest.code_bytes
        codes = [StoredCategories(block, rare) for block in bins.blocks] if len(rare) else None
        return ShardedTable(
            manifest.schema, bins, wishes, labels, manifest.classes_array, manifest.label_type, weight, codes
        )

    def _numbers(self, name: str, memory: RowMemory) -> NDArray[np.float64]:
        """A number a row, from a file that is as it was written."""
        path = self._folders[0] / name
        try:
            is_whole = checksum_of(path) == self._manifest.checksums[name]
        except OSError as error:
            raise InputError(f"The store's file {path} cannot be read: {error.strerror}.") from error
        if not is_whole:
            raise InputError(f"The store's file {path} is damaged; bring it back, or build the store again.")
        return memory.mapped(path, np.float64) if isinstance(memory, MappedFiles) else np.fromfile(path, np.float64)

    def _blocks(self, memory: RowMemory) -> list[StoredBlock]:
        manifest = self._manifest
        names = manifest.code_bytes.names(manifest.schema)
        return [
            StoredBlock(
                manifest.store,
                number,
                self._folders[entry.folder] / entry.name(number),
                entry.rows,
                entry.checksum,
                names,
                manifest.schema.n_columns,
                memory,
            )
            for number, entry in enumerate(manifest.blocks)
        ]


def _paths(folders: Folders) -> tuple[Path, ...]:
    several = [folders] if isinstance(folders, str | os.PathLike) else list(folders)
    if not several:
        raise InputError("folders is empty: a store needs at least one folder.")
    return tuple(Path(one) for one in several)


def _check_block_rows(given: Any) -> None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise InputError(f"block_rows must be a whole number of at least 1, or None, not {given!r}.")


def _wishes(estimator: Any, like: BlockStore | None) -> tuple[BinWishes, int]:
    """How to bin, and the seed that says which rows the cuts are found from."""
    if like is not None:
        if estimator is not None:
            raise InputError("estimator and like both say how to bin; give one of them.")
        return like._manifest.wishes(), like._manifest.seed
    if estimator is None:
        return BinWishes(BinChoices()), 0
    wishes = wishes_of(estimator)
    if wishes is None or wishes.choices.max_bins is None:
        raise InputError(
            f"estimator must be one of Weald's whose split_finder is 'hist', not {estimator!r}: only bins can be stored."
        )
    return wishes._replace(bundling=None), seed_of(estimator.random_state)


def _find(folders: Sequence[Path]) -> tuple[Manifest, list[Path]]:
    """The manifest, and the folders in the order that they were built in."""
    homes = [folder for folder in folders if (folder / MANIFEST).is_file()]
    if not homes:
        names = ", ".join(str(folder) for folder in folders)
        if any((folder / UNFINISHED).exists() for folder in folders):
            raise InputError(f"The store in {names} is not finished; go on by BlockStore.build with the same arguments.")
        raise InputError(f"There is no store in {names}: its {MANIFEST} is missing.")
    manifest = read_manifest(homes[0] / MANIFEST)
    placed: dict[int, Path] = {}
    count = 0
    for folder in folders:
        try:
            mark = json.loads((folder / FOLDER).read_text())
            store, place, count = mark["store"], mark["place"], mark["folders"]
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(f"The folder {folder} has no part of a store, or its {FOLDER} is damaged.") from None
        if store != manifest.store:
            raise InputError(f"The folder {folder} belongs to another store than {homes[0]}.")
        placed[place] = folder
    missing = [place for place in range(count) if place not in placed]
    if missing:
        raise InputError(
            f"The store was built in {count} folders, of which number {missing[0] + 1} is not given: "
            f"{manifest.build['folders'][missing[0]]}."
        )
    return manifest, [placed[place] for place in range(count)]
