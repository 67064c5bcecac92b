"""Reading of LightGBM's parameters under all their names, and the page that lists them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from weald.params.choice import same
from weald.params.dialect import parameter_page, unknown_parameter
from weald.params.lightgbm_table import (
    ALIASES,
    LIGHTGBM_PARAMETERS,
    OBJECTIVE_ALIASES,
    SEEDS,
    LightGBMParameter,
)
from weald.runtime.errors import InputError

__all__ = [
    "ALIASES", "LIGHTGBM_PARAMETERS", "SEEDS", "LightGBMParameter", "lightgbm_page", "read_parameters", "value_of",
]  # fmt: skip

_BOOSTINGS = {"gbrt": "gbdt", "random_forest": "rf"}
#: a parameter -> the objectives that have it
_OF_OBJECTIVES = {
    "alpha": ("huber", "quantile"),
    "fair_c": ("fair",),
    "poisson_max_delta_step": ("poisson",),
    "tweedie_variance_power": ("tweedie",),
    "is_unbalance": ("binary", "multiclassova"),
    "scale_pos_weight": ("binary", "multiclassova"),
    "num_class": ("multiclass", "multiclassova"),
    "pos_bagging_fraction": ("binary",),
    "neg_bagging_fraction": ("binary",),
}


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
    names: dict[str, dict[str, Any]] = {}
    for name, value in (given or {}).items():
        own = ALIASES.get(name, name)
        entry = LIGHTGBM_PARAMETERS.get(own)
        if entry is None or (entry.group == "estimators" and not estimators):
            raise unknown_parameter(str(name), LIGHTGBM_PARAMETERS)
        if value is not None:
            names.setdefault(own, {})[name] = value
    found = {own: _chosen(LIGHTGBM_PARAMETERS[own], values) for own, values in names.items()}
    found = {own: _read(LIGHTGBM_PARAMETERS[own], value) for own, value in found.items()}
    if found.get("verbosity", 1) >= 0:
        for own, values in names.items():
            _warn_of_conflicts(LIGHTGBM_PARAMETERS[own], values, found)
    _check_together(found)
    return found


def value_of(params: Mapping[str, Any], name: str) -> Any:
    """A parameter's value, or LightGBM's default."""
    return params.get(name, LIGHTGBM_PARAMETERS[name].default)


def _chosen(entry: LightGBMParameter, values: Mapping[str, Any]) -> Any:
    """The value that counts: of the parameter's own name, or of the first other one."""
    return next(values[name] for name in (entry.name, *entry.aliases) if name in values)


def _read(entry: LightGBMParameter, value: Any) -> Any:
    if callable(value):
        return value
    if entry.name == "objective" and isinstance(value, str):
        value = OBJECTIVE_ALIASES.get(value, value)
    elif entry.name == "boosting" and isinstance(value, str):
        value = _BOOSTINGS.get(value, value)
    return entry.read(value)


def _warn_of_conflicts(entry: LightGBMParameter, values: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    counted = _chosen(entry, values)
    for name, value in values.items():
        if value is not counted and value != counted:
            warnings.warn(
                f"{name}={value!r} is ignored: {entry.name} is given under several names, and is {counted!r}.",
                stacklevel=6,
            )


def _check_together(found: Mapping[str, Any]) -> None:
    """Refuse what has no meaning beside the other parameters, unless it is LightGBM's default."""
    boosting, objective = value_of(found, "boosting"), value_of(found, "objective")
    goss = "goss" in (boosting, value_of(found, "data_sample_strategy"))
    for name, value in found.items():
        entry = LIGHTGBM_PARAMETERS[name]
        if callable(value) or same(value, entry.default):
            continue
        if entry.group == "dart" and boosting != "dart":
            raise InputError(
                f"{name} belongs to boosting='dart', but boosting is {boosting!r}; leave it out."
            )
        if entry.group == "goss" and not goss:
            raise InputError(f"{name} belongs to data_sample_strategy='goss'; set it, or leave {name} out.")
        owners = _OF_OBJECTIVES.get(name, (objective,))
        if not callable(objective) and objective != "custom" and objective not in owners:
            raise InputError(
                f"{name} belongs to {' and '.join(owners)}, but objective is {objective!r}; leave it out."
            )
    if value_of(found, "is_unbalance") and value_of(found, "scale_pos_weight") != 1.0:
        raise InputError("is_unbalance and scale_pos_weight both weigh the classes; give one of them.")
    if value_of(found, "force_col_wise") and value_of(found, "force_row_wise"):
        raise InputError("force_col_wise and force_row_wise exclude each other; give one of them, or none.")
    if goss and value_of(found, "bagging_freq") and value_of(found, "bagging_fraction") < 1.0:
        raise InputError("data_sample_strategy='goss' draws rows by itself; leave bagging_fraction out.")
    if goss and value_of(found, "top_rate") + value_of(found, "other_rate") > 1.0:
        raise InputError("top_rate and other_rate are shares of all rows, so together at most 1.")


_TITLES: dict[str, str] = {
    "core": "Core",
    "learning": "Learning control",
    "dart": "DART",
    "goss": "Gradient-based sampling",
    "categories": "Categories",
    "dataset": "Data",
    "objective": "Objective",
    "metrics": "Metrics",
    "prediction": "Prediction",
    "elsewhere": "Command line, network and GPU",
    "estimators": "Of the scikit-learn classes only",
}


def lightgbm_page(native_names: Mapping[str, str]) -> str:
    """The page of LightGBM's parameters, ``docs/lightgbm_parameters.md``, as Markdown."""
    introduction = [
        "# LightGBM's parameters in weald.lightgbm",
        "",
        "Written by `python -m weald.pages lightgbm`. Each parameter of LightGBM's documentation is *the same*, *different*",
        "(and how), or *refused* (and what to use instead); a refused one may be given where its value is LightGBM's default. An",
        "unknown name is an error that asks whether the nearest known one was meant. Of several names of one parameter its own",
        "counts, then the first of the others, with a warning.",
    ]
    return parameter_page(introduction, _TITLES, LIGHTGBM_PARAMETERS, native_names)
