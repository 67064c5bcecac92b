"""Sources that Arrow reads batch by batch: files of Parquet, Arrow and CSV, its datasets, and what polars computes."""

from __future__ import annotations

import contextlib
import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weald.binning.parts import Part
from weald.blocks.sources import ReadySource, Source, Targets
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra

_PARQUET: Final = (".parquet", ".pq")
_ARROW: Final = (".arrow", ".feather", ".ipc")
_TEXT: Final = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_TEXT_BLOCK: Final = 2**22  # bytes of text that become a batch
_WHAT: Final = "reading rows in batches"


def open_files(given: Any, targets: Targets) -> FileSource:
    """The files that a path, a folder, a pattern or a list of such stands for."""
    several = given if isinstance(given, list | tuple) else [given]
    files = [file for one in several for file in _files_of(os.fspath(one))]
    load_extra("pyarrow", _WHAT)
    return FileSource(tuple(files), targets)


def _files_of(path: str) -> list[Path]:
    """The table files below a folder, or those that match a pattern, by name."""
    known = (*_PARQUET, *_ARROW, *_TEXT)
    if os.path.isdir(path):
        found = sorted(
            file
            for file in Path(path).rglob("*")
            if file.name.lower().endswith(known) and not file.name.startswith((".", "_"))
        )
    else:
        found = [Path(one) for one in sorted(glob.glob(path))] or [Path(path)]
    if not found:
        raise InputError(f"The folder {path!r} has no files of Parquet, Arrow or CSV ({', '.join(known)}).")
    for file in found:
        if not file.name.lower().endswith(known):
            raise InputError(f"Rows cannot be read from {str(file)!r} in batches; give files named {', '.join(known)}.")
        if not file.exists():
            raise InputError(f"There is no file {str(file)!r}.")
    return found


@dataclass(frozen=True)
class FileSource(ReadySource):
    """Files one after the other, each read in batches."""

    files: tuple[Path, ...]
    targets: Targets

    def batches(self, rows: int) -> Iterator[Part]:
        """Arrow tables; a file that cannot be read is named."""
        pyarrow = load_extra("pyarrow", _WHAT)
        for file in self.files:
            try:
                for batch in _batches_of(pyarrow, file, rows):
                    if batch.num_rows:
                        yield self.targets.split(pyarrow.Table.from_batches([batch]))
            except (pyarrow.ArrowException, OSError) as error:
                raise InputError(f"The file {str(file)!r} cannot be read: {_first_line(error)}.") from error

    def identity(self) -> dict[str, Any]:
        """The files with their sizes and times of change."""
        stats = [(file, file.stat()) for file in self.files]
        return {"kind": "files", "files": [[str(file), one.st_size, one.st_mtime_ns] for file, one in stats]}


def _batches_of(pyarrow: Any, file: Path, rows: int) -> Iterator[Any]:
    name = file.name.lower()
    if name.endswith(_PARQUET):
        parquet = load_extra("pyarrow.parquet", _WHAT)
        with parquet.ParquetFile(file, pre_buffer=False, buffer_size=2**20) as opened:
            yield from opened.iter_batches(rows, use_threads=False)
    elif name.endswith(_ARROW):
        with pyarrow.memory_map(str(file)) as mapped, pyarrow.ipc.open_file(mapped) as opened:
            for number in range(opened.num_record_batches):
                batch = opened.get_batch(number)
                for first in range(0, batch.num_rows, rows):
                    yield batch.slice(first, rows)
    else:
        yield from _text_batches(pyarrow, file, rows)


def _text_batches(pyarrow: Any, file: Path, rows: int) -> Iterator[Any]:
    """The batches of a text table; a column's type is settled by the first of them, whole numbers being floats."""
    text = load_extra("pyarrow.csv", _WHAT)
    parse = text.ParseOptions(delimiter="\t" if ".tsv" in file.name.lower() else ",")
    read = text.ReadOptions(block_size=_TEXT_BLOCK, use_threads=False)
    with text.open_csv(file, read, parse, _conversion(text, None)) as opened:
        types = {field.name: _settled(pyarrow, field.type) for field in opened.schema}
    with text.open_csv(file, read, parse, _conversion(text, types)) as opened:
        for batch in opened:
            for first in range(0, batch.num_rows, rows):
                yield batch.slice(first, rows)


def _conversion(text: Any, types: dict[str, Any] | None) -> Any:
    missing = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]
    return text.ConvertOptions(null_values=missing, strings_can_be_null=True, column_types=types)


def _settled(pyarrow: Any, kind: Any) -> Any:
    is_number = pyarrow.types.is_integer(kind) or pyarrow.types.is_null(kind)
    return pyarrow.float64() if is_number else kind


@dataclass(frozen=True)
class DatasetSource(ReadySource):
    """A dataset of pyarrow, in the order of its fragments."""

    dataset: Any
    targets: Targets

    def batches(self, rows: int) -> Iterator[Part]:
        """Arrow tables."""
        pyarrow = load_extra("pyarrow", _WHAT)
        for batch in self.dataset.to_batches(
            batch_size=rows, batch_readahead=1, fragment_readahead=1, use_threads=False
        ):
            if batch.num_rows:
                yield self.targets.split(pyarrow.Table.from_batches([batch]))

    def identity(self) -> dict[str, Any]:
        """Its columns and files."""
        files = list(getattr(self.dataset, "files", []))
        return {"kind": "dataset", "files": files, "columns": self.dataset.schema.names}


@dataclass(frozen=True)
class LazySource:
    """A LazyFrame of polars, computed once, to a file that is there as long as the store is built."""

    frame: Any
    targets: Targets

    def batches(self, rows: int) -> Iterator[Part]:
        """Not before it is computed."""
        raise AssertionError("a LazyFrame is opened first")

    def identity(self) -> dict[str, Any]:
        """What it computes."""
        return {"kind": "lazy", "plan": str(self.frame.explain())}

    def opened(self, folder: Path) -> AbstractContextManager[Source]:
        """Its result as a Parquet file."""
        return self._computed(folder)

    @contextlib.contextmanager
    def _computed(self, folder: Path) -> Iterator[Source]:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".weald-lazy-") as own:
            file = Path(own, "rows.parquet")
            self.frame.sink_parquet(file, row_group_size=2**17, maintain_order=True)
            yield open_files(file, self.targets)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
