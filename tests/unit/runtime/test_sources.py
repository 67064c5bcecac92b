"""The hash of the kernel sources: a changed kernel is never served from an old directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from weald.runtime import sources


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small package that the hash is taken of."""
    for name, text in {
        "runtime/jit.py": "a",
        "tree/kernels.py": "from weald.runtime.jit import kernel",
        "tree/state.py": "LIMIT = 1",
        "cli/group.py": "print()",
    }.items():
        path = tmp_path / "weald" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(sources, "__file__", str(tmp_path / "weald" / "runtime" / "sources.py"))
    return tmp_path / "weald"


def hash_now() -> str:
    return sources.source_hash.__wrapped__()


def test_the_hash_is_short_and_the_same_for_the_same_sources(package: Path) -> None:
    assert hash_now() == hash_now()
    assert len(sources.source_hash()) == 16
    int(sources.source_hash(), 16)


@pytest.mark.parametrize("name", ["runtime/jit.py", "tree/kernels.py", "tree/state.py"])
def test_a_change_to_a_kernel_or_to_what_it_reads_changes_the_hash(package: Path, name: str) -> None:
    before = hash_now()
    (package / name).write_text("from weald.runtime.jit import kernel  # changed")
    assert hash_now() != before


def test_a_kernel_that_is_added_moved_or_deleted_changes_the_hash(package: Path) -> None:
    hashes = [hash_now()]
    (package / "tree" / "more.py").write_text("from weald.runtime.jit import kernel")
    hashes.append(hash_now())
    (package / "tree" / "more.py").rename(package / "cli" / "more.py")
    hashes.append(hash_now())
    (package / "tree" / "kernels.py").unlink()
    hashes.append(hash_now())
    assert len(set(hashes)) == 4


def test_a_change_to_what_holds_no_kernel_keeps_the_compiled_ones(package: Path) -> None:
    before = hash_now()
    (package / "cli" / "group.py").write_text("print('more')")
    assert hash_now() == before
