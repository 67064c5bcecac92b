"""scikit-learn's own checks of the encoder, and its place in pipelines."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from weald import TargetStatisticsEncoder


@parametrize_with_checks(
    [
        TargetStatisticsEncoder(),
        TargetStatisticsEncoder("holdout"),
        # The one kind whose training rows get what new rows get, so its categories may be checked too.
        TargetStatisticsEncoder("greedy", categorical_features=[0]),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_pipeline_trains_on_training_statistics() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(40, size=(300, 1)).astype(str).astype(object)
    y = rng.integers(2, size=300)
    pipeline = make_pipeline(TargetStatisticsEncoder(), LogisticRegression()).fit(X, y)
    alone = LogisticRegression().fit(TargetStatisticsEncoder().fit_transform(X, y), y)
    assert np.array_equal(pipeline[-1].coef_, alone.coef_)


def test_a_fitted_encoder_can_be_pickled_and_cloned() -> None:
    X = np.array([["a"], ["b"], [None], ["a"]], dtype=object)
    encoder = TargetStatisticsEncoder(a=2.0, counters=True).fit(X, [0, 1, 1, 1])
    assert np.array_equal(pickle.loads(pickle.dumps(encoder)).transform(X), encoder.transform(X))
    assert clone(encoder).get_params() == encoder.get_params()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_come_back_as_frames(library: str) -> None:
    frames = pytest.importorskip(library)
    X = frames.DataFrame({"city": ["Ulm", "Linz", None, "Ulm"], "age": [1, 2, 3, 4]})
    encoder = TargetStatisticsEncoder(counters=True).set_output(transform=library)
    found = encoder.fit_transform(X, [0, 1, 2, 1])
    assert type(found) is frames.DataFrame
    assert list(found.columns) == ["city_0", "city_1", "city_2", "city_counter", "age"]
    assert list(found.columns) == encoder.get_feature_names_out().tolist()
    assert np.array_equal(found.to_numpy(), clone(encoder).set_output().fit_transform(X, [0, 1, 2, 1]))
