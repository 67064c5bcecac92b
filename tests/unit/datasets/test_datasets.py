"""The tables that come with the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weald import datasets
from weald.runtime.errors import InputError

SHAPES = {
    "adult": (48_842, 14),
    "bike_sharing": (17_379, 12),
    "diamonds": (10_000, 9),
    "letter": (20_000, 16),
    "penguins": (344, 6),
    "wine_quality": (6_497, 12),
}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_table_is_whole_and_its_target_is_apart_from_its_columns(name: str) -> None:
    table = datasets.load(name)
    assert (table.n_rows, len(table.data)) == SHAPES[name]
    assert all(len(values) == table.n_rows for values in table.data.values())
    assert table.target_name not in table.data
    assert not any(column.startswith("__") for column in table.data)
    assert (table.target.dtype == np.float64) == (table.task == "regression")


def test_every_table_names_its_source_and_licence() -> None:
    notice = (Path(datasets.__file__).parent / "LICENCES.md").read_text(encoding="utf-8")
    for name in datasets.names():
        table = datasets.load(name)
        assert table.source and table.licence and table.description
        assert f"`{name}`" in notice


def test_the_published_split_of_adult_is_kept_and_missing_values_are_missing() -> None:
    adult = datasets.load("adult")
    train, train_target = adult.part("train")
    test, test_target = adult.part("test")
    assert (len(train_target), len(test_target)) == (32_561, 16_281)
    assert (train_target == ">50K").sum() == 7_841
    assert sum(word is None for word in train["workclass"]) == 1_836
    assert set(train) == set(test) == set(adult.data)


def test_a_table_without_a_split_and_an_unknown_name_are_refused_with_advice() -> None:
    with pytest.raises(InputError, match="no published split"):
        datasets.load("penguins").part("train")
    with pytest.raises(InputError, match="use 'train' or 'test'"):
        datasets.load("letter").part("valid")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'penguins'"):
        datasets.load("penguin")
    with pytest.raises(InputError, match="use one of adult, "):
        datasets.load("?")


def test_the_package_stays_small() -> None:
    size = sum(path.stat().st_size for path in Path(datasets.__file__).parent.glob("*.csv.gz"))
    assert size < 1_500_000
