"""From the parameters of LightGBM's scikit-learn estimators to those of `train`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from weald.params.lightgbm import LIGHTGBM_PARAMETERS

# Parameters of the estimator that are none of the booster's.
_OWN = ("class_weight", "importance_type", "n_estimators")


def defaults_of(kind: type) -> dict[str, Any]:
    """The parameters of a class's signature, but for further keywords, and their defaults."""
    parameters = inspect.signature(kind).parameters.values()
    return {one.name: one.default for one in parameters if one.kind != one.VAR_KEYWORD}


def given_parameters(
    params: Mapping[str, Any], further: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """The booster's among an estimator's parameters; ``further``: those that came as keywords beside the signature.

    What a user's subclass has of its own is left out, and so are defaults of the signature that a keyword for the same
    parameter counts before.
    """
    known = {
        name: value
        for name, value in params.items()
        if (name in further or LIGHTGBM_PARAMETERS.own_name(name) in LIGHTGBM_PARAMETERS) and name not in _OWN
    }
    for name in set(defaults) & set(known) - set(further):
        own = LIGHTGBM_PARAMETERS.own_name(name)
        order = (own, *LIGHTGBM_PARAMETERS[own].aliases)
        beaten = any(order.index(other) < order.index(name) for other in further if other in order)
        if beaten and known[name] == defaults[name]:
            del known[name]
    return known


def taken(params: dict[str, Any], own: str) -> Any:
    """A parameter's value under its own name, or the first of its others; it is among ``params`` no more."""
    given = [params.pop(name, None) for name in (own, *LIGHTGBM_PARAMETERS[own].aliases)]
    return next((value for value in given if value is not None), None)


def drawn_seed(seed: Any) -> Any:
    """A number drawn from a generator, as LightGBM draws it; anything else as it is."""
    if isinstance(seed, np.random.RandomState):
        return int(seed.randint(np.iinfo(np.int32).max))
    return int(seed.integers(np.iinfo(np.int32).max)) if isinstance(seed, np.random.Generator) else seed
