"""Whole fits on devices: the model is that of the CPU, to the byte."""

from __future__ import annotations

from typing import Any

import pytest

from opencl_devices import devices
from unit.tree.shards.test_fits import CASES, TARGETS, WEIGHT, X
from weald import BoostedTreesClassifier, BoostedTreesRegressor, OpenCL
from weald.estimators.shared.persistence import to_bytes
from weald.training.boosting.flat import from_flat


def names_of(least: int) -> str:
    return ",".join(str(device.number) for device in devices(least))


def fit(device: Any, target: str = "number", weighted: bool = False, **settings: Any) -> tuple[bytes, Any]:
    """The file of a small fit with an evaluation set, and its history."""
    kind = BoostedTreesClassifier if target in ("two", "three") else BoostedTreesRegressor
    y, rows = TARGETS[target], slice(0, 120)
    given = from_flat({"n_estimators": 3, "n_jobs": 1, "learning_rate": 0.3, **settings})
    evaluation = ({name: values[rows] for name, values in X.items()}, y[rows])
    model = kind(**given, device=device)
    model.fit(X, y, sample_weight=WEIGHT if weighted else None, eval_set=[evaluation])
    return to_bytes(model, model._model), model.history_


@pytest.mark.parametrize("name", CASES)
def test_devices_give_the_model_of_the_cpu(name: str) -> None:
    expected = fit("cpu", **CASES[name])
    assert fit(f"opencl:{names_of(1)}", **CASES[name]) == expected
    # two devices, whose rows pass through them
    assert fit(OpenCL(names_of(2), memory_limit=0.012), **CASES[name]) == expected
