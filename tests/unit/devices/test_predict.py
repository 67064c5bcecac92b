"""Predictions from a device against those of the CPU and of plain Python, to the bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest

import reference_predict
import weald
from opencl_devices import devices
from unit.tree.shards.test_fits import TARGETS, X
from weald import OpenCL
from weald.devices import predict
from weald.devices.parameters import DevicePlan
from weald.devices.predict import device_scores
from weald.estimators.boosted import base

MODELS: dict[str, dict[str, Any]] = {
    "numbers": {"target": "number"},
    "three classes": {"target": "three"},
    "sets": {"target": "number", "categories": "partition"},
    "statistics": {"target": "two"},
    "averaged": {"target": "number", "booster": "averaging", "subsample": 0.6, "categories": "onehot"},
}


@pytest.mark.parametrize("name", MODELS)
def test_a_device_predicts_what_the_cpu_predicts(name: str) -> None:
    one, two = (",".join(str(device.number) for device in devices(least)) for least in (1, 2))
    settings = dict(MODELS[name])
    y = TARGETS[settings.pop("target")]
    kind = weald.BoostedTreesClassifier if y.dtype.kind == "i" else weald.BoostedTreesRegressor
    model = kind(n_estimators=5, max_leaves=9, **settings).fit(X, y)
    other = {**X, "city": np.where(X["city"] == "city 3", "somewhere new", X["city"])}
    other["x1"] = other["x1"].copy()
    other["x1"][:9] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1e300, np.nan, 1e300]
    for n_rounds in (None, 2):
        expected = model._raw(other, n_rounds)
        for names, limit in ((one, None), (two, 10_000)):  # rows all at once, and few at a time
            model.set_params(device=OpenCL(names, memory_limit=limit))
            with mock.patch.object(base, "device_scores", wraps=device_scores) as asked:
                found = model._raw(other, n_rounds)
            assert asked.call_count == 1 and found.tobytes() == expected.tobytes()
        model.set_params(device="cpu")


def test_a_device_predicts_what_plain_python_does() -> None:
    plan = DevicePlan((devices(1)[0].number,), None)
    rng = np.random.default_rng(4)
    cells = rng.normal(size=(40, 3))
    cells[rng.random(cells.shape) < 0.2] = np.nan
    model = weald.BoostedTreesRegressor(n_estimators=4, min_samples_leaf=1).fit(cells, rng.normal(size=40))
    for rows in (cells, cells[:1], cells[:0], cells.astype(np.float32)):
        found = device_scores(plan, model.forest_, [(0, rows)], len(rows), 4)
        assert found is not None
        assert found.tobytes() == reference_predict.raw_scores(model.forest_, rows).tobytes()


def test_without_doubles_the_cpu_predicts() -> None:
    own = devices(1)[0]
    model = weald.BoostedTreesRegressor(n_estimators=2).fit(X, TARGETS["number"])
    with mock.patch.object(predict, "chosen_devices", return_value=[replace(own, has_doubles=False)]):
        assert device_scores(DevicePlan((0,), None), model.forest_, [], 0, 2) is None
        expected = model.predict(X)
        assert (model.set_params(device=f"opencl:{own.number}").predict(X) == expected).all()
