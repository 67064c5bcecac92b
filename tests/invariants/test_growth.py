"""No two rows violate a constraint when values are smoothed, thresholds drawn and splits forced: cases drawn by hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from invariants.test_constraints import (
    GROWTHS,
    LOSSES,
    PARAMETERS,
    SIGNS,
    assert_monotone,
    columns_of_paths,
    fitted,
    table,
)

OPTIONS = st.fixed_dictionaries(
    {
        "path_smooth": st.sampled_from([0.0, 0.5, 30.0]),
        "extra_trees": st.booleans(),
        "forced_splits": st.sampled_from(
            [
                None,
                {"feature": 0, "threshold": 0.2, "left": {"feature": 1, "threshold": -0.3}},
                {"feature": 4, "threshold": 1.0, "right": {"feature": 0, "threshold": -0.5}},
            ]
        ),
    }
)
SIZES = st.integers(20, 250)


def possible(parameters: dict[str, Any], growth: str, options: dict[str, Any]) -> dict[str, Any]:
    """The parameters, but for what is refused together."""
    chosen = {"growth": growth, **parameters, **options}
    chosen["min_samples_leaf"] = max(2, parameters["min_samples_leaf"])
    if growth == "oblivious" or "split_finder" in parameters["finder"]:
        chosen["forced_splits"] = None
    return chosen


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), SIZES, GROWTHS, LOSSES, SIGNS, PARAMETERS, OPTIONS)
def test_no_pair_of_rows_violates_a_monotone_constraint(
    seed: int,
    n_rows: int,
    growth: str,
    loss: str,
    signs: list[int],
    parameters: dict[str, Any],
    options: dict[str, Any],
) -> None:
    X, y = table(seed, n_rows)
    X[:, 4] = np.where(np.arange(n_rows) < 2, 1.0, X[:, 4])  # the forced category is there
    chosen = possible(parameters, growth, options)
    model = fitted(loss, X, y, chosen, monotone_constraints=[*signs, 0])
    assert_monotone(model.forest_, X, signs)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), SIZES, GROWTHS, PARAMETERS, OPTIONS)
def test_the_columns_of_every_path_are_of_one_group(
    seed: int, n_rows: int, growth: str, parameters: dict[str, Any], options: dict[str, Any]
) -> None:
    X, y = table(seed, n_rows)
    X[:, 4] = np.where(np.arange(n_rows) < 2, 1.0, X[:, 4])
    groups = [[0, 1, 4], [2, 3], [3, 4]]
    chosen = possible(parameters, growth, options)
    model = fitted("squared", X, y, chosen, interaction_constraints=groups)
    for path in columns_of_paths(model.forest_):
        assert len(path) <= 1 or any(path <= set(group) for group in groups)
