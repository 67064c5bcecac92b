"""Small real tables that come with the package; ``LICENCES.md`` beside them names sources and licences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.data.files import read_file
from weald.runtime.errors import InputError

__all__ = ["ExampleTable", "load", "names"]

_SPLIT = "__split__"


@dataclass(frozen=True)
class _Entry:
    target: str
    task: Literal["classification", "regression"]
    description: str
    source: str
    licence: str


@dataclass(frozen=True)
class ExampleTable:
    """A table with its target and where it comes from.

    ``data`` maps a column's name to its values: floats with NaN for missing, or strings with None.
    ``split`` says "train" or "test" for each row where the publishers gave a split, and is None elsewhere.
    """

    name: str
    data: Mapping[str, NDArray[Any]]
    target: NDArray[Any]
    target_name: str
    task: Literal["classification", "regression"]
    split: NDArray[np.object_] | None
    description: str
    source: str
    licence: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.target)

    def part(self, name: Literal["train", "test"]) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
        """Columns and target of the published training or test rows.

        >>> columns, target = load("letter").part("test")
        >>> len(target)
        4000
        """
        if self.split is None:
            raise InputError(
                f"the table {self.name!r} has no published split; choose rows of data and target yourself"
            )
        rows = self.split == name
        if not rows.any():
            raise InputError(f"part is {name!r}; use 'train' or 'test'")
        return {column: values[rows] for column, values in self.data.items()}, self.target[rows]


_UCI = "UCI Machine Learning Repository, https://doi.org/10.24432/"
_TABLES = {
    "adult": _Entry(
        "income",
        "classification",
        "48,842 people in the United States census of 1994: does a person earn more than $50,000 a year? "
        "8 of 14 columns are categorical, 3 have missing values; the published split is given.",
        f"B. Becker and R. Kohavi (1996), Adult, {_UCI}C5XW20",
        "CC BY 4.0",
    ),
    "bike_sharing": _Entry(
        "cnt",
        "regression",
        "17,379 hours of bicycle rentals in Washington, D.C., 2011 and 2012, in order of time: how many?",
        f"H. Fanaee-T (2013), Bike Sharing, {_UCI}C5W894",
        "CC BY 4.0",
    ),
    "diamonds": _Entry(
        "price",
        "regression",
        "10,000 of the original 53,940 diamonds: price in dollars from size, cut, color and clarity.",
        "H. Wickham and others, the R package ggplot2, https://ggplot2.tidyverse.org",
        "MIT",
    ),
    "letter": _Entry(
        "letter",
        "classification",
        "20,000 distorted images of capital letters, 16 numbers each: 26 classes; the usual split is given.",
        f"D. Slate (1991), Letter Recognition, {_UCI}C5ZP40",
        "CC BY 4.0",
    ),
    "penguins": _Entry(
        "species",
        "classification",
        "344 penguins of three species near Palmer Station, Antarctica; some measurements are missing.",
        "K. Gorman, T. Williams and W. Fraser (2014); A. Horst, A. Hill and K. Gorman (2020), the R package "
        "palmerpenguins, https://doi.org/10.5281/zenodo.3960218",
        "CC0 1.0",
    ),
    "wine_quality": _Entry(
        "quality",
        "regression",
        "6,497 red and white Portuguese wines: a taster's mark from 3 to 9 from chemical measurements.",
        f"P. Cortez, A. Cerdeira, F. Almeida, T. Matos and J. Reis (2009), Wine Quality, {_UCI}C56S3T",
        "CC BY 4.0",
    ),
}


def names() -> tuple[str, ...]:
    """The tables that ``load`` knows.

    >>> names()
    ('adult', 'bike_sharing', 'diamonds', 'letter', 'penguins', 'wine_quality')
    """
    return tuple(_TABLES)


def load(name: str) -> ExampleTable:
    """Read one of the tables that come with the package.

    >>> penguins = load("penguins")
    >>> penguins.n_rows, penguins.target_name, penguins.licence
    (344, 'species', 'CC0 1.0')
    >>> list(penguins.data)
    ['island', 'bill_length_mm', 'bill_depth_mm', 'flipper_length_mm', 'body_mass_g', 'sex']
    """
    entry = _TABLES.get(name)
    if entry is None:
        close = get_close_matches(str(name), _TABLES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"use one of {', '.join(_TABLES)}"
        raise InputError(f"there is no table named {name!r}; {hint}")
    columns = read_file(Path(__file__).parent / f"{name}.csv.gz")
    target = columns.pop(entry.target)
    split = columns.pop(_SPLIT, None)
    return ExampleTable(
        name=name,
        data=columns,
        target=target,
        target_name=entry.target,
        task=entry.task,
        split=split,
        description=entry.description,
        source=entry.source,
        licence=entry.licence,
    )
