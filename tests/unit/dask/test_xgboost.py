"""XGBoost's interface to Dask trains the boosters that it trains in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald.xgboost as xgb

da = pytest.importorskip("dask.array", reason="needs the extra dask")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra dask")

from weald.xgboost import dask as dxgb  # noqa: E402

N = 800
GENERATOR = np.random.default_rng(2)
X = GENERATOR.normal(size=(N, 4)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] ** 2 + GENERATOR.normal(size=N) > 1.0).astype(int)
WEIGHT = GENERATOR.random(N) + 0.5
PARAMS = {
    "objective": "binary:logistic",
    "max_depth": 3,
    "scale_pos_weight": 2.0,
    "eval_metric": ["logloss", "auc"],
}
ROWS, LABELS = da.from_array(X, chunks=(150, 4)), da.from_array(Y, chunks=400)


def test_a_booster_has_the_bytes_of_one_trained_in_memory(client: Any, capsys: Any) -> None:
    weights = da.from_array(WEIGHT, chunks=150)
    dtrain = dxgb.DaskQuantileDMatrix(client, ROWS[:600], LABELS[:600], weight=weights[:600], max_bin=64)
    dvalid = dxgb.DaskDMatrix(client, ROWS[600:], LABELS[600:])
    found = dxgb.train(client, PARAMS, dtrain, 20, evals=[(dvalid, "valid")], early_stopping_rounds=3)
    own, history = xgb.QuantileDMatrix(X[:600], Y[:600], weight=WEIGHT[:600], max_bin=64), {}
    held = xgb.DMatrix(X[600:], Y[600:])
    local = xgb.train(
        PARAMS,
        own,
        20,
        evals=[(held, "valid")],
        early_stopping_rounds=3,
        evals_result=history,
        verbose_eval=False,
    )
    assert found["history"] == history
    assert found["booster"].save_raw() == local.save_raw()
    assert "[0]\tvalid-logloss" in capsys.readouterr().out
    predicted = dxgb.predict(client, found, dvalid)
    assert isinstance(predicted, da.Array)
    assert (predicted.compute() == local.predict(held)).all()
    assert (dxgb.inplace_predict(client, found["booster"], ROWS).compute() == local.inplace_predict(X)).all()


def test_a_dataframe_with_categories_is_taken_where_all_partitions_have_the_same(client: Any) -> None:
    frame = pd.DataFrame({"a": X[:, 0], "c": pd.Categorical(GENERATOR.choice(["x", "y", "z"], N))})
    table, labels = dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(Y), npartitions=3)
    dtrain = dxgb.DaskDMatrix(client, table, labels, enable_categorical=True)
    found = dxgb.train(client, {"objective": "binary:logistic"}, dtrain, 3)["booster"]
    own = xgb.DMatrix(frame, Y, enable_categorical=True)
    assert found.save_raw() == xgb.train({"objective": "binary:logistic"}, own, 3).save_raw()
    assert (dxgb.predict(client, found, table).compute().to_numpy() == found.predict(own)).all()
    parts = [
        frame[:400].assign(c=frame["c"][:400].astype(str).replace("x", "y").astype("category")),
        frame[400:],
    ]
    mixed = dd.concat([dd.from_pandas(part, npartitions=1) for part in parts], interleave_partitions=False)
    dtrain = dxgb.DaskDMatrix(client, mixed, labels, enable_categorical=True)
    with pytest.raises(ValueError, match="partitions have different categories"):
        dxgb.train(client, {"objective": "binary:logistic"}, dtrain, 3)


def test_an_asynchronous_client_is_awaited(client: Any) -> None:
    from distributed import Client

    async def trained(address: str) -> bytes:
        async with Client(address, asynchronous=True, set_as_default=False) as other:
            found = await dxgb.train(other, PARAMS, dxgb.DaskDMatrix(other, ROWS, LABELS), 3)
            return bytes(found["booster"].save_raw())

    local = xgb.train(PARAMS, xgb.DMatrix(X, Y), 3)
    assert asyncio.run(trained(client.scheduler.address)) == bytes(local.save_raw())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda client: dxgb.train(client, PARAMS, dxgb.DaskDMatrix(client, ROWS, LABELS), 3, obj=len),
            "obj is not supported",
        ),
        (lambda client: dxgb.DaskDMatrix(client, ROWS, LABELS, qid=LABELS), "qid is not supported"),
        (
            lambda client: dxgb.DaskDMatrix(client, ROWS, LABELS, base_margin=LABELS),
            "base_margin is not supported",
        ),
        (lambda client: dxgb.train(client, PARAMS, dxgb.DaskDMatrix(client, ROWS), 3), "needs labels"),
        (lambda client: dxgb.train(client, PARAMS, xgb.DMatrix(X, Y), 3), "DaskDMatrix"),
    ],
)
def test_what_is_not_there_is_refused_by_name(client: Any, make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(client)


@pytest.mark.parametrize("family", ["XGB", "XGBRF"])
def test_a_classifier_is_the_one_of_memory(client: Any, family: str) -> None:
    names = np.array(["no", "yes"])
    options = {"n_estimators": 5, "max_depth": 3}
    model = getattr(dxgb, f"Dask{family}Classifier")(**options)
    model.client = client
    labels = da.from_array(names[Y], chunks=400)
    weight = da.from_array(WEIGHT, chunks=300)
    model.fit(ROWS, labels, sample_weight=weight, eval_set=[(ROWS, labels)], verbose=False)
    local = getattr(xgb, f"{family}Classifier")(**options)
    local.fit(X, names[Y], sample_weight=WEIGHT, eval_set=[(X, names[Y])], verbose=False)
    assert model.get_booster().save_raw() == local.get_booster().save_raw()
    assert model.evals_result() == local.evals_result()
    assert (model.predict(ROWS).compute() == local.predict(X)).all()
    assert (model.predict_proba(ROWS).compute() == local.predict_proba(X)).all()


def test_a_regressor_is_the_one_of_memory(client: Any) -> None:
    model = dxgb.DaskXGBRegressor(n_estimators=4)
    model.client = client
    frame = pd.DataFrame(X, columns=list("abcd"))
    model.fit(dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(X[:, 0] * 2), npartitions=2))
    local = xgb.XGBRegressor(n_estimators=4).fit(frame, X[:, 0] * 2)
    assert model.get_booster().save_raw() == local.get_booster().save_raw()
    assert (model.predict(ROWS.compute()) == local.predict(X)).all()
