"""Being fitted or not: what every estimator does about it."""

from __future__ import annotations

import os
from typing import ClassVar

import numpy as np

from weald.data import Schema
from weald.estimators.shared.exporting import Exporting
from weald.forest.disk import save


class Fitting(Exporting):
    """Mixed into estimators; ``_of_fit`` names what a fit leaves beside public attributes, first what every fit leaves."""

    _of_fit: ClassVar[tuple[str, ...]]

    def _forget(self) -> None:
        """Become unfitted: a fit that is interrupted must not leave half of the old and half of the new."""
        public = [name for name in self.__dict__ if name.endswith("_") and not name.startswith("__")]
        for name in {*public, *self._of_fit}:
            self.__dict__.pop(name, None)

    def __sklearn_is_fitted__(self) -> bool:
        return self._of_fit[0] in self.__dict__

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet; call 'fit' first.")

    def _set_names(self, schema: Schema) -> None:
        self.n_features_in_ = schema.n_columns
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically; `weald.load` reads it. All members of an ensemble must be Weald's."""
        save(path, self._to_bytes())

    def _to_bytes(self) -> bytes:
        raise NotImplementedError
