"""Models of Weald in MLflow: a flavour with the functions that MLflow's own have.

The model is kept as its model file, which `weald.load` reads: nothing is unpickled. Every saved model is also a generic Python
model (`mlflow.pyfunc`), whose `predict` takes a data frame.

>>> import tempfile
>>> import numpy as np
>>> import weald, weald.mlflow
>>> X = np.arange(40.0).reshape(-1, 1)
>>> model = weald.BoostedTreesRegressor(n_estimators=2).fit(X, X[:, 0])
>>> path = tempfile.mkdtemp() + "/model"
>>> weald.mlflow.save_model(model, path)
>>> bool((weald.mlflow.load_model(path).predict(X) == model.predict(X)).all())
True
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

from weald import __version__
from weald.estimators.shared.fitting import Fitting
from weald.estimators.shared.registry import load
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra

FLAVOR_NAME: Final = "weald"
_FILE: Final = "model.weald"
_METHODS: Final = ("predict", "predict_proba", "decision_function")


def get_default_pip_requirements() -> list[str]:
    """What an environment needs that is to load a model."""
    return [f"weald=={__version__}"]


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
    pyfunc_predict_fn: str = "predict",
    mlflow_model: Any = None,
) -> None:
    """Write a fitted estimator to a new folder, as MLflow lays one out.

    Parameters
    ----------
    model : fitted estimator of Weald
    path : folder to make
    signature, input_example, metadata : as of ``mlflow.sklearn.save_model``
    pip_requirements : what the environment of the model needs; None: this version of Weald
    pyfunc_predict_fn : what `mlflow.pyfunc` calls: "predict", "predict_proba" or "decision_function"
    mlflow_model : MLflow's own description of the model, where it calls this function
    """
    if not isinstance(model, Fitting):
        raise InputError(f"model must be a fitted estimator of Weald, not a {type(model).__name__}.")
    if pyfunc_predict_fn not in _METHODS or not hasattr(model, pyfunc_predict_fn):
        raise InputError(
            f"pyfunc_predict_fn must be a method that the model has to predict, not {pyfunc_predict_fn!r}."
        )
    models = load_extra("mlflow.models", "weald.mlflow")
    folder = Path(path)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"path is {str(path)!r}, a folder that is not empty.")
    folder.mkdir(parents=True, exist_ok=True)
    described = models.Model() if mlflow_model is None else mlflow_model
    if signature is not None:
        described.signature = signature
    if metadata is not None:
        described.metadata = metadata
    if input_example is not None:
        load_extra("mlflow.models.utils", "weald.mlflow")._save_example(described, input_example, str(folder))
    model.save(folder / _FILE)
    wanted = get_default_pip_requirements() if pip_requirements is None else pip_requirements
    (folder / "requirements.txt").write_text("\n".join(wanted) + "\n")
    load_extra("mlflow.pyfunc", "weald.mlflow").add_to_model(
        described, loader_module=__name__, data=_FILE, model_config={"method": pyfunc_predict_fn}
    )
    described.add_flavor(FLAVOR_NAME, weald_version=__version__, data=_FILE)
    described.save(str(folder / "MLmodel"))


def log_model(model: Any, name: str, *, registered_model_name: str | None = None, **options: Any) -> Any:
    """Log a fitted estimator to the active run of MLflow; ``options`` are those of `save_model`. Returns MLflow's ModelInfo."""
    return load_extra("mlflow.models", "weald.mlflow").Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[__name__],
        model=model,
        registered_model_name=registered_model_name,
        **options,
    )


def load_model(model_uri: str, dst_path: str | None = None) -> Any:
    """The estimator of a path, or of a model in MLflow's store ("runs:/…", "models:/…")."""
    download = load_extra("mlflow.artifacts", "weald.mlflow").download_artifacts
    folder = Path(download(artifact_uri=str(model_uri), dst_path=dst_path))
    return load(folder / _FILE)


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> _PythonModel:
    """What `mlflow.pyfunc` calls."""
    method = (model_config or {}).get("method", "predict")
    if method not in _METHODS:
        raise InputError(f"The model's method is {method!r}; it must be one of {', '.join(_METHODS)}.")
    return _PythonModel(load(path), method)


class _PythonModel:
    """A model whose only method is ``predict``."""

    def __init__(self, model: Any, method: str) -> None:
        self._model = model
        self._method = method

    def predict(self, data: Any, params: dict[str, Any] | None = None) -> Any:
        """The predictions of a data frame or an array."""
        if params:
            raise InputError(f"predict takes no parameters, but got {', '.join(params)}.")
        return getattr(self._model, self._method)(data)

    def get_raw_model(self) -> Any:
        """The estimator."""
        return self._model
