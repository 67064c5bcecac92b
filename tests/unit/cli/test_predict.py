"""``weald predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from unit.cli.votes import save_vote
from weald.data.files import read_file, write_file


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_written_probabilities_are_the_models_to_the_last_bit(
    run: Any, flowers: Path, classifier: Path, tmp_path: Path, name: str
) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    result = run("predict", flowers, "--model", classifier, "--out", tmp_path / name, "--proba")
    assert result.exit_code == 0, result.output
    written = read_file(tmp_path / name)
    table = read_file(flowers)
    model = weald.load(classifier)
    expected = model.predict_proba({column: table[column] for column in model.feature_names_in_})
    assert list(written) == ["prediction", "probability_daisy", "probability_rose"]
    np.testing.assert_array_equal(written["probability_rose"], expected[:, 1])
    assert (written["prediction"] == table["kind"]).mean() > 0.9


def test_predictions_go_to_stdout_and_nothing_else_does(run: Any, flowers: Path, regressor: Path) -> None:
    result = run("predict", flowers, "--model", regressor, "--out", "-")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "prediction" and len(lines) == 241
    np.testing.assert_array_equal([float(line) for line in lines[1:]], _expected(regressor, flowers))


@pytest.mark.parametrize("name", ["none.csv", "none.parquet"])
def test_a_table_without_rows_has_predictions_without_rows(
    run: Any, flowers: Path, classifier: Path, tmp_path: Path, name: str
) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
        write_file(tmp_path / name, {column: values[:0] for column, values in read_file(flowers).items()})
    else:
        (tmp_path / name).write_text(flowers.read_text().splitlines()[0] + "\n")
    result = run("predict", tmp_path / name, "--model", classifier, "--out", "-", "--proba")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == ["prediction,probability_daisy,probability_rose"]


def test_probabilities_of_a_regressor_are_refused(run: Any, flowers: Path, regressor: Path) -> None:
    result = run("predict", flowers, "--model", regressor, "--out", "-", "--proba")
    assert result.exit_code == 2 and "needs a classifier" in result.stderr


def test_a_model_of_several_models_predicts(
    run: Any, flowers: Path, classifier: Path, tmp_path: Path
) -> None:
    path = save_vote(flowers, classifier, tmp_path, "soft")
    result = run("predict", flowers, "--model", path, "--out", tmp_path / "votes.csv", "--proba")
    assert result.exit_code == 0, result.output
    written = read_file(tmp_path / "votes.csv")
    assert np.array_equal(written["prediction"], _expected(path, flowers))
    hard = save_vote(flowers, classifier, tmp_path, "hard")
    result = run("predict", flowers, "--model", hard, "--out", "-", "--proba")
    assert result.exit_code == 2 and "holds a VotingClassifier without" in result.stderr


def test_a_missing_column_is_named(run: Any, classifier: Path, tmp_path: Path) -> None:
    (tmp_path / "small.csv").write_text("size,plot\n1,2\n")
    result = run("predict", tmp_path / "small.csv", "--model", classifier, "--out", "-")
    assert result.exit_code == 2 and "lacks the column 'color'" in result.stderr


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_a_file_that_is_no_model_is_refused_without_a_traceback(
    run: Any, flowers: Path, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "bad.weald").write_bytes(content)
    result = run("predict", flowers, "--model", tmp_path / "bad.weald", "--out", "-")
    assert result.exit_code == 2 and result.stderr.startswith("Error: ")


def _expected(model_file: Path, table_file: Path) -> Any:
    model, table = weald.load(model_file), read_file(table_file)
    return model.predict({column: table[column] for column in model.feature_names_in_})
