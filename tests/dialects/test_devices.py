"""GPUs of other systems' interfaces: an OpenCL device takes their place, says so, and gives the model of the CPU."""

from __future__ import annotations

import warnings
from typing import Any
from unittest import mock

import numpy as np
import pytest

import weald.catboost as catboost
import weald.lightgbm as lightgbm
import weald.xgboost as xgboost
from opencl_devices import devices
from weald.dialects.shared.devices import device_numbers
from weald.runtime.errors import InputError, MissingExtraError

N_ROWS = 400
rng = np.random.default_rng(5)
X = rng.normal(size=(N_ROWS, 4))
y = X[:, 0] * X[:, 1] + X[:, 2]
CITY = np.array([f"city {code}" for code in rng.integers(0, 9, N_ROWS)], object)


def by_xgboost(**params: Any) -> bytes:
    return bytes(xgboost.train(params, xgboost.DMatrix(X, y), 3).save_raw())


def by_lightgbm(**params: Any) -> str:
    model = lightgbm.train({"verbosity": 1, **params}, lightgbm.Dataset(X, y), 3)
    return str(model.model_to_string())


def by_catboost(**params: Any) -> list[float]:
    table = np.column_stack([X.astype(object), CITY])
    model = catboost.CatBoostRegressor(iterations=3, verbose=False, cat_features=[4], **params).fit(table, y)
    return [float(value) for value in model.predict(table)]


WAYS = {
    "xgboost": (by_xgboost, {"device": "cuda"}, "device='cuda'"),
    "xgboost, several": (by_xgboost, {"device": "cuda:0,1"}, "device='cuda:0,1'"),
    "lightgbm": (by_lightgbm, {"device_type": "gpu"}, "device_type='gpu'"),
    "lightgbm, several": (by_lightgbm, {"device": "cuda", "num_gpu": 2}, "device_type='cuda'"),
    "catboost": (by_catboost, {"task_type": "GPU"}, "task_type='GPU'"),
    "catboost, several": (by_catboost, {"task_type": "GPU", "devices": "0:1"}, "task_type='GPU'"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_device_that_is_used_is_named_and_the_model_is_that_of_the_cpu(way: str) -> None:
    found = devices(2)
    fit, asked, setting = WAYS[way]
    expected = fit()
    with pytest.warns(UserWarning, match=f"^{setting}: trees are grown on OpenCL device 0") as said:
        assert fit(**asked) == expected
    (line,) = [str(one.message) for one in said if "grown on" in str(one.message)]
    assert (found[1].label in line) == ("several" in way)


@pytest.mark.parametrize("way", ["xgboost", "lightgbm"])
def test_nothing_is_said_where_warnings_are_off(way: str) -> None:
    devices(1)
    fit, asked, _ = WAYS[way]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(**asked, verbosity=0 if way == "xgboost" else -1)


@pytest.mark.parametrize("way", ["xgboost", "lightgbm", "catboost"])
def test_without_a_device_a_sentence_says_what_to_install(way: str) -> None:
    fit, asked, setting = WAYS[way]
    missing = "device='opencl' needs pyopencl, which is not installed: pip install 'weald[opencl]'"
    with (
        mock.patch("weald.devices.found.load_extra", side_effect=MissingExtraError(missing)),
        pytest.raises(MissingExtraError, match=f"^{setting} means OpenCL here: .* pip install"),
    ):
        fit(**asked)
    with (
        mock.patch("weald.devices.found.list_devices", return_value=[]),
        pytest.raises(
            InputError, match=f"^{setting} means OpenCL here: .* finds no OpenCL device .* install"
        ),
    ):
        fit(**asked)


def test_numbers_of_devices_are_read() -> None:
    assert device_numbers("devices", "0:2-4:2", ":") == (0, 2, 3, 4)
    for text in ("", "0,1", "a", "1-", "-1"):
        with pytest.raises(InputError, match="must be numbers of devices"):
            device_numbers("devices", text, ":")
