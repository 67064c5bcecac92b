"""Border types: the cuts of their naive twins, whatever the values, weights and layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import reference_borders as reference
import weald
from unit.binning.test_cuts import columns
from weald import BoostedTreesRegressor
from weald.binning import BinChoices, bin_once, fit_bins
from weald.binning.borders import BORDER_KINDS
from weald.data import read_table
from weald.runtime.errors import InputError, NotSupportedError

KINDS = pytest.mark.parametrize("border_type", list(BORDER_KINDS))


@KINDS
@given(
    columns(),
    st.integers(2, 12),
    st.randoms(use_true_random=False),
    st.booleans(),
    st.sampled_from([1, 1, 3]),
)
@settings(max_examples=25, deadline=None)
def test_cuts_equal_the_naive_twin(
    border_type: str, column: NDArray[Any], max_bins: int, random: Any, weighted: bool, least: int
) -> None:
    weight = None
    if weighted:
        weight = np.array([random.choice([0, 1, 2, 5]) for _ in column]) * random.random()
    choices = BinChoices(max_bins, min_samples_bin=least, border_type=border_type)
    mapper = fit_bins(read_table(column.reshape(-1, 1)), weight, choices)
    expected = reference.find_borders(column, weight, max_bins, border_type, choices.least_weight)
    assert mapper.cuts[0].tolist() == expected
    assert mapper.n_bins[0] == len(expected) + 1 <= max_bins


@KINDS
def test_many_values_sparse_tables_and_single_limits_equal_the_naive_twin(border_type: str) -> None:
    rng = np.random.default_rng(0)
    table = np.round(rng.standard_normal((1_500, 3)) ** 3, 2)
    table[rng.random(table.shape) < 0.6] = 0.0
    weight = rng.integers(0, 3, 1_500) * 0.5
    choices = BinChoices(40, by_column=((1, 7),), border_type=border_type)
    for layout in (np.asarray, scipy.sparse.csc_array):
        mapper = fit_bins(read_table(layout(table)), weight, choices)
        for column, most in enumerate((40, 7, 40)):
            expected = reference.find_borders(table[:, column], weight, most, border_type)
            assert mapper.cuts[column].tolist() == expected


@KINDS
def test_forced_cuts_stay_and_a_constant_column_has_none(border_type: str) -> None:
    table = np.column_stack([np.arange(500.0), np.full(500, 7.0), np.full(500, np.nan)])
    choices = BinChoices(10, forced=((0, (3.0, 250.0)),), border_type=border_type)
    mapper = fit_bins(read_table(table), None, choices)
    assert {3.0, 250.0} < set(mapper.cuts[0].tolist()) and mapper.n_bins[1:].tolist() == [1, 1]
    assert 8 <= mapper.n_bins[0] <= 10


def test_quantiles_are_the_default() -> None:
    assert BinChoices().border_type == weald.Bins().borders == "quantiles"
    assert BoostedTreesRegressor().resolved().bins == weald.Bins()


def test_border_types_shape_the_trees_and_shared_bins_must_agree() -> None:
    X = np.exp(np.linspace(0.0, 5.0, 400)).reshape(-1, 1)
    uniform = BoostedTreesRegressor(n_estimators=1, bins=weald.Bins(borders="uniform", max_bins=5))
    model = uniform.fit(X, X[:, 0])
    inner = model.forest_.feature >= 0
    assert set(model.forest_.threshold[inner]) <= set(
        fit_bins(read_table(X), None, BinChoices(5, border_type="uniform")).cuts[0]
    )
    with pytest.raises(InputError, match=r"with borders='uniform', but .* has borders='quantiles'"):
        BoostedTreesRegressor(bins=5).fit(bin_once(X, [uniform]), X[:, 0])


@pytest.mark.parametrize("finder", ["exact", "approx"])
def test_split_finders_without_bins_refuse_border_types(finder: str) -> None:
    with pytest.raises(NotSupportedError, match=r"bins\.borders='median' has no meaning"):
        BoostedTreesRegressor(split_finder=finder, bins=weald.Bins(borders="median")).fit(
            [[1.0], [2.0]], [0.0, 1.0]
        )
