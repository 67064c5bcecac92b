"""The base of all that has declared parameters: estimators and choices."""

from __future__ import annotations

from typing import Any

from weald.params.declare import declared
from weald.runtime.sklearn_bases import BaseEstimator


class Settable(BaseEstimator):  # type: ignore[misc]
    """scikit-learn's base class, with a sentence for a parameter that is not there."""

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name, those of parts as part__name."""
        own = declared(type(self))
        names = [name for name in (key.partition("__")[0] for key in params) if name not in own]
        known = self.get_params(deep=True) if names else {}
        for name in names:
            if name not in known:
                from weald.params.other_names import unknown_parameter  # needed for a mistake only

                raise unknown_parameter(type(self), name)
        return super().set_params(**params)
