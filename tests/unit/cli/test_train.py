"""``weald train``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from weald.data.files import read_file


def trained(run: Any, flowers: Path, model: Path, target: str, *options: object) -> Any:
    others = [name for name in ("row", "weight", "kind", "height", "petals") if name != target]
    dropped = ",".join(name for name in others if name != "weight" or "--weight" not in options)
    return run(
        "train", flowers, "--target", target, "--model", model, "--drop", dropped,
        "--set", "n_estimators=5", *options,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("target", "task", "reason"),
    [
        ("kind", "classification", "not a number"),
        ("petals", "classification", "2 different whole numbers"),
        ("height", "regression", "many values"),
    ],
)
def test_the_task_follows_from_the_target_and_is_said(
    run: Any, flowers: Path, tmp_path: Path, target: str, task: str, reason: str
) -> None:
    result = trained(run, flowers, tmp_path / "m", target)
    assert result.exit_code == 0, result.output
    assert task in result.stderr and reason in result.stderr
    assert "240 rows" in result.stderr and "3 columns to learn from" in result.stderr
    expected = {"classification": weald.BoostedTreesClassifier, "regression": weald.BoostedTreesRegressor}[
        task
    ]
    assert isinstance(weald.load(tmp_path / "m"), expected)


def test_the_task_can_be_forced(run: Any, flowers: Path, tmp_path: Path) -> None:
    assert trained(run, flowers, tmp_path / "m", "petals", "--task", "regression").exit_code == 0
    assert isinstance(weald.load(tmp_path / "m"), weald.BoostedTreesRegressor)


def test_whole_number_classes_are_integers_in_the_model(run: Any, flowers: Path, tmp_path: Path) -> None:
    trained(run, flowers, tmp_path / "m", "petals")
    assert weald.load(tmp_path / "m").classes_.tolist() == [3, 5]
    assert weald.load(tmp_path / "m").classes_.dtype.kind == "i"


def test_the_model_is_the_one_that_the_python_api_trains(run: Any, flowers: Path, tmp_path: Path) -> None:
    result = trained(
        run, flowers, tmp_path / "m", "kind", "--set", "max_leaves=4", "--set", "learning_rate=0.3",
        "--seed", 7, "--threads", 1, "--weight", "weight", "--quiet",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert result.output == ""
    table = read_file(flowers)
    columns = {name: table[name] for name in ("size", "color", "plot")}
    twin = weald.BoostedTreesClassifier(
        n_estimators=5, max_leaves=4, learning_rate=0.3, random_state=7, n_jobs=1
    )
    twin.fit(columns, table["kind"], sample_weight=table["weight"])
    model = weald.load(tmp_path / "m")
    np.testing.assert_array_equal(model.predict_proba(columns), twin.predict_proba(columns))


def test_named_columns_become_categories_beside_the_text(run: Any, flowers: Path, tmp_path: Path) -> None:
    result = trained(run, flowers, tmp_path / "m", "kind", "--categorical", "plot")
    assert result.exit_code == 0, result.output
    table = read_file(flowers)
    columns = {name: table[name] for name in ("size", "color", "plot")}
    twin = weald.BoostedTreesClassifier(n_estimators=5, categorical_features=["color", "plot"])
    twin.fit(columns, table["kind"])
    model = weald.load(tmp_path / "m")
    np.testing.assert_array_equal(model.predict_proba(columns), twin.predict_proba(columns))


def test_a_validation_table_stops_the_training_early(run: Any, flowers: Path, tmp_path: Path) -> None:
    result = run(
        "train", flowers, "--target", "height", "--model", tmp_path / "m", "--drop", "row,weight,kind,petals",
        "--valid", flowers, "--set", "n_estimators=30", "--set", "early_stopping_rounds=5",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "valid" in result.stderr
    assert "valid" in weald.load(tmp_path / "m").history_


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--target", "kin"], "--target is 'kin'.*did you mean 'kind'"),
        (["--weight", "mass"], "--weight is 'mass'"),
        (["--drop", "none"], "--drop is 'none'"),
        (["--categorical", "plott"], "--categorical is 'plott'.*did you mean 'plot'"),
        (["--set", "max_leafs=3"], "max_leafs"),
        (["--set", "max_leaves"], "name=value"),
        (["--set", "max_leaves=many"], "max_leaves"),
        (["--set", "max_leaves=3", "--set", "max_leaves=4"], "given twice"),
        (["--seed", "1", "--set", "random_state=2"], "given twice"),
        (
            ["--task", "regression", "--target", "petals", "--set", "scale_pos_weight=2"],
            "there is no parameter 'scale_pos_weight'",
        ),
        (
            ["--set", "booster.rate_drop=0.1"],
            "booster.rate_drop belongs to booster=dart.*set booster=dart too",
        ),
        (["--set", "booster=drat"], "did you mean 'dart'"),
        (["--set", "booster=dart", "--set", "booster.rate_drop=2"], "booster.rate_drop must be a number"),
    ],
)
def test_a_bad_option_is_one_sentence_and_exit_code_2(
    run: Any, flowers: Path, tmp_path: Path, options: list[str], says: str
) -> None:
    if "--target" not in options:
        options = ["--target", "kind", *options]
    result = run("train", flowers, "--model", tmp_path / "m", *options)
    assert result.exit_code == 2
    assert re.search(says, result.stderr), result.stderr
    assert result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    assert not (tmp_path / "m").exists()


def test_an_output_that_cannot_be_written_is_found_before_the_training(
    run: Any, flowers: Path, tmp_path: Path
) -> None:
    missing = run("train", flowers, "--target", "kind", "--model", tmp_path / "nowhere" / "m")
    assert missing.exit_code == 2 and "does not exist" in missing.stderr
    folder = run("train", flowers, "--target", "kind", "--model", tmp_path)
    assert folder.exit_code == 2 and "is a folder" in folder.stderr


def test_a_target_with_a_class_for_every_row_is_trained_for_who_insists(run: Any, tmp_path: Path) -> None:
    data, model = tmp_path / "data.csv", tmp_path / "model.weald"
    data.write_text("a,kind\n" + "".join(f"{number},name {number}\n" for number in range(120)))
    arguments = ("train", data, "--target", "kind", "--model", model, "--set", "n_estimators=1")
    refused = run(*arguments)
    assert refused.exit_code == 2 and "--many-classes takes them nevertheless" in refused.stderr.replace("\n", " ")
    assert run(*arguments, "--many-classes").exit_code == 0
