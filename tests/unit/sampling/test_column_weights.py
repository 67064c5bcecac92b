"""Columns are drawn by their weights, and those of weight 0 never."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from weald.runtime.errors import InputError
from weald.sampling import draw_columns

rng = np.random.default_rng(0)
X = rng.integers(0, 9, (400, 4)).astype(np.float64)
Y = X @ [1.0, 2.0, 3.0, 4.0]


def fitted(**parameters: Any) -> Any:
    given: dict[str, Any] = {"n_estimators": 30, "max_leaves": 4, "n_jobs": 1, **parameters}
    return weald.BoostedTreesRegressor(**given).fit(X, Y)


def used(model: Any) -> set[int]:
    return set(model.forest_.feature[model.forest_.feature >= 0].tolist())


def test_columns_are_drawn_in_proportion_to_their_weights() -> None:
    columns, weights = np.arange(5), np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    drawn = np.concatenate([draw_columns(columns, 0.2, key, weights) for key in range(2000)])
    assert np.bincount(drawn, minlength=5) / 2000 == pytest.approx(weights / 10.0, abs=0.04)
    pairs = [draw_columns(columns, 0.5, key, weights).tolist() for key in range(200)]
    assert all(len(pair) == 2 and pair == sorted(set(pair)) and 0 not in pair for pair in pairs)


def test_equal_weights_draw_as_none_do() -> None:
    columns = np.arange(9)
    for key in range(20):
        assert np.array_equal(
            draw_columns(columns, 0.4, key, np.full(9, 2.0)), draw_columns(columns, 0.4, key)
        )
    assert (
        fitted(colsample_bytree=0.5, column_weights=[3.0] * 4).forest_ == fitted(colsample_bytree=0.5).forest_
    )


def test_a_column_of_weight_0_is_not_used_in_any_way_of_drawing() -> None:
    assert used(fitted(column_weights=[1, 0, 1, 0])) == {0, 2}
    assert used(fitted(column_weights={"x3": 0})) == {0, 1, 2}
    assert used(fitted(column_weights=np.array([0.0, 0, 1, 1]), colsample_bynode=0.5)) == {2, 3}
    assert used(
        fitted(column_weights=[1, 0, 9, 9], growth="oblivious", max_leaves=None, colsample_bytree=0.7)
    ) <= {0, 2, 3}
    assert used(fitted(column_weights=[1, 0, 0, 9], split_finder="exact")) == {0, 3}
    without = weald.BoostedTreesRegressor(n_estimators=30, max_leaves=4, n_jobs=1).fit(X[:, :3], Y)
    assert np.array_equal(fitted(column_weights=[1, 1, 1, 0]).predict(X), without.predict(X[:, :3]))


def test_categories_choose_a_way_that_goes_with_weights() -> None:
    pd = pytest.importorskip("pandas")
    town = rng.integers(0, 4, 400)
    table = pd.DataFrame({"a": X[:, 0], "town": pd.Categorical([f"t{number}" for number in town])})
    model = weald.BoostedTreesRegressor(n_estimators=5, n_jobs=1, column_weights={"a": 0}).fit(
        table, Y + town % 7
    )
    assert used(model) == {1}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"column_weights": [1, 2]}, "column_weights has 2 numbers, but X has 4 columns"),
        ({"column_weights": [0, 0, 0, 0]}, "no weight above 0"),
        (
            {"column_weights": [1, 1, 1, -1]},
            "column_weights of the column 'x3' must be a number of at least 0, not -1",
        ),
        ({"column_weights": {"b": 1}}, "'b'"),
        ({"column_weights": "all"}, "a number a column or a dict"),
        ({"column_weights": [1, 2, 3, 4], "colsample_bynode": 0.5}, "use colsample_bytree"),
        ({"column_weights": [1, 2, 3, 4], "booster": "linear"}, "belongs to trees"),
    ],
)
def test_weights_that_cannot_be_are_refused_in_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        fitted(**given)
