"""LightGBM's estimators for Dask are those that train in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald.lightgbm as lgb

da = pytest.importorskip("dask.array", reason="needs the extra dask")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra dask")

N = 800
GENERATOR = np.random.default_rng(2)
X = GENERATOR.normal(size=(N, 4))
NAMES = np.array(["no", "yes"])[(X[:, 0] + X[:, 1] ** 2 + GENERATOR.normal(size=N) > 1.5).astype(int)]
WEIGHT = GENERATOR.random(N) + 0.5
ROWS, LABELS = da.from_array(X, chunks=(150, 4)), da.from_array(NAMES, chunks=400)


@pytest.mark.parametrize("options", [{}, {"is_unbalance": True}, {"class_weight": "balanced"}])
def test_a_classifier_is_the_one_of_memory(client: Any, options: dict[str, Any]) -> None:
    options = {"n_estimators": 6, "num_leaves": 7, "verbosity": -1, "n_jobs": 1, **options}
    model = lgb.DaskLGBMClassifier(client=client, **options)
    weight = da.from_array(WEIGHT, chunks=300)
    held = (ROWS[:300], LABELS[:300])
    model.fit(ROWS, LABELS, sample_weight=weight, eval_set=[(ROWS, LABELS), held], eval_names=["own", "held"])
    local = lgb.LGBMClassifier(**options)
    sets = [(X, NAMES), (X[:300], NAMES[:300])]
    sets[0] = (table := X, labels := NAMES)
    local.fit(table, labels, sample_weight=WEIGHT, eval_set=sets, eval_names=["own", "held"])
    assert model.evals_result_ == local.evals_result_
    assert model.booster_.model_to_string() == local.booster_.model_to_string()
    assert (model.predict(ROWS).compute() == local.predict(X)).all()
    assert (model.predict_proba(ROWS).compute() == local.predict_proba(X)).all()


def test_a_regressor_takes_a_dataframe_with_categories(client: Any) -> None:
    frame = pd.DataFrame({"a": X[:, 0], "c": pd.Categorical(GENERATOR.choice(["x", "y", "z"], N))})
    labels = X[:, 0] + (frame["c"] == "x")
    options = {"n_estimators": 4, "verbosity": -1}
    model = lgb.DaskLGBMRegressor(client=client, **options)
    model.fit(dd.from_pandas(frame, npartitions=3), dd.from_pandas(labels, npartitions=2))
    local = lgb.LGBMRegressor(**options).fit(frame, labels)
    assert (model.predict(frame) == local.predict(frame)).all()
    assert model.to_local().booster_.feature_name() == ["a", "c"]


def test_what_is_not_there_is_refused_by_name(client: Any) -> None:
    model = lgb.DaskLGBMRegressor(client=client)
    for name in ("init_score", "eval_init_score", "eval_class_weight"):
        with pytest.raises(ValueError, match=f"{name} is not supported"):
            model.fit(ROWS, ROWS[:, 0], **{name: [1.0]})
    with pytest.raises(ValueError, match="functions of your own"):
        model.fit(ROWS, ROWS[:, 0], eval_metric=lambda y, predicted: ("own", 0.0, False))
    with pytest.raises(AttributeError, match="DaskLGBMRanker"):
        lgb.DaskLGBMRanker  # noqa: B018
