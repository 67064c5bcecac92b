"""The target statistics of a CatBoost model, as tables that are looked up by hashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema
from weald.exchange.foreign.hashed import (
    CategoryTest,
    HashedStatistics,
    HashedTable,
    NumberTest,
    Test,
    check_table,
)
from weald.exchange.foreign.reading import field, number_of, whole_of
from weald.runtime.errors import ModelFileError, NotSupportedError

_MEANS: Final = ("BinarizedTargetMeanValue", "FloatTargetMeanValue")
_COUNTS: Final = ("Counter", "FeatureFreq")
_NO_KEY: Final = 2**64 - 1  # of a place of CatBoost's hash table that nothing is in

Singles = NDArray[np.float32]


class Features(Protocol):
    """The columns of CatBoost's features."""

    def number(self, index: int) -> int:
        """The column of a float feature."""

    def category(self, index: int) -> int:
        """The column of a categorical feature."""

    def missing_above(self, index: int) -> bool:
        """Whether a missing number is above every border."""


@dataclass(frozen=True)
class Looked:
    """The tables, and which column the splits of statistics test, by their numbers among these."""

    statistics: HashedStatistics
    columns: NDArray[np.int64]

    def column_of_split(self, place: int) -> int:
        """The column of an extended table."""
        if not 0 <= place < len(self.columns):
            raise ModelFileError("The CatBoost model has a split of a statistic that it does not have.")
        return int(self.columns[place])


def looked_up(content: Any, features: Features, schema: Schema, codes: NDArray[np.int64]) -> Looked:
    """The statistics of a model; statistics of one projection and kind share a table."""
    stored = field(content["features_info"], "ctrs", list, "the model's features_info")
    data = content.get("ctr_data")
    if not isinstance(data, Mapping):
        raise NotSupportedError(
            "the CatBoost file has splits of target statistics but not their tables: save it with "
            "save_model(path, format='json', pool=the training pool)."
        )
    groups: dict[str, list[int]] = {}
    for place, one in enumerate(stored):
        groups.setdefault(field(one, "identifier", str, "a statistic"), []).append(place)
    column = np.zeros(len(stored), np.int64)
    tables, next_column = [], schema.n_columns
    for identifier, places in groups.items():
        if identifier not in data:
            raise ModelFileError(f"The CatBoost file has no table for the statistic {identifier[:80]}.")
        tables.append(_table([stored[place] for place in places], data[identifier], features, schema))
        column[places] = next_column + np.arange(len(places))
        next_column += len(places)
    n_borders = [len(field(one, "borders", list, "a statistic")) for one in stored]
    hashes = codes.astype(np.uint64)
    categorical = np.flatnonzero(schema.categorical_mask).tolist()
    statistics = HashedStatistics(schema, dict.fromkeys(categorical, hashes), tuple(tables))
    return Looked(statistics, np.repeat(column, n_borders))


def _table(stored: list[Any], table: Any, features: Features, schema: Schema) -> HashedTable:
    where = "a table of statistics"
    keys, counts = _buckets(table, where)
    order = np.argsort(keys)
    columns, tests = _projection(stored[0], features)
    total = number_of(table.get("counter_denominator", 0), f"the counter_denominator of {where}")
    # The numbers of none come last.
    counts = np.concatenate([counts[order], np.zeros((1, counts.shape[1]), np.float32)])
    numbers = np.stack([_values(one, counts, np.float32(total)) for one in stored]).astype(np.float64)
    made = HashedTable(
        columns, tests, keys[order], np.ascontiguousarray(numbers[:, :-1]), numbers[:, -1].copy()
    )
    check_table(made, np.flatnonzero(schema.categorical_mask).tolist(), where)
    return made


def _buckets(table: Any, where: str) -> tuple[NDArray[np.uint64], Singles]:
    """Keys, and the numbers of each."""
    stride = whole_of(field(table, "hash_stride", int, where), f"the hash_stride of {where}", 2, 2**16)
    stored = field(table, "hash_map", list, where)
    if len(stored) % stride:
        raise ModelFileError(f"The hash_map of {where} is not of {stride} entries a bucket.")
    try:
        keys = np.array([int(key) for key in stored[::stride] if len(str(key)) < 21], np.uint64)
        rows = [stored[place + 1 : place + stride] for place in range(0, len(stored), stride)]
        counts = np.array(rows, np.float64).reshape(-1, stride - 1).astype(np.float32)
    except (ValueError, OverflowError, TypeError):
        raise ModelFileError(f"The hash_map of {where} must hold keys and numbers.") from None
    if len(keys) != len(counts) or not np.isfinite(counts).all():
        raise ModelFileError(f"The hash_map of {where} must hold keys and numbers.")
    used = keys != np.uint64(_NO_KEY)
    return keys[used], counts[used]


def _projection(stored: Any, features: Features) -> tuple[tuple[int, ...], tuple[Test, ...]]:
    """What is hashed: categories, then tests of numbers and of categories."""
    columns: list[int] = []
    tests: list[Test] = []
    for element in field(stored, "elements", list, "a statistic"):
        kind = field(element, "combination_element", str, "an element of a statistic")
        if kind == "cat_feature_value":
            columns.append(features.category(field(element, "cat_feature_index", int, kind)))
        elif kind == "float_feature":
            index = field(element, "float_feature_index", int, kind)
            column = features.number(index)
            border = number_of(element.get("border"), "a border")
            tests.append(NumberTest(column, border, features.missing_above(index)))
        elif kind == "cat_feature_exact_value":
            column = features.category(field(element, "cat_feature_index", int, kind))
            value = whole_of(element.get("value"), "a category's hash", -(2**31), 2**32 - 1)
            tests.append(CategoryTest(column, value - 2**32 if value >= 2**31 else value))
        else:
            raise NotSupportedError(
                f"the CatBoost model has statistics of {kind[:40]!r}, which is not known here."
            )
    return tuple(columns), tuple(tests)


def _values(stored: Any, counts: Singles, total: np.float32) -> Singles:
    """The statistic of every bucket, in the float32 arithmetic of CatBoost."""
    kind = field(stored, "ctr_type", str, "a statistic")
    prior = np.float32(number_of(stored.get("prior_numerator"), "a prior"))
    weight = np.float32(number_of(stored.get("prior_denomerator"), "a prior's weight"))
    shift = np.float32(number_of(stored.get("shift"), "a shift"))
    scale = np.float32(number_of(stored.get("scale"), "a scale"))
    classes = counts.shape[1]
    border = whole_of(stored.get("target_border_idx", 0), "a target_border_idx", 0, 2**16)
    if kind in _MEANS:
        if classes != 2:
            raise ModelFileError("A mean of CatBoost's has a sum and a count.")
        good, every = counts[:, 0], counts[:, 1]
    elif kind in _COUNTS:
        good, every = counts[:, 0], np.full(len(counts), total)
    elif kind == "Buckets" and border < classes:
        good, every = counts[:, border], counts.sum(axis=1, dtype=np.float32)
    elif kind == "Borders" and border < classes:
        good, every = (
            counts[:, border + 1 :].sum(axis=1, dtype=np.float32),
            counts.sum(axis=1, dtype=np.float32),
        )
    else:
        raise NotSupportedError(
            f"the CatBoost model has statistics of the kind {kind[:40]!r}, which is not known here."
        )
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found: Singles = ((good + prior) / (every + weight) + shift) * scale
    return found
