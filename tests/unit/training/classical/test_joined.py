"""Trees joined to one forest predict what they predict apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from unit.forest.factories import N_CATEGORIES, random_forest, vector_forest
from weald.forest.forest import Forest
from weald.forest.predict import raw_scores
from weald.training.classical.joined import join_trees, leaf_probabilities

ROWS = np.random.default_rng(0).integers(0, N_CATEGORIES, (60, 5)).astype(np.float64)


def leaf_numbers(tree: Forest) -> NDArray[Any]:
    if tree.has_vectors:
        return tree.vectors.reshape(-1, tree.n_outputs)
    return tree.value[tree.feature < 0][:, None]


@pytest.mark.parametrize("forest", [random_forest(1), vector_forest(2)])
def test_joined_trees_are_the_forest_that_they_were_cut_from(forest: Forest) -> None:
    columns = np.arange(5)
    parts = [forest.trees(number, number + 1) for number in range(forest.n_trees)]
    joined = join_trees([(part, columns, leaf_numbers(part)) for part in parts], 5, forest.n_outputs)
    joined.validate()
    expected = raw_scores(forest, [(0, ROWS)], 60) - forest.base_score[:, None]
    np.testing.assert_allclose(raw_scores(joined, [(0, ROWS)], 60), expected, atol=1e-12)


def test_trees_on_some_columns_look_at_those_of_the_whole_table() -> None:
    forest = random_forest(3, rounds=1)
    columns = np.array([1, 2, 3, 4, 5])
    joined = join_trees([(forest, columns, 2 * leaf_numbers(forest))], 6, 1)
    wide = np.column_stack([np.full(60, np.nan), ROWS])
    expected = 2 * (raw_scores(forest, [(0, ROWS)], 60) - forest.base_score)
    np.testing.assert_allclose(raw_scores(joined, [(0, wide)], 60), expected, atol=1e-12)


def test_a_single_number_is_the_second_classs_probability() -> None:
    tree = random_forest(4, rounds=1)
    second = tree.value[tree.feature < 0]
    np.testing.assert_array_equal(leaf_probabilities(tree), np.column_stack([1 - second, second]))
    assert leaf_probabilities(vector_forest(4, n_trees=1)).shape[1] == 3
