"""Tables as people write them: what a file shows is found out, and what does not fit is said."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from weald.data.dates import PARTS
from weald.data.files import open_file, read_file
from weald.data.reading import FileTable, ReadOptions
from weald.runtime.errors import DataWarning, InputError


def opened(folder: Path, text: str | bytes, name: str = "table.csv", **options: Any) -> FileTable:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_file(path, ReadOptions(**options))


def plain(table: FileTable) -> dict[str, list[Any]]:
    return {name: values.tolist() for name, values in table.columns.items()}


def column(cells: list[str]) -> str:
    return "a;b\n" + "".join(f"{cell};1\n" for cell in cells)


NUMBERS = [str(number) for number in range(40)]


@pytest.mark.parametrize("cell", ["-", "?", "none", "n/a"])
def test_a_bad_cell_in_a_column_of_numbers_is_missing_and_said_with_its_line(
    tmp_path: Path, cell: str
) -> None:
    table = opened(tmp_path, column([*NUMBERS, cell]))
    np.testing.assert_array_equal(table.columns["a"], [*range(40), np.nan])
    assert len(table.notes) == 1
    for word in ("'a'", repr(cell), "line 42", "missing"):
        assert word in table.notes[0]


def test_python_is_warned_of_what_the_command_line_notes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(column([*NUMBERS, "?"]))
    with pytest.warns(DataWarning, match="'a': 1 of 41 cells"):
        read_file(path)


def test_many_bad_cells_are_refused_with_every_way_out(tmp_path: Path) -> None:
    cells = column([*NUMBERS, *["?"] * 10])
    with pytest.raises(InputError, match=r"10 of its 50 cells .*'\?' in line 42.*--na-values.*--categorical"):
        opened(tmp_path, cells)
    assert np.isnan(opened(tmp_path, cells, na_values=("?",)).columns["a"]).sum() == 10
    assert np.isnan(opened(tmp_path, cells, numeric=("a",)).columns["a"]).sum() == 10
    assert opened(tmp_path, cells, categorical=("a",)).columns["a"].dtype == object
    assert "a" not in opened(tmp_path, cells, dropped=frozenset("a")).columns


@pytest.mark.parametrize(
    ("cells", "way"),
    [
        (["12%", "7 %", "3.5%"], "--numeric 'a'"),
        (["$5", "$6.50", "-$7"], "--numeric 'a'"),
        (["1,234", "12,345", "7"], "--thousands ','"),
        (["1 234", "12 345", "7"], "--thousands ' '"),
        (["0x1F", "0x2A", "0x10"], "hexadecimal|decimal numbers"),
    ],
)
def test_numbers_with_signs_are_never_taken_for_categories_in_silence(
    tmp_path: Path, cells: list[str], way: str
) -> None:
    with pytest.raises(InputError, match=way) as caught:
        opened(tmp_path, column(cells))
    assert "line 2" in str(caught.value) and "'a'" in str(caught.value)


def test_declared_numbers_lose_their_signs_and_nothing_else(tmp_path: Path) -> None:
    table = opened(tmp_path, column(["12%", "($5)", "€ 7.5", "3", "many"]), numeric=("a",))
    np.testing.assert_array_equal(table.columns["a"], [12, -5, 7.5, 3, np.nan])
    assert "signs were cut off 3 of 5" in table.notes[0] and "'many' in line 6" in table.notes[1]
    with pytest.raises(InputError, match="no cell of that column is a number"):
        opened(tmp_path, column(["x", "y"]), numeric=("a",))


def test_codes_that_begin_with_zero_stay_text_beside_letters(tmp_path: Path) -> None:
    table = opened(tmp_path, column(["02134", "10001", "10002", "10003", "B10"]))
    assert table.columns["a"].tolist()[0] == "02134"
    assert "is read as text" in table.notes[0]


def test_words_are_categories_without_a_word(tmp_path: Path) -> None:
    table = opened(tmp_path, column(["red", "blue", "3", "yes"]))
    assert table.columns["a"].tolist() == ["red", "blue", "3", "yes"] and not table.notes


def test_a_column_that_names_rows_is_said_to_be_of_little_use(tmp_path: Path) -> None:
    table = opened(tmp_path, column([f"name {number}x" for number in range(60)]))
    assert "60 different values in 60 rows" in table.notes[0]


@pytest.mark.parametrize(
    ("cells", "values", "shown"),
    [
        (["12,5", "-0,25", "3"], [12.5, -0.25, 3.0], "decimal sign ','"),
        (["1.234,5", "2.000.000", "7"], [1234.5, 2e6, 7.0], "thousands sign '.'"),
        (["0,125", "1,250", "7"], [0.125, 1.25, 7.0], "decimal sign ','"),
        (["1,234,567.5", "2,000", "7"], [1234567.5, 2000.0, 7.0], "thousands sign ','"),
        (["1e5", "-inf", " 7 "], [1e5, -np.inf, 7.0], "decimal sign '.'"),
    ],
)
def test_signs_in_numbers_are_found_and_shown(
    tmp_path: Path, cells: list[str], values: list[float], shown: str
) -> None:
    table = opened(tmp_path, column(cells))
    assert table.columns["a"].tolist() == values
    assert shown in table.found and not table.notes


def test_what_may_be_decimals_or_thousands_is_asked_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--thousands ',' or --decimal ','"):
        opened(tmp_path, column(["1,234", "5,678"]))
    assert opened(tmp_path, column(["1,234"]), thousands=",").columns["a"].tolist() == [1234.0]
    assert opened(tmp_path, column(["1,234"]), decimal=",").columns["a"].tolist() == [1.234]
    with pytest.raises(InputError, match="--decimal"):
        opened(tmp_path, "a;b\n1,5;2.5\n2,5;3.5\n")


def test_point_decimals_are_not_read_as_thousands_beside_decimal_commas(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'b'"):
        opened(tmp_path, "a;b\n1,5;48.123\n2,5;47.999\n")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
def test_separators_are_found_by_what_cuts_all_lines_alike(tmp_path: Path, separator: str) -> None:
    text = "\n".join(separator.join(row) for row in (["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"]))
    assert plain(opened(tmp_path, text + "\n")) == {"a": [1.0, 4.0], "b": [2.0, 5.0], "c": [3.0, 6.0]}


def test_a_single_column_of_names_is_not_cut_at_blanks(tmp_path: Path) -> None:
    assert plain(opened(tmp_path, "first name\nAnna Lee\nBob Ray\n")) == {"first name": ["Anna Lee", "Bob Ray"]}


def test_a_comma_in_text_does_not_win_over_the_separator(tmp_path: Path) -> None:
    text = "name, first;age\nLee, Anna;3\nRay, Bob, Jr;4\n"
    assert list(opened(tmp_path, text).columns) == ["name, first", "age"]


def test_single_quotes_and_a_line_that_names_the_separator_are_understood(tmp_path: Path) -> None:
    assert plain(opened(tmp_path, "a,b\n'x,y',1\n'z',2\n")) == {"a": ["x,y", "z"], "b": [1.0, 2.0]}
    table = opened(tmp_path, "sep=;\na;b\n1,5;2\n2,5;oops\n3,5;x\n")
    assert table.columns["a"].tolist() == [1.5, 2.5, 3.5] and table.place(0) == "line 3"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_the_encoding_is_found(tmp_path: Path, encoding: str) -> None:
    table = opened(tmp_path, "Größe,b\nä,1\nö,2\n".encode(encoding))
    assert plain(table) == {"Größe": ["ä", "ö"], "b": [1.0, 2.0]}
    assert bool(table.notes) == (encoding == "latin-1")


def test_a_letter_of_latin_1_below_the_sample_is_read_and_said(tmp_path: Path) -> None:
    table = opened(tmp_path, b"a,b\n" + b"x,1\n" * 80_000 + "é,2\n".encode("latin-1"))
    assert table.columns["a"][-1] == "é" and "not UTF-8" in table.notes[0]
    with pytest.raises(InputError, match="--encoding"):
        opened(tmp_path, b"a,b\n" + b"x,1\n" * 80_000 + b"\xe9,2\n", encoding="utf-8")


def test_a_file_without_a_header_has_made_up_names_and_a_word_about_it(tmp_path: Path) -> None:
    table = opened(tmp_path, "5.1,3.5,setosa\n4.9,3.0,other\n")
    assert plain(table) == {"x0": [5.1, 4.9], "x1": [3.5, 3.0], "x2": ["setosa", "other"]}
    assert "--header" in table.notes[0] and table.place(0) == "line 1"
    named = opened(tmp_path, "5.1,3.5\n1,2\n", header=True)
    assert list(named.columns) == ["5.1", "3.5"]
    assert list(opened(tmp_path, "a,b\nc,d\n", header=False).columns) == ["x0", "x1"]


def test_years_are_names_of_columns(tmp_path: Path) -> None:
    assert list(opened(tmp_path, "country,2019,2020\nFR,1,2\n").columns) == ["country", "2019", "2020"]


def test_columns_without_a_name_are_left_out_or_named_with_a_word(tmp_path: Path) -> None:
    index = opened(tmp_path, ",a\n0,1\n1,3\n")
    assert list(index.columns) == ["a"] and "numbers the rows" in index.notes[0]
    other = opened(tmp_path, "a,,b\n1,5,x\n2,9,y\n")
    assert list(other.columns) == ["a", "x1", "b"] and "is called 'x1'" in other.notes[0]
    trailing = opened(tmp_path, "a,b,\n1,2,\n3,4,\n")
    assert list(trailing.columns) == ["a", "b"] and "is empty" in trailing.notes[0]


BODY = b"a,b\n1,x\n2,y\n"


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_files_are_read_and_damaged_ones_named(tmp_path: Path, suffix: str, compress: Any) -> None:
    assert plain(opened(tmp_path, compress(BODY), "t.csv" + suffix)) == {"a": [1.0, 2.0], "b": ["x", "y"]}
    for damaged in (b"nope, not at all", compress(BODY * 1000)[:-9]):
        with pytest.raises(InputError, match=r"bad\.csv.* cannot be read"):
            opened(tmp_path, damaged, "bad.csv" + suffix)


def test_zstandard_is_read_with_pyarrow_and_named_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    data = pyarrow.compress(BODY, codec="zstd", asbytes=True)
    assert plain(opened(tmp_path, data, "t.csv.zst")) == {"a": [1.0, 2.0], "b": ["x", "y"]}
    with pytest.raises(InputError, match="cannot be read"):
        opened(tmp_path, b"nope", "t.csv.zst")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"weald\[arrow\]"):
        opened(tmp_path, data, "t.csv.zst")


def test_a_zip_file_holds_one_table(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("inner.csv", BODY)
    assert list(read_file(tmp_path / "t.zip")) == ["a", "b"]
    with zipfile.ZipFile(tmp_path / "t.zip", "a") as archive:
        archive.writestr("other.csv", BODY)
    with pytest.raises(InputError, match="holds 2 files"):
        read_file(tmp_path / "t.zip")


@pytest.mark.parametrize("data", [BODY, gzip.compress(BODY, mtime=0), b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n'])
def test_standard_input_is_read_by_what_it_holds(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert plain(open_file("-")) == {"a": [1.0, 2.0], "b": ["x", "y"]}


def test_json_lines_are_read_and_a_bad_line_is_named(tmp_path: Path) -> None:
    table = opened(tmp_path, '{"a": 1, "b": "x"}\n\n{"a": 2.5, "c": true}\n', "t.jsonl")
    assert table.columns["a"].tolist() == [1.0, 2.5] and table.columns["b"].tolist() == ["x", None]
    np.testing.assert_array_equal(table.columns["c"], [np.nan, 1.0])
    assert table.place(1) == "line 3"
    for text, says in [
        ('{"a": 1}\n{a}\n', "line 2 .* is not JSON"),
        ("[1]\n", "line 1 .* must be an object"),
        ('{"a": 1}\n{"a": [2]}\n', "holds a list in line 2"),
        ('{"a": {"b": 1}}\n', "holds an object in line 1"),
        ("", "is empty"),
        ('{"a": 9007199254740992}\n{"a": 9007199254740993}\n', "same number to a float"),
    ]:
        with pytest.raises(InputError, match=says):
            opened(tmp_path, text, "t.jsonl")
    numbers = opened(tmp_path, '{"a": "1"}\n{"a": "2"}\n', "t.jsonl")
    assert numbers.columns["a"].tolist() == [1.0, 2.0] and "numbers as text" in numbers.notes[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\n\n", "is empty"),
        ("a,b\n1,2\n1,\0\n", "line 3 .* NUL"),
        ('a,b\n1,2\n"1,2\n3,4\n', "line 3 "),
        ("a,b\n1,2\n\n1,2,3\n", "line 4 .* has 3 cells"),
        ("a,b\n9007199254740992,1\n9007199254740993,2\n", "'a' .* same number to a float"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        opened(tmp_path, text)


def test_long_numbers_are_told_apart_as_categories(tmp_path: Path) -> None:
    text = "id\n9007199254740992\n9007199254740993\n"
    values = opened(tmp_path, text, categorical=("id",)).columns["id"].tolist()
    assert values == ["9007199254740992", "9007199254740993"]
    assert opened(tmp_path, "id\n9007199254740992\n1e300\n").columns["id"].dtype == np.float64


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read_file(tmp_path)


def test_dates_are_refused_by_name_until_they_are_declared(tmp_path: Path) -> None:
    text = "when,b\n2024-01-31,1\n2024-02-01 12:30,2\n"
    with pytest.raises(InputError, match=r"'when' .* holds dates, '2024-01-31' in line 2: give --dates"):
        opened(tmp_path, text)
    table = opened(tmp_path, text, dates=("when",))
    assert table.columns["when.hour"].tolist() == [0.0, 12.5]
    assert list(table.columns) == [*(f"when.{part}" for part in PARTS), "b"]


def test_dates_in_another_order_need_their_format(tmp_path: Path) -> None:
    text = "when,b\n1/31/2024,1\n2/28/2024,2\n"
    with pytest.raises(InputError, match="--date-format"):
        opened(tmp_path, text, dates=("when",))
    table = opened(tmp_path, text, dates=("when",), date_format="%m/%d/%Y")
    assert table.columns["when.month"].tolist() == [1.0, 2.0]
    with pytest.raises(InputError, match="which is no format"):
        opened(tmp_path, text, dates=("when",), date_format="%q")


def test_types_of_parquet_that_are_no_column_are_a_sentence(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    for values, says in [([[1], [2]], "list<"), ([{"x": 1}], "struct<"), ([2**53, 2**53 + 1, None], "same number")]:
        parquet.write_table(pyarrow.table({"a": values, "b": [1.0] * len(values)}), path)
        with pytest.raises(InputError, match=says):
            read_file(path)
        assert list(read_file(path, ReadOptions(dropped=frozenset("a")))) == ["b"]
    parquet.write_table(pyarrow.table({"a": [np.datetime64("2024-01-31T06:00", "ns"), None]}), path)
    with pytest.raises(InputError, match="--dates 'a'"):
        read_file(path)
    assert read_file(path, ReadOptions(dates=("a",)))["a.hour"][0] == 6.0


def test_an_option_that_names_no_column_or_two_kinds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--numeric is 'aa'.*did you mean 'a'"):
        opened(tmp_path, "a,b\n1,2\n", numeric=("aa",))
    with pytest.raises(InputError, match="one must do"):
        opened(tmp_path, "a,b\n1,2\n", numeric=("a",), categorical=("a",))
