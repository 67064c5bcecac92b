"""What the tests of the command line share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from weald.cli import app
from weald.data.files import write_file

Run = Callable[..., Any]


@pytest.fixture
def run() -> Run:
    """Run the command; the result has exit_code, stdout and stderr."""

    def invoke(*arguments: object) -> Any:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return invoke


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """A table with text, numbers, missing cells, weights and two separable classes."""
    random = np.random.default_rng(0)
    n = 240
    size = random.normal(size=n)
    color = np.array(["red", "blue", None], dtype=object)[random.integers(3, size=n)]
    big = size + np.where(color == "red", 1.0, 0.0) > 0.3
    columns = {
        "row": np.arange(n),
        "size": np.where(random.random(n) < 0.05, np.nan, size),
        "color": color,
        "plot": random.integers(4, size=n),
        "weight": random.uniform(0.5, 2.0, size=n),
        "kind": np.where(big, "rose", "daisy").astype(object),
        "height": 3 * size + big + random.normal(scale=0.1, size=n),
        "petals": np.where(big, 5, 3),
    }
    path = tmp_path / "flowers.csv"
    write_file(path, columns)
    return path


@pytest.fixture
def classifier(flowers: Path, run: Run, tmp_path: Path) -> Path:
    """The file of a model that tells the kinds apart."""
    path = tmp_path / "kind.weald"
    result = run(
        "train", flowers, "--target", "kind", "--model", path, "--drop", "row,weight,height,petals",
        "--set", "n_estimators=20", "--quiet",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def regressor(flowers: Path, run: Run, tmp_path: Path) -> Path:
    """The file of a model of the height."""
    path = tmp_path / "height.weald"
    result = run(
        "train", flowers, "--target", "height", "--model", path, "--drop", "row,weight,kind,petals",
        "--set", "n_estimators=20", "--quiet",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return path
