"""Reading of LightGBM's parameters under all their names."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from weald.params.lightgbm_table import LIGHTGBM_PARAMETERS, OBJECTIVE_ALIASES, SEEDS
from weald.runtime.errors import InputError

__all__ = ["LIGHTGBM_PARAMETERS", "SEEDS", "read_parameters", "value_of"]

#: other names of values
_WORDS = {"objective": OBJECTIVE_ALIASES, "boosting": {"gbrt": "gbdt", "random_forest": "rf"}}

value_of = LIGHTGBM_PARAMETERS.value_of


def read_parameters(given: Mapping[str, Any] | None, *, estimators: bool = False) -> dict[str, Any]:
    """The parameters that were given, by LightGBM's own names, checked; None means not given.

    Of several names of one parameter its own counts, then the first of the others, with a warning. ``estimators``: the
    parameters of the scikit-learn classes too.

    >>> read_parameters({"eta": "0.2", "num_leaf": 7})
    {'learning_rate': 0.2, 'num_leaves': 7}
    >>> read_parameters({"num_leavs": 7})
    Traceback (most recent call last):
    weald.runtime.errors.InputError: there is no parameter 'num_leavs' in LightGBM; did you mean 'num_leaves'?
    """
    names = LIGHTGBM_PARAMETERS.given((given or {}).items(), estimators=estimators)
    counted = {own: _chosen(own, dict(values)) for own, values in names.items()}
    found = {own: _read(own, value) for own, value in counted.items()}
    if found.get("verbosity", 1) >= 0:
        for own, values in names.items():
            _warn_of_conflicts(own, values, counted[own])
    _check_together(found)
    return found


def _chosen(own: str, values: Mapping[str, Any]) -> Any:
    """The value that counts: of the parameter's own name, or of the first other one."""
    return next(values[name] for name in (own, *LIGHTGBM_PARAMETERS[own].aliases) if name in values)


def _read(own: str, value: Any) -> Any:
    if isinstance(value, str):
        value = _WORDS.get(own, {}).get(value, value)
    return LIGHTGBM_PARAMETERS.read(own, value)


def _warn_of_conflicts(own: str, values: Iterable[tuple[str, Any]], counted: Any) -> None:
    for name, value in values:
        if value is not counted and value != counted:
            warnings.warn(
                f"{name}={value!r} is ignored: {own} is given under several names, and is {counted!r}.",
                stacklevel=6,
            )


def _check_together(found: Mapping[str, Any]) -> None:
    """Refuse what has no meaning beside the other parameters, unless it is LightGBM's default."""
    goss = "goss" in (value_of(found, "boosting"), value_of(found, "data_sample_strategy"))
    company = {**found, "data_sample_strategy": "goss"} if goss else found
    LIGHTGBM_PARAMETERS.check_company(company, "boosting", "data_sample_strategy", "objective")
    if value_of(found, "is_unbalance") and value_of(found, "scale_pos_weight") != 1.0:
        raise InputError("is_unbalance and scale_pos_weight both weigh the classes; give one of them.")
    if value_of(found, "force_col_wise") and value_of(found, "force_row_wise"):
        raise InputError("force_col_wise and force_row_wise exclude each other; give one of them, or none.")
    if goss and value_of(found, "bagging_freq") and value_of(found, "bagging_fraction") < 1.0:
        raise InputError("data_sample_strategy='goss' draws rows by itself; leave bagging_fraction out.")
    if goss and value_of(found, "top_rate") + value_of(found, "other_rate") > 1.0:
        raise InputError("top_rate and other_rate are shares of all rows, so together at most 1.")
