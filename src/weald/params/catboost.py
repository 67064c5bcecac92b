"""Reading of CatBoost's parameters under all their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weald.params.catboost_table import CATBOOST_PARAMETERS
from weald.runtime.errors import InputError

__all__ = ["CATBOOST_PARAMETERS", "read_parameters", "value_of"]

_LOUDNESS = ("verbose", "silent", "logging_level")

value_of = CATBOOST_PARAMETERS.value_of


def read_parameters(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters that were given, by CatBoost's own names, checked; None means not given.

    >>> read_parameters({"eta": 0.2, "max_depth": 4})
    {'learning_rate': 0.2, 'depth': 4}
    >>> read_parameters({"itrations": 7})
    Traceback (most recent call last):
    weald.runtime.errors.InputError: there is no parameter 'itrations' in CatBoost; did you mean 'iterations'?
    """
    found: dict[str, Any] = {}
    for own, several in CATBOOST_PARAMETERS.given((given or {}).items()).items():
        if len(several) > 1:
            first, second = (name for name, _ in several[:2])
            raise InputError(f"{first} and {second} are two names of one parameter; give one of them.")
        found[own] = CATBOOST_PARAMETERS.read(own, _listed(several[0][1]))
    _check_together(found)
    return found


def _listed(value: Any) -> Any:
    """Arrays and series as lists, whose entries can be compared and written."""
    return value.tolist() if hasattr(value, "tolist") else value


def _check_together(found: Mapping[str, Any]) -> None:
    """Refuse what has no meaning beside the other parameters, unless it is CatBoost's default."""
    loud = [name for name in _LOUDNESS if name in found]
    if len(loud) > 1:
        raise InputError(f"{loud[0]} and {loud[1]} both say what is printed; give one of them.")
    weights = [
        name
        for name in ("class_weights", "auto_class_weights", "scale_pos_weight")
        if found.get(name) not in (None, "None", 1.0)
    ]
    if len(weights) > 1:
        raise InputError(f"{weights[0]} and {weights[1]} both weigh the classes; give one of them.")
    if value_of(found, "permutation_count") < 2 and value_of(found, "boosting_type") == "Ordered":
        raise InputError(
            "permutation_count=1 leaves boosting_type='Ordered' no order to take gradients in; set it to 2 or more."
        )
    _check_detector(found)
    CATBOOST_PARAMETERS.check_company(found, "grow_policy", "boosting_type", "od_type", "task_type")


def _check_detector(found: Mapping[str, Any]) -> None:
    if "early_stopping_rounds" in found:
        for name in ("od_wait", "od_type", "od_pval"):
            if found.get(name) not in (None, "Iter", 0.0):
                raise InputError(
                    f"early_stopping_rounds is od_type='Iter' with its od_wait; leave {name} out."
                )
