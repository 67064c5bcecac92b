"""Greedy statistics against scikit-learn's encoder, whose ``smooth`` is our ``a`` with the mean as prior."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import TargetEncoder

import weald
from weald import TargetStatisticsEncoder


@pytest.mark.parametrize(
    ("dataset", "target_type", "a"),
    [("penguins", "binary", 0.5), ("penguins", "multiclass", 1.0), ("diamonds", "continuous", 20.0)],
)
def test_new_rows_get_what_scikit_learn_gives(dataset: str, target_type: str, a: float) -> None:
    data = weald.datasets.load(dataset)
    names = [name for name, values in data.data.items() if np.asarray(values).dtype.kind in "OUT"]
    X = np.column_stack([np.asarray(data.data[name], dtype=object) for name in names])[:1500]
    y = np.asarray(data.target)[:1500]
    if target_type == "binary":
        y = y == y[0]
    ours = TargetStatisticsEncoder("greedy", a=a, target_type=target_type).fit(X[::2], y[::2])
    theirs = TargetEncoder(smooth=a, target_type=target_type).fit(X[::2], y[::2])
    assert np.allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
    expected = theirs.get_feature_names_out().tolist()
    assert ours.get_feature_names_out().tolist() == expected
