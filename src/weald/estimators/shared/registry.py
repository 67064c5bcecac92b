"""Which estimator a model file holds, and `load`.

Names come from Weald's own table of estimators and never from a file, so that a file cannot have anything imported.

A registered class has two hooks. ``_to_bytes()`` gives the model file's bytes of a fitted estimator, and the class
method ``_from_content(content)`` makes the estimator of an opened file; the file's header names its class under
"estimator". A meta-estimator inherits both from `weald.estimators.shared.composite.Composite`.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from weald import ESTIMATOR_HOMES, IMPORTED_HOMES
from weald.forest.container import Container, of_one_kind, unpack
from weald.forest.disk import read
from weald.runtime.errors import ModelFileError, NotSupportedError

#: what a model file may hold -> its module
HOMES = ESTIMATOR_HOMES | IMPORTED_HOMES


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that an estimator's ``save`` has written; nothing in the file is executed.

    >>> import os, tempfile
    >>> import numpy as np
    >>> import weald
    >>> X, y = np.arange(100.0).reshape(-1, 1), np.arange(100.0)
    >>> model = weald.BoostedTreesRegressor(n_estimators=5).fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.weald")
    >>> model.save(path)
    >>> bool((weald.load(path).predict(X) == model.predict(X)).all())
    True
    """
    data = read(path)
    try:
        return estimator_of(unpack(data))
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)!r}: {error}") from None


def estimator_of(content: Container) -> Any:
    """The fitted estimator of an opened model file; everything is checked."""
    name = content.header.get("estimator")
    if not isinstance(name, str):
        raise ModelFileError("The file's estimator must be a name.")
    if name in ("xgboost.Booster", "lightgbm.Booster"):
        raise ModelFileError(f"The file holds a Booster; read it with weald.{name}(model_file=...).")
    if name not in HOMES:
        raise ModelFileError(f"The file holds a {name!r}, which this Weald does not know.")
    with of_one_kind(f"a fitted {name}"):
        return _class_of(name)._from_content(content)


def bytes_of(estimator: Any, role: str) -> bytes:
    """The model file's bytes of a fitted estimator of ours; `role` is what the sentence for any other calls it."""
    check_registered(estimator, role)
    data: bytes = estimator._to_bytes()
    return data


def check_registered(estimator: Any, role: str) -> None:
    """Refuse an estimator that no model file can hold."""
    name = type(estimator).__name__
    if name not in HOMES or type(estimator) is not _class_of(name):
        raise NotSupportedError(
            f"{role} is a {name}, which is not an estimator of Weald's; a model file holds only those: "
            "use joblib or pickle for this model."
        )


def _class_of(name: str) -> Any:
    return getattr(import_module(HOMES[name]), name)
