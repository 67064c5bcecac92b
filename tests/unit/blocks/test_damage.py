"""What can happen to a store on a disk: each is one sentence, and nothing that looks whole is left half done."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unit.blocks.rows import X, Y, bytes_of, regressor
from weald import BlockStore
from weald.runtime.errors import InputError

ROWS = 250


def build(*folders: Path, **settings: Any) -> BlockStore:
    return BlockStore.build(X, folders, target=Y, block_rows=ROWS, compression="none", **settings)


def change_byte(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_a_damaged_column_is_named_with_its_block(tmp_path: Path) -> None:
    build(tmp_path)
    change_byte(tmp_path / "block-000002.bin", -1)
    store = BlockStore.open(tmp_path)
    with pytest.raises(InputError, match=r"^Block 2 of the store cannot be used: the column 'x4' in .*000002.bin is damaged"):
        regressor().fit(store)


def test_a_block_that_is_missing_cut_or_swapped_is_found_when_the_store_is_opened(tmp_path: Path) -> None:
    build(tmp_path / "one")
    build(tmp_path / "other")
    first, second = (tmp_path / "one" / f"block-{number:06d}.bin" for number in (0, 1))
    whole = second.read_bytes()
    second.unlink()
    with pytest.raises(InputError, match=r"^Block 1 of the store cannot be used: it is not there: .*block-000001.bin; bring"):
        BlockStore.open(tmp_path / "one")
    second.write_bytes(whole[:-5])
    with pytest.raises(InputError, match=r"^Block 1 .*000001.bin is cut short"):
        BlockStore.open(tmp_path / "one")
    shutil.copy(first, second)
    with pytest.raises(InputError, match=r"^Block 1 .*000001.bin holds block 0"):
        BlockStore.open(tmp_path / "one")
    shutil.copy(tmp_path / "other" / second.name, second)
    with pytest.raises(InputError, match=r"^Block 1 .*000001.bin is of another store"):
        BlockStore.open(tmp_path / "one")
    second.write_bytes(b"")
    with pytest.raises(InputError, match=r"^Block 1 .*000001.bin is damaged, or no block of a store"):
        BlockStore.open(tmp_path / "one")
    second.write_bytes(whole)
    assert bytes_of(regressor().fit(BlockStore.open(tmp_path / "one"))) == bytes_of(regressor().fit(X, Y))


@pytest.mark.parametrize("name", ["labels.bin", "cuts.bin", "manifest.json"])
def test_damage_beside_the_blocks_is_named(name: str, tmp_path: Path) -> None:
    build(tmp_path)
    change_byte(tmp_path / name, 40)
    with pytest.raises(InputError, match=rf"{name} is damaged"):
        regressor().fit(BlockStore.open(tmp_path))


def test_folders_may_be_given_in_any_order_and_are_all_needed(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "abc"]
    build(*folders)
    assert BlockStore.open(folders[::-1]).n_rows == len(Y)
    with pytest.raises(InputError, match=r"in 3 folders, of which number 2 is not given: .*b\.$"):
        BlockStore.open([folders[2], folders[0]])
    with pytest.raises(InputError, match=r"^There is no store in .*b: its manifest.json is missing"):
        BlockStore.open(folders[1])
    build(tmp_path / "d", tmp_path / "e")
    with pytest.raises(InputError, match=r"e belongs to another store than"):
        BlockStore.open([folders[0], tmp_path / "e"])
    with pytest.raises(InputError, match="has a folder twice"):
        build(tmp_path / "f", tmp_path / "f")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match=r"cannot be made|is not writable"):
        build(tmp_path / "store")


def test_a_file_in_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    with pytest.raises(InputError, match=r"The store's folder '.*store' cannot be made: File exists"):
        build(tmp_path / "store")


def test_a_disk_that_fills_is_a_sentence_and_the_build_goes_on_later(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    wide = np.tile(X, (1, 12))  # so that blocks are larger than the other files
    arguments: dict[str, Any] = {"target": Y, "block_rows": 1000, "compression": "none"}
    arguments["estimator"] = regressor(bins=15)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, limits[1]))
        with pytest.raises(OSError, match=r"^The store's block 0 cannot be saved to '.*': File too large; a file that"):
            BlockStore.build(wide, tmp_path, **arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    with pytest.raises(InputError, match=r"is not finished; go on by BlockStore.build"):
        BlockStore.open(tmp_path)
    assert not [file.name for file in tmp_path.iterdir() if file.suffix == ".tmp"]
    store = BlockStore.build(wide, tmp_path, **arguments)
    assert bytes_of(regressor(bins=15).fit(store)) == bytes_of(regressor(bins=15).fit(wide, Y))


KILLED = """
import os, signal, sys
from pathlib import Path
from unit.blocks.rows import X, Y, BATCH
from weald import BlockStore
from weald.blocks import building

write, left = building.write_whole, int(sys.argv[2])

def dying(path, data, what="file"):
    global left
    left -= "block" in what
    if left < 0:
        Path(str(path) + ".part").write_bytes(data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    write(path, data, what)

building.write_whole = dying

def source():
    for first in range(0, len(Y), BATCH):
        yield X[first : first + BATCH], Y[first : first + BATCH]

BlockStore.build(source, [sys.argv[1] + "/a", sys.argv[1] + "/b"], block_rows=250)
"""


def test_a_build_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for n_blocks in (0, 3):
        ended = subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path), str(n_blocks)], env=environment, check=False, timeout=300
        )
        assert ended.returncode == -signal.SIGKILL
        with pytest.raises(InputError, match="is not finished"):
            BlockStore.open([tmp_path / "a", tmp_path / "b"])
    made = {file: file.stat().st_mtime_ns for file in tmp_path.glob("*/block-*.bin")}
    assert len(made) == 3
    passes = []

    def source() -> Any:
        passes.append(None)
        yield X, Y

    store = BlockStore.build(source, [tmp_path / "a", tmp_path / "b"], block_rows=250)
    assert len(passes) == 2  # to count columns, and to bin
    assert {file: file.stat().st_mtime_ns for file in made} == made
    assert bytes_of(regressor().fit(store)) == bytes_of(regressor().fit(X, Y))


def test_an_unfinished_build_of_something_else_is_not_gone_on_with(tmp_path: Path) -> None:
    store = build(tmp_path)
    (tmp_path / "manifest.json").rename(tmp_path / "unfinished.json")
    with pytest.raises(InputError, match="unfinished store of another build, with another block_rows"):
        BlockStore.build(X, tmp_path, target=Y, block_rows=100, compression="none")
    assert build(tmp_path)._manifest.store == store._manifest.store
