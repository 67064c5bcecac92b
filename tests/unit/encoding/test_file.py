"""The statistics of a model come back from its file, and what cannot be is refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weald.data import Column, Schema
from weald.encoding.cells import CELLS
from weald.encoding.combinations import keys_of
from weald.encoding.file import ARRAYS, from_file, to_file
from weald.encoding.model import ModelStatistics
from weald.encoding.short_keys import ALL_BITS
from weald.encoding.tables import StatisticTable
from weald.runtime.errors import ModelFileError

SCHEMA = Schema(
    (
        Column("age", "numeric"),
        Column("city", "categorical", ("Ulm", "Linz", "Bern")),
        Column("color", "categorical", ("red", "blue")),
    ),
    named=True,
)


def _cells(*rows: list[int]) -> np.ndarray:
    return np.array(rows, np.uint16)


def _statistics() -> ModelStatistics:
    """A column by itself, a combination, and one whose keys are whole."""
    return ModelStatistics(
        SCHEMA,
        (
            StatisticTable(
                (0,), (1,), np.zeros(0, np.uint64), _cells([7, 1023, 7, 0]), np.array([512], np.uint16)
            ),
            StatisticTable(
                (0, 1),
                (0, 2),
                np.array([5, 9, 2**32 + 4], np.uint64),
                _cells([1, 2, 3], [30, 30, 10]),
                np.array([2, 40], np.uint16),
                33,
            ),
            StatisticTable(
                (0, 1), (3,), np.array([1, 2**63], np.uint64), _cells([4, 5]), np.array([5], np.uint16)
            ),
        ),
    )


def _same(first: ModelStatistics, second: ModelStatistics) -> bool:
    return all(
        (one.projection, one.numbers, one.bits) == (two.projection, two.numbers, two.bits)
        and all(
            np.array_equal(getattr(one, name), getattr(two, name)) and getattr(two, name).dtype == dtype
            for name, dtype in (("keys", np.uint64), ("cells", np.uint16), ("default", np.uint16))
        )
        for one, two in zip(first.tables, second.tables, strict=True)
    )


def test_statistics_come_back() -> None:
    statistics = _statistics()
    described, arrays = to_file(statistics)
    assert arrays.keys() == ARRAYS.keys()
    assert _same(statistics, from_file(described, arrays, SCHEMA))
    none = ModelStatistics(SCHEMA, ())
    assert from_file(*to_file(none), SCHEMA).tables == ()


@pytest.mark.parametrize("n_levels", [1, 2, 3, 16, 17, 256, 257, CELLS])
def test_a_cell_takes_as_many_bits_as_the_model_tells_cells_apart(n_levels: int) -> None:
    cells = np.random.default_rng(0).permutation(np.arange(1000) % n_levels).tolist()
    table = StatisticTable((0,), (0,), np.zeros(0, np.uint64), _cells(cells), np.array([0], np.uint16))
    statistics = ModelStatistics(SCHEMA, (table,))
    described, arrays = to_file(statistics)
    bits = max(1, int(np.ceil(np.log2(min(n_levels, 1000)))))
    assert arrays["statistic_cells"].nbytes == -(-1001 * bits // 8)
    assert _same(statistics, from_file(described, arrays, SCHEMA))


def test_a_loaded_table_finds_what_the_trained_one_found() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(40, size=(2, 500)).astype(np.uint32)
    trained = _trained(codes[:, :300])
    kept = trained.only([0, 1], [np.array([100.5, 400.5]), np.array([700.5])])
    statistics = ModelStatistics(SCHEMA, (kept,))
    (loaded,) = from_file(*to_file(statistics), SCHEMA).tables
    assert kept.bits < ALL_BITS
    assert (kept.keys[1:] > kept.keys[:-1]).all()
    assert np.array_equal(loaded.look_up(codes), kept.look_up(codes))
    whole = trained.look_up(codes)
    bins = np.array([np.searchsorted([100.5, 400.5], whole[0]), np.searchsorted([700.5], whole[1])])
    found = loaded.look_up(codes)
    told = np.array([np.searchsorted([100.5, 400.5], found[0]), np.searchsorted([700.5], found[1])])
    assert np.array_equal(told, bins)


def _trained(codes: np.ndarray) -> StatisticTable:
    keys = np.unique(keys_of(codes, (0, 1)))
    cells = np.random.default_rng(1).integers(CELLS, size=(2, len(keys))).astype(np.uint16)
    return StatisticTable((0, 1), (0, 1), keys, cells, np.array([50, 60], np.uint16))


Change = Callable[[Any], Any]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda tables: {}, "must be a list of tables"),
        (lambda tables: [*tables, 5], "must have the fields"),
        (lambda tables: [tables[0] | {"more": 1}, *tables[1:]], "must have the fields"),
        (lambda tables: [tables[0] | {"columns": []}, *tables[1:]], "whole numbers as its columns"),
        (lambda tables: [tables[0] | {"columns": [True]}, *tables[1:]], "whole numbers as its columns"),
        (lambda tables: [tables[0] | {"columns": [2]}, *tables[1:]], "does not have"),
        (lambda tables: [tables[0] | {"columns": "0"}, *tables[1:]], "whole numbers as its columns"),
        (lambda tables: [tables[0], tables[1] | {"columns": [1, 0]}, tables[2]], "columns .* do not ascend"),
        (lambda tables: [tables[0], tables[1] | {"numbers": [2, 2]}, tables[2]], "numbers .* do not ascend"),
        (lambda tables: [tables[0] | {"numbers": [-1]}, *tables[1:]], "whole numbers as its numbers"),
        (lambda tables: [tables[0] | {"levels": [4, 4]}, *tables[1:]], "as many levels as numbers"),
        (lambda tables: [tables[0] | {"levels": [0]}, *tables[1:]], "level that is not there"),
        (lambda tables: [tables[0] | {"levels": [5]}, *tables[1:]], "levels .* do not ascend"),
        (lambda tables: [tables[0] | {"groups": 2.0}, *tables[1:]], "whole number of groups"),
        (lambda tables: [tables[0] | {"groups": 2**30}, *tables[1:]], "'statistic_cells' is too short"),
        (lambda tables: [tables[0] | {"groups": 3}, *tables[1:]], "too long"),
        (lambda tables: [tables[0] | {"bits": 31}, *tables[1:]], "32 to 64 bits"),
        (lambda tables: [tables[0] | {"bits": 65}, *tables[1:]], "32 to 64 bits"),
        (lambda tables: [tables[0], tables[1] | {"bits": 32}, tables[2]], "more than 32 bits"),
        (lambda tables: [tables[0], tables[1] | {"bits": 64}, tables[2]], "'statistic_keys' is too short"),
        (lambda tables: tables[:2], "'statistic_keys' is too long"),
    ],
)
def test_wrong_lists_are_refused(change: Change, match: str) -> None:
    described, arrays = to_file(_statistics())
    with pytest.raises(ModelFileError, match=match) as caught:
        from_file(change(described), arrays, SCHEMA)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("statistic_gaps", lambda array: array[:-1], "'statistic_gaps' is too short"),
        ("statistic_gaps", lambda array: array * 0, "keys .* do not ascend"),
        ("statistic_gaps", lambda array: array | np.uint32(2**32 - 1), "more than 33 bits"),
        ("statistic_keys", lambda array: array[::-1], "keys .* do not ascend"),
        ("statistic_keys", lambda array: np.append(array, array), "'statistic_keys' is too long"),
        ("statistic_levels", lambda array: array[:-1], "'statistic_levels' is too short"),
        ("statistic_levels", lambda array: array + np.uint16(CELLS), f"not below {CELLS}"),
        ("statistic_levels", lambda array: array[::-1], "levels .* do not ascend"),
        ("statistic_cells", lambda array: array + np.uint8(9), "level that is not there"),
        ("statistic_cells", lambda array: array[:-1], "'statistic_cells' is too short"),
        ("statistic_cells", lambda array: np.append(array, array), "'statistic_cells' is too long"),
    ],
)
def test_damaged_arrays_are_refused(name: str, change: Change, match: str) -> None:
    described, arrays = to_file(_statistics())
    with pytest.raises(ModelFileError, match=match) as caught:
        from_file(described, arrays | {name: change(arrays[name])}, SCHEMA)
    assert "\n" not in str(caught.value)
