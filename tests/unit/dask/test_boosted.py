"""Boosted trees on a cluster have the bytes that they have on one thread, however the rows are shared out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald

da = pytest.importorskip("dask.array", reason="needs the extra dask")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra dask")

from weald.dask import BoostedTreesClassifier, BoostedTreesRegressor  # noqa: E402
from weald.runtime.errors import InputError, NotSupportedError  # noqa: E402

N = 1200
GENERATOR = np.random.default_rng(3)
X = GENERATOR.normal(size=(N, 4))
X[GENERATOR.random(N) < 0.1, 1] = np.nan
Y = X[:, 0] * 2.0 + np.nan_to_num(X[:, 1]) + GENERATOR.normal(size=N)
CLASSES = np.digitize(Y, [-1.0, 1.0])
WEIGHT = GENERATOR.integers(0, 3, N).astype(float)
CITY = GENERATOR.choice(["Ulm", "Linz", "Graz", "Wels"], N)
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "city": CITY})


def settings(**more: Any) -> dict[str, Any]:
    return {"n_estimators": 5, "max_leaves": 7, "categories": "partition", **more}


def same(one: Any, other: Any) -> bool:
    found: bool = one._to_bytes() == other._to_bytes()
    return found


def unknown(collection: Any, blocks: int) -> Any:
    """An array of which nobody knows how long its chunks are."""
    return dd.from_pandas(pd.DataFrame(collection), npartitions=blocks).to_dask_array()


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (da.from_array(X, chunks=(300, 4)), da.from_array(Y, chunks=300)),
        (da.from_array(X, chunks=(170, 3)), da.from_array(Y, chunks=500)),
        (da.from_array(X, chunks=(N, 2)), da.from_array(Y, chunks=N)),  # more workers than partitions
        (unknown(X, 5), unknown(Y, 4)[:, 0]),
        (
            da.concatenate([da.from_array(X[:700], chunks=(350, 4))[X[:700, 0] > 99.0], da.from_array(X)]),
            da.from_array(Y),
        ),
    ],
    ids=["even", "other-chunks", "one", "unknown", "empty"],
)
def test_an_array_of_any_chunks_trains_the_model_of_one_thread(client: Any, rows: Any, labels: Any) -> None:
    model = BoostedTreesRegressor(**settings()).fit(rows, labels)
    assert same(model, weald.BoostedTreesRegressor(**settings(n_jobs=1)).fit(X, Y))
    assert same(model.alone(), model)


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_a_dataframe_whose_partitions_have_other_categories_trains_the_same_model(
    client: Any, blocks: int
) -> None:
    whole = dd.from_pandas(FRAME, npartitions=blocks)
    found = whole.map_partitions(lambda part: part.assign(city=part["city"].astype("category")))
    labels = dd.from_pandas(pd.Series(np.where(CLASSES == 1, "middle", "edge")), npartitions=3)
    weight = dd.from_pandas(pd.Series(WEIGHT), npartitions=2)
    model = BoostedTreesClassifier(**settings()).fit(found, labels, weight)
    local = weald.BoostedTreesClassifier(**settings(n_jobs=1))
    assert same(model, local.fit(FRAME, labels.compute().to_numpy(object), WEIGHT))


def test_evaluation_sets_stop_early_in_the_same_round(client: Any) -> None:
    parameters = settings(n_estimators=60, learning_rate=0.5, early_stopping_rounds=3)
    rows, labels = da.from_array(X[:900], chunks=(250, 4)), da.from_array(CLASSES[:900], chunks=250)
    held = (da.from_array(X[900:], chunks=(200, 4)), da.from_array(CLASSES[900:], chunks=200))
    small = (da.from_array(X[:2]), da.from_array(CLASSES[:2]))  # fewer rows than members
    model = BoostedTreesClassifier(**parameters).fit(
        rows, labels, eval_set=[held, small], eval_names=["held", "small"]
    )
    local = weald.BoostedTreesClassifier(**parameters).fit(
        X[:900],
        CLASSES[:900],
        eval_set=[(X[900:], CLASSES[900:]), (X[:2], CLASSES[:2])],
        eval_names=["held", "small"],
    )
    assert same(model, local) and model.best_iteration_ < 59
    assert model.history_ == local.history_


def test_predictions_are_lazy_and_those_of_the_model_in_memory(client: Any) -> None:
    model = BoostedTreesClassifier(**settings()).fit(da.from_array(X), da.from_array(CLASSES))
    local = model.alone()
    for table in (da.from_array(X, chunks=(500, 3)), unknown(X, 3)):
        for method in ("predict", "predict_proba", "predict_log_proba", "decision_function", "apply"):
            found = getattr(model, method)(table)
            assert isinstance(found, da.Array)
            wanted = getattr(local, method)(X)
            assert found.dtype == wanted.dtype and found.ndim == wanted.ndim
            assert (found.compute() == wanted).all()
    assert (model.predict(X) == local.predict(X)).all()


def test_predictions_of_a_dataframe_have_its_index(client: Any) -> None:
    frame = FRAME.set_index(np.arange(N) * 2)
    table = dd.from_pandas(frame, npartitions=3)
    model = BoostedTreesClassifier(**settings()).fit(table, da.from_array(CLASSES))
    found = model.predict_proba(table)
    assert list(found.columns) == [0, 1, 2]
    computed = found.compute()
    assert (computed.index == frame.index).all()
    assert (computed.to_numpy() == model.alone().predict_proba(frame)).all()
    assert (model.predict(table).compute() == model.alone().predict(frame)).all()


def unreadable(block: Any) -> Any:
    if len(block):
        raise OSError("disk on fire")
    return block


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": X}, "X must be a Dask array or dataframe, not ndarray"),
        ({"y": Y}, "y must be a Dask array or dataframe, not ndarray"),
        ({"y": da.from_array(Y[:-1])}, "y has 1199 rows, but X has 1200"),
        ({"sample_weight": da.from_array(-WEIGHT - 1.0)}, "sample_weight must be finite"),
        ({"y": da.from_array(np.where(Y > 3.0, np.nan, Y))}, "contains NaN"),
        (
            {"X": da.from_array(X).map_blocks(unreadable, dtype=float)},
            r"Partition 0 of X cannot be read: OSError\('disk",
        ),
        ({"eval_set": [(da.from_array(X[:, :2]), da.from_array(Y))]}, "columns"),
        ({"callbacks": [weald.Checkpoint("model")]}, "Checkpoint would write to the workers' disks"),
    ],
)
def test_what_cannot_be_trained_on_is_a_sentence(client: Any, change: dict[str, Any], message: str) -> None:
    given = {"X": da.from_array(X, chunks=(400, 4)), "y": da.from_array(Y, chunks=400), **change}
    with pytest.raises(InputError, match=message):
        BoostedTreesRegressor(**settings()).fit(**given)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"warm_start": True}, "warm_start"),
        ({"split_finder": "exact"}, "split_finder='exact' needs all rows in one memory"),
    ],
)
def test_parameters_that_need_one_memory_are_refused(client: Any, parameters: Any, message: str) -> None:
    with pytest.raises(NotSupportedError, match=message):
        BoostedTreesRegressor(**settings(**parameters)).fit(da.from_array(X), da.from_array(Y))


def test_progress_is_told_on_the_terminal(client: Any, capsys: Any) -> None:
    BoostedTreesRegressor(**settings(verbose=2)).fit(da.from_array(X), da.from_array(Y))
    assert "round 4/5" in capsys.readouterr().err


def test_an_asynchronous_client_is_awaited(client: Any) -> None:
    import asyncio

    from distributed import Client

    async def fitted(address: str) -> bytes:
        async with Client(address, asynchronous=True, set_as_default=False) as other:
            rows, labels = da.from_array(X, chunks=(500, 4)), da.from_array(Y, chunks=500)
            model = await BoostedTreesRegressor(**settings()).fit(rows, labels, client=other)
            found: bytes = model._to_bytes()
            return found

    local = weald.BoostedTreesRegressor(**settings()).fit(X, Y)
    assert asyncio.run(fitted(client.scheduler.address)) == local._to_bytes()
