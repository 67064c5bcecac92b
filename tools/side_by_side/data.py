"""The small tables that the scripts are trained on: drawn from weald.datasets, always the same rows."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import pandas as pd
from sklearn.model_selection import train_test_split

from weald.datasets import load


class Parts(NamedTuple):
    """Rows to train on, and rows to measure on."""

    X_train: pd.DataFrame
    X_test: pd.DataFrame
    y_train: Any
    y_test: Any


def _parts(name: str, rows: int) -> Parts:
    table = load(name)
    frame = pd.DataFrame(dict(table.data))
    texts = list(frame.select_dtypes(exclude="number"))
    frame = frame.astype(dict.fromkeys(texts, "category"))
    size = min(rows, len(frame) * 3 // 4)
    return Parts(*train_test_split(frame, table.target, train_size=size, test_size=size // 3, random_state=0))


@cache
def wine() -> Parts:
    """Eleven measurements of a wine, and what tasters gave it, from 3 to 9."""
    X_train, X_test, y_train, y_test = _parts("wine_quality", 3000)
    return Parts(X_train.drop(columns="color"), X_test.drop(columns="color"), y_train, y_test)


@cache
def good_wine() -> Parts:
    """The same wines: do they have 6 points or more?"""
    X_train, X_test, y_train, y_test = wine()
    return Parts(X_train, X_test, (y_train > 5).astype(int), (y_test > 5).astype(int))


@cache
def great_wine() -> Parts:
    """The same wines: do they have 7 points or more? A fifth has."""
    X_train, X_test, y_train, y_test = wine()
    return Parts(X_train, X_test, (y_train > 6).astype(int), (y_test > 6).astype(int))


@cache
def bikes() -> Parts:
    """Bicycles that are rented in an hour: a count."""
    return _parts("bike_sharing", 3000)


@cache
def people() -> Parts:
    """Eight columns of categories and six of numbers: does a person earn more than $50,000?"""
    X_train, X_test, y_train, y_test = _parts("adult", 4000)
    return Parts(X_train, X_test, (y_train == ">50K").astype(int), (y_test == ">50K").astype(int))


@cache
def people_as_text() -> Parts:
    """The same people, categories as strings; where nothing is known, "unknown"."""
    X_train, X_test, y_train, y_test = people()
    columns = list(X_train.select_dtypes("category"))
    X_train, X_test = (
        X.assign(**{column: X[column].astype(object).fillna("unknown") for column in columns})
        for X in (X_train, X_test)
    )
    return Parts(X_train, X_test, y_train, y_test)


@cache
def diamonds() -> Parts:
    """Three columns of categories and six of numbers: what a diamond costs."""
    return _parts("diamonds", 3000)


@cache
def penguins() -> Parts:
    """Three species of penguins, by measurements of which some are missing; the species as 0, 1 and 2."""
    X_train, X_test, y_train, y_test = _parts("penguins", 258)
    codes = {"Adelie": 0, "Chinstrap": 1, "Gentoo": 2}
    numbers = list(X_train.select_dtypes("number"))
    labels = (pd.Series(y).map(codes).to_numpy() for y in (y_train, y_test))
    return Parts(X_train[numbers], X_test[numbers], *labels)
