"""Tables in files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weald.data import delimited, streams
from weald.data.files import read_file, write_file
from weald.runtime.errors import InputError


def write(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_numbers_and_text_are_told_apart_and_missing_cells_are_missing(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b,c\n1,x,\nNA, y ,2.5\n-3e2,null,NaN\n")
    columns = read_file(path)
    np.testing.assert_array_equal(columns["a"], [1.0, np.nan, -300.0])
    assert columns["b"].tolist() == ["x", "y", None]
    np.testing.assert_array_equal(columns["c"], [np.nan, 2.5, np.nan])
    assert columns["a"].dtype == np.float64 and columns["b"].dtype == object


def test_a_column_that_turns_out_to_be_text_late_keeps_its_early_cells_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_ROWS_A_CHUNK", 2)
    path = write(tmp_path, "code,n\n007,1\n008,2\n009,3\nB10,4\n011,5\n")
    columns = read_file(path)
    assert columns["code"].tolist() == ["007", "008", "009", "B10", "011"]
    assert columns["n"].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_underscores_make_an_identifier_not_a_number(tmp_path: Path) -> None:
    assert read_file(write(tmp_path, "a\n1_000\n2_000\n"))["a"].tolist() == ["1_000", "2_000"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_found_in_the_header(tmp_path: Path, delimiter: str) -> None:
    path = write(tmp_path, delimiter.join("ab") + "\n" + delimiter.join("12") + "\n")
    assert {name: values.tolist() for name, values in read_file(path).items()} == {"a": [1.0], "b": [2.0]}


def test_quoted_cells_byte_order_marks_and_blank_lines_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeffa,b\n"x, ""y""\nz",1\n\nw,2\n')
    columns = read_file(path)
    assert columns["a"].tolist() == ['x, "y"\nz', "w"]
    assert columns["b"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("a,a\n1,2\n", "two columns named 'a'"),
        ("a,b\n1,2\n1,2,3\n", "line 3 of .* has 3 cells, but the first line names 2 columns"),
    ],
)
def test_a_damaged_csv_file_is_refused_in_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_file(write(tmp_path, text))


def test_the_line_of_a_bad_row_is_right_after_a_cell_of_several_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 4 "):
        read_file(write(tmp_path, 'a,b\n"one\ntwo",2\n3\n'))


def test_files_that_are_not_text_or_not_there_are_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.csv.gz"
    damaged.write_bytes(gzip.compress(b"a\n" + b"1\n" * 5000)[:-12])
    with pytest.raises(InputError, match="cannot be read"):
        read_file(damaged)
    with pytest.raises(InputError, match="does not exist"):
        read_file(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match=r"use \.csv"):
        read_file(write(tmp_path, "", "table.xlsx"))


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.csv.bz2", "table.csv.xz", "table.csv.zst", "table.zip"])
def test_every_file_is_closed_again(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, path = b"a,b\n1,2\n3,4\n", tmp_path / name
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("table.csv", text)
    elif name.endswith(".zst"):
        arrow = pytest.importorskip("pyarrow")
        path.write_bytes(arrow.compress(text, codec="zstd", asbytes=True))
    else:
        compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
        path.write_bytes(compress(text))
    opened: list[Any] = []

    def remember(*arguments: Any) -> Any:
        opened.append(open(*arguments))  # noqa: SIM115
        return opened[-1]

    monkeypatch.setattr(streams, "open", remember, raising=False)
    assert read_file(path)["b"].tolist() == [2.0, 4.0]
    assert opened and all(file.closed for file in opened)


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.parquet"])
def test_what_is_written_is_read_back_to_the_last_bit(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    columns = {
        "number": np.array([0.1, np.nan, 1e-300, -0.0]),
        "text": np.array(["x", None, 'a "b", c', "é"], dtype=object),
    }
    write_file(tmp_path / name, columns)
    again = read_file(tmp_path / name)
    assert again["number"].tobytes() == columns["number"].tobytes()
    assert again["text"].tolist() == columns["text"].tolist()


def test_columns_of_unequal_length_leave_the_old_file_as_it_was(tmp_path: Path) -> None:
    path = write(tmp_path, "old\n1\n")
    with pytest.raises(ValueError):
        write_file(path, {"a": np.zeros(2), "b": np.zeros(3)})
    assert path.read_text() == "old\n1\n"
    assert list(tmp_path.iterdir()) == [path]


def test_parquet_keeps_categories_as_text_and_missing_integers_as_nan(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    table = pyarrow.table(
        {
            "category": pyarrow.array(["x", None, "y"]).dictionary_encode(),
            "count": pyarrow.array([1, None, 3]),
            "flag": pyarrow.array([True, False, True]),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    columns = read_file(tmp_path / "t.parquet")
    assert columns["category"].tolist() == ["x", None, "y"]
    np.testing.assert_array_equal(columns["count"], [1.0, np.nan, 3.0])
    assert columns["flag"].tolist() == [True, False, True]


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"weald\[arrow\]"):
        read_file(path)


def test_a_file_that_only_pretends_to_be_parquet_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    path.write_bytes(b"not parquet at all")
    with pytest.raises(InputError, match="not a Parquet file"):
        read_file(path)
