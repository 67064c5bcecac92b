"""How the commands read tables: what they find is shown, what does not fit is said, and predictions read as the training did."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from weald.data.files import read_file

ROUNDS = ("--set", "n_estimators=5", "--threads", "1")


def write(path: Path, header: str, rows: list[str]) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def prices(count: int = 120) -> list[str]:
    """Rows of size;town;sold;price with decimal commas and dates."""
    random = np.random.default_rng(0)
    rows = []
    for number in range(count):
        size = random.normal()
        day = np.datetime64("2024-01-01") + number
        town = ("Ulm", "Linz", "Bern")[number % 3]
        price = 3 * size + (number % 7 >= 5) + (town == "Ulm")
        rows.append(f"{size:.3f};{town};{day};{price:.3f}".replace(".", ","))
    return rows


def test_what_the_table_was_taken_for_is_shown_before_training_on_stderr(run: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "size;town;sold;price", prices())
    command = ("train", path, "--target", "price", "--model", tmp_path / "m", "--dates", "sold", *ROUNDS)
    result = run(*command)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    shown = result.stderr
    for words in ("separator ';'", "decimal sign ','", "UTF-8", "target price: regression", "sold.weekday"):
        assert words in shown
    assert "3 different: Ulm, Linz, Bern" in shown
    assert shown.index("columns to learn from") < shown.index("trained in")
    assert run(*command, "--quiet").output == ""


def test_dates_are_read_alike_in_training_and_prediction(run: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "size;town;sold;price", prices())
    model = tmp_path / "m"
    refused = run("train", path, "--target", "price", "--model", model, *ROUNDS)
    assert refused.exit_code == 2 and "--dates 'sold'" in refused.stderr
    options = ("--target", "price", "--model", model, "--dates", "sold", "--valid", path, "--quiet")
    assert run("train", path, *options, *ROUNDS).exit_code == 0
    result = run("predict", path, "--model", model, "--out", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    table = read_file(path, weald.data.reading.ReadOptions(dates=("sold",)))
    table.pop("price")
    np.testing.assert_array_equal(
        read_file(tmp_path / "out.csv")["prediction"], weald.load(model).predict(table)
    )
    without = write(tmp_path / "w.csv", "size;town", [";".join(row.split(";")[:2]) for row in prices(5)])
    lacking = run("predict", without, "--model", model, "--out", "-")
    assert lacking.exit_code == 2 and "lacks the column 'sold'" in lacking.stderr


def test_text_that_looks_like_numbers_in_a_later_table_stays_the_text_that_it_was(
    run: Any, tmp_path: Path
) -> None:
    rows = [f"{code},{int(code == '2')}" for code in ("1", "2", "B") for _ in range(30)]
    path = write(tmp_path / "t.csv", "code,y", rows)
    model = tmp_path / "m"
    done = run(
        "train", path, "--target", "y", "--model", model, "--categorical", "code", "--quiet", *ROUNDS
    )
    assert done.exit_code == 0, done.output
    later = write(tmp_path / "later.csv", "code", ["1", "2"])
    result = run("predict", later, "--model", model, "--out", "-")
    assert result.stdout.splitlines() == ["prediction", "0", "1"], result.output


def test_a_bad_cell_is_said_wherever_a_table_is_read(run: Any, tmp_path: Path) -> None:
    rows = [f"{number},{number % 2}" for number in range(60)]
    path = write(tmp_path / "t.csv", "a,y", [*rows, "-,1"])
    model = tmp_path / "m"
    trained = run("train", path, "--target", "y", "--model", model, *ROUNDS)
    assert "note: column 'a': 1 of 61 cells" in trained.stderr and "line 62" in trained.stderr
    predicted = run("predict", path, "--model", model, "--out", "-")
    assert "line 62" in predicted.stderr and "line 62" not in predicted.stdout
    single = write(tmp_path / "single.csv", "a", ["-"])
    alone = run("predict", single, "--model", model, "--out", "-")
    assert alone.exit_code == 0 and "line 2" in alone.stderr, alone.output
    several = write(tmp_path / "several.csv", "a", ["-"] * 5)
    refused = run("predict", several, "--model", model, "--out", "-")
    assert refused.exit_code == 2 and "--na-values '-'" in refused.stderr
    evaluated = run("evaluate", path, "--model", model, "--target", "y")
    assert "line 62" in evaluated.stderr
    silent = run("train", path, "--target", "y", "--model", model, "--na-values", "-", *ROUNDS)
    assert "note:" not in silent.stderr


@pytest.mark.parametrize(
    ("header", "row", "options", "says"),
    [
        ("a,y", ",", (), "line 4 of .* has no value in the target 'y'"),
        ("a,y", "1,inf", (), "line 4 of .* has an infinite value in the target"),
        ("a,y,w", "1,2,-1", ("--weight", "w"), "line 4 of .* has the weight -1.0"),
        ("a,y", "1,2", ("--thousands", "x"), "--thousands is 'x'; use one of"),
        ("a,y", "1,2", ("--separator", "ab"), "--separator is 'ab'; use one sign"),
        ("a,y", "1,2", ("--numeric", "z"), "--numeric is 'z'"),
        ("a,y", "1,2", ("--dates", "y"), "--target is 'y', which other options leave out or read as dates"),
        ("a,y", "1,2", ("--drop", "y"), "--target is 'y', which other options"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_the_line(
    run: Any, tmp_path: Path, header: str, row: str, options: tuple[str, ...], says: str
) -> None:
    cells = header.count(",") + 1
    good = ",".join(["2024-01-31"] * cells) if "--dates" in options else ",".join("12345"[:cells])
    path = write(tmp_path / "t.csv", header, [good, good, row])
    result = run("train", path, "--target", "y", "--model", tmp_path / "m", *options, *ROUNDS)
    assert result.exit_code == 2
    import re

    assert re.search(says, result.stderr), result.stderr
    assert result.stderr.count("Error: ") == 1 and "Traceback" not in result.stderr


def test_a_target_with_very_many_classes_is_refused_at_once(run: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a,y", [f"{number},n{number}" for number in range(150)])
    result = run("train", path, "--target", "y", "--model", tmp_path / "m")
    assert result.exit_code == 2
    assert "'y' of" in result.stderr and "150 different values in 150 rows" in result.stderr


def test_the_target_of_an_evaluation_cannot_be_a_feature(run: Any, flowers: Path, classifier: Path) -> None:
    result = run("evaluate", flowers, "--model", classifier, "--target", "size")
    assert result.exit_code == 2 and "'size', a column that" in result.stderr


def test_the_line_of_an_unknown_class_is_named(
    run: Any, flowers: Path, classifier: Path, tmp_path: Path
) -> None:
    lines = flowers.read_text().splitlines()
    lines[4] = lines[4].replace("rose", "tulip").replace("daisy", "tulip")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    result = run("evaluate", tmp_path / "t.csv", "--model", classifier, "--target", "kind")
    assert "'tulip' in line 5" in result.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_found_before_the_training(
    run: Any, flowers: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    result = run("train", flowers, "--target", "kind", "--model", folder / "m")
    assert result.exit_code == 2 and "not writable" in result.stderr and "rows" not in result.stderr


def test_a_protected_file_is_found_before_the_work(
    run: Any, flowers: Path, classifier: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder.csv").mkdir()
    result = run("predict", "nowhere.csv", "--model", classifier, "--out", tmp_path / "folder.csv")
    assert result.exit_code == 2 and "it is a folder" in result.stderr
    named = run("predict", "nowhere.csv", "--model", classifier, "--out", tmp_path / "out.xlsx")
    assert "cannot tell the format" in named.stderr


def test_standard_input_is_a_table(run: Any, flowers: Path, regressor: Path) -> None:
    from typer.testing import CliRunner

    from weald.cli import app

    arguments = ["predict", "-", "--model", str(regressor), "--out", "-"]
    result = CliRunner().invoke(app, arguments, input=flowers.read_bytes())
    assert result.exit_code == 0, result.output
    assert result.stdout == run("predict", flowers, "--model", regressor, "--out", "-").stdout


def test_the_best_round_on_the_validation_table_is_said(run: Any, flowers: Path, tmp_path: Path) -> None:
    options = ("--target", "height", "--model", tmp_path / "m", "--drop", "row,weight,kind,petals")
    every = run("train", flowers, *options, "--valid", flowers, *ROUNDS)
    assert "best round on the validation table: 5 of 5" in every.stderr, every.output
    small = tmp_path / "small.csv"
    small.write_text("".join(flowers.read_text().splitlines(keepends=True)[:7]))
    longer = ("--set", "n_estimators=60", "--set", "learning_rate=0.9", "--threads", 1)
    late = run("train", flowers, *options, "--valid", small, *longer)
    assert "the model goes on to the last round" in late.stderr, late.output
    assert "early_stopping_rounds" in late.stderr
    stopped = run("train", flowers, *options, "--valid", small, *longer, "--set", "early_stopping_rounds=5")
    assert "the model ends there" in stopped.stderr, stopped.output


def test_help_lists_the_options_of_reading_for_every_command_that_reads(run: Any) -> None:
    for command in ("train", "predict", "evaluate"):
        shown = run(command, "--help").stdout
        for option in ("--separator", "--decimal", "--thousands", "--na-values", "--numeric", "--dates"):
            assert option in shown, (command, option, sys.version)
