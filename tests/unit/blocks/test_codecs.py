"""Columns come back from any form that they are stored in, and the shortest form is stored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weald.blocks.codecs import STRETCH, choose_codec, decode, encode
from weald.runtime.errors import InputError, MissingExtraError

CODECS = ["none", "lz4", "zstd"]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@given(
    n_rows=st.sampled_from([1, 2, 300, STRETCH, STRETCH + 1, 3 * STRETCH + 7]),
    share=st.sampled_from([0.0, 0.01, 0.3, 1.0]),
    seed=st.integers(0, 3),
)
def test_columns_come_back(codec: str, dtype: type, n_rows: int, share: float, seed: int) -> None:
    pytest.importorskip("pyarrow")
    generator = np.random.default_rng(seed)
    column = np.full(n_rows, 7, dtype)
    there = generator.random(n_rows) < share
    column[there] = generator.integers(0, np.iinfo(dtype).max + 1, there.sum())
    stored, form = encode(column, codec)
    found = np.empty_like(column)
    decode(memoryview(stored), form, found)
    assert (found == column).all()
    assert len(stored) <= column.nbytes


def test_a_sparse_column_is_stored_by_its_other_rows() -> None:
    column = np.zeros(2 * STRETCH, np.uint16)
    column[[5, STRETCH + 1]] = 300
    stored, form = encode(column, "none")
    assert (form.default, form.n_others, len(stored)) == (0, 2, 2 * 4 + 2 * 2 + 2 * 2)
    assert stored == b"\x01\0\0\0" b"\x01\0\0\0" b"\x05\0" b"\x01\0" b"\x2c\x01" b"\x2c\x01"


def test_bins_that_do_not_compress_are_left_as_they_are() -> None:
    pytest.importorskip("pyarrow")
    even = np.random.default_rng(0).integers(0, 256, 60_000).astype(np.uint8)
    assert choose_codec(even) == "none"
    assert choose_codec(np.repeat(even[:60], 1000)) != "none"


def test_without_pyarrow_nothing_is_compressed_and_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from weald.blocks import codecs

    def missing(module: str, what: str) -> None:
        raise MissingExtraError(f"{what} needs pyarrow, which is not installed: pip install 'weald[arrow]'")

    monkeypatch.setattr(codecs, "load_extra", missing)
    assert choose_codec(np.zeros(60_000, np.uint8)) == "none"
    with pytest.raises(InputError, match="needs pyarrow"):
        codecs.check_codec("zstd", "compression='zstd'")
